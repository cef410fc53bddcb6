"""Measures of none of the five papers; loaded with the package, so that their strings parse."""

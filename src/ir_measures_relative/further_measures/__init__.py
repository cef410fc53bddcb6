"""Measures of none of the five families; loaded with the package, so that their strings parse."""

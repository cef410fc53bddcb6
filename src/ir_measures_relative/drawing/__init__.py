"""Axes of pictures, for matplotlib and for the report alike: maths on arrays, which draws nothing."""

"""Paired tests, their intervals, corrections and resampling: maths on arrays, which knows nothing of measures."""

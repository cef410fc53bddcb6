"""Paired tests, intervals, corrections and resampling."""

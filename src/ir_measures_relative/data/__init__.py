"""Runs and judgments as arrays: ids, rankings, documents; and the registry of what wings add."""

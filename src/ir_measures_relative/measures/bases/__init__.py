"""The bases, one or a few related ones a file, and what they are made of: gains and browsing models."""

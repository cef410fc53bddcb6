"""The papers' experiments, run again: ``python -m reproduce PAPER --robust PATH --dl19 PATH``."""

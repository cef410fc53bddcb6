"""The papers' experiments, run again: ``python -m studies.reproduce PAPER --robust PATH --dl19 PATH``."""

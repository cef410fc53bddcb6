"""Side-by-side ratios against ir_measures: ``python -m benchmarks``."""

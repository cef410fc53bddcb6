"""The hosts: ir_measures' provider and evaluator, PyTerrier, and guesses about them."""

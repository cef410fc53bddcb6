"""The hosts: ir_measures' provider and evaluator, PyTerrier, and every guess about them."""

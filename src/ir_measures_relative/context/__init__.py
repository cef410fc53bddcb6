"""The context: its runs, whose priors they are, and the view of them that a measure gets."""

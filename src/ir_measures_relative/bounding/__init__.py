"""The largest and the smallest value over all labelings of open documents: MED, bounds and verdicts stand on it."""

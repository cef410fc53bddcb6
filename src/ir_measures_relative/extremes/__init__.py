"""The largest and the smallest value over all labelings of the documents that nobody judged."""

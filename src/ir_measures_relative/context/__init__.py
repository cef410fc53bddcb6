"""The context: its runs, which of them are the priors of which, and the collection that measures look at."""

"""Studies with the package: the papers' experiments run again, and how good its tests, intervals and odds are."""

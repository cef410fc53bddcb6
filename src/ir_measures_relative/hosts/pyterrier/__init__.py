"""``pt.relative.Experiment``: pipelines in, the host's table out."""

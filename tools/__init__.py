"""What a release is checked with: ``python -m tools.matrix``, ``tools.hosts``, ``tools.release``, ``tools.load``."""

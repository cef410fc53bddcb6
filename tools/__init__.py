"""What a release is checked with: ``tools.matrix``, ``hosts``, ``anchored``, ``mutants``, ``load`` and ``release``."""

"""What bases of measures are made of: gains, browsing models, and their values under a random ranking."""

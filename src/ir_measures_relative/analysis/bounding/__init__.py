"""The least and the greatest value of each measure over all labelings: one file a kind of measure."""

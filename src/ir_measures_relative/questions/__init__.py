"""The questions that users ask of a context, one file each."""

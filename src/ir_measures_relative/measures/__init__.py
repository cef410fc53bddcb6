"""The measures: one file a paper, with the declaration of its measures and their maths side by side."""

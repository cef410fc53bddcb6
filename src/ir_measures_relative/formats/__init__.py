"""Files and objects of other tools, read as runs and judgments."""

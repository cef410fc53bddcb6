"""Files and objects of other tools as runs and judgments."""

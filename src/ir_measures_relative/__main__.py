"""``python -m ir_measures_relative``: the command line."""

import sys

from ir_measures_relative_console import main

if __name__ == "__main__":
    sys.exit(main())

"""``python -m emurust``."""

import sys

from emurust.cli import main

if __name__ == "__main__":
    sys.exit(main())

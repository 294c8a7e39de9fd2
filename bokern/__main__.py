"""``python -m bokern`` does what the command ``bokern`` does."""

from __future__ import annotations

import sys

from bokern.cli import main

if __name__ == "__main__":
    sys.exit(main())

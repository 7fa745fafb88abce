"""``python -m hedgeclipper.cli``, the same as ``hedgeclipper``."""

import sys

from hedgeclipper.cli import main

sys.exit(main())

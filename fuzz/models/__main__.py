# SPDX-License-Identifier: Apache-2.0
"""Judge generated models: `python -m fuzz.models --count 100000 --seed 1 --jobs 2`."""

from __future__ import annotations

import sys

from .run import main

if __name__ == "__main__":
    sys.exit(main())

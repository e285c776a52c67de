# SPDX-License-Identifier: Apache-2.0
"""Builds the page that checks models in the browser: `python -m tools.page FOLDER`.

Any static web server can serve the folder. Building needs npm, pip, the extra `test` and a network, unless
`--downloads` names a folder that has everything from an earlier build. `docs/browser.md` says more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tools.page.build import build
from tools.page.downloads import BuildError


def main() -> int:
    """Build the page. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.page", description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", type=Path, help="where to build; an earlier page is replaced")
    parser.add_argument("--downloads", type=Path, metavar="FOLDER", help="keep the downloads here, and use those")
    parser.add_argument("--numpy", type=Path, metavar="FOLDER", help="a folder with the numpy wheel of this Pyodide")
    asked = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as temporary:
            downloads = asked.downloads or Path(temporary)
            downloads.mkdir(parents=True, exist_ok=True)
            size = build(asked.folder, downloads, asked.numpy)
    except (BuildError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    print(f"{asked.folder}: {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

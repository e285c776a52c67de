# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation: `python docs/build.py [FOLDER]`, into build/docs where none is named.

It needs the extra `docs`, and the checkout, whose fixtures are the examples. A warning is an error.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parent.resolve()
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from generate.site import gather  # noqa: E402 - what it imports is found by the line above


def main(output: Path) -> int:
    """Build the site in `output`/html; returns the exit code of Sphinx, which is not 0 after a warning."""
    from sphinx.cmd.build import build_main

    sources = output / "sources"
    gather(sources)
    shutil.rmtree(output / "html", ignore_errors=True)
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--builder", "html", "--conf-dir", str(DOCS)]
    return build_main([*options, "--doctree-dir", str(output / "doctrees"), str(sources), str(output / "html")])


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "docs", help="where to build")
    sys.exit(main(arguments.parse_args().folder))

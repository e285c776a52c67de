# SPDX-License-Identifier: Apache-2.0
"""Compare the reports of two versions of onnx-lint over the same models.

`python -m tools.compare_reports BEFORE AFTER PATH...` runs both commands over all paths, once for each form of report.
A command is one argument, with its options: `"/old/bin/onnx-lint --pedantic"`. Reports, standard error and exit codes
have to be equal, byte for byte. Print the lines that only one of the two has; exit with 1 if there is a difference.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Final

FORMS: Final = ("text", "json", "sarif")
SHOWN: Final = 20
"""The most lines of a difference to print for each command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare each form of report; return 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="the command of the version before")
    parser.add_argument("after", help="the command of the version after")
    parser.add_argument("paths", nargs="+", metavar="PATH", help="models and folders, given to both commands")
    parser.add_argument("--forms", default=",".join(FORMS), help="the forms of report (default: %(default)s)")
    parser.add_argument(
        "--shown", type=int, default=SHOWN, help="lines to print of a difference (default: %(default)s)"
    )
    chosen = parser.parse_args(arguments)
    differences = 0
    for form in chosen.forms.split(","):
        before, after = (_outputs(command, form, chosen.paths) for command in (chosen.before, chosen.after))
        for name, old in before.items():
            new = after[name]
            differences += old != new
            print(f"{form}, {name}: {_described(old)}, {'equal' if old == new else 'DIFFERENT'}", flush=True)
            if old != new:
                _print_difference(old, new, chosen.shown)
    return 1 if differences else 0


def _outputs(command: str, form: str, paths: Sequence[str]) -> dict[str, bytes]:
    """Return what a run writes and the exit code, by name."""
    run = [*shlex.split(command), "--format", form, "--no-progress", *paths]
    ended = subprocess.run(run, capture_output=True, check=False)
    return {"report": ended.stdout, "standard error": ended.stderr, "exit code": b"%d" % ended.returncode}


def _described(output: bytes) -> str:
    return output.decode() if output.isdigit() else f"{len(output):,} bytes"


def _print_difference(old: bytes, new: bytes, shown: int) -> None:
    """Print lines that only one output has. The order of lines is compared only when no line differs."""
    lines = [Counter(text.decode(errors="replace").splitlines()) for text in (old, new)]
    only = [(f"- {line}" for line in lines[0] - lines[1]), (f"+ {line}" for line in lines[1] - lines[0])]
    found = [list(part) for part in only]
    for part in found:
        print("\n".join(part[:shown]), end="\n" if part else "")
        if len(part) > shown:
            print(f"  ... and {len(part) - shown} more")
    if not any(found):
        print("  the same lines in another order")


if __name__ == "__main__":
    sys.exit(main())

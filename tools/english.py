# SPDX-License-Identifier: Apache-2.0
"""Count idioms that make a reader stop, in the code and the documentation.

    python -m tools.english                   counts per idiom, over every tracked file
    python -m tools.english --list tell       each line with that idiom
    python -m tools.english --since HEAD~1    only lines added since a commit; exits with 1 if one has an idiom
    python -m tools.english --branch          the same since the branch left main; on main, since the commit before

The idioms come from reviews by engineers who had to read a sentence twice. Each has the words to use instead. Lines
that were only moved do not count as added.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple


class Idiom(NamedTuple):
    """A pattern on one line of text, and what to write instead."""

    pattern: re.Pattern[str]
    instead: str


def _idiom(pattern: str, instead: str) -> Idiom:
    return Idiom(re.compile(pattern), instead)


IDIOMS: Final = {
    "riddle": _idiom(r'"""(What|Where|So many|Of|Whether|How) ', "begin with Return, Report, Yield or a noun phrase"),
    "tell": _idiom(r"\b([Tt]ells?|told|telling)\b", "report, infer, distinguish, print, say"),
    "tell in a name": _idiom(r"\b_?(tell_\w+|is_told|let_go|what_of|of_run)\b", "a verb: print_, release_"),
    "hand on": _idiom(r"\b([Hh]ands?|handed|handing) on\b", "produce, pass, return"),
    "hold against": _idiom(r"\b([Hh]eld|[Hh]olds?) against\b", "compare with"),
    "stand for": _idiom(r"\b([Ss]tands?|stood) for\b", "represent, replace"),
    "have to do with": _idiom(r"\b(has|have|had)( \w+)? to do with\b", "concern"),
    "let go": _idiom(r"\b[Ll]et go\b", "release"),
    "go by": _idiom(r"\b([Gg]oes|went|go) by\b", "use, depend on"),
    "be to be had": _idiom(r"\bto be had\b", "available"),
    "of which": _idiom(r"\b(of|than|by|to|from|after) which\b", "split the sentence"),
    "none but": _idiom(r"\b([Nn]one|[Nn]othing|[Aa]ll) but\b", "only, except"),
    "as far as": _idiom(r"\b[Aa]s far as\b", "split the sentence"),
    "by and large": _idiom(r"\bby and large\b", "about, roughly"),
    "is known of": _idiom(r"\bknown of\b", "facts about"),
    "give a type": _idiom(r"\bgives? (a|the|its|no) (type|shape)\b", "declare, define, infer"),
    "no X that": _idiom(r"(?<![Tt]here )\bis no\b(?! longer\b)", "is not a"),
}

_FILES: Final = ("*.py", "*.md", "*.toml", "*.yml")
_EXEMPT: Final = ("tools/english.py", "tests/test_english.py")


def _git(*arguments: str) -> str:
    return subprocess.run(("git", *arguments), check=True, capture_output=True, encoding="utf-8").stdout


def all_lines() -> Iterator[tuple[str, int, str]]:
    """Yield path, number and text of each line of the tracked files."""
    for path in _git("ls-files", "--", *_FILES).splitlines():
        if path not in _EXEMPT:
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    yield path, number, line.rstrip("\n")


def added_lines(since: str) -> Iterator[tuple[str, int, str]]:
    """Yield path, number and text of each line that was added after the commit `since`."""
    yield from added_in(_git("diff", "--unified=0", "--no-color", "--no-ext-diff", since, "--", *_FILES))


def added_in(diff: str) -> Iterator[tuple[str, int, str]]:
    """Yield path, number and text of each line that `diff`, without context, adds; lines that it moves are left out."""
    path, number, in_header = "", 0, True
    added: list[tuple[str, int, str]] = []
    removed: Counter[str] = Counter()
    for line in diff.splitlines():
        if line.startswith("diff --git "):
            in_header = True
        elif line.startswith("@@"):
            number, in_header = int(re.findall(r"\+(\d+)", line)[0]), False
        elif in_header:
            path = line[6:] if line.startswith("+++ ") else path
        elif line.startswith("-"):
            removed[line[1:].strip()] += 1
        elif line.startswith("+"):
            added.append((path, number, line[1:]))
            number += 1
    for path, number, text in added:
        if removed[text.strip()] > 0:
            removed[text.strip()] -= 1
        elif path not in _EXEMPT:
            yield path, number, text


def base_of_branch() -> str | None:
    """Return the commit with which to compare HEAD; None if the clone is too shallow to have it.

    On a branch it is the merge base with main, on main the commit before.
    """
    for name in ("origin/main", "main", "HEAD~1"):
        base = subprocess.run(("git", "merge-base", name, "HEAD"), capture_output=True, encoding="utf-8").stdout.strip()
        if base and base != _git("rev-parse", "HEAD").strip():
            return base
    return None


def main() -> int:
    """Print the counts, or the lines; return the exit code."""
    parser = argparse.ArgumentParser(description="Count idioms that make a reader stop.")
    parser.add_argument("--since", metavar="COMMIT", help="look only at lines added since COMMIT")
    parser.add_argument("--branch", action="store_true", help="look only at lines added since the branch left main")
    parser.add_argument("--list", metavar="IDIOM", choices=IDIOMS, help="print the lines with this idiom")
    options = parser.parse_args()
    since = options.since
    if options.branch:
        since = base_of_branch()
        if since is None:
            print("This clone has no earlier commit to compare with: no lines were checked.")
            return 0
    lines = added_lines(since) if since else all_lines()
    counts = dict.fromkeys(IDIOMS, 0)
    for path, number, line in lines:
        for name, idiom in IDIOMS.items():
            found = len(idiom.pattern.findall(line))
            counts[name] += found
            if found and (since or options.list == name):
                print(f"{path}:{number}: {name}: {idiom.instead}\n    {line.strip()}")
    for name, count in counts.items():
        print(f"{count:6,}  {name}")
    print(f"{sum(counts.values()):6,}  in all")
    return 1 if since and any(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Reads the metadata of an installed distribution: its web addresses, and the packages of its extras."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Container
from functools import cache
from typing import Final

NAME: Final = "onnx-lint"
ISSUES: Final = frozenset({"issues", "issue tracker", "bug tracker", "bug reports", "tracker"})
DOCUMENTATION: Final = frozenset({"documentation", "docs"})
HOMEPAGE: Final = frozenset({"homepage", "home", "source", "repository"})

_URL: Final = r"https?://[^\s\x00-\x20\x7f-\U0010ffff\"<>\\^`{|}()\[\]]+"  # compiled at first use


def is_url(text: str) -> bool:
    """Return whether the text is an absolute http or https address without blanks."""
    return re.fullmatch(_URL, text) is not None


def project_url(distribution: str, labels: Container[str]) -> str | None:
    """Return the first URL of `distribution` under one of these labels (in lower case); None if there is none."""
    for entry in _project_urls(distribution):
        label, _, url = entry.partition(",")
        if label.strip().lower() in labels and is_url(url.strip()):
            return url.strip()
    return None


@cache
def _project_urls(distribution: str) -> tuple[str, ...]:
    """Return the entries `label, url` of a distribution.

    The folders on the path are searched first, because importlib.metadata takes time to import (docs/performance.md:
    entry-points). It also finds distributions that are in no folder.
    """
    folder = re.compile(rf"{re.sub('[-_.]+', '[-_.]+', distribution)}-[^-]+\.dist-info", re.IGNORECASE)
    for path in sys.path:
        with contextlib.suppress(OSError):
            for name in filter(folder.fullmatch, os.listdir(path or ".")):
                with open(os.path.join(path, name, "METADATA"), encoding="utf-8", errors="replace") as file:
                    head = file.read().partition("\n\n")[0].splitlines()
                entries = (line.partition(": ") for line in head)
                return tuple(value for key, _, value in entries if key.lower() == "project-url")
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        return tuple(map(str, metadata(distribution).get_all("Project-URL") or ()))
    except PackageNotFoundError:
        return ()


def install_command(extra: str) -> str:
    """Return the command that installs what an extra of onnx-lint needs.

    It names the packages of the extra, so that it works whether or not onnx-lint is on a package index.
    """
    from importlib.metadata import PackageNotFoundError, requires

    try:
        requirements = requires(NAME) or []
    except PackageNotFoundError:  # a copy of the package without metadata
        requirements = []
    packages = [*filter(None, (_without_extra(line, extra) for line in requirements))] or [f"{NAME}[{extra}]"]
    return " ".join(("pip install", *(f"'{needed}'" for needed in packages)))


def _without_extra(requirement: str, extra: str) -> str | None:
    """Return a requirement of an extra without the condition on the extra; None if it does not belong to the extra.

    The build backend writes the condition on the extra last, behind `and` if the requirement has another condition.
    """
    needed, _, marker = requirement.replace("'", '"').partition(";")  # the command has it in single quotes
    condition, found, rest = marker.strip().rpartition(f'extra == "{extra}"')
    if not found or rest:
        return None
    condition = condition.strip().removesuffix("and").strip()
    return f"{needed.strip()}; {condition}" if condition else needed.strip()

# SPDX-License-Identifier: Apache-2.0
"""Reads the web addresses in the metadata of an installed distribution."""

from __future__ import annotations

import re
from collections.abc import Container
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
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        entries = metadata(distribution).get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    for entry in entries:
        label, _, url = entry.partition(",")
        if label.strip().lower() in labels and is_url(url.strip()):
            return str(url.strip())
    return None

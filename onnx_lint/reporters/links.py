# SPDX-License-Identifier: Apache-2.0
"""The addresses of the documentation of rules and of onnx-lint, if known.

They come from the metadata of the distributions. Without an address reports have no links; `onnx-lint explain` shows
the same text.
"""

from __future__ import annotations

from functools import cache

from onnx_lint.common.distribution import DOCUMENTATION, HOMEPAGE, NAME, project_url
from onnx_lint.engine.registry import registry


@cache
def documentation_url(rule: str) -> str | None:
    """Return the page of a rule: on the documentation site of onnx-lint, or in the documentation of its plugin."""
    entry = registry().get(rule)
    if entry is None:
        return None
    if entry.plugin:
        return project_url(entry.plugin, DOCUMENTATION)
    site = project_url(NAME, DOCUMENTATION)
    return f"{site.rstrip('/')}/rules/{rule}.html" if site is not None else None


def information_url() -> str | None:
    """Return the page about onnx-lint itself."""
    return project_url(NAME, DOCUMENTATION) or project_url(NAME, HOMEPAGE)

# SPDX-License-Identifier: Apache-2.0
"""Where rules and the program are documented on the web, as far as the metadata of the distributions say."""

from __future__ import annotations

from functools import cache

from onnx_lint.distribution import DOCUMENTATION, HOMEPAGE, NAME, project_url
from onnx_lint.registry import registry


@cache
def documentation_url(rule: str) -> str | None:
    """The page of a rule: below the documentation of onnx-lint, or the documentation of the plugin that has it."""
    entry = registry().get(rule)
    if entry is None:
        return None
    site = project_url(entry.plugin or NAME, DOCUMENTATION)
    return site if site is None or entry.plugin else f"{site.rstrip('/')}/rules/{rule}.html"


@cache
def information_url() -> str | None:
    """Where onnx-lint itself is described."""
    return project_url(NAME, DOCUMENTATION) or project_url(NAME, HOMEPAGE)

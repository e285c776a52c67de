# SPDX-License-Identifier: Apache-2.0
"""Where rules and the program are documented on the web, as far as somebody says.

That is the option `--documentation-url`, for who hosts the site, or the metadata of the distributions. Where nobody
says anything there are no links, and `onnx-lint explain` tells the same.
"""

from __future__ import annotations

from functools import cache

from onnx_lint.common.distribution import DOCUMENTATION, HOMEPAGE, NAME, project_url
from onnx_lint.engine.registry import registry


@cache
def documentation_url(rule: str, site: str | None = None) -> str | None:
    """The page of a rule: on the documentation site of onnx-lint, or the documentation of the plugin that has it.

    `site`: the address of the site, where it is not the one that the metadata names, which may name none.
    """
    entry = registry().get(rule)
    if entry is None:
        return None
    if entry.plugin:
        return project_url(entry.plugin, DOCUMENTATION)
    site = site or project_url(NAME, DOCUMENTATION)
    return f"{site.rstrip('/')}/rules/{rule}.html" if site is not None else None


@cache
def information_url(site: str | None = None) -> str | None:
    """Where onnx-lint itself is described; `site` as for documentation_url."""
    return site or project_url(NAME, DOCUMENTATION) or project_url(NAME, HOMEPAGE)

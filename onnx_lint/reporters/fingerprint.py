# SPDX-License-Identifier: Apache-2.0
"""Fingerprints: what stays the same about a finding while the model around it changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from onnx_lint.report import Diagnostic
from onnx_lint.reporters.digest import sha256

_INDEX: Final = r"\[\d+\]"
_SEPARATOR = "\x1f"


def fingerprints(diagnostics: Iterable[Diagnostic], file: str = "") -> Iterator[str]:
    """A fingerprint for each diagnostic of one file, each different from the others.

    It is made of names (rule, clause, graph, node or operator, field, subject, and those of everything around the
    place), never of indices, bytes or the words of the message, so that the insertion of a node changes none. Findings
    that agree in all of that are numbered.
    `file`: what to tell the findings of several files apart by.
    """
    seen: Counter[str] = Counter()
    for diagnostic in diagnostics:
        digest = _digest(diagnostic, file)
        seen[digest] += 1
        yield f"{digest}:{seen[digest]}"


def _digest(diagnostic: Diagnostic, file: str) -> str:
    place = (
        diagnostic.graph or "",
        diagnostic.node or diagnostic.operator or "",
        re.sub(_INDEX, "", diagnostic.place),
    )
    subject = (diagnostic.subject or "", *diagnostic.scope)
    if diagnostic.collective:
        # The place is that of the first, which a node before it changes.
        place, subject = ("", "", ""), (diagnostic.subject or "",)
    parts = (diagnostic.rule, diagnostic.clause, file, *place, *subject)
    digest: str = sha256(_SEPARATOR.join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return digest

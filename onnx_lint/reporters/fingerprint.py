# SPDX-License-Identifier: Apache-2.0
"""Fingerprints of findings, which stay the same when other parts of the model change."""

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
    """Yield a different fingerprint for each diagnostic of one file.

    It is made of names (rule, clause, graph, node or operator, field, subject, and those of everything around the
    place), never of indices, bytes or the message, so that inserting a node changes none. Findings that agree in all of
    these are numbered.
    `file`: distinguishes the findings of several files.
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
        # The place is that of the first of several, which depends on the nodes before it.
        place, subject = ("", "", ""), (diagnostic.subject or "",)
    parts = (diagnostic.rule, diagnostic.clause, file, *place, *subject)
    digest: str = sha256(_SEPARATOR.join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return digest

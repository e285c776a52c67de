# SPDX-License-Identifier: Apache-2.0
"""Fingerprints of findings, which stay the same when other parts of the model change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from onnx_lint.common.digest import sha256
from onnx_lint.common.record import replace
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.former_clauses import former_clauses

_SEPARATOR = "\x1f"


def fingerprints(diagnostics: Iterable[Diagnostic], file: str = "") -> Iterator[str]:
    """Yield a different fingerprint for each diagnostic of one file.

    It is made of names (rule, clause, node or operator, field, subject, and those of everything around the place),
    never of indices, bytes or the message, so that inserting a node changes none. A model has only one main graph,
    whose name is left out. Findings that agree in all of these are numbered.
    `file`: distinguishes the findings of several files. A finding that an older version had at another place or under
    another clause keeps the fingerprint of then, so that no report shows it as a new one.
    """
    seen: Counter[str] = Counter()
    for diagnostic in diagnostics:
        digest = digest_of(_as_first_reported(diagnostic), file)
        seen[digest] += 1
        yield f"{digest}:{seen[digest]}"


def _as_first_reported(diagnostic: Diagnostic) -> Diagnostic:
    """Return a finding at the place and under the clause where an older version had it."""
    former = diagnostic.identity.former or diagnostic
    clauses = former_clauses(former.clause)
    return replace(former, cited=replace(former.cited, id=clauses[0])) if clauses else former


def digest_of(diagnostic: Diagnostic, file: str = "", *, with_main: bool = False) -> str:
    """Return the digest of the names of a finding. `with_main`: with that of the main graph, as it was once made."""
    scope, graph, about = diagnostic.around.scope, diagnostic.graph or "", diagnostic.subject or ""
    key = diagnostic.at.key
    fields = [field for field, _ in key] or [diagnostic.at.field]
    is_in_main = fields[0] == "graph" and scope and not with_main
    if is_in_main:
        main, scope = scope[0], scope[1:]
        is_inner = "g" in fields[1:-1] or any(field == "graphs" and index is not None for field, index in key)
        graph = graph if is_inner else ""
        about = "" if about == main and not is_inner else about
    place = (graph, diagnostic.node or diagnostic.operator or "", ".".join(fields))
    subject = (about, *scope)
    if diagnostic.collective:
        # The place is that of the first of several, which depends on the nodes before it.
        place, subject = ("", "", ""), (about,)
    parts = (diagnostic.rule, diagnostic.clause, file, *place, *subject)
    digest: str = sha256(_SEPARATOR.join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return digest

# SPDX-License-Identifier: Apache-2.0
"""Fingerprints of findings, which stay the same when other parts of the model change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from onnx_lint.common.digest import sha256
from onnx_lint.common.record import Record, replace
from onnx_lint.ir.places.place import Place
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.former_clauses import former_clauses

_SEPARATOR = "\x1f"


def fingerprints(diagnostics: Iterable[Diagnostic], file: str = "") -> Iterator[str]:
    """Yield a different fingerprint for each diagnostic of one file.

    It is made of names (rule, clause, node or operator, field, subject, and those of everything around the place),
    never of indices, bytes or the message, so that inserting a node changes none. A model has only one main graph,
    whose name is left out. Findings that agree in all of these are numbered. A finding that an older version had at
    another place or under another clause keeps the fingerprint of then, so that no report shows it as a new one.
    `file`: distinguishes the findings of several files.
    """
    seen: Counter[str] = Counter()
    for diagnostic in diagnostics:
        digest = digest_of(_as_first_reported(diagnostic), file)
        seen[digest] += 1
        yield f"{digest}:{seen[digest]}"


def _as_first_reported(diagnostic: Diagnostic) -> Diagnostic:
    """Return a finding at the place and under the clause where an older version had it."""
    former = diagnostic.identity.at_former_place or diagnostic
    clauses = former_clauses(former.clause)
    return replace(former, cited=replace(former.cited, id=clauses[0])) if clauses else former


class _NamesAround(Record):
    """The names around the place of a finding."""

    graph: str
    """The name of the innermost graph."""
    subject: str
    """What the finding is about."""
    scope: tuple[str, ...]
    """The names of everything around the place, from the main graph on."""


def digest_of(diagnostic: Diagnostic, file: str = "") -> str:
    """Return the digest of the names of a finding, without that of the main graph. `file`: see `fingerprints`."""
    names = _names_of(diagnostic)
    if _fields_of(diagnostic)[0] == "graph" and names.scope:
        names = _without_main_graph(names, diagnostic.at)
    return _digest(diagnostic, names, file)


def digest_with_main_graph(diagnostic: Diagnostic) -> str:
    """Return the digest of the names of a finding as older versions made it: with the name of the main graph."""
    return _digest(diagnostic, _names_of(diagnostic), "")


def _names_of(diagnostic: Diagnostic) -> _NamesAround:
    return _NamesAround(
        graph=diagnostic.graph or "", subject=diagnostic.subject or "", scope=tuple(diagnostic.around.scope)
    )


def _fields_of(diagnostic: Diagnostic) -> list[str]:
    """Return the fields on the way to the place; that of the root for the root."""
    return [field for field, _ in diagnostic.at.key] or [diagnostic.at.field]


def _without_main_graph(names: _NamesAround, place: Place) -> _NamesAround:
    """Return the names around a place in the main graph, or in a graph inside of it, without that of the main graph."""
    main, *scope = names.scope
    key = place.key
    is_in_attribute = any(field == "g" for field, _ in key[1:-1])
    if is_in_attribute or any(field == "graphs" and index is not None for field, index in key):
        return replace(names, scope=tuple(scope))
    return _NamesAround(graph="", subject="" if names.subject == main else names.subject, scope=tuple(scope))


def _digest(diagnostic: Diagnostic, names: _NamesAround, file: str) -> str:
    if diagnostic.collective:
        # The place is that of the first of several, which depends on the nodes before it.
        around: tuple[str, ...] = ("", "", "", names.subject)
    else:
        node, fields = diagnostic.node or diagnostic.operator or "", ".".join(_fields_of(diagnostic))
        around = (names.graph, node, fields, names.subject, *names.scope)
    parts = (diagnostic.rule, diagnostic.clause, file, *around)
    digest: str = sha256(_SEPARATOR.join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return digest

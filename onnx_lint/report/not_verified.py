# SPDX-License-Identifier: Apache-2.0
"""What was not verified in a file, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record
from onnx_lint.common.visible import visible
from onnx_lint.spec.releases import newest_opset_version, normalized_domain
from onnx_lint.wording import counted, quote

if TYPE_CHECKING:
    from onnx_lint.report.file_report import FileReport, Shapes


class Unverified(Record):
    """Something that was not verified, in words that can be added up over files."""

    numbers: tuple[int, ...]
    """The number of nodes, or the number of values of unknown shape and of all values; empty for neither."""
    rest: str
    """The rest of the sentence."""

    def describe(self) -> str:
        """Return the sentence: `3 nodes of domain 'com.acme', whose operators have no known signature`."""
        match self.numbers:
            case (nodes,):
                return f"{counted(nodes, 'node')} {self.rest}"
            case (unknown, values):
                return f"the shapes of {unknown:,} of {counted(values, 'value')}: {self.rest}"
        return self.rest


def not_verified_of(file: FileReport) -> Iterator[str]:
    """Yield what was not verified in a file: operators without known signatures, and what was not examined."""
    for each in unverified_of(file):
        yield each.describe()


def unverified_of(file: FileReport) -> Iterator[Unverified]:
    """Yield the same as `not_verified_of`, with its numbers."""
    imported = dict(file.facts.opset_imports) if file.facts is not None else {}
    for domain, nodes in file.not_verified:
        names = [(name, near) for other, name, near in file.not_listed if other == domain]
        version = imported.get(domain, imported.get(normalized_domain(domain), 0))
        newest = newest_opset_version(domain)
        is_newer = newest is not None and version > newest
        if is_newer:
            why = f", whose version {version} is not known"
        elif names:
            why = f" with {_unknown_operators(names)}"
        else:
            why = ", whose operators have no known signature"
        yield Unverified((nodes,), visible(f"of domain {quote(domain)}{why}"))
    if file.shapes is not None:
        yield from _unknown_shapes(file.shapes)
    for what in file.incomplete:
        yield Unverified((), visible(what))


_MAX_NAMED: Final = 3
"""The most unknown operators to name."""


def _unknown_operators(names: Sequence[tuple[str, str | None]]) -> str:
    """Return unknown operators in words: `the unknown operator 'Gellu' (did you mean 'Gelu'?)`."""
    named = [
        quote(name) if near is None else f"{quote(name)} (did you mean {quote(near)}?)"
        for name, near in names[:_MAX_NAMED]
    ]
    more = [f"{len(names) - _MAX_NAMED:,} more"] if len(names) > _MAX_NAMED else []
    noun = "operator" if len(names) == 1 else "operators"
    return f"the unknown {noun} {', '.join([*named, *more])}"


def _unknown_shapes(shapes: Shapes) -> Iterator[Unverified]:
    """Yield a line about values with unknown shapes because of unknown operators; JSON reports have all causes."""
    causes = shapes.reported_causes
    if not causes:
        return
    kind, name, _ = causes[0]
    if len(causes) > 1:
        rest = f"the shapes that {quote(name)} and {len(causes) - 1:,} more produce are unknown"
    elif kind == "operator-without-import":
        rest = f"no operator set is imported for {quote(name)}"
    else:
        rest = f"the shapes that {quote(name)} produces are unknown"
    yield Unverified((sum(values for _, _, values in causes), shapes.values), visible(rest))

# SPDX-License-Identifier: Apache-2.0
"""The sentences about what was not verified in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record
from onnx_lint.common.visible import visible
from onnx_lint.spec.releases import newest_opset_version, normalized_domain
from onnx_lint.wording import counted, quote

if TYPE_CHECKING:
    from onnx_lint.report.file_report import FileReport, Shapes, UnlistedOperator


class Unverified(Record):
    """Something that was not verified: nodes, the shapes of values, or anything else that `text` describes."""

    text: str
    """The sentence, without the numbers at its beginning."""
    nodes: int = 0
    """The number of nodes; 0 if the sentence is not about nodes."""
    unknown_shapes: int = 0
    """The number of values of unknown shape; 0 if the sentence is not about shapes."""
    values: int = 0
    """The number of all values, if the sentence is about shapes."""

    @property
    def key(self) -> tuple[str, bool, bool]:
        """A key that is equal for sentences that differ only in their numbers."""
        return self.text, self.nodes > 0, self.unknown_shapes > 0

    def plus(self, other: Unverified) -> Unverified:
        """Return the sentence with the sum of each number, for another one with the same key."""
        return Unverified(
            self.text,
            self.nodes + other.nodes,
            self.unknown_shapes + other.unknown_shapes,
            self.values + other.values,
        )

    def describe(self) -> str:
        """Return the sentence: `3 nodes of domain 'com.acme', whose operators have no known signature`."""
        if self.nodes:
            return f"{counted(self.nodes, 'node')} {self.text}"
        if self.unknown_shapes:
            return f"the shapes of {self.unknown_shapes:,} of {counted(self.values, 'value')}: {self.text}"
        return self.text


def not_verified_in_words(file: FileReport) -> Iterator[str]:
    """Yield a sentence for each thing that was not verified in a file, such as nodes of unknown operators."""
    for each in unverified_parts(file):
        yield each.describe()


def unverified_parts(file: FileReport) -> Iterator[Unverified]:
    """Yield what was not verified in a file. The numbers are fields, so that they can be added up over files."""
    imported = dict(file.facts.opset_imports) if file.facts is not None else {}
    for domain, nodes in file.not_verified:
        unlisted = [each for each in file.not_listed if each.domain == domain]
        version = imported.get(domain, imported.get(normalized_domain(domain), 0))
        newest = newest_opset_version(domain)
        if newest is not None and version > newest:
            why = f", whose version {version} is not known"
        elif unlisted:
            why = f" with {_unknown_operators(unlisted)}"
        else:
            why = ", whose operators have no known signature"
        yield Unverified(visible(f"of domain {quote(domain)}{why}"), nodes=nodes)
    if file.shapes is not None:
        yield from _unknown_shapes(file.shapes)
    for what in file.incomplete:
        yield Unverified(visible(what))


_MAX_NAMED: Final = 3
"""The most unknown operators to name."""


def _unknown_operators(unlisted: Sequence[UnlistedOperator]) -> str:
    """Return the phrase about unknown operators: `the unknown operator 'Gellu' (did you mean 'Gelu'?)`."""
    named = [
        quote(each.name) if each.nearest is None else f"{quote(each.name)} (did you mean {quote(each.nearest)}?)"
        for each in unlisted[:_MAX_NAMED]
    ]
    more = [f"{len(unlisted) - _MAX_NAMED:,} more"] if len(unlisted) > _MAX_NAMED else []
    noun = "operator" if len(unlisted) == 1 else "operators"
    return f"the unknown {noun} {', '.join([*named, *more])}"


def _unknown_shapes(shapes: Shapes) -> Iterator[Unverified]:
    """Yield a line about shapes that are unknown because of unknown operators. JSON reports list all causes."""
    causes = shapes.reported_causes
    if not causes:
        return
    first = causes[0]
    name = quote(first.name)
    if len(causes) > 1:
        text = f"the shapes that {name} and {len(causes) - 1:,} more produce are unknown"
    elif first.kind == "operator-without-import":
        text = f"no operator set is imported for {name}"
    else:
        text = f"the shapes that {name} produces are unknown"
    unknown_shapes = sum(each.values for each in causes)
    yield Unverified(visible(text), unknown_shapes=unknown_shapes, values=shapes.values)

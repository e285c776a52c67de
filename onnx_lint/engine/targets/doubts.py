# SPDX-License-Identifier: Apache-2.0
"""Doubts: kinds of parts that a program refuses in some models, and in which the data do not say which models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from onnx_lint.common.record import Record
from onnx_lint.engine.targets.parts_in_question import nodes_of
from onnx_lint.model import Model, Node
from onnx_lint.wording import counted


class Doubt(Record):
    """A kind of parts of a model that a program refuses in some models."""

    noun: str
    """What such a part is, in the singular."""
    words: str
    """What the parts have in common, such as `in segments`."""
    count: Callable[[Model], int]
    """Returns the number of such parts."""
    since: tuple[int, ...] = ()
    """The first release that refuses such parts."""
    until: tuple[int, ...] | None = None
    """The first release that refuses none of them again; None if there is none."""


def node_doubt(
    operators: Iterable[str],
    words: str,
    is_doubtful: Callable[[Model, Node], bool],
    *,
    since: tuple[int, ...] = (),
    until: tuple[int, ...] | None = None,
) -> Doubt:
    """Return the doubt about the nodes of some operators of the default domain."""

    def count(model: Model) -> int:
        return sum(is_doubtful(model, node) for name in operators for node in nodes_of(model, name))

    return Doubt("node", words, count, since, until)


def phrases(model: Model, doubts: Iterable[Doubt], version: tuple[int, ...] = ()) -> Iterator[str]:
    """Yield a phrase for each doubt that a model has for a version of a program, such as `2 tensors in segments`."""
    for doubt in doubts:
        if doubt.since <= version and (doubt.until is None or version < doubt.until):
            yield from phrase(doubt.count(model), doubt.noun, doubt.words)


def phrase(count: int, noun: str, words: str) -> Iterator[str]:
    """Yield how many parts a model has that have something in common, unless it has none."""
    if count:
        yield f"{counted(count, noun)} {words}".rstrip()

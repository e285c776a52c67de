# SPDX-License-Identifier: Apache-2.0
"""Kinds of parts that a program refuses in some models. Its data do not say in which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from onnx_lint.common.record import Record
from onnx_lint.engine.targets.model_parts import nodes_of
from onnx_lint.model import Model, Node
from onnx_lint.wording import counted


class UnjudgedKind(Record):
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


def node_kind(
    operators: Iterable[str],
    words: str,
    may_be_refused: Callable[[Model, Node], bool],
    *,
    since: tuple[int, ...] = (),
    until: tuple[int, ...] | None = None,
) -> UnjudgedKind:
    """Return the kind of those nodes of some operators of the default domain that a program may refuse."""

    def count(model: Model) -> int:
        return sum(may_be_refused(model, node) for name in operators for node in nodes_of(model, name))

    return UnjudgedKind("node", words, count, since, until)


def phrases(model: Model, kinds: Iterable[UnjudgedKind], version: tuple[int, ...] = ()) -> Iterator[str]:
    """Yield how many parts of each kind a model has, such as `2 tensors in segments`, for a version of a program."""
    for kind in kinds:
        if kind.since <= version and (kind.until is None or version < kind.until):
            yield from phrase(kind.count(model), kind.noun, kind.words)


def phrase(count: int, noun: str, words: str) -> Iterator[str]:
    """Yield how many parts of a model have something in common; nothing if there is none."""
    if count:
        yield f"{counted(count, noun)} {words}".rstrip()

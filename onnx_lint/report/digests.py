# SPDX-License-Identifier: Apache-2.0
"""The digests by which a baseline knows the place and the faults of a finding again.

`onnx_lint.engine.identities` makes them of the texts that `onnx_lint.engine.views` and `onnx_lint.engine.structure`
return. `onnx_lint.configuration.baselines.file` writes and reads them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Self

from onnx_lint.common.record import Record, field_names

DIGITS: Final = 12
"""The number of hexadecimal digits of a digest."""

MAX_LISTED: Final = 64
"""The most faults of a finding that are identified one by one."""


class PlaceDigests(Record):
    """The digests of a place, or of the places of several faults together. Those that are unknown are empty.

    A finding has all of them; an entry of a baseline has some, depending on the version that wrote it.
    """

    steps: str = ""
    """The operators around, each with its number among the nodes of its operator: `Structure.steps`."""
    names: str = ""
    """The names around: `Structure.names`."""
    names_inside: str = ""
    """The names around, and the way to the place inside of the value: `Structure.inside`."""
    from_start: str = ""
    """The operators around, each with its position counted from the first node, and the sources of its inputs."""
    from_end: str = ""
    """The operators around, each with its position counted from the last node, and the users of its outputs."""
    by_operators: str = ""
    """The operators around, each with its number among the nodes of its operator, and those before and after it."""
    before: str = ""
    """As `from_start`, and the operators of all nodes before."""
    after: str = ""
    """As `from_end`, and the operators of all nodes after."""
    both_ends: str = ""
    """`from_start` and `from_end` in one digest."""
    whole: tuple[str, ...] = ()
    """The position, and the operators of all nodes of the graph without the first and last ones.

    A finding has a digest for each of `TOLERATED_ADDITIONS`, an entry the first of them.
    """

    @classmethod
    def of(cls, digests: Iterable[tuple[str, str]]) -> Self:
        """Return the record for digests, each after its kind: the name of its field."""
        found: dict[str, Any] = {}
        for kind, digest in digests:
            found[kind] = (*found.get(kind, ()), digest) if kind == WHOLE else digest
        return cls(**found)

    def of_kind(self, kind: str) -> tuple[str, ...]:
        """Return the known digests of a kind. Only `WHOLE` may have several."""
        found = getattr(self, kind)
        return found if kind == WHOLE else (found,) if found else ()

    def items(self) -> list[tuple[str, str]]:
        """Return the known digests, each after its kind."""
        return [(kind, digest) for kind in KINDS for digest in self.of_kind(kind)]


KINDS: Final = field_names(PlaceDigests)
"""The kinds of digests, in the order in which findings are compared by them."""

WHOLE: Final = "whole"


class FaultDigests(Record):
    """What identifies a fault of a finding, or more than `MAX_LISTED` faults together."""

    place: PlaceDigests
    inner: str = ""
    """The digest of what is wrong inside of the place, such as a dimension; empty if it is the place itself."""
    keys: str = ""
    """The digest of the keys on the way to the place, such as the name of an attribute; empty without keys."""
    partners: PlaceDigests | None = None
    """The other places that make it this fault, such as those of a cycle; None without any."""
    is_of_many: bool = False
    """True if it identifies more than `MAX_LISTED` faults together."""


class ContentDigests(Record):
    """What identifies a fault of a stored tensor: it stays the same if a Constant replaces the initializer."""

    place: PlaceDigests
    """The names and the users of the tensor, with the place inside."""
    is_initializer: bool
    """False if a Constant stores the tensor."""

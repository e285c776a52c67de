# SPDX-License-Identifier: Apache-2.0
"""The sizes of dimension variables that equations imply, and the variables that are equal."""

from __future__ import annotations

from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.equations.equation import DimensionEquation, united
from onnx_lint.inference.flow.equations.sums import terms_of
from onnx_lint.inference.shapes.expression import Sum

_MAX_REASONS: Final = 8
"""The most equations that are kept as the reasons of a value: the last ones of a chain."""


class KnownValue(Record):
    """The size of a variable, or a variable that is equal to it, and the equations that imply it."""

    value: int | str
    because: tuple[DimensionEquation, ...] = ()


class Substituted(Record):
    """A dimension with the known values of its variables inserted, and the equations that imply them."""

    terms: Sum
    because: tuple[DimensionEquation, ...]


class KnownValues:
    """The values of variables in a graph and in those around it (union-find: equal variables form a chain)."""

    def __init__(self, around: KnownValues | None) -> None:
        self._around = around
        self._known: dict[str, KnownValue] = {}
        self._above_0: dict[str, KnownValue] = {}

    def __len__(self) -> int:
        return len(self._known)

    def note(self, name: str, value: int | str, because: tuple[DimensionEquation, ...]) -> None:
        """Note the value of a variable."""
        self._known[name] = KnownValue(value, because[-_MAX_REASONS:])

    def note_above_0(self, name: str, size: int, because: tuple[DimensionEquation, ...]) -> None:
        """Note the only size of a variable apart from 0."""
        self._above_0[name] = KnownValue(size, because[-_MAX_REASONS:])

    def value_above_0(self, name: str) -> KnownValue | None:
        """Return the only size of a variable apart from 0, in this graph; None if it is unknown."""
        return self._above_0.get(name)

    @property
    def have_sizes(self) -> bool:
        """True if a variable has a size, here or in a graph around."""
        here = any(isinstance(each.value, int) for each in self._known.values())
        return here or (self._around is not None and self._around.have_sizes)

    def value(self, name: str) -> KnownValue:
        """Return the size of a variable, or the last variable in the chain of equal ones; itself if it is alone.

        All variables of the chain get the result, so that the next search is short.
        """
        chain: dict[str, KnownValue] = {}
        value: int | str = name
        while isinstance(value, str) and (step := self._step(value)) is not None:
            chain[value] = step
            value = step.value
        if not chain:
            return KnownValue(name)
        because: tuple[DimensionEquation, ...] = ()
        for each, step in reversed(chain.items()):
            because = (*step.because, *because)[-_MAX_REASONS:]
            self.note(each, value, because)
        return KnownValue(value, united(because))

    def _step(self, name: str) -> KnownValue | None:
        """Return what a variable is equal to, here or in a graph around."""
        known = self._known.get(name)
        return known if known is not None or self._around is None else self._around._step(name)

    def inserted(self, dim: int | str) -> Substituted:
        """Return a dimension with the known values of its variables."""
        terms: Sum = {}
        because: list[tuple[DimensionEquation, ...]] = []
        for product, times in terms_of(dim).items():
            names: list[str] = []
            for name in product:
                known = self.value(name)
                because.append(known.because)
                if isinstance(known.value, int):
                    times *= known.value
                else:
                    names.append(known.value)
            key = tuple(sorted(names))
            terms[key] = terms.get(key, 0) + times
        return Substituted(terms, united(*because))

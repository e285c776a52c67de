# SPDX-License-Identifier: Apache-2.0
"""The statements of the declarations of one value, kept so that thousands need not be compared pair by pair."""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.names.declarations import Declaration, Dimension, is_size


class EarlierStatements:
    """The statements of the declarations in one list, with a fast search for the first one that contradicts another."""

    def __init__(self) -> None:
        self._stated: dict[tuple[int, str | int], dict[object, int]] = {}
        """For each part of the type the first two different statements, and the first declaration with each."""

    def add(self, index: int, declaration: Declaration) -> None:
        """Add the declaration, which comes after all that are there."""
        for part, value in declaration.statements.items():
            known = self._stated.setdefault(part, {})
            if len(known) < 2:
                known.setdefault(value, index)

    def first_against(self, declaration: Declaration) -> int | None:
        """Return the first declaration that states something else about a part."""
        found: int | None = None
        for part, value in declaration.statements.items():
            for stated, index in self._stated.get(part, {}).items():
                if stated != value and (found is None or index < found):
                    found = index
        return found


class AxesOfOneRank:
    """The variables and sizes at each axis of declarations of one value.

    The first declaration with a variable at an axis represents all that have it there, and two sizes are enough for a
    contradiction.
    """

    def __init__(self) -> None:
        self._variables: dict[tuple[int, str], int] = {}
        self._sizes: dict[int, dict[int, int]] = {}

    def add(self, index: int, dimensions: list[Dimension]) -> None:
        """Add the dimensions of a declaration, which comes after all that are there."""
        for axis, dimension in enumerate(dimensions):
            if isinstance(dimension, str) and dimension not in ("", "*"):
                self._variables.setdefault((axis, dimension), index)
            elif is_size(dimension):
                sizes = self._sizes.setdefault(axis, {})
                if len(sizes) < 2:
                    sizes.setdefault(dimension, index)

    def bindings(self) -> Iterator[tuple[int, int, int, str, int]]:
        """Yield the pairs of declarations with a variable and a size: both indices, axis, variable and size."""
        for (axis, variable), index in self._variables.items():
            for size, source in self._sizes.get(axis, {}).items():
                yield index, source, axis, variable, size

# SPDX-License-Identifier: Apache-2.0
"""What the declarations of one value state, kept so that thousands of them need not be compared each with each."""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.names.declarations import Declaration, Dimension, is_size


class EarlierStatements:
    """What the declarations in one list state, so that the first one that contradicts another is found at once."""

    def __init__(self) -> None:
        self._stated: dict[tuple[int, str | int], dict[object, int]] = {}
        """For each part of the type the first two things that are stated of it, and by which declaration first."""

    def add(self, index: int, declaration: Declaration) -> None:
        """Add the declaration, which comes after all that are there."""
        for part, value in declaration.statements.items():
            known = self._stated.setdefault(part, {})
            if len(known) < 2:
                known.setdefault(value, index)

    def first_against(self, declaration: Declaration) -> int | None:
        """The first that states something else of a part."""
        found: int | None = None
        for part, value in declaration.statements.items():
            for stated, index in self._stated.get(part, {}).items():
                if stated != value and (found is None or index < found):
                    found = index
        return found


class AxesOfOneRank:
    """The variables and sizes at each axis of declarations of one value.

    The first declaration that has a variable at an axis stands for all that have it there, and two sizes are enough for
    a contradiction.
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
        """Which declaration, by which other, has a variable for a size: these two, the axis, the variable, the size."""
        for (axis, variable), index in self._variables.items():
            for size, source in self._sizes.get(axis, {}).items():
                yield index, source, axis, variable, size

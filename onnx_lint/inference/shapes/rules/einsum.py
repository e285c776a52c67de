# SPDX-License-Identifier: Apache-2.0
"""Einsum: sums of products along axes that letters name."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, Dims, broadcast, unified
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.registration import register_rule
from onnx_lint.ir.operators.einsum_equation import equation_fault, terms_of

_ELLIPSIS = "..."


@register_rule("Einsum")
def einsum(node: Operands) -> Outputs:
    """Infer the axes after the arrow. Without an arrow they are the letters that occur once, in ASCII order."""
    equation = node.text("equation", "")
    if equation_fault(equation, node.count) is not None:
        return UNKNOWN  # another rule reports it
    terms, right = terms_of(equation)
    axes = _Axes(node)
    for index, term in enumerate(terms):
        axes.take(index, term)
    return [axes.shape(right)]


class _Axes:
    """The sizes of the axes that letters, and positions in the ellipsis, mean."""

    def __init__(self, node: Operands) -> None:
        self.node = node
        self.dims: dict[str, Dim] = {}
        self.of_size: dict[str, tuple[int, int]] = {}
        """For each letter with a size other than 1 the operand and axis that have it."""
        self.between: tuple[int, int] | None = None
        """The number of dimensions of the ellipsis, and the operand that determines it."""

    def take(self, index: int, term: str) -> None:
        """Bind the letters of a term to the dimensions of an input."""
        letters = term.replace(".", "")
        if _ELLIPSIS not in term:
            shape = self.node.shape(index, len(letters), like="equation")
            names = list(letters)
        else:
            shape = self.node.shape(index, at_least=len(letters), like="equation")
            names = self._expanded(index, term, len(letters), shape)
        for axis, (name, dim) in enumerate(zip(names, shape or (), strict=False)):
            first = names.index(name)
            if first < axis:
                self.node.equal((index, first), (index, axis))
            else:
                self._bind(name, dim, (index, axis))

    def _expanded(self, index: int, term: str, letters: int, shape: Dims | None) -> list[str]:
        """Return the letters with a name for each dimension of the ellipsis, as many as in other terms."""
        if shape is None:
            return []
        count = len(shape) - letters
        if self.between is None:
            self.between = count, index
        elif self.between[0] != count:
            self.node.wrong_rank(index, letters + self.between[0], letters + self.between[0], self.between[1])
            return []
        before, _, after = term.partition(_ELLIPSIS)
        return [*before, *_places(count), *after]

    def _bind(self, name: str, dim: Dim, place: tuple[int, int]) -> None:
        """Record dimensions of a name that differ between terms. Consumers broadcast a size of 1, as NumPy does."""
        if isinstance(dim, int) and dim != 1:
            if name in self.of_size:
                self.node.equal(self.of_size[name], place)
            self.of_size.setdefault(name, place)
        known = self.dims.get(name, 1)
        if known == 1:
            self.dims[name] = dim
        elif name.startswith(_ELLIPSIS):
            # The ellipsis broadcasts: a variable may be 1, and then another dimension decides.
            self.dims[name] = broadcast([(known,), (dim,)])[0]
        elif dim != 1:
            self.dims[name] = unified(known, dim)

    def shape(self, term: str) -> Dims | None:
        """Return the dimensions of the output; None if the size of the ellipsis is unknown."""
        before, dots, after = term.partition(_ELLIPSIS)
        if dots and self.between is None:
            return None
        count = self.between[0] if dots and self.between is not None else 0
        return tuple([self.dims.get(name) for name in (*before, *_places(count), *after)])


def _places(count: int) -> list[str]:
    return [f"{_ELLIPSIS}{place}" for place in range(count)]

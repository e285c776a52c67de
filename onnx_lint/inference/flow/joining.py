# SPDX-License-Identifier: Apache-2.0
"""Joins two facts about one value: the inferred one and the declared one."""

from __future__ import annotations

from typing import Literal

from onnx_lint.inference.shapes.dims import Dim, Shape, agree
from onnx_lint.inference.shapes.fact import ElementShapes, Fact, fact

ContradictionKind = Literal["", "type", "shape"]
"""The kind of contradiction between two facts; empty if there is none."""


def joined(inferred: Fact, declared: Fact) -> tuple[Fact, ContradictionKind]:
    """Return the joined fact, and the kind of contradiction.

    If the types differ, or if the elements of a sequence cannot all have the declared shape, the inferred fact is
    returned as it is. If the ranks differ, the shape is unknown; if two sizes differ, that dimension is. After a
    contradiction of shapes the content is unknown.
    """
    if inferred.kind and declared.kind and inferred.kind != declared.kind:
        return inferred, "type"
    shape, contradiction = joined_shapes(inferred.shape, declared.shape)
    inside, within = _joined_contents(inferred.inside, declared.inside)
    found = contradiction or within
    if not found and inferred.elements and declared.inside is not None:
        found = "" if may_all_have(inferred.elements, declared.inside.shape) else "shape"
        if found:
            return inferred, found
    content = inferred.content if not found else None
    return fact(inferred.kind or declared.kind, shape, content, inside, inferred.elements, inferred.parts), found


def without_own_names(declared: Fact, known: Fact) -> Fact:
    """Return the declaration in a subgraph without variables for dimensions that are known: outer graphs name them."""
    if declared.shape is None or known.shape is None or len(declared.shape) != len(known.shape):
        return declared
    pairs = zip(declared.shape, known.shape, strict=True)
    shape = tuple([None if isinstance(dim, str) and made is not None else dim for dim, made in pairs])
    return fact(declared.kind, shape, declared.content, declared.inside)


def _joined_contents(inferred: Fact | None, declared: Fact | None) -> tuple[Fact | None, ContradictionKind]:
    """Return the joined fact about the elements of a sequence or the content of an optional."""
    if inferred is None or declared is None or inferred is declared:
        return inferred or declared, ""
    return joined(inferred, declared)


def may_all_have(elements: ElementShapes, declared: Shape) -> bool:
    """Return whether all elements of a sequence may have one declared shape.

    A declared dimension, also a variable, has one size for all of them. The shape inference of onnx writes a variable
    such as unk__0 for any dimension that it does not know, so that says nothing. Nor does a declared scalar: models of
    onnx (test_loop16_seq_none) declare elements of every rank so.
    """
    known = [shape for shape in elements if shape is not None]
    if not declared:
        return True
    if any(len(shape) != len(declared) for shape in known):
        return False
    columns = zip(declared, *known, strict=True)
    return all(
        _says_nothing(column[0]) or len({dim for dim in column if isinstance(dim, int)}) <= 1 for column in columns
    )


def _says_nothing(dim: Dim) -> bool:
    return dim is None or (isinstance(dim, str) and dim.startswith("unk__") and dim[len("unk__") :].isdecimal())


def joined_shapes(inferred: Shape, declared: Shape) -> tuple[Shape, ContradictionKind]:
    """Return the joined shape of a value, and the kind of contradiction."""
    if inferred is None or declared is None or inferred == declared:
        return (declared if inferred is None else inferred), ""
    if len(inferred) != len(declared):
        return None, "shape"
    pairs = list(zip(inferred, declared, strict=True))
    contradiction: ContradictionKind = "" if all(agree(one, other) for one, other in pairs) else "shape"
    return tuple([_joined_dims(one, other) for one, other in pairs]), contradiction


def _joined_dims(inferred: Dim, declared: Dim) -> Dim:
    """Return a size rather than a variable, the declared variable rather than the inferred one; None for two sizes.

    What is inferred says more than a name that only reads as an expression.
    """
    if isinstance(inferred, int):
        return None if isinstance(declared, int) and inferred != declared else inferred
    is_worse = declared is None or (inferred is not None and isinstance(declared, str) and declared[0] == "'")
    return inferred if is_worse else declared

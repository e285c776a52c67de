# SPDX-License-Identifier: Apache-2.0
"""Joins two facts about one value: the inferred one and the declared one."""

from __future__ import annotations

from typing import Literal

from onnx_lint.inference.shapes.dims import Dim, Shape, agree
from onnx_lint.inference.shapes.expression import variables_in
from onnx_lint.inference.shapes.fact import ElementShapes, Fact, fact

ContradictionKind = Literal["", "type", "shape"]
"""The kind of contradiction between two facts; empty if there is none."""


def joined(inferred: Fact, declared: Fact) -> tuple[Fact, ContradictionKind]:
    """Return the joined fact, and the kind of contradiction.

    - Different types: the inferred fact as it is.
    - Elements of a sequence that cannot all have the declared shape: the inferred fact as it is.
    - Different ranks: a fact with an unknown shape and content.
    - Different sizes: a fact with an unknown dimension and content.
    - No contradiction: what either of the two knows.
    """
    if have_different_types(inferred, declared):
        return inferred, "type"
    shape, contradiction = joined_shapes(inferred.shape, declared.shape)
    inside, inner_contradiction = _joined_insides(inferred.inside, declared.inside)
    contradiction = contradiction or inner_contradiction
    if not contradiction and not _elements_fit(inferred, declared):
        return inferred, "shape"
    content = None if contradiction else inferred.content
    kind = inferred.kind or declared.kind
    return fact(kind, shape, content, inside, inferred.elements, inferred.parts), contradiction


def contradiction_between(one: Fact, other: Fact) -> ContradictionKind:
    """Return the kind of contradiction between two facts about one value; empty if there is none."""
    _, contradiction = joined(one, other)
    return contradiction


def have_different_types(one: Fact, other: Fact) -> bool:
    """Return whether the types in two facts are known and differ."""
    return bool(one.kind and other.kind and one.kind != other.kind)


def differ_in_shape(one: Fact, other: Fact) -> bool:
    """Return whether two facts about one value, of one type, contradict each other in the shape."""
    return contradiction_between(one, other) == "shape"


def without_own_names(declared: Fact, known: Fact) -> Fact:
    """Return the declaration in a subgraph without variables for dimensions that are known: outer graphs name them."""
    if declared.shape is None or known.shape is None or len(declared.shape) != len(known.shape):
        return declared
    pairs = zip(declared.shape, known.shape, strict=True)
    shape = tuple([None if isinstance(dim, str) and outer is not None else dim for dim, outer in pairs])
    return fact(declared.kind, shape, declared.content, declared.inside)


def _joined_insides(inferred: Fact | None, declared: Fact | None) -> tuple[Fact | None, ContradictionKind]:
    """Return the joined fact about the elements of a sequence or the content of an optional."""
    if inferred is None or declared is None or inferred is declared:
        return inferred or declared, ""
    return joined(inferred, declared)


def _elements_fit(inferred: Fact, declared: Fact) -> bool:
    """Return whether the elements of a sequence may have the declared shape."""
    return not inferred.elements or declared.inside is None or may_all_have(inferred.elements, declared.inside.shape)


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


def shapes_contradict(one: Shape, other: Shape) -> bool:
    """Return whether two shapes of one value contradict each other."""
    _, contradiction = joined_shapes(one, other)
    return contradiction != ""


def _joined_dims(inferred: Dim, declared: Dim) -> Dim:
    """Return a size rather than a variable, the declared variable rather than the inferred one; None for two sizes.

    The inferred dimension is kept if the declared name is quoted, because it reads as an expression, or if it occurs in
    the inferred dimension.
    """
    if isinstance(inferred, int):
        return None if isinstance(declared, int) and inferred != declared else inferred
    if inferred is None or not isinstance(declared, str):
        return inferred if declared is None else declared
    # A name in an expression for its own dimension is wrong: 2*N rows that are declared as N stay 2*N.
    is_worse = declared[0] == "'" or (declared in inferred and declared in variables_in(inferred))
    return inferred if is_worse else declared

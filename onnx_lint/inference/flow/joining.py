# SPDX-License-Identifier: Apache-2.0
"""Joins two facts about one value: the inferred one and the declared one."""

from __future__ import annotations

from typing import Literal

from onnx_lint.inference.shapes.dims import Dim, Shape, agree
from onnx_lint.inference.shapes.fact import ElementShapes, Fact, fact

Discord = Literal["", "type", "shape"]
"""The kind of contradiction between two facts; empty if there is none."""


def joined(inferred: Fact, declared: Fact) -> tuple[Fact, Discord]:
    """Return the joined fact, and the kind of contradiction.

    If the types differ, the inferred one is kept; of two shapes the dimensions on which they agree.
    """
    if inferred.kind and declared.kind and inferred.kind != declared.kind:
        return inferred, "type"
    shape, discord = joined_shapes(inferred.shape, declared.shape)
    inside = inferred.inside or declared.inside
    if inferred.inside is not None and declared.inside is not None and inferred.inside is not declared.inside:
        inside, within = joined(inferred.inside, declared.inside)
        discord = discord or within
    is_apart = inferred.elements and declared.inside is not None and not discord
    if is_apart and not may_all_have(inferred.elements, declared.inside.shape if declared.inside else None):
        return inferred, "shape"
    content = inferred.content if not discord else None
    return fact(inferred.kind or declared.kind, shape, content, inside, inferred.elements, inferred.parts), discord


def may_all_have(elements: ElementShapes, declared: Shape) -> bool:
    """Return whether all elements of a sequence may have one declared shape.

    A declared dimension, also a variable, has one size for all of them. A declared scalar says nothing here: models of
    onnx (test_loop16_seq_none) declare elements of every rank so.
    """
    known = [shape for shape in elements if shape is not None]
    if not declared:
        return True
    if any(len(shape) != len(declared) for shape in known):
        return False
    columns = zip(declared, *known, strict=True)
    return all(column[0] is None or len({dim for dim in column if isinstance(dim, int)}) <= 1 for column in columns)


def joined_shapes(inferred: Shape, declared: Shape) -> tuple[Shape, Discord]:
    """Return the joined shape of a value, and whether the shapes contradict each other."""
    if inferred is None or declared is None or inferred == declared:
        return (declared if inferred is None else inferred), ""
    if len(inferred) != len(declared):
        return None, "shape"
    pairs = list(zip(inferred, declared, strict=True))
    discord: Discord = "" if all(agree(one, other) for one, other in pairs) else "shape"
    return tuple([_joined_dims(one, other) for one, other in pairs]), discord


def _joined_dims(inferred: Dim, declared: Dim) -> Dim:
    """Return a size rather than a variable, the declared variable rather than the inferred one; None for two sizes.

    What is inferred says more than a name that only reads as an expression.
    """
    if isinstance(inferred, int):
        return None if isinstance(declared, int) and inferred != declared else inferred
    is_worse = declared is None or (inferred is not None and isinstance(declared, str) and declared[0] == "'")
    return inferred if is_worse else declared

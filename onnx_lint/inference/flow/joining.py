# SPDX-License-Identifier: Apache-2.0
"""What is known of a value of which two things are said: what its node gives, and what is declared."""

from __future__ import annotations

from typing import Literal

from onnx_lint.inference.shapes.dims import Dim, Shape, agree
from onnx_lint.inference.shapes.fact import Fact, fact

Discord = Literal["", "type", "shape"]
"""In what two facts contradict each other; empty where they do not."""


def joined(inferred: Fact, declared: Fact) -> tuple[Fact, Discord]:
    """What both say together, and in what they contradict each other.

    Of two types that differ the inferred one is kept, of two shapes the dimensions on which they agree.
    """
    if inferred.kind and declared.kind and inferred.kind != declared.kind:
        return inferred, "type"
    shape, discord = joined_shapes(inferred.shape, declared.shape)
    inside = inferred.inside or declared.inside
    if inferred.inside is not None and declared.inside is not None and inferred.inside is not declared.inside:
        inside, within = joined(inferred.inside, declared.inside)
        discord = discord or within
    content = inferred.content if not discord else None
    return fact(inferred.kind or declared.kind, shape, content, inside), discord


def joined_shapes(inferred: Shape, declared: Shape) -> tuple[Shape, Discord]:
    """What two shapes of one value say together, and whether they contradict each other."""
    if inferred is None or declared is None or inferred == declared:
        return (declared if inferred is None else inferred), ""
    if len(inferred) != len(declared):
        return None, "shape"
    pairs = list(zip(inferred, declared, strict=True))
    discord: Discord = "" if all(agree(one, other) for one, other in pairs) else "shape"
    return tuple([_joined_dims(one, other) for one, other in pairs]), discord


def _joined_dims(inferred: Dim, declared: Dim) -> Dim:
    """A size before a variable, the declared variable before the inferred one; of two sizes that differ nothing."""
    if isinstance(inferred, int):
        return None if isinstance(declared, int) and inferred != declared else inferred
    return declared if declared is not None else inferred

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import TENSOR_KINDS, Model, Proto, Type, has_unusual_types
from onnx_lint.rule import Finding, rule

_CLAUSES = {"": "SHP-4", "*": "SHP-5"}


@rule(clause=("SHP-4", "SHP-5"), since="0.1.0", about=has_unusual_types, needs="type")
def unsupported_dimension_variable(model: Model) -> Iterator[Finding]:
    """A dimension variable is empty or `*`.

    ### How to fix

    Leave an unknown dimension empty, and omit the whole shape if the rank is unknown.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "*" } } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { } } } } }
    ```

    ### Why it matters

    The format never supported either. Readers take the empty name for an unknown dimension or for one shared variable,
    and `*` for a single dimension: the rank is then wrong.

    ### Details

    - An unknown dimension has neither a value nor a variable.
    - A tensor of unknown rank has no shape.
    - The empty name is a warning.
    - `*` is an error, because the number of dimensions must be the rank.
    """
    for found in model.types(_has_unsupported_variable):
        kind = str(found.kind)
        place = found.place.at(kind).at("shape")
        for index, dimension in enumerate(getattr(found.proto, kind).shape.dim):
            if not _is_unsupported(dimension):
                continue
            yield Finding(
                place.at("dim", index).at("dim_param"),
                f"dimension {index}{_where(found)} {_what(dimension.dim_param)}",
                clause=_CLAUSES[dimension.dim_param],
                allowed="a size, a variable with a name, or neither for an unknown size",
            )


def _has_unsupported_variable(proto: Proto) -> bool:
    kind = proto.WhichOneof("value")
    return kind in TENSOR_KINDS and any(map(_is_unsupported, getattr(proto, kind).shape.dim))


def _is_unsupported(dimension: Proto) -> bool:
    return dimension.HasField("dim_param") and dimension.dim_param in _CLAUSES


def _what(variable: str) -> str:
    if variable:
        return "is the variable '*', which does not represent several dimensions"
    return "has the empty name as its variable"


def _where(found: Type) -> str:
    return found.of_owner if found.parent is None else f" of {found.describe()}"

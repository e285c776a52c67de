# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, Place, Proto, Type, has_unusual_types
from onnx_lint.rule import Finding, on_elements, replace, rule
from onnx_lint.wording import quote, suggestion, with_more

TYPE_DENOTATIONS = ("TENSOR", "IMAGE", "AUDIO", "TEXT")
"""The denotations of types in the specification."""

DIMENSION_DENOTATIONS = (
    "DATA_BATCH",
    "DATA_CHANNEL",
    "DATA_TIME",
    "DATA_FEATURE",
    "FILTER_IN_CHANNEL",
    "FILTER_OUT_CHANNEL",
    "FILTER_SPATIAL",
)
"""The denotations of dimensions in the specification."""


@rule(clause=("DEN-1a", "DEN-2"), since="0.1.0", about=has_unusual_types, needs="type")
def unknown_denotation(model: Model) -> Iterator[Finding]:
    """A type or dimension has a denotation that the specification does not list.

    ### How to fix

    Write the standard word for the same meaning, or delete the denotation: it only describes.

    ### Example

    ```
    metadata_props { key: "Image.BitmapPixelFormat" value: "Rgb8" }
    input {
      name: "x"
      type { denotation: "PICTURE" tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } }
    }
    ```

    Corrected:

    ```
    metadata_props { key: "Image.BitmapPixelFormat" value: "Rgb8" }
    input {
      name: "x"
      type { denotation: "IMAGE" tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } }
    }
    ```

    ### Why it matters

    A denotation says what a value or an axis means. Consumers can then prepare an image or refuse a transposed batch,
    but not with an unknown word.

    ### Details

    - Types: TENSOR, IMAGE, AUDIO, TEXT.
    - Dimensions: DATA_BATCH, DATA_CHANNEL, DATA_TIME, DATA_FEATURE, FILTER_IN_CHANNEL, FILTER_OUT_CHANNEL,
      FILTER_SPATIAL.
    - Upper and lower case must match. A missing denotation is accepted.
    - The specification calls these the standard denotations and does not forbid others.
    - Each denotation is reported once for each value.
    """
    found: dict[tuple[Place, str, str], list[Finding]] = {}
    for holder in model.types(_has_unknown):
        for finding in _unknown(holder):
            key = (holder.owner.place, finding.clause or "", finding.subject or "")
            found.setdefault(key, []).append(finding)
    for same in found.values():
        yield on_elements(_with_count, same[0], len(same), same)


def _with_count(finding: Finding, count: int) -> Finding:
    more = f"the value has it in {count - 1:,} more {'place' if count == 2 else 'places'}"
    return replace(finding, message=with_more(finding.message, more)) if count > 1 else finding


def _dimensions(proto: Proto) -> list[Proto]:
    kind = proto.WhichOneof("value")
    return list(getattr(proto, kind).shape.dim) if kind in ("tensor_type", "sparse_tensor_type") else []


def _has_unknown(proto: Proto) -> bool:
    if proto.denotation and proto.denotation not in TYPE_DENOTATIONS:
        return True
    return any(
        dimension.denotation and dimension.denotation not in DIMENSION_DENOTATIONS for dimension in _dimensions(proto)
    )


def _unknown(holder: Type) -> Iterator[Finding]:
    denotation = holder.proto.denotation
    if denotation and denotation not in TYPE_DENOTATIONS:
        what = f"type denotation {quote(denotation)}{holder.of_owner}"
        yield _finding(holder.place, what, denotation, TYPE_DENOTATIONS, "DEN-1a")
    for index, dimension in enumerate(_dimensions(holder.proto)):
        denotation = dimension.denotation
        if denotation and denotation not in DIMENSION_DENOTATIONS:
            place = holder.place.at(str(holder.kind)).at("shape").at("dim", index)
            what = f"denotation {quote(denotation)} of dimension {index}{holder.of_owner}"
            yield _finding(place, what, denotation, DIMENSION_DENOTATIONS, "DEN-2")


def _finding(place: Place, what: str, denotation: str, standard: tuple[str, ...], clause: str) -> Finding:
    # A denotation in lower case has no letter in common with the one that was meant.
    meant = denotation.upper() if denotation.upper() in standard else None
    hint = f"; did you mean {quote(meant)}?" if meant else suggestion(denotation, standard)
    return Finding(
        place.at("denotation"),
        f"{what} is not a standard denotation{hint}",
        clause=clause,
        allowed=", ".join(standard),
        subject=denotation,
    )

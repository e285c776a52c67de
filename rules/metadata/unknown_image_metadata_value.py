# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, has_metadata
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote, suggestion

VALUES = {
    "Image.BitmapPixelFormat": ("Gray8", "Rgb8", "Bgr8", "Rgba8", "Bgra8"),
    "Image.ColorSpaceGamma": ("Linear", "SRGB"),
    "Image.NominalPixelRange": ("NominalRange_0_255", "Normalized_0_1", "Normalized_1_1", "NominalRange_16_235"),
}
"""The values that the specification lists for each key."""


@rule(clause="MP-2", since="0.1.0", about=has_metadata)
def unknown_image_metadata_value(model: Model) -> Iterator[Finding]:
    """One of the model's image metadata has a value that the specification does not list.

    ### How to fix

    Use one of the values that the specification lists.

    ### Example

    ```
    metadata_props { key: "Image.BitmapPixelFormat" value: "Rgb9" }
    ```

    Corrected:

    ```
    metadata_props { key: "Image.BitmapPixelFormat" value: "Rgb8" }
    ```

    ### Why it matters

    Consumers convert images to what these three entries say. They ignore an unknown value, and the model may see red
    where there is blue.

    ### Details

    - `Image.BitmapPixelFormat`: Gray8, Rgb8, Bgr8, Rgba8, Bgra8
    - `Image.ColorSpaceGamma`: Linear, SRGB
    - `Image.NominalPixelRange`: NominalRange_0_255, Normalized_0_1, Normalized_1_1, NominalRange_16_235
    - Letter case of keys and values does not matter.
    - Other keys that begin with `Image.` are not checked.
    """
    names = {key.lower(): key for key in VALUES}
    for index, entry in enumerate(model.proto.metadata_props):
        key = names.get(entry.key.lower())
        if key is None:
            continue
        values = VALUES[key]
        if entry.value.lower() not in {value.lower() for value in values}:
            yield Finding(
                ROOT.at("metadata_props", index).at("value"),
                f"metadata {quote(entry.key)} of the model has the unknown value {quote(entry.value)}"
                f"{suggestion(entry.value, values)}",
                allowed=", ".join(values),
                subject=entry.key,
            )

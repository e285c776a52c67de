# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from onnx_lint.model import Model, Type, ValueInfo, has_denoted_types
from onnx_lint.rule import Finding, rule


@rule(clause="MP-1", since="0.1.0", about=has_denoted_types)
def missing_image_metadata(model: Model) -> Iterator[Finding]:
    """A value is denoted as an image, but the model does not say how to read its pixels.

    ### How to fix

    Describe in the metadata how the pixels are stored, or delete the denotation.

    ### Example

    ```
    input { name: "photo" type { denotation: "IMAGE" tensor_type { elem_type: 1 shape { } } } }
    ```

    Corrected:

    ```
    input { name: "photo" type { denotation: "IMAGE" tensor_type { elem_type: 1 shape { } } } }
    metadata_props { key: "Image.BitmapPixelFormat" value: "Rgb8" }
    metadata_props { key: "Image.ColorSpaceGamma" value: "SRGB" }
    metadata_props { key: "Image.NominalPixelRange" value: "Normalized_0_1" }
    ```

    ### Why it matters

    A consumer has to guess the order of the channels, the color space and the range of the values.

    ### Details

    - If an input or output of the main graph has a type denoted `IMAGE`, the model needs at least one of
      `Image.BitmapPixelFormat`, `Image.ColorSpaceGamma` and `Image.NominalPixelRange`, or another key that begins with
      `Image.`.
    - Letter case of the keys does not matter.
    - Only the first such value is reported.
    """
    if any(entry.key.lower().startswith("image.") for entry in model.proto.metadata_props):
        return
    # The inputs and outputs of the main graph come first among the types.
    for found in takewhile(lambda found: _is_of_interface(model, found), model.types()):
        if found.proto.denotation.upper() == "IMAGE":
            yield Finding(
                found.place.at("denotation"),
                f"{found.describe()} is denoted IMAGE, but the model has no Image.* metadata",
                allowed="Image.BitmapPixelFormat, Image.ColorSpaceGamma and Image.NominalPixelRange",
            )
            return


def _is_of_interface(model: Model, found: Type) -> bool:
    owner = found.owner
    return isinstance(owner, ValueInfo) and owner.place.parent == model.main_graph.place and owner.role != "value_info"

# SPDX-License-Identifier: Apache-2.0
"""Cases of operators that scale a tensor, or cut and pad it."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, Operand, case, constant
from shape_cases.comparison import Explained

_IMAGE = (1, 3, 8, 10)


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    version = schema.since_version
    match schema.name:
        case "CenterCropPad":
            yield case((4, 5, 6), constant(2, 7, 6))
            yield case((4, 5, "N"), constant(9, 3), axes=(2, 0))
            yield case((4, 5, 6), constant(9), axes=(-1,))
            yield case((4, 5, 6), Operand((3,)))
            yield case((4, 5, 6), Operand((2,)), axes=(0, 1))
        case "Upsample" if version == 1:
            yield case(_IMAGE, height_scale=2.0, width_scale=1.5)
            yield case(("N", 3, 5, 7), height_scale=1.0, width_scale=2.0)
        case "Upsample" if version == 7:
            yield case(_IMAGE, scales=(1.0, 1.0, 2.0, 2.5))
            yield case((3, "N"), scales=(1.5, 1.0))
        case "Upsample":
            yield from _by_scales(1)
        case "Resize" if version == 10:
            yield from _by_scales(1)
            yield case(_IMAGE, constant(1.0, 1.0, 0.5, 0.25))
        case "Resize":
            yield from _resized(version)


def _by_scales(index: int) -> Iterator[Case]:
    rest: tuple[None, ...] = (None,) * (index - 1)
    yield case(_IMAGE, *rest, constant(1.0, 1.0, 2.0, 2.5))
    yield case(("N", 3, 5, "W"), *rest, constant(1.0, 1.0, 1.5, 2.0))
    yield case((5, 7), *rest, Operand((2,)))
    yield case((), *rest, Operand((0,), ()))


def _resized(version: int) -> Iterator[Case]:
    # Version 11 wants all inputs, and an empty tensor for what there is not.
    absent = Operand((0,)) if version < 13 else None
    yield case(_IMAGE, absent, constant(1.0, 1.0, 2.0, 0.5))
    yield case(("N", 3, 5, "W"), absent, constant(1.0, 1.0, 0.75, 2.0))
    yield case((5, 7), absent, Operand((2,)))
    yield case(_IMAGE, absent, absent, constant(1, 3, 5, 20))
    yield case(("N", None, 5, "W"), absent, absent, constant(1, 3, 4, 4))
    yield case((5, 7), absent, absent, Operand((2,)))
    yield case(_IMAGE, Operand((8,)), absent, constant(1, 3, 5, 20), coordinate_transformation_mode=_CROPS)
    yield case(_IMAGE, Operand((8,)), constant(1.0, 1.0, 2.0, 2.0), coordinate_transformation_mode=_CROPS)
    if version >= 18:
        yield case(_IMAGE, absent, constant(2.0, 0.5), axes=(2, 3))
        yield case(_IMAGE, absent, absent, constant(4, 20), axes=(3, -2))
        yield case(_IMAGE, absent, absent, Operand((2,)), axes=(3, 2))
        yield case((8, 10), absent, constant(2.0, 0.5), keep_aspect_ratio_policy="not_larger")
        for policy in ("not_larger", "not_smaller"):
            yield case(_IMAGE, absent, absent, constant(4, 20), axes=(2, 3), keep_aspect_ratio_policy=policy)
            yield case((8, 10), absent, absent, constant(12, 13), keep_aspect_ratio_policy=policy)


_CROPS = "tf_crop_and_resize"


EXPLAINED = (
    Explained("CenterCropPad Resize", "onnx-lint: .*at least 0", "a size cannot be negative; onnx hands it on"),
    Explained("CenterCropPad Resize", "onnx-lint: AxisOutOfRange", "onnx looks at axes where it knows the sizes only"),
    Explained("CenterCropPad", r"onnx-lint: Wrong(Count|Rank)\(.*=1", "onnx counts the sizes of constants only"),
    Explained("Resize Upsample", r"onnx-lint: WrongRank\(operand=[123]", "of rank 1; onnx looks at constants only"),
    Explained("Resize Upsample", r"onnx-lint: WrongCount\(source=[123]", "onnx counts those of constants only"),
    Explained("CenterCropPad Resize", "onnx-lint: Repeated", "onnx looks at axes where it knows the sizes only"),
    Explained(
        "Resize-18 Resize-19",
        r"output 0: onnx .*(None, \d+|\d+, None)\), onnx-lint .*None, None\)$",
        "of 0 elements no proportion can be kept",
    ),
    Explained("Resize", "onnx-lint: .*greater than 0", "by the description; onnx multiplies with what is there"),
    Explained("Upsample", "onnx-lint: .*at least 1", "by the description; onnx multiplies with what is there"),
    Explained("Upsample-7", r"output 0: onnx .*-[0-9]", "a scale below 0, which onnx multiplies with"),
    Explained("Upsample-1", r"onnx-lint: WrongRank\(operand=0", "it has a scale for height and width only"),
    Explained("Resize", "onnx: .*Either", "shapes do not show whether one of two inputs is given"),
    Explained("Resize", r"onnx: .*'sizes' \(0\)", "onnx treats sizes with unknown elements as a list without elements"),
    Explained(
        "Resize", r"output 0: .*onnx-lint \(None, None, None, None\)", "where a region is cropped it counts, too"
    ),
)

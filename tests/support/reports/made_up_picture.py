# SPDX-License-Identifier: Apache-2.0
"""A picture made by hand that has everything in it."""

from __future__ import annotations

from onnx_lint.report.pictures import FAULT, RELATED, Picture, PictureArrow, PictureBox, PictureValue
from support.models.places import place_at

PICTURE = Picture(
    (place_at("graph.node[3]"),),
    "subgraph 'body'",
    (
        PictureBox("input", "input", values=(PictureValue("x", "float[2, 64]"),)),
        PictureBox("undefined", "undefined", values=(PictureValue("w_2", mark=FAULT),)),
        PictureBox(
            "node", "Split", "/a/rather/long/name/of/a/node/Split", 2, (), (PictureValue("a"), PictureValue("b"))
        ),
        PictureBox(
            "node",
            "Gemm",
            "fc",
            3,
            (PictureValue("fc.bias", "float[10]"),),
            (PictureValue("y", "float[2, 10]", "float[2, 99]", FAULT),),
            FAULT,
        ),
        PictureBox("node", "Neg", "", 40, (), (), RELATED),
        PictureBox("more", "7 more nodes"),
        PictureBox("output", "output"),
    ),
    (
        PictureArrow(0, 0, 2),
        PictureArrow(2, 0, 3),
        PictureArrow(1, 0, 3, FAULT),
        PictureArrow(2, 1, 4),
        PictureArrow(3, 0, 5),
        PictureArrow(3, 0, 6, FAULT),
        PictureArrow(3, 0, 2),
    ),
)
"""One of each: all kinds of boxes, two values of a box, an arrow that leads back, and all marks."""

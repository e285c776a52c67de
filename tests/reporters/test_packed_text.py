# SPDX-License-Identifier: Apache-2.0
"""Text that is kept compressed is the same afterwards."""

from __future__ import annotations

from onnx_lint.reporters.packed_text import PackedText


def test_packed_text_is_read_as_it_was_written():
    texts = [f"line {index}\u20ac \udc80 {'x' * (index % 997)}\n" for index in range(5_000)]
    both = [PackedText(), PackedText()]
    for packed in both:
        for text in texts:
            packed.write(text)
    assert "".join(both[0].pieces()) == "".join(texts)
    assert list(both[1].lines()) == [text[:-1] for text in texts]


def test_nothing_is_read_from_nothing():
    assert "".join(PackedText().pieces()) == ""
    assert list(PackedText().lines()) == []

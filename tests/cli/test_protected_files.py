# SPDX-License-Identifier: Apache-2.0
"""How much is read of a file that a report would replace. Which ones are kept: tests/end_to_end/test_cli.py."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from onnx_lint.cli.protected_files import _text_in, why_protected
from onnx_lint.loader.identity.identify import TEXT_BYTES


class Pieces(io.RawIOBase):
    """A file that is made while it is read, with this many pieces before its end. It counts what was read."""

    def __init__(self, piece: bytes, count: int, end: bytes = b"") -> None:
        self._piece = piece.ljust(TEXT_BYTES, piece[-1:])
        self._left = count
        self._end = end
        self.read_so_far = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next piece."""
        assert size == TEXT_BYTES, "what is held in memory is bounded"
        self._left -= 1
        data = self._piece if self._left >= 0 else self._end if self._left == -1 else b""
        self.read_so_far += len(data)
        return data


@pytest.mark.parametrize(
    ("piece", "beginning"), [(b"a", "a" * TEXT_BYTES), (b" ", " "), (b"\n", "\n"), (b"#", "#"), (b"\n#", "\n#")]
)
def test_a_text_is_read_to_its_end_and_little_of_it_is_kept(piece: bytes, beginning: str):
    file = Pieces(piece, 200)
    assert _text_in(file) == beginning
    assert file.read_so_far == 200 * TEXT_BYTES
    assert _text_in(Pieces(piece, 200, b"\0")) is None


@pytest.mark.parametrize("byte", [b"\0", b"\x7f", b"\xff", b"\xe2a"])
def test_reading_ends_at_the_first_piece_that_is_no_text(byte: bytes):
    file = Pieces(byte + b"a", 200)
    assert _text_in(file) is None
    assert file.read_so_far == TEXT_BYTES


MODEL = "is a model, or a part of one, in text form"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('ir_version: 8\ngraph { node { op_type: "Relu" } }\n', MODEL),
        ('<ir_version: 8, opset_import: ["" : 17]>\nagraph (float[N] x) => (float[N] y) { y = Relu(x) }\n', MODEL),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "is a Git LFS pointer"),
        ("m.onnx: conforms to the specification\n", None),
        ("", None),
    ],
)
def test_models_in_both_text_forms_are_kept(tmp_path: Path, text: str, reason: str | None):
    path = tmp_path / "report"
    path.write_text(text)
    assert why_protected(str(path), os.path.realpath(path)) == reason

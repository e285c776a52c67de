# SPDX-License-Identifier: Apache-2.0
"""Protects files that no report may overwrite: models, binary files, and the files that the run uses.

A checkout may contain a link with the name of a report that leads to any file.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable
from typing import BinaryIO, Final

from onnx_lint.cli.standard_streams import OutputError
from onnx_lint.configuration.errors import RequestError
from onnx_lint.input.locations import MODEL_SUFFIXES, is_local, is_remote
from onnx_lint.input.regular_file import stream_of_regular
from onnx_lint.ir.tensors.data_folder import is_lfs_pointer
from onnx_lint.loader.identity.identify import CONTROL_BYTES, HEAD_BYTES, TEXT_BYTES, format_by_magic, is_parser_syntax
from onnx_lint.loader.text.outer_names import resembles_message
from onnx_lint.loader.text.text_tokens import with_comments_as
from onnx_lint.reporters.escape import shown_path


def check_reports(paths: Iterable[str | None], used: Iterable[str]) -> None:
    """Raise RequestError if a report would overwrite a model, or a file that the run uses.

    `paths`: where the reports go, None for standard output. `used`: the paths that the run reads.
    """
    written = {path: os.path.realpath(path) for path in paths if path is not None}
    if not written:
        return
    known = {os.path.realpath(path) for path in filter(is_local, used)}
    for path, target in written.items():
        if target in known:
            raise RequestError(f"the report would overwrite {path!r}, which the run itself uses")
        reason = why_protected(path, target)
        if reason is not None:
            raise RequestError(f"the report would overwrite {path!r}, which {reason}")


def why_protected(path: str, target: str) -> str | None:
    """Return why a report must not be written to `path`, None if it may. `target`: the path without links."""
    if _leads_out(path, target):
        return f"is a link out of its folder, to {shown_path(target)}"
    if not os.path.isfile(target):
        return None
    if target.lower().endswith(MODEL_SUFFIXES):
        return "is a model by its name"
    try:
        with stream_of_regular(target) as stream:
            head = stream.read(HEAD_BYTES)
            stream.seek(0)
            text = _text_in(stream)
    except OSError:
        return "cannot be read, so it may be a model"
    foreign = format_by_magic(head)
    if foreign is not None:
        return f"is {foreign.name}"
    return "holds binary data" if text is None else _why_text_is_protected(text)


def _why_text_is_protected(text: str) -> str | None:
    if is_lfs_pointer(text.encode()):
        return "is a Git LFS pointer"
    is_model = is_parser_syntax(text) or resembles_message(text)
    return "is a model, or a part of one, in text form" if is_model else None


def _text_in(stream: BinaryIO) -> str | None:
    """Return the beginning of a text in UTF-8, with blanks and comments shortened; None for anything but text.

    A binary file may begin with text. So the stream is read to its end, or to the first byte that cannot be in a text.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    beginning = ""
    try:
        while piece := stream.read(TEXT_BYTES):
            if piece.translate(None, CONTROL_BYTES) != piece:
                return None
            text = decoder.decode(piece)
            if len(beginning) < TEXT_BYTES:
                beginning = _without_comments_and_blanks(beginning + text)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return None
    return beginning[:TEXT_BYTES]


def _without_comments_and_blanks(text: str) -> str:
    """Return the text with each run of blanks and of comments shortened to one character.

    A comment that is not finished at the end of the text stays a comment.
    """
    short = with_comments_as("#", text)
    return re.sub(_BLANKS, lambda found: "\n" if "\n" in found[0] else " ", re.sub(_COMMENTS, "#", short))


_BLANKS: Final = r"\s{2,}+"
_COMMENTS: Final = r"(?m)#$(?:\s++#$)++"
"""Consecutive comments, each of which has been replaced by `#`."""


def _leads_out(path: str, target: str) -> bool:
    """Return whether a path is a link out of its folder. Links to streams and to the null device do not count."""
    folder = os.path.realpath(os.path.dirname(path))
    is_inside = target.startswith(os.path.join(folder, ""))
    is_null = target == os.path.realpath(os.devnull)
    return not (is_inside or is_null or folder == _DEVICES or descriptor_of(path) is not None)


def descriptor_of(path: str) -> int | None:
    """Return the number of the open file that a path such as `/dev/stdout` or `/dev/fd/3` names; None for others.

    A link to such a path does not count, since a stranger may have made it.
    """
    if path in _STREAMS:
        return _STREAMS[path]
    found = re.fullmatch(r"(?:/dev|/proc/self)/fd/(\d+)", path)
    return int(found[1]) if found is not None else None


_DEVICES: Final = "/dev"
_STREAMS: Final = {"/dev/stdout": 1, "/dev/stderr": 2}


def check_data(path: str, model: str, locations: Iterable[str]) -> None:
    """Raise OutputError if a report would overwrite the external data at one of the locations of a local model."""
    target = os.path.realpath(path)
    folder = os.path.dirname(model)
    if not is_remote(model) and any(os.path.realpath(os.path.join(folder, name)) == target for name in locations):
        raise OutputError(f"{shown_path(path)}: is external data of {shown_path(model)}; it was not changed")

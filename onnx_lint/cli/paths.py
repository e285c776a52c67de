# SPDX-License-Identifier: Apache-2.0
"""Which files a run is about."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from onnx_lint.wording import nearest, quote

MODEL_SUFFIXES: Final = (".onnx", ".textproto", ".txtpb", ".pbtxt")
"""What is looked for in directories. A file that is named is linted whatever its suffix."""

_MAX_NEIGHBOURS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Input:
    """A file to lint, or a path that leads to none."""

    path: str
    problem: str | None = None
    """Why there is nothing to lint."""


def find_inputs(paths: Iterable[str]) -> list[Input]:
    """The inputs in the given order, those of a directory sorted, each once."""
    found: dict[str, Input] = {}
    for path in paths:
        inputs = _in_directory(path) if path != "-" and os.path.isdir(path) else [Input(path)]  # noqa: PTH112 - a str
        for item in inputs:
            found.setdefault(item.path if item.path == "-" else os.path.abspath(item.path), item)  # noqa: PTH100 - as above
    return list(found.values())


def _in_directory(path: str) -> list[Input]:
    inputs = list(_walk(path))
    if not inputs:
        wanted = ", ".join(f"*{suffix}" for suffix in MODEL_SUFFIXES)
        return [Input(path, f"{path}: no model in this directory; looked for {wanted}")]
    return inputs


def _walk(path: str) -> Iterator[Input]:
    """The models below a directory, hidden directories (of version control, of environments) left out."""
    unreadable: list[Input] = []

    def note(error: OSError) -> None:
        unreadable.append(Input(os.fspath(error.filename), f"{error.filename}: {error.strerror}"))

    for folder, folders, files in os.walk(path, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.lower().endswith(MODEL_SUFFIXES):
                yield Input(os.path.join(folder, name))  # noqa: PTH118 - pathlib would drop a leading ./
    yield from unreadable


def hint_for_missing(path: str, commands: Iterable[str]) -> str:
    """What a path that does not exist may have been meant to be: a command, or a file beside it; empty when unknown."""
    folder, name = os.path.split(path)
    if not folder:
        command = nearest(name, commands)
        if command is not None:
            return f"; did you mean the command {quote(command)}?"
    try:
        with os.scandir(folder or ".") as entries:
            neighbours = [entry.name for entry, _ in zip(entries, range(_MAX_NEIGHBOURS), strict=False)]
    except (OSError, ValueError):
        return ""
    near = nearest(name, sorted(neighbours))
    return f"; did you mean {quote(os.path.join(folder, near))}?" if near is not None else ""  # noqa: PTH118 - a str

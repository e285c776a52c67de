# SPDX-License-Identifier: Apache-2.0
"""Finds the files that a run checks."""

from __future__ import annotations

import errno
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.cli.request import STANDARD_INPUT, refuse_ambiguous_input
from onnx_lint.common.record import Record, replace
from onnx_lint.configuration.errors import RequestError, RunError
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.locations import (
    MODEL_SUFFIXES,
    SHARED_SUFFIXES,
    is_local,
    is_remote,
    is_web,
    names_object,
    shown_location,
)
from onnx_lint.input.regular_file import read_beginning, read_regular
from onnx_lint.wording import nearest, quote

if TYPE_CHECKING:
    from onnx_lint.configuration.settings import Request

_MAGIC: Final = frozenset("*?[")
_ANY_FOLDERS: Final = "**"
_MAX_NEIGHBOURS: Final = 10_000
_MAX_LIST: Final = 1 << 26
"""The largest list of paths, in bytes."""

_MAX_NAMES: Final = 2_000_000
"""The most paths in a list: each takes some 300 bytes of memory, however short it is."""


class Input(Record):
    """A file to lint, or a path without a file."""

    path: str
    problem: str | None = None
    """Why there is nothing to lint."""
    name: str | None = None
    """The name to report if it differs from the path: an address without credentials."""
    listed: tuple[str, int] | None = None
    """The version and size of a stored object in the listing of its store; None if the listing has none."""

    @property
    def reported_path(self) -> str:
        """The path in the report."""
        return self.name or self.path

    def named(self, request: Request) -> Input:
        """Return the input with the name that the request gives it if it is standard input."""
        return replace(self, name=request.stdin_filename) if self.path == STANDARD_INPUT else self


class Exclusion:
    """The globs, as `input.globs` defines them, of the files to leave out."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self.patterns = tuple(patterns)

    def covers(self, path: str) -> bool:
        """Return whether the path, or a directory that it names, matches one of the globs."""
        if not self.patterns:
            return False
        from onnx_lint.input.globs import matches

        parts = [path]
        if is_remote(path):
            while (path := path.rpartition("/")[0]) and not path.endswith(":/"):
                parts.append(path)
        while not os.path.isabs(path) and (path := os.path.dirname(path)) not in {"", ".", ".."}:
            parts.append(path)
        here = os.getcwd()
        return any(matches(each.rstrip("/"), part, here) for each in self.patterns for part in parts)


def paths_of(request: Request) -> Iterable[str]:
    """Return the paths of a request: those of the command line, then those of `--files-from`.

    Raises RunError if the list cannot be read, or if `-` is among them and a file has this name; and RequestError if
    there are no paths, unless that is allowed.
    """
    if request.files_from is None:
        refuse_ambiguous_input(request.paths)
        return request.paths
    listed = _listed(request.files_from)
    if request.skip_missing:
        listed = [path for path in listed if _is_there(path)]
    paths = (*request.paths, *listed)
    if not paths and not request.allow_no_input:
        which = " that exists" if request.skip_missing else ""
        raise RequestError(f"--files-from {request.files_from!r} names no path{which}; --allow-no-input allows that")
    refuse_ambiguous_input(paths)
    return paths


def _listed(file: str) -> list[str]:
    """Return the paths in a list, which is a file, or standard input for `-`. Raises RunError if it cannot be read."""
    name = "standard input" if file == "-" else file
    try:
        data = _standard_input() if file == "-" else read_regular(file, _MAX_LIST)
    except (OSError, ValueError, AttributeError) as error:  # AttributeError: standard input is closed
        raise RunError(f"{name}: {getattr(error, 'strerror', None) or 'cannot be read'}") from error
    has_nul = b"\0" in data
    separators = data.count(b"\0") if has_nul else max(data.count(b"\n"), data.count(b"\r"))
    if separators > _MAX_NAMES:
        raise RunError(f"{name}: lists more than {_MAX_NAMES:,} paths, the most for one run")
    lines = data.split(b"\0") if has_nul else data.splitlines()
    return [os.fsdecode(line) for line in lines if line]


def _standard_input() -> bytes:
    """Return what is on standard input. Raises OSError if it is larger than a list may be, as it may never end."""
    data = sys.stdin.buffer.read(_MAX_LIST + 1)
    if len(data) > _MAX_LIST:
        raise OSError(errno.EFBIG, f"is larger than {_MAX_LIST:,} bytes")
    return data


def _is_there(path: str) -> bool:
    """Return whether a path is not that of a missing file. A store is not asked before its turn."""
    if not is_local(path) or os.path.lexists(path):
        return True
    return not _MAGIC.isdisjoint(path) and bool(expanded(path)[0])


def find_inputs(
    paths: Iterable[str],
    exclude: Exclusion | None = None,
    *,
    may_be_none: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Input]:
    """Return the inputs in the given order, each once; those of a directory or a glob are sorted.

    A path with `*`, `?` or `[` that is not a file is a glob, in which `**` matches any directories. Neither `**` nor
    the search through a directory follows links to directories. A path is left out if `exclude` covers it or a
    directory above it. If nothing is left of all paths, the first path has that problem, unless `may_be_none`.
    `limits`: those on listing a store. Addresses that reports show in the same way are numbered from the second one on.
    """
    exclude = exclude or Exclusion()
    found: dict[str, Input] = {}
    first = ""
    for path in paths:
        first = first or path
        for item in _inputs(path, exclude, limits):
            if item.problem is None and item.path != "-" and exclude.covers(item.reported_path):
                continue
            found.setdefault(os.path.abspath(item.path) if is_local(item.path) else item.path, item)
    if found or may_be_none:
        return _numbered(found.values())
    first = shown_location(first)
    return [Input(first, f"{first}: every file is excluded")]


def _numbered(inputs: Iterable[Input]) -> list[Input]:
    """Return the inputs, with `#N` added to equal names of web addresses. Names have no fragment yet."""
    seen: Counter[str] = Counter()
    numbered = []
    for item in inputs:
        name = item.reported_path
        if is_web(name):
            seen[name] += 1
            if seen[name] > 1:
                item = replace(item, name=f"{name}#{seen[name]}")
        numbered.append(item)
    return numbered


def _inputs(path: str, exclude: Exclusion, limits: Limits) -> Iterator[Input]:
    if path == "-":
        yield Input(path)
    elif is_remote(path):
        yield from _in_store(path, limits)
    elif os.path.isdir(path):
        yield from _in_directory(path, exclude)
    elif not _MAGIC.isdisjoint(path) and not os.path.lexists(path):
        yield from _in_glob(path, exclude)
    else:
        yield Input(path)


def _in_store(address: str, limits: Limits) -> Iterator[Input]:
    """Yield the objects below an address. The address of one object is not accessed before it is linted."""
    shown = shown_location(address)
    if names_object(address):
        yield Input(address, name=shown)
        return
    from onnx_lint.remote import RemoteError, listed

    try:
        objects = list(listed(address, limits))
    except RemoteError as error:
        yield Input(address, str(error), shown)
        return
    if not objects:
        wanted = ", ".join(f"*{suffix}" for suffix in MODEL_SUFFIXES)
        yield Input(address, f"{shown}: no model below this address; looked for {wanted}", shown)
    for found in objects:
        yield Input(found.address, name=found.url, listed=found.identity)


def _in_glob(pattern: str, exclude: Exclusion) -> list[Input]:
    """Return the inputs that the glob matches: files as if they were named, and the models in directories."""
    matched, unreadable = expanded(pattern)
    any_file = pattern.endswith("**")
    inputs: list[Input] = []
    for path in matched:
        if os.path.isdir(path):
            inputs += _walk(path, exclude)
        elif not any_file or _is_model(path):
            inputs.append(Input(path))
    inputs += unreadable
    if not inputs and not (exclude.patterns and matched):
        inputs.append(Input(pattern, f"{pattern}: no model matches"))
    return inputs


def expanded(pattern: str) -> tuple[list[str], list[Input]]:
    """Return the existing paths that match, sorted, and the folders below `**` that cannot be listed.

    `**` between slashes matches any number of folders, and at the end any files below. It follows no links, so that a
    search ends, and skips folders whose name begins with a dot. Any other name that begins with a dot matches only a
    pattern that begins with a dot.
    """
    import glob

    names = pattern.replace(os.sep, "/").split("/")
    if _ANY_FOLDERS not in names:
        return sorted(glob.glob(pattern)), []
    before = names.index(_ANY_FOLDERS)
    rest = [os.path.normcase(name) for name in names[before:] if name]
    start = "".join(f"{name}/" for name in names[:before])
    found: set[str] = set()
    unreadable: list[Input] = []
    for top in glob.glob(start) if start else [""]:
        found.update(_matching_below(top, rest, unreadable))
    return sorted(found), sorted(unreadable, key=lambda item: item.path)


def _matching_below(top: str, names: Sequence[str], unreadable: list[Input]) -> Iterator[str]:
    """Yield the paths below a folder that match `names`, which begin with `**`. "" is the working directory."""
    from onnx_lint.input.globs import matches_text

    pattern, last = "/".join(names), names[-1]
    for folder, folders, files in os.walk(top or ".", onerror=_noting(unreadable)):
        folders[:] = [name for name in folders if not os.path.islink(os.path.join(folder, name))]
        for name in files if last == _ANY_FOLDERS else (*files, *folders):
            path = os.path.join(folder, name)[0 if top else len("./") :]
            below = os.path.normcase(path[len(top) :]).replace(os.sep, "/")
            is_meant = not name.startswith(".") or last.startswith((".", _ANY_FOLDERS))
            if is_meant and matches_text(pattern, below):
                yield path
        folders[:] = [name for name in folders if not name.startswith(".")]


def _noting(unreadable: list[Input]) -> Callable[[OSError], None]:
    """Return the function that adds a folder that cannot be listed."""

    def note(error: OSError) -> None:
        unreadable.append(Input(os.fspath(error.filename), f"{error.filename}: {error.strerror}"))

    return note


def _in_directory(path: str, exclude: Exclusion) -> Iterator[Input]:
    inputs = list(_walk(path, exclude))
    # To exclude all models is a choice; a directory without models is a mistake.
    if inputs or (exclude.patterns and any(True for _ in _walk(path, Exclusion()))):
        yield from inputs
        return
    wanted = ", ".join(f"*{suffix}" for suffix in MODEL_SUFFIXES)
    others = f"*{SHARED_SUFFIXES[0]} and *{SHARED_SUFFIXES[1]} that begin like a model"
    yield Input(path, f"{path}: no model in this directory; looked for {wanted}, and for {others}")


def _walk(path: str, exclude: Exclusion) -> Iterator[Input]:
    """Yield the models below a directory, without hidden directories (version control, environments)."""
    unreadable: list[Input] = []
    for folder, folders, files in os.walk(path, onerror=_noting(unreadable)):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and not exclude.covers(os.path.join(folder, name))
        )
        for name in sorted(files):
            file = os.path.join(folder, name)  # pathlib would drop a leading ./
            if _is_model(file):
                yield Input(file)
    yield from unreadable


def _is_model(path: str) -> bool:
    """Return whether a file in a directory is a model by its name, or by its beginning if others have such names."""
    name = path.lower()
    if not name.endswith(SHARED_SUFFIXES):
        return name.endswith(MODEL_SUFFIXES)
    from onnx_lint.loader.identity.identify import TEXT_BYTES, is_parser_syntax
    from onnx_lint.loader.text.outer_names import begins_like_message

    try:
        beginning = read_beginning(path, TEXT_BYTES).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return False
    return is_parser_syntax(beginning) or begins_like_message(beginning)


def hint_for_missing(path: str, commands: Iterable[str]) -> str:
    """Return a suggestion for a path that does not exist: a command, or a file in the same folder; empty if none."""
    folder, name = os.path.split(path)
    if not folder:
        from onnx_lint.cli.other_linters import WRITTEN_FOR

        if name in WRITTEN_FOR:
            return f"; write {WRITTEN_FOR[name]}"
        if name in commands:
            return f"; a command stands before all options: onnx-lint {name} [OPTIONS] PATH..."
        command = nearest(name, commands)
        if command is not None:
            return f"; did you mean the command {quote(command)}?"
    try:
        with os.scandir(folder or ".") as entries:
            neighbours = [entry.name for entry, _ in zip(entries, range(_MAX_NEIGHBOURS), strict=False)]
    except (OSError, ValueError):
        return ""
    near = nearest(name, sorted(neighbours))
    return f"; did you mean {quote(os.path.join(folder, near))}?" if near is not None else ""

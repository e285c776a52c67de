# SPDX-License-Identifier: Apache-2.0
"""The exceptions that the analyses of a model raised: each is a bug in onnx-lint and costs as little as possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from onnx_lint.common.memory import is_lack_of_memory
from onnx_lint.common.record import Record
from onnx_lint.input.source import ReadError
from onnx_lint.ir.places.place import Place

if TYPE_CHECKING:
    from types import TracebackType

    from onnx_lint.ir.graph import Node


def is_bug(error: BaseException) -> bool:
    """Return whether an exception is a bug. An unreadable file, lack of memory and Ctrl-C are not bugs."""
    return isinstance(error, Exception) and not isinstance(error, ReadError) and not is_lack_of_memory(error)


def is_lack_of_numpy(error: BaseException) -> bool:
    """Return whether an exception is that numpy cannot be imported, as in WebAssembly without its wheel."""
    return isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "numpy"


def true_if_it_crashes(look: Callable[[], object]) -> bool:
    """Return whether `look` finds anything.

    Also True if a bug ends it: the caller's closer look meets the bug again.
    """
    try:
        return bool(look())
    except Exception as error:
        if not is_bug(error):
            raise
        return True


class Crash(Record):
    """An exception as text. The exception itself would keep the model and its file in memory."""

    exception: str
    """Type and message."""
    traceback: str
    origin: tuple[str, str, int]
    """The type of the exception, and the file and line that raised it: two crashes of one origin are the same bug."""
    lacks_numpy: bool = False
    """True if it is no bug: numpy is needed, and cannot be imported."""


def crash_of(error: Exception) -> Crash:
    """Return the exception as a crash. Raises it again if it is not a bug."""
    if not is_bug(error):
        raise error
    import traceback

    last, place = error.__traceback__, ("", 0)
    while last is not None:
        place = last.tb_frame.f_code.co_filename, last.tb_lineno
        last = last.tb_next
    text = "".join(traceback.format_exception(error))
    return Crash(f"{type(error).__name__}: {error}", text, (type(error).__name__, *place), is_lack_of_numpy(error))


class CrashSite:
    """A crash, and the nodes at which it happened."""

    def __init__(self, crash: Crash, work: str, operator: str | None, node: str | None, place: Place | None) -> None:
        self.crash = crash
        self.work = work
        """The work during which it occurred, such as `inferring types and shapes`."""
        self.operator = operator
        """The operator of the nodes; None for a crash that no node caused."""
        self.node = node
        """The first node in words."""
        self.place = place
        """The first node, or the graph."""
        self.seen: set[tuple[int, int]] = set()
        """The nodes, as identities of graphs and indices."""


class Crashes:
    """The crashes of the analyses of one model, each bug once for each operator."""

    def __init__(self) -> None:
        self._sites: dict[tuple[object, ...], CrashSite] = {}

    def __iter__(self) -> Iterator[CrashSite]:
        return iter(self._sites.values())

    def __len__(self) -> int:
        return len(self._sites)

    def note(self, crash: Crash, work: str, where: Node | Place | None = None) -> None:
        """Note a crash at a node, or at a graph or a part of it outside of nodes, or without a place."""
        if where is None or isinstance(where, Place):
            self._sites.setdefault((None, crash.origin), CrashSite(crash, work, None, None, where))
            return
        operator = f"{where.domain}::{where.op_type}" if where.domain else where.op_type
        key = operator, crash.origin
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = CrashSite(crash, work, operator, where.describe(), where.place)
        site.seen.add((id(where.graph), where.index))

    def at(self, work: str, where: Node | Place | Callable[[], Node | Place] | None = None) -> Boundary:
        """Return the context in which a bug is noted, and is not raised further.

        `where`: as in `note`, or a function that finds it, which is called after a bug.
        """
        return Boundary(lambda crash: self.note(crash, work, where() if callable(where) else where))


class Boundary:
    """A context that no bug leaves."""

    def __init__(self, note: Callable[[Crash], None]) -> None:
        self._note = note

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        """Note an exception that is a bug; return whether it is not raised further."""
        if not isinstance(error, Exception) or not is_bug(error):
            return False
        self._note(crash_of(error))
        return True

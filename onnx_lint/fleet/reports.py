# SPDX-License-Identifier: Apache-2.0
"""The folder of a scan: what has landed so far, and the report that is made of it when all models are done.

    REPORTS/scan.json           what is scanned, by which settings; a scan with others does not go on here
    REPORTS/landing/000001/     a shard of what has come since the scan was started, in the order in which it came
    REPORTS/report/00000/       the same in the order of the paths, a thousand models in a shard
    REPORTS/report/report.json  that the report is whole, and of what

A shard has `files.jsonl`, `findings.jsonl`, and tables of both where pyarrow is installed (`fleet.shards`).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.head import FORMAT, SCAN, VERSION, check_same, head_in
from onnx_lint.fleet.jobs import Outcome
from onnx_lint.fleet.shards import (
    Place,
    Records,
    holds,
    read_records,
    records_in,
    shards_in,
    sync_folder,
    write_shard,
    write_whole,
)
from onnx_lint.report import OWN_ERRORS
from onnx_lint.reporters.escape import visible

T = TypeVar("T")

MODELS_OF_A_SHARD: Final = 1_000

_REPORT: Final = "report.json"
_LOCK: Final = "lock"
_ASIDE: Final = "removed"
"""What a folder is called while it is removed: at no time is there half of one under its own name."""
_OWN: Final = frozenset({SCAN, _LOCK, "landing", "report", "report.next", "report.old", _ASIDE, SCAN + ".tmp"})

_TRIES: Final = 5
_WAIT_SECONDS: Final = 0.2


class Entry(NamedTuple):
    """What is known of a model."""

    identity: str
    """The identity of the object as JSON."""
    settled: bool
    """Whether there is a verdict that need not be asked for again."""
    place: Place


class Reports:
    """A folder of reports. `entries` are the models in it by path, the newest word on each."""

    def __init__(self, folder: str, head: dict[str, Any]) -> None:
        self.folder = folder
        self.head = head
        """What stands in `scan.json`."""
        self.entries: dict[str, Entry] = {}
        self._landing = os.path.join(folder, "landing")
        self._report = _whole_report(folder)
        self._turn = 0
        """That of the last shard that has landed and is known."""
        for shard in shards_in(self._report):
            self.entries.update(_entries_of(shard))
        self._catch_up()

    @property
    def has_landed(self) -> bool:
        """Whether anything has come that is not in the report yet."""
        return self._turn > 0

    @property
    def is_whole(self) -> bool:
        """Whether the last scan came to its end."""
        return not self.has_landed and os.path.exists(os.path.join(self._report, _REPORT))

    def identity_of(self, path: str) -> str | None:
        """The identity of the object of which there is a verdict; None where there is none."""
        entry = self.entries.get(path)
        return entry.identity if entry is not None and entry.settled else None

    def records(self) -> Iterator[tuple[str, Records]]:
        """The records of all models, in the order of their paths. Raises FleetError where they cannot be read."""
        for path in sorted(self.entries):
            records = self.records_of(path)
            assert records is not None
            yield path, records

    def records_of(self, path: str) -> Records | None:
        """The records of one model; None where it is not known. Raises FleetError as above."""
        entry = self.entries.get(path)
        try:
            return read_records(entry.place) if entry is not None else None
        except OSError as error:
            raise FleetError(f"{visible(self.folder)}: {error.strerror}") from error

    def land(self, outcomes: Sequence[Outcome]) -> None:
        """Write a shard of outcomes. Raises OSError where it cannot be written.

        An interrupt may come at any step of it: then the shard is there whole or not at all, and the same outcomes may
        be landed again, of which then nothing is written twice.
        """
        if not outcomes:
            return
        os.makedirs(self._landing, exist_ok=True)
        self._catch_up()
        records = [(item.file, item.findings) for item in outcomes]
        if not self._turn or not holds(os.path.join(self._landing, _name_of(self._turn)), records):
            write_shard(self._landing, _name_of(self._turn + 1), records)
            self._catch_up()

    def _catch_up(self) -> None:
        """Know of the shards that have landed since."""
        for shard in shards_in(self._landing):
            turn = _turn_of(shard)
            if turn > self._turn:
                self.entries.update(_entries_of(shard))
                self._turn = turn

    def finish(self, paths: Iterable[str]) -> None:
        """Make the report of the models at `paths`, all of which are known, and forget others.

        What there was before stays in place until it is written. Raises OSError where that fails.
        """
        wanted = sorted(set(paths))
        if self.is_whole and wanted == sorted(self.entries):
            return
        following = os.path.join(self.folder, "report.next")
        _remove(self.folder, "report.next")
        os.makedirs(following)
        rest, count = iter(wanted), 0
        while batch := list(islice(rest, MODELS_OF_A_SHARD)):
            write_shard(following, f"{count:05}", (read_records(self.entries[path].place) for path in batch))
            count += 1
        said = {"format": FORMAT, "version": VERSION, "tool": self.head["tool"], "models": len(wanted), "shards": count}
        write_whole(os.path.join(following, _REPORT), _json(said))
        sync_folder(following)
        self._put_in_place()
        entries: dict[str, Entry] = {}
        for shard in shards_in(self._report):
            entries.update(_entries_of(shard))
        self.entries, self._turn = entries, 0

    def _put_in_place(self) -> None:
        """Make what is written the report. Where this is broken off, `_recover` goes on with it."""
        following, former = (os.path.join(self.folder, f"report.{name}") for name in ("next", "old"))
        _remove(self.folder, "report.old")
        report = os.path.join(self.folder, "report")
        if os.path.exists(report):
            os.rename(report, former)
        os.rename(following, report)
        sync_folder(self.folder)
        for name in ("landing", "report.old"):
            _remove(self.folder, name)


def _entries_of(shard: str) -> dict[str, Entry]:
    """What stands in a shard, by path. Raises FleetError for one that is damaged."""
    found = {}
    for record, place in records_in(shard):
        fell = any(error["rule"] == OWN_ERRORS for error in record["internal_errors"])
        identity = json.dumps(record["object"], sort_keys=True)
        found[record["path"]] = Entry(identity, record["unreadable"] is None and not fell, place)
    return found


def _remove(folder: str, name: str) -> None:
    """Remove a folder of the reports, if it is there. Raises OSError where it stays."""
    path, aside = os.path.join(folder, name), os.path.join(folder, _ASIDE)
    shutil.rmtree(aside, ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        os.rename(path, aside)
    shutil.rmtree(aside, ignore_errors=True)


def _whole_report(folder: str) -> str:
    """The folder of the report: that of the next or the last one where a scan was killed while it changed them."""
    found = os.path.join(folder, "report")
    if os.path.exists(found):
        return found
    others = (os.path.join(folder, f"report.{name}") for name in ("next", "old"))
    return next((other for other in others if os.path.exists(os.path.join(other, _REPORT))), found)


def _recover(folder: str) -> None:
    """Put the report into its place where a scan was killed while it changed them, and remove what it left over."""
    found = _whole_report(folder)
    if os.path.exists(found):
        os.rename(found, os.path.join(folder, "report"))
    for name in ("report.next", "report.old"):
        _remove(folder, name)


def _name_of(turn: int) -> str:
    return f"{turn:06}"


def _turn_of(shard: str) -> int:
    name = os.path.basename(shard)
    if not (name.isascii() and name.isdecimal() and int(name) and name == _name_of(int(name))):
        raise FleetError(f"{visible(shard)} is none of the folders that a scan makes")
    return int(name)


def open_to_read(folder: str) -> Reports:
    """The reports in a folder. Raises FleetError where it holds none, or damaged ones."""
    if not os.path.isdir(folder):
        raise FleetError(f"{visible(folder)}: {'is no folder' if os.path.lexists(folder) else 'is not there'}")
    head = head_in(folder)
    if head is None:
        raise FleetError(f"{visible(folder)} holds no reports of a scan")
    return Reports(folder, head)


def read_at_once(folders: Sequence[str], read: Callable[[list[Reports]], T]) -> T:
    """What `read` makes of the reports in some folders, each as it was at one time.

    A scan that is at its end puts the report in the place of the one before, and of what has landed; whoever reads
    meanwhile begins again. Raises FleetError as `open_to_read` does, and where there is no end to it.
    """
    for _ in range(_TRIES):
        before = list(map(_state_of, folders))
        try:
            found = read(list(map(open_to_read, folders)))
        except FleetError:
            if list(map(_state_of, folders)) == before:
                raise
        else:
            if list(map(_state_of, folders)) == before:
                return found
        time.sleep(_WAIT_SECONDS)
    shown = ", ".join(map(visible, folders))
    raise FleetError(f"{shown}: changed {_TRIES} times while the reports were read; is a scan going on?")


def _state_of(folder: str) -> list[tuple[int, int] | None]:
    """Which report is in a folder, and which folder for what lands; what lands beside other things changes neither."""
    return [_identity_of(os.path.join(folder, name)) for name in ("report", "landing")]


def _identity_of(path: str) -> tuple[int, int] | None:
    """What tells a folder from one that had the name before, and may have had its number."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    try:
        seal = os.stat(os.path.join(path, _REPORT)).st_mtime_ns
    except OSError:
        seal = 0
    return found.st_ino, seal


@contextlib.contextmanager
def open_to_scan(folder: str, head: dict[str, Any], *, anew: bool) -> Iterator[Reports]:
    """The reports in a folder for one scan at a time, described by `head`; the folder is made where there is none.

    `anew`: whether to forget what there is. Raises FleetError where something else is in it, another scan, or one that
    is under way.
    """
    try:
        _make(folder)
        with _locked(folder):
            known = head_in(folder)
            if known is not None and not anew:
                check_same(folder, known, head)
            if anew:
                for name in ("landing", "report.next", "report.old", "report"):
                    _remove(folder, name)
            _recover(folder)
            write_whole(os.path.join(folder, SCAN), _json(head))
            yield Reports(folder, head)
    except OSError as error:
        raise FleetError(f"{visible(folder)}: {error.strerror or error}") from error


def _make(folder: str) -> None:
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise FleetError(f"{visible(folder)}: is no folder")
    os.makedirs(folder, exist_ok=True)
    foreign = sorted(name for name in os.listdir(folder) if name not in _OWN)
    if foreign and not os.path.exists(os.path.join(folder, SCAN)):
        shown = visible(foreign[0])
        raise FleetError(f"{visible(folder)} holds other things, such as {shown}, and no reports of a scan")


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Hold the folder as long as this process lives."""
    import locket

    path = os.path.join(folder, _LOCK)
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        raise FleetError(f"{visible(path)} is none that a scan writes")  # to open it could wait, or empty another file
    lock = locket.lock_file(path, timeout=0)
    try:
        lock.acquire()
    except locket.LockError as error:
        raise FleetError(f"{visible(folder)}: another scan is writing to it") from error
    try:
        yield
    finally:
        lock.release()


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()

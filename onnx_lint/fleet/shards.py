# SPDX-License-Identifier: Apache-2.0
"""A shard: a folder with the records of some models, which is there whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO, Final, NamedTuple

from onnx_lint.fleet.checked import check_file, check_findings, parsed_json
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.tables import write_tables
from onnx_lint.input.regular_file import stream_of_regular
from onnx_lint.reporters.escape import visible

FILES: Final = "files.jsonl"
FINDINGS: Final = "findings.jsonl"
_SEAL: Final = "shard.json"
"""How many records there are, and the digests by which damage is found."""

_ASIDE: Final = ".tmp"
"""What the name of a folder ends with that is being written."""


class Place(NamedTuple):
    """Where the records of a model stand: the folder, and positions and lengths in its two files, in bytes."""

    shard: str
    file: tuple[int, int]
    findings: tuple[int, int]


Records = tuple[bytes, bytes]
"""The line of the file of a model, and those of its findings."""


def write_shard(folder: str, name: str, records: Iterable[Records]) -> str:
    """Write a shard aside, see that the disk has it, and give it its name; returns its folder.

    Raises OSError where it cannot be written; then there is nothing of it.
    """
    target, aside = os.path.join(folder, name), os.path.join(folder, name + _ASIDE)
    shutil.rmtree(aside, ignore_errors=True)
    try:
        os.makedirs(aside)
        seal: dict[str, Any] = {"models": 0, "findings": 0}
        with _Sealed(aside, FILES) as files, _Sealed(aside, FINDINGS) as findings:
            for file, found in records:
                files.write(file)
                findings.write(found)
                seal["models"] += 1
                seal["findings"] += found.count(b"\n")
        seal["sha256"] = {FILES: files.digest, FINDINGS: findings.digest}
        write_tables(aside, os.path.join(aside, FILES), os.path.join(aside, FINDINGS))
        write_whole(os.path.join(aside, _SEAL), (json.dumps(seal, indent=2) + "\n").encode())
        sync_folder(aside)
        os.rename(aside, target)
        sync_folder(folder)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return target


class _Sealed:
    """A file that is written to the disk, with the digest of what was written."""

    def __init__(self, folder: str, name: str) -> None:
        self._stream: BinaryIO = open(os.path.join(folder, name), "wb")  # noqa: SIM115 - closed by __exit__
        self._hash = hashlib.sha256()

    def __enter__(self) -> _Sealed:
        return self

    def write(self, data: bytes) -> None:
        self._stream.write(data)
        self._hash.update(data)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._stream:
            if kind is None:
                self._stream.flush()
                os.fsync(self._stream.fileno())

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


def write_whole(path: str, data: bytes) -> None:
    """Write a file aside, see that the disk has it, and give it its name."""
    aside = path + _ASIDE
    with contextlib.suppress(FileNotFoundError):
        os.unlink(aside)  # which may be a link, or a pipe that nobody reads
    try:
        with open(aside, "xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def sync_folder(folder: str) -> None:
    """See that the disk has the names in a folder, where the system can be asked to."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def shards_in(folder: str) -> list[str]:
    """The shards in a folder, in the order of their names; those that were being written are none."""
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.path
                for entry in entries
                if entry.is_dir() and not entry.name.endswith(_ASIDE) and not entry.name.startswith(".")
            )
    except FileNotFoundError:
        return []


def records_in(shard: str) -> Iterator[tuple[dict[str, Any], Place]]:
    """The record of each file in a shard, and where its records stand. Raises FleetError for a shard that is damaged.

    Everything is read and held against the digests before the first record is handed out.
    """
    try:
        with stream_of_regular(os.path.join(shard, _SEAL)) as stream:
            seal = parsed_json(stream.read())
        for name in (FILES, FINDINGS):
            with stream_of_regular(os.path.join(shard, name)) as stream:
                if hashlib.file_digest(stream, "sha256").hexdigest() != seal["sha256"][name]:
                    raise _damaged(shard, f"{name} is not as it was written")
        yield from _read(shard)
    except FileNotFoundError as error:
        raise _damaged(shard, f"{os.path.basename(error.filename)} is missing") from error
    except OSError as error:
        raise FleetError(f"{visible(shard)}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(shard, "its contents are none that a scan writes") from error


def _read(shard: str) -> Iterator[tuple[dict[str, Any], Place]]:
    position = finding = 0
    files_path, findings_path = (os.path.join(shard, name) for name in (FILES, FINDINGS))
    with stream_of_regular(files_path) as files, stream_of_regular(findings_path) as findings:
        for line in files:
            record = parsed_json(line)
            # A forged number of them ends with the file: no more lines are read than there are.
            found = list(islice(findings, check_file(record)))
            check_findings(record, [parsed_json(each) for each in found])
            length = sum(map(len, found))
            yield record, Place(shard, (position, len(line)), (finding, length))
            position += len(line)
            finding += length
        if findings.read(1):
            raise ValueError("findings of no file")


def read_records(place: Place) -> Records:
    """The records of one model."""
    with stream_of_regular(os.path.join(place.shard, FILES)) as stream:
        stream.seek(place.file[0])
        file = stream.read(place.file[1])
    if not place.findings[1]:
        return file, b""
    with stream_of_regular(os.path.join(place.shard, FINDINGS)) as stream:
        stream.seek(place.findings[0])
        return file, stream.read(place.findings[1])


def holds(shard: str, records: Sequence[Records]) -> bool:
    """Whether a shard has just these records. Raises OSError where it cannot be read."""
    for name, pieces in ((FILES, [file for file, _ in records]), (FINDINGS, [found for _, found in records])):
        path = os.path.join(shard, name)
        if os.path.getsize(path) != sum(map(len, pieces)):
            return False
        with stream_of_regular(path) as stream:
            if not all(stream.read(len(piece)) == piece for piece in pieces):
                return False
    return True


def _damaged(shard: str, why: str) -> FleetError:
    return FleetError(
        f"{visible(shard)} is damaged: {why}; without this folder a scan lints the models again that were in it"
    )

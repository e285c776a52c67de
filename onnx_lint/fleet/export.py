# SPDX-License-Identifier: Apache-2.0
"""Exports the results of scans for other programs: as JSON Lines, and as Parquet if pyarrow is installed."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO, Final

from onnx_lint.fleet.columns import FINDING_COLUMNS, MODEL_COLUMNS
from onnx_lint.fleet.database import Reports

_ROWS: Final = 10_000
"""The rows that are held in memory at a time."""


def export(scans: Sequence[Reports], folder: str) -> None:
    """Write all records, and the tables, of models and findings into a folder, in the order of the paths.

    Each file is replaced completely or not at all. Raises OSError if one cannot be written.
    """
    os.makedirs(folder, exist_ok=True)
    can_write_tables = importlib.util.find_spec("pyarrow") is not None
    for name, columns in (("models", MODEL_COLUMNS), ("findings", FINDING_COLUMNS)):
        with _replacing(os.path.join(folder, f"{name}.jsonl")) as stream:
            stream.writelines(record.encode() + b"\n" for (record,) in _rows(scans, name, ("record",)))
        if can_write_tables:
            with _replacing(os.path.join(folder, f"{name}.parquet")) as stream:
                _write_table(stream, columns, _rows(scans, name, columns))


def _rows(scans: Iterable[Reports], table: str, columns: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    listed = ", ".join(f'"{name}"' for name in columns)
    for reports in scans:
        ask = reports.connection.execute
        if table == "models":
            yield from ask(f"SELECT {listed} FROM models ORDER BY path")
            continue
        for (path,) in ask("SELECT path FROM models ORDER BY path"):
            yield from ask(f"SELECT {listed} FROM findings WHERE path = ? ORDER BY id", (path,))


def _write_table(stream: BinaryIO, columns: Mapping[str, str], rows: Iterator[tuple[Any, ...]]) -> None:
    import pyarrow
    import pyarrow.parquet

    kinds = {"TEXT": pyarrow.string(), "INTEGER": pyarrow.int64()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    with pyarrow.parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        while batch := list(islice(rows, _ROWS)):
            writer.write_table(pyarrow.table([list(column) for column in zip(*batch, strict=True)], schema=schema))


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    """Yield a stream whose content replaces the file at `path`, or the link, when all has been written."""
    aside = f"{path}.tmp"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(aside)
    try:
        with open(aside, "xb") as stream:
            yield stream
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise

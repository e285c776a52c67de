# SPDX-License-Identifier: Apache-2.0
"""Whether the records of a model are such as a scan writes: whoever reads them may rely on it.

Digests tell what was damaged by chance, and not what somebody wrote, or another version of onnx-lint.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from onnx_lint.fleet.tables import FILE_COLUMNS, FINDING_COLUMNS, file_row, finding_row
from onnx_lint.reporters.records import internal_error

LEVELS: Final = ("error", "warning", "note")

_FILE_NEEDS: Final = frozenset({"path", "version", "errors", "warnings", "notes"})
_FINDING_NEEDS: Final = frozenset({"path", "rule", "severity", "message", "place", "fingerprint"})
"""The columns that have a value in every record."""

_COUNTS: Final = frozenset(
    {"size", "errors", "warnings", "notes", "internal_errors", "nodes", "graphs", "functions", "judged_by", "count"}
)
"""The columns of numbers that are not negative."""

_MOST_DEEP: Final = 50
_TOO_DEEP: Final = "too many lists in one another"


def parsed_json(data: bytes) -> Any:
    """What JSON says. Raises ValueError where it is none.

    So it does for what no scan writes, and others fall over: lists in one another without end, and half a character.
    """
    try:
        value = json.loads(data)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if data.count(b"[") + data.count(b"{") > _MOST_DEEP:
        _check_depth(value, _MOST_DEEP)
    if b"\\uD" in data or b"\\ud" in data:
        json.dumps(value, ensure_ascii=False).encode()  # which raises UnicodeEncodeError for one half alone
    return value


def _check_depth(value: Any, most: int) -> None:
    if not most:
        raise ValueError(_TOO_DEEP)
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(each, (dict, list)):
            _check_depth(each, most - 1)


def check_file(file: Mapping[str, Any]) -> int:
    """How many findings a file has, by its record. Raises ValueError, KeyError, TypeError or AttributeError where the
    record is none that a scan writes.
    """
    row = file_row(file)
    _check_row(row, FILE_COLUMNS, _FILE_NEEDS)
    if not all(value is None or isinstance(value, (str, int)) for value in file["object"].values()):
        raise ValueError("what tells the object from others is none of that")
    texts: list[Any] = []
    for error in map(internal_error, file["internal_errors"]):
        texts += [error.rule, error.exception, error.traceback, *error.not_run]
        texts += [text for text in (error.work, error.operator, error.node, error.place) if text is not None]
        if type(error.nodes) is not int or error.nodes < 0:
            raise ValueError("a number of nodes is none")
    if "specification" in file:
        texts += [file["specification"][name] for name in ("edition", "variant")]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a text is none")
    return int(row["errors"] + row["warnings"] + row["notes"])


def check_findings(file: Mapping[str, Any], findings: Sequence[Mapping[str, Any]]) -> None:
    """Raise one of these errors unless the findings are such as a scan writes, and those of the file."""
    for finding in findings:
        _check_row(finding_row(finding), FINDING_COLUMNS, _FINDING_NEEDS)
        if finding["path"] != file["path"]:
            raise ValueError("a finding is of another file")
    levels = dict(Counter(finding["severity"] for finding in findings))
    if levels != {level: count for level in LEVELS if (count := file["summary"][f"{level}s"])}:
        raise ValueError("the findings are not as many as their file has")


def _check_row(row: Mapping[str, Any], columns: Mapping[str, str], needed: frozenset[str]) -> None:
    for name, value in row.items():
        kind = type(value)
        if kind is int:
            is_right = columns[name] == "int64" and (0 if name in _COUNTS else -(1 << 63)) <= value < 1 << 63
        else:
            is_right = columns[name] == "string" if kind is str else value is None and name not in needed
        if not is_right:
            raise ValueError(f"{name} has another value")

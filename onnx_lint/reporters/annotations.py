# SPDX-License-Identifier: Apache-2.0
"""The annotations that follow a text report in the log of a GitHub workflow: at most ten, the most severe first."""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from typing import Final, TextIO

from onnx_lint.common.record import Record
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.totals import Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.github import (
    MAX_OF_A_KIND,
    MAX_OF_A_TYPE,
    Annotation,
    annotations_of,
    format_command,
    log_line,
)
from onnx_lint.reporters.uri import default_root
from onnx_lint.wording import counted

_RANKS: Final = ("error", "warning", "notice")


class _Ranked(Record):
    """An annotation, and the keys that sort it."""

    type_rank: int
    is_further: bool
    """True if the file has enough annotations of its rule and clause before it."""
    annotation: Annotation


class Writer:
    """Keeps the most severe annotations, and counts the findings without one.

    Of one severity, the first findings of each rule and clause in a file come before further ones, see `MAX_OF_A_KIND`.
    """

    def __init__(self, _head: Report, stream: TextIO, options: Options, count: int) -> None:
        self._stream = stream
        self._root = options.root or default_root()
        self._of_a_kind = MAX_OF_A_KIND if count <= 1 else 1
        self._kept: list[_Ranked] = []
        self._count = 0

    def file(self, file: FileReport) -> None:
        """Keep the annotations of the file that are among the most severe ones."""
        seen: Counter[str] = Counter()
        for item in annotations_of(file, self._root):
            self._count += 1
            seen[item.kind] += 1
            self._kept.append(_Ranked(_RANKS.index(item.type), seen[item.kind] > self._of_a_kind, item))
            if len(self._kept) > 2 * MAX_OF_A_TYPE:
                self._drop_others()

    def _drop_others(self) -> None:
        """Keep only the annotations that are written."""
        self._kept = sorted(self._kept, key=attrgetter("type_rank", "is_further"))[:MAX_OF_A_TYPE]

    def end(self, report: Report) -> None:
        """Write the annotations, and how many findings have none."""
        self._drop_others()
        self._stream.writelines(format_command(each.annotation) for each in self._kept)
        if left_out := self._count - len(self._kept):
            have = "has" if left_out == 1 else "have"
            self._stream.write(log_line(f"{counted(left_out, 'more finding')} {have} no annotation"))

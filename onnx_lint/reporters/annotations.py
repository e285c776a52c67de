# SPDX-License-Identifier: Apache-2.0
"""The annotations that follow a text report in the log of a GitHub workflow: at most ten, the most severe first."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import Final, TextIO

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


class Writer:
    """Keeps the most severe annotations, and counts the findings without one.

    Of one severity, the first findings of each rule and clause in a file come before further ones, see `MAX_OF_A_KIND`.
    """

    def __init__(self, _head: Report, stream: TextIO, options: Options, count: int) -> None:
        self._stream = stream
        self._root = options.root or default_root()
        self._of_a_kind = MAX_OF_A_KIND if count <= 1 else 1
        self._kept: list[tuple[int, bool, Annotation]] = []
        """The annotations, each after the rank of its type, and whether enough others are of its kind."""
        self._count = 0

    def file(self, file: FileReport) -> None:
        """Keep the annotations of the file that are among the most severe ones."""
        seen: Counter[str] = Counter()
        for item in annotations_of(file, self._root):
            self._count += 1
            seen[item.kind] += 1
            self._kept.append((_RANKS.index(item.type), seen[item.kind] > self._of_a_kind, item))
            if len(self._kept) > 2 * MAX_OF_A_TYPE:
                self._drop_others()

    def _drop_others(self) -> None:
        """Keep only the annotations that are written."""
        self._kept = sorted(self._kept, key=itemgetter(0, 1))[:MAX_OF_A_TYPE]

    def end(self, report: Report) -> None:
        """Write the annotations, and how many findings have none."""
        self._drop_others()
        self._stream.writelines(format_command(item) for _, _, item in self._kept)
        if left_out := self._count - len(self._kept):
            have = "has" if left_out == 1 else "have"
            self._stream.write(log_line(f"{counted(left_out, 'more finding')} {have} no annotation"))

# SPDX-License-Identifier: Apache-2.0
"""What is known of a program, release or version of `--target`, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.engine.settings import Settings
from onnx_lint.report.file_report import TargetVerdict

_MAX_REASONS: Final = 5
"""The most reasons of an unknown answer, and the most clauses in one of them."""


class TargetAnswer(Enum):
    """What a target does with a model, or with a model that has a finding. The value is `TargetVerdict.loads`."""

    LOADS = True
    REFUSES = False
    UNKNOWN = None


class TargetState(Record):
    """What is known of a program, of a release or of a version."""

    answer: TargetAnswer
    words: str
    """The answer in words."""
    reason: str = ""
    """Why the answer is unknown, see `TargetVerdict.reason`."""

    def verdict(
        self, program: str, settings: Settings, *, verb: str, basis: str = "", suffix: str = ""
    ) -> TargetVerdict:
        """Return the verdict for a program or version. The other parameters are fields of `TargetVerdict`.

        An unknown answer may fail the run. If the target refuses the model, a finding fails the run.
        """
        return TargetVerdict(
            program=program,
            loads=self.answer.value,
            answer=self.words,
            reason=self.reason,
            fails_run=self.answer is TargetAnswer.UNKNOWN and settings.target_gate == "unproven",
            verb=verb,
            basis=basis,
            suffix=suffix,
        )


def unknown_for(reason: str) -> TargetState:
    """Return the state whose answer is unknown for a reason, which is the answer in words as well."""
    return TargetState(TargetAnswer.UNKNOWN, words=reason, reason=reason)


def not_run(rule: str) -> str:
    """Return the reason that the rule which judges a part of the model did not run."""
    return f"the rule {rule} did not run"


def shortened(parts: Sequence[str]) -> Sequence[str]:
    """Return the first parts, and how many more there are: a file may name thousands of domains."""
    hidden = len(parts) - _MAX_REASONS
    return parts if hidden <= 0 else [*parts[:_MAX_REASONS], f"{hidden:,} more"]

# SPDX-License-Identifier: Apache-2.0
"""The releases that `--target` names, and what their data say about one finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.engine.targets.row_exceptions import RowExceptions
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import clauses, place_kind
from onnx_lint.spec.products import ProductRelease
from onnx_lint.spec.target import CONTRIBUTED, OWN_OPERATOR, UNSEEN, accepting, refused_since, releases_of

_CONTRIBUTED_SECTION: Final = "ContribOperators.md#"
"""The beginning of the anchors of clauses about the operators of ONNX Runtime's own domains."""


class TargetRelease(Record):
    """One release of a program, or one of the checkers of onnx."""

    program: str
    """The program as the target names it, such as `onnxruntime=1.32`."""
    data: ProductRelease | None
    """The data about the release; None for a checker: only the rows of clauses name its releases."""

    @property
    def is_checker(self) -> bool:
        """True for `onnx.checker` and `onnx.full_check`."""
        return self.data is None

    @property
    def verb(self) -> str:
        """What it does with a model that it does not refuse: load it, or accept it."""
        return "accept" if self.is_checker else "load"

    def refuses_since(self, item: Diagnostic, exceptions: RowExceptions) -> str | None:
        """Return the first release that is known to refuse the violation; None if this one does not, or may not."""
        clause = clauses()[item.clause]
        return refused_since(clause, case=self._case(item, exceptions), program=self.program, release=self.data)

    def proofs_of_acceptance(self, item: Diagnostic, exceptions: RowExceptions) -> tuple[str, ...]:
        """Return the releases that are proven to accept the violation, and that prove it for this release."""
        if exceptions.model.loaded and exceptions.is_about_needed_shape(item, self.data):
            return ()
        return accepting(
            clauses()[item.clause],
            case=self.stated_case(item),
            subject=item.subject,
            program=self.program,
            release=self.data,
        )

    def _case(self, item: Diagnostic, exceptions: RowExceptions) -> str | None:
        """Return the case of a finding: the stated one, unless the release reads the part in another way."""
        if exceptions.model.loaded and exceptions.is_exempt(item, self.program, self.data):
            return UNSEEN
        is_judged = self.data is not None and self.data.has_kernels and item.cited.case in ("main", "branch")
        return CONTRIBUTED if is_judged and _is_contributed(item) else self.stated_case(item)

    def stated_case(self, item: Diagnostic) -> str | None:
        """Return the stated case. A checker knows no operator of ONNX Runtime, and no signature of one."""
        if self.is_checker and _is_contributed(item):
            return CONTRIBUTED
        if self.is_checker and item.cited.case == OWN_OPERATOR:
            return place_kind([field for field, _ in item.at.key])
        return item.cited.case


def _is_contributed(item: Diagnostic) -> bool:
    """Return whether a finding is about the signature of an operator in ONNX Runtime's own domains."""
    return item.anchor.startswith(_CONTRIBUTED_SECTION)


def target_releases(program: str) -> Sequence[TargetRelease]:
    """Return the release that a program of the target names, or its two neighbours if it has no data itself."""
    return [TargetRelease(program, data) for data in releases_of(program)]


def basis_of(releases: Sequence[TargetRelease]) -> str:
    """Return the phrase that names the evidence for a positive answer, such as `, as far as its data say`."""
    if len(releases) > 1:
        return ", as far as their data say"
    data = releases[0].data
    return (data.quoted if data is not None else "") or ", as far as its data say"

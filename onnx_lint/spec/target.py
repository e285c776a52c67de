# SPDX-License-Identifier: Apache-2.0
"""The consumer that a model is meant for: the newest versions that it knows, and which programs have to take it."""

from __future__ import annotations

from collections.abc import Mapping

from onnx_lint.common.record import EMPTY, Record
from onnx_lint.spec.clauses import CONSUMERS, Clause
from onnx_lint.spec.releases import (
    NEWEST_IR_VERSION,
    is_onnx_domain,
    newest_opset_version,
    normalized_domain,
)


class Target(Record):
    """What a consumer knows. Raises ValueError for a version that was never published.

    A version that is too high would make every model pass, so it is no target.
    """

    ir_version: int | None = None
    """The newest IR version; None where nothing is said."""
    opset_versions: Mapping[str, int] = EMPTY
    """The newest operator set version by domain; the default domain is empty. Others are not judged."""

    consumers: tuple[str, ...] = ()
    """The programs that have to take the model, of `CONSUMERS`: what they are known to refuse is an error."""

    def __post_init__(self) -> None:
        for consumer in self.consumers:
            if consumer not in CONSUMERS:
                raise ValueError(f"there is no consumer {consumer!r}; they are {', '.join(CONSUMERS)}")
        if self.ir_version is not None and not 1 <= self.ir_version <= NEWEST_IR_VERSION:
            raise ValueError(f"there is no IR version {self.ir_version}; they are 1 to {NEWEST_IR_VERSION}")
        for domain, version in self.opset_versions.items():
            if domain != normalized_domain(domain):
                raise ValueError(f"the default domain is '', not {domain!r}")
            newest = newest_opset_version(domain) if is_onnx_domain(domain) else None
            if version < 1 or (newest and version > newest):
                known = f"1 to {newest}" if newest else "1 and above"
                raise ValueError(f"there is no version {version} of {domain or 'ai.onnx'!r}; they are {known}")

    def is_refused(self, clause: Clause) -> bool:
        """Whether one of the consumers refuses a model that breaks the clause."""
        return any(consumer in clause.refused_by for consumer in self.consumers)

    def __bool__(self) -> bool:
        """Whether any version is said."""
        return self.ir_version is not None or bool(self.opset_versions)


NO_TARGET = Target()

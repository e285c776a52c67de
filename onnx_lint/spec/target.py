# SPDX-License-Identifier: Apache-2.0
"""The intended consumer of a model: the newest versions that it supports, and the programs that must accept it."""

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
    """The versions that a consumer supports. Raises ValueError for a version that was never published.

    A version that is too high would make every model pass, so it is rejected.
    """

    ir_version: int | None = None
    """The newest IR version; None if not set."""
    opset_versions: Mapping[str, int] = EMPTY
    """The newest operator set version by domain; the default domain is empty. Other domains are not checked."""

    consumers: tuple[str, ...] = ()
    """The programs that must accept the model, of `CONSUMERS`: what they are known to reject is an error."""

    def __post_init__(self) -> None:
        for consumer in self.consumers:
            if consumer not in CONSUMERS:
                raise ValueError(f"unknown consumer {consumer!r}; the consumers are {', '.join(CONSUMERS)}")
        if self.ir_version is not None and not 1 <= self.ir_version <= NEWEST_IR_VERSION:
            raise ValueError(f"IR version {self.ir_version} does not exist; the versions are 1 to {NEWEST_IR_VERSION}")
        for domain, version in self.opset_versions.items():
            if domain != normalized_domain(domain):
                raise ValueError(f"the default domain is '', not {domain!r}")
            newest = newest_opset_version(domain) if is_onnx_domain(domain) else None
            if version < 1 or (newest and version > newest):
                known = f"1 to {newest}" if newest else "1 and above"
                raise ValueError(
                    f"version {version} of {domain or 'ai.onnx'!r} does not exist; the versions are {known}"
                )

    def is_refused(self, clause: Clause) -> bool:
        """Return whether one of the consumers rejects a model that violates the clause."""
        return any(consumer in clause.refused_by for consumer in self.consumers)

    def __bool__(self) -> bool:
        """Return whether any version is set."""
        return self.ir_version is not None or bool(self.opset_versions)


NO_TARGET = Target()

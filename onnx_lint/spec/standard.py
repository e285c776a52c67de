# SPDX-License-Identifier: Apache-2.0
"""The text that a model is checked against: the edition of the specification and the variant of the standard."""

from __future__ import annotations

from onnx_lint.common.record import Record

EDITIONS = ("1.9", "1.16", "1.21", "1.23")
"""The editions, each named after the ONNX release that published it, oldest first."""

VARIANTS = ("onnx-ml", "onnx")
"""The two official variants; `onnx` lacks the operator sets (and in edition 1.9 the types) of classical ML."""


class Standard(Record):
    """An edition and a variant. Raises ValueError for an unknown name."""

    edition: str = EDITIONS[-1]
    variant: str = VARIANTS[0]

    def __post_init__(self) -> None:
        if self.edition not in EDITIONS:
            raise ValueError(f"unknown edition {self.edition!r}; the editions are {', '.join(EDITIONS)}")
        if self.variant not in VARIANTS:
            raise ValueError(f"unknown variant {self.variant!r}; the variants are {', '.join(VARIANTS)}")

    def at_least(self, edition: str) -> bool:
        """Return whether this edition is `edition` or a newer one."""
        return EDITIONS.index(self.edition) >= EDITIONS.index(edition)


DEFAULT_STANDARD = Standard()

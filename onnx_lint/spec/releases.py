# SPDX-License-Identifier: Apache-2.0
"""The ONNX releases, with the IR version and the operator set versions that each published.

Source: the table "Released Versions" in the specification's Versioning.md, extended to the newest release by the
version table of the `onnx` package (1.23). Patch releases without new numbers are listed, so that users find their
release by name.

The table leaves open:

- Operator sets 2, 3 and 4 of the default domain were never the newest of a release. The first release that
  holds them is the one that published 5.
- The table has a column for `ai.onnx.training`, but the operators of that column are in the domain
  `ai.onnx.preview.training`; `ai.onnx.training` is a known domain without operators. Both use that column.
- The domain `ai.onnx.preview` has no column. The headers of the released packages name it from 1.22.0 on.
"""

from __future__ import annotations

from typing import Final

from onnx_lint.common.cached import remembered
from onnx_lint.common.record import Record

DEFAULT_DOMAIN: Final = ""
ML_DOMAIN: Final = "ai.onnx.ml"
TRAINING_DOMAIN: Final = "ai.onnx.training"
PREVIEW_TRAINING_DOMAIN: Final = "ai.onnx.preview.training"
PREVIEW_DOMAIN: Final = "ai.onnx.preview"

DOMAIN_ALIAS: Final = "ai.onnx"
"""Another name of the default domain."""

OLDEST_LOADED_IR_VERSION: Final = 3
"""The oldest IR version that ONNX Runtime loads."""


def normalized_domain(domain: str) -> str:
    """Return the domain as the tables name it: "ai.onnx" is another spelling of the default domain ""."""
    return DEFAULT_DOMAIN if domain == DOMAIN_ALIAS else domain


class Release(Record):
    """One row of the released-versions table.

    A column is 0 if the release has no operator set of that domain.
    """

    onnx: str
    ir_version: int
    ai_onnx: int
    ai_onnx_ml: int
    ai_onnx_training: int = 0
    ai_onnx_preview: int = 0

    @property
    def edition(self) -> str:
        """The first two numbers of the release."""
        return ".".join(self.onnx.split(".")[:2])

    def opset_version(self, domain: str) -> int:
        """Return the newest operator set version of a domain in this release, 0 if it has none."""
        column = _COLUMNS.get(normalized_domain(domain))
        version: int = 0 if column is None else getattr(self, column)
        return version


_COLUMNS: Final = {
    DEFAULT_DOMAIN: "ai_onnx",
    ML_DOMAIN: "ai_onnx_ml",
    TRAINING_DOMAIN: "ai_onnx_training",
    PREVIEW_TRAINING_DOMAIN: "ai_onnx_training",
    PREVIEW_DOMAIN: "ai_onnx_preview",
}
"""The column of `Release` for each domain."""


RELEASES: Final[tuple[Release, ...]] = (
    Release("1.0", 3, 1, 1),
    Release("1.1", 3, 5, 1),
    Release("1.1.2", 3, 6, 1),
    Release("1.2", 3, 7, 1),
    Release("1.3", 3, 8, 1),
    Release("1.4.1", 4, 9, 1),
    Release("1.5.0", 5, 10, 1),
    Release("1.6.0", 6, 11, 2),
    Release("1.7.0", 7, 12, 2, 1),
    Release("1.8.0", 7, 13, 2, 1),
    Release("1.8.1", 7, 13, 2, 1),
    Release("1.9.0", 7, 14, 2, 1),
    Release("1.10.0", 8, 15, 2, 1),
    Release("1.10.1", 8, 15, 2, 1),
    Release("1.10.2", 8, 15, 2, 1),
    Release("1.11.0", 8, 16, 3, 1),
    Release("1.12.0", 8, 17, 3, 1),
    Release("1.13.0", 8, 18, 3, 1),
    Release("1.13.1", 8, 18, 3, 1),
    Release("1.14.0", 9, 19, 3, 1),
    Release("1.14.1", 9, 19, 3, 1),
    Release("1.15.0", 9, 20, 4, 1),
    Release("1.16.0", 10, 21, 5, 1),
    Release("1.16.1", 10, 21, 5, 1),
    Release("1.16.2", 10, 21, 5, 1),
    Release("1.17.0", 10, 22, 5, 1),
    Release("1.18.0", 11, 23, 5, 1),
    Release("1.19.0", 12, 24, 5, 1),
    Release("1.19.1", 12, 24, 5, 1),
    Release("1.20.0", 13, 25, 5, 1),
    Release("1.20.1", 13, 25, 5, 1),
    Release("1.21.0", 13, 26, 5, 1),
    Release("1.22.0", 13, 27, 5, 1, 1),
    Release("1.23.0", 14, 28, 5, 1, 1),
)
"""The released versions, oldest first."""

NEWEST_IR_VERSION: Final = RELEASES[-1].ir_version
"""The newest IR version (14)."""

NEWEST_OPSET: Final[dict[str, int]] = {domain: RELEASES[-1].opset_version(domain) for domain in _COLUMNS}
"""The newest operator set version of every domain that ONNX publishes; the default domain is ""."""


MAX_OPSET_VERSION: Final = 2**31 - 1
"""The greatest operator set version of a domain that ONNX does not publish: readers have 32 bits for it."""


def is_onnx_domain(domain: str) -> bool:
    """Return whether ONNX itself publishes operator sets of the domain."""
    return normalized_domain(domain) in NEWEST_OPSET


def newest_opset_version(domain: str) -> int | None:
    """Return the newest published operator set version of a domain, None if ONNX does not publish the domain."""
    return NEWEST_OPSET.get(normalized_domain(domain))


def check_opset_version(domain: str, version: int) -> None:
    """Raise ValueError for an operator set version that does not exist.

    A domain that ONNX does not publish may have any version up to MAX_OPSET_VERSION.
    """
    newest = newest_opset_version(domain) or MAX_OPSET_VERSION
    if not 1 <= version <= newest:
        name = domain or DOMAIN_ALIAS
        raise ValueError(f"version {version} of {name!r} does not exist; the versions are 1 to {newest}")


def release_of_opset(domain: str, version: int) -> Release | None:
    """Return the first release that has an operator set version, None if there is none."""
    return _release_of_opset((domain, version)) if version >= 1 else None


@remembered(256)
def _release_of_opset(opset: tuple[str, int]) -> Release | None:
    domain, version = opset
    return next((release for release in RELEASES if release.opset_version(domain) >= version), None)


@remembered(64)
def release_of_edition(edition: str) -> Release:
    """Return the release that published an edition, which is named after it. Raises ValueError if there is none."""
    for release in reversed(RELEASES):
        if release.edition == edition:
            return release
    raise ValueError(f"no release published edition {edition!r}")


def release_named(name: str) -> Release | None:
    """Return the release with this number, such as `1.14.1`; for `1.14` the first of them. None if there is none."""
    return next((release for release in RELEASES if name in (release.onnx, release.edition)), None)


def release_of_ir_version(ir_version: int) -> Release | None:
    """Return the first release that writes an IR version.

    Returns None for IR versions 1 and 2, which are older than the first release, and for unpublished ones.
    """
    return next((release for release in RELEASES if release.ir_version == ir_version), None)

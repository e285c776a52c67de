# SPDX-License-Identifier: Apache-2.0
"""The texts for digests in a baseline file.

| Field of an entry | Text |
|---|---|
| `structure` | `DIGESTS` |
| `parts` | for each fault `DIGESTS/INNER/KEYS/PARTNERS`, for many faults together `all:DIGESTS/INNER/KEYS/PARTNERS` |
| `content` | `initializer:DIGESTS` or `constant:DIGESTS` |

`INNER` and `KEYS` are one digest each, or empty. `DIGESTS` and `PARTNERS` are several, side by side, of the kinds in
one of the layouts below; `PARTNERS` may be empty. Slashes at the end are left out. `PlaceDigests`, `FaultDigests`
and `ContentDigests` say what the digests are about.
"""

from __future__ import annotations

from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.report.digests import DIGITS, ContentDigests, FaultDigests, PlaceDigests


class DigestLayout(Record):
    """One form of the digests in a text. The prefix and the number of digits show which one it is."""

    kinds: tuple[str, ...]
    """The kinds of the digests, in their order."""
    prefix: str = ""
    """What is before the digests."""


_PREFIX: Final = "+"
"""The prefix of texts of today."""

_OF_VIEW: Final = ("before", "after", "both_ends", "whole")
_OF_LEGACY_VIEW: Final = ("from_start", "from_end", "by_operators")

# The first layout of each table is the one that is written, the others are those of older versions.
STRUCTURE: Final = (
    DigestLayout(("names", *_OF_VIEW), _PREFIX),
    DigestLayout(("steps", "names", *_OF_LEGACY_VIEW)),
    DigestLayout(("steps", "names")),
)
FAULT: Final = (
    DigestLayout(("names_inside", *_OF_VIEW), _PREFIX),
    DigestLayout(("names_inside", *_OF_LEGACY_VIEW)),
    DigestLayout(("steps", "names")),
    DigestLayout(("names",)),
)
PARTNERS: Final = (
    DigestLayout(("names_inside", *_OF_VIEW)),
    DigestLayout(("names_inside", *_OF_LEGACY_VIEW)),
)
CONTENT: Final = (
    DigestLayout(("names_inside", *_OF_VIEW), _PREFIX),
    DigestLayout(("names_inside",), _PREFIX),  # of a tensor that nothing uses
    DigestLayout(("names_inside", *_OF_LEGACY_VIEW)),
    DigestLayout(("names_inside",)),
)
DigestLayouts = tuple[DigestLayout, ...]

_MANY: Final = "all:"
"""What the text of many faults together begins with."""
_SLASH: Final = "/"
_INITIALIZER: Final = "initializer"
_CONSTANT: Final = "constant"


def digests_as_written(digests: PlaceDigests, layouts: DigestLayouts) -> PlaceDigests:
    """Return those digests of a finding that an entry has."""
    kinds = layouts[0].kinds
    return PlaceDigests.of((kind, found[0]) for kind in kinds if (found := digests.of_kind(kind)))


def fault_as_written(fault: FaultDigests) -> FaultDigests:
    """Return a fault of a finding with those of its digests that an entry has."""
    partners = None if fault.partners is None else digests_as_written(fault.partners, PARTNERS)
    return replace(fault, place=digests_as_written(fault.place, FAULT), partners=partners)


def encoded(digests: PlaceDigests, layouts: DigestLayouts) -> str:
    """Return the text for the digests of an entry. It is empty if they are in no layout, since the file is damaged."""
    kinds = tuple([kind for kind, _ in digests.items()])
    prefix = next((layout.prefix for layout in layouts if layout.kinds == kinds), "")
    return prefix + "".join(digest for _, digest in digests.items())


def decoded(text: str, layouts: DigestLayouts) -> PlaceDigests:
    """Return the digests in a text. There are none if their number is that of no layout: the file is damaged."""
    for layout in layouts:
        digits = text.removeprefix(layout.prefix)
        if text.startswith(layout.prefix) and len(digits) == DIGITS * len(layout.kinds):
            digests = [digits[at : at + DIGITS] for at in range(0, len(digits), DIGITS)]
            return PlaceDigests.of(zip(layout.kinds, digests, strict=True))
    return PlaceDigests()


def encoded_fault(fault: FaultDigests) -> str:
    """Return the text for a fault in an entry."""
    partners = "" if fault.partners is None else encoded(fault.partners, PARTNERS)
    pieces = encoded(fault.place, FAULT), fault.inner, fault.keys, partners
    return (_MANY if fault.is_of_many else "") + _SLASH.join(pieces).rstrip(_SLASH)


def decoded_fault(text: str) -> FaultDigests:
    """Return the fault in a text."""
    place, inner, keys, partners, *_ = (*text.removeprefix(_MANY).split(_SLASH), "", "", "")
    return FaultDigests(
        place=decoded(place, FAULT),
        inner=inner,
        keys=keys,
        partners=decoded(partners, PARTNERS) if partners else None,
        is_of_many=text.startswith(_MANY),
    )


def encoded_content(content: ContentDigests) -> str:
    """Return the text for `Entry.content`."""
    storage = _INITIALIZER if content.is_initializer else _CONSTANT
    return f"{storage}:{encoded(content.place, CONTENT)}"


def decoded_content(text: str) -> ContentDigests:
    """Return `Entry.content` from its text."""
    storage, _, digests = text.partition(":")
    return ContentDigests(decoded(digests, CONTENT), is_initializer=storage == _INITIALIZER)

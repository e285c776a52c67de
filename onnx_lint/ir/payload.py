# SPDX-License-Identifier: Apache-2.0
"""The byte ranges of values that the loader left in the source."""

from __future__ import annotations

from onnx_lint.common.record import Record


class Payload(Record):
    """A byte range of the source with values that the loader did not copy: of a tensor's field or an attribute's list.

    `packed`: the bytes from `offset` on are the content of the field (raw_data, or one packed field). Otherwise they
    are a run of whole wire records of that one field, tags included.
    """

    field: str
    offset: int
    length: int
    packed: bool

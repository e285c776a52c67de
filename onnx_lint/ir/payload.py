# SPDX-License-Identifier: Apache-2.0
"""Where values that the loader left in the source stand."""

from __future__ import annotations

from onnx_lint.common.record import Record


class Payload(Record):
    """Where the values of one field of a tensor stand in the source when the loader left them there.

    `packed`: the bytes from `offset` on are the content of the field (raw_data, or one packed field). Otherwise they
    are a run of whole wire records of that one field, tags included.
    """

    field: str
    offset: int
    length: int
    packed: bool

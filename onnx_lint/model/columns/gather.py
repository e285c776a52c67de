# SPDX-License-Identifier: Apache-2.0
"""How the parser of Protocol Buffers gathers each field of many messages.

Serialized messages put one behind the other are one message, in which the last value of a singular field counts. Parsed
as the variant `columns` of the schema, in which that field is a list, it has all of them
(docs/performance.md: gathered-fields).
"""

from __future__ import annotations

from typing import Final

from onnx_lint.schema import columns

CHUNK: Final = 1 << 9
"""So many messages are gathered together: their copies stay in the processor's cache."""


def dimensions(shape: bytes) -> tuple[int, ...]:
    """The dimensions of a tensor in serialized form, as the columns of initializers have them."""
    return tuple(columns("TensorProto").FromString(shape).dims)

# SPDX-License-Identifier: Apache-2.0
"""Reads the readable part of messages that do not parse."""

from __future__ import annotations

from onnx_lint.input.limits import Limits
from onnx_lint.input.source import BytesSource, Source
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader.binary.canonical import assemble
from onnx_lint.loader.binary.strip_payloads import whole
from onnx_lint.loader.binary.wire_audit import inspect, invalid_strings
from onnx_lint.model import Fault, FaultKind, Proto


def read_irregular(source: Source, kind: str, data: bytes, limits: Limits) -> tuple[Proto | None, tuple[Fault, ...]]:
    """Return the readable message in `source`, if there is one, and the reasons why the file does not parse.

    `data`: the bytes that do not parse, possibly without the contents of tensors.
    """
    inspection = inspect(source, kind, limits)
    proto = None
    if inspection.faults and not inspection.fatal:
        proto = _parse_readable(data, kind)
    if proto is None and not inspection.fatal:
        # A message that parses on its own may still nest too deep.
        inspection = inspect(source, kind, limits, skips_canonical=False)
    faults = inspection.faults
    if proto is None and not inspection.fatal:
        faults = (*faults, Fault(FaultKind.NOT_A_MODEL, ROOT, f"Protocol Buffers cannot parse the file as {kind}"))
    return proto, faults


def _parse_readable(data: bytes, kind: str) -> Proto | None:
    """Parse the message with `?` for each byte that is not UTF-8 in a string field, so that the rest can be judged."""
    patched = bytearray(data)
    for start, end in invalid_strings(BytesSource(data), kind):
        readable = data[start:end].decode("utf-8", "surrogateescape")
        patched[start:end] = "".join("?" if "\udc80" <= char <= "\udcff" else char for char in readable).encode()
    return assemble(whole(BytesSource(bytes(patched))), kind)[0]

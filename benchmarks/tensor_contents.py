# SPDX-License-Identifier: Apache-2.0
"""Times onnx-lint on models of one large tensor whose contents are looked through, and prints its peak memory.

Beside the time on the clock stands that of the processor, which other work on the machine changes less.

`python benchmarks/tensor_contents.py [--gib N]`. The models are written to a temporary folder and removed, one after
the other. Each run is a process of its own, so that the peak is its own. Exits with 1 when a peak reaches the bar.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PIECE = 1 << 22

BAR = 200
"""MB of resident memory that no run may reach, however large the tensor."""

_RUN = """
import resource, sys
from onnx_lint import lint
report = lint(sys.argv[1], select=("tensor", "sparse-tensor"))
assert report.diagnostics == (), report.diagnostics[:1]
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_maxrss * 1024 // 1_000_000, usage.ru_utime + usage.ru_stime)
"""


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _write(path: Path, data_type: int, elements: int, prefix: bytes, size: int, unit: bytes) -> None:
    """Write a model of one initializer whose last field is `prefix` and then `size` bytes, `unit` over and over."""
    tensor = b"\x08" + _varint(elements) + b"\x10" + _varint(data_type) + b"\x42\x01w" + prefix
    graph = b"\x12\x01g" + b"\x2a" + _varint(len(tensor) + size) + tensor
    with path.open("wb") as file:
        file.write(b"\x08\x0e\x3a" + _varint(len(graph) + size) + graph)
        piece = unit * (PIECE // len(unit))
        whole, rest = divmod(size, len(piece))
        for _ in range(whole):
            file.write(piece)
        file.write(piece[:rest])
        file.write(_field(8, b"\x10\x1c"))


def _cases(size: int) -> Iterator[tuple[str, Callable[[Path], None]]]:
    def payload(data_type: int, elements: int, field: int, unit: bytes) -> Callable[[Path], None]:
        prefix = _varint(field << 3 | 2) + _varint(size)
        return lambda path: _write(path, data_type, elements, prefix, size, unit)

    def strings(text: bytes) -> Callable[[Path], None]:
        unit = _field(6, text)
        count = size // len(unit)
        return lambda path: _write(path, 8, count, b"", count * len(unit), unit)

    yield "bool in raw_data", payload(9, size, 9, b"\1\0")
    yield "uint8 in int32_data, packed", payload(2, size // 3 * 2 + (size % 3 > 0), 5, b"\x01\x80\x01")
    yield "int64 in int64_data, packed, one byte each", payload(7, size, 7, b"\x05")
    unit = b"\x28\x01"
    count = size // len(unit)
    yield "uint8 in int32_data, unpacked", lambda path: _write(path, 2, count, b"", count * len(unit), unit)
    yield "strings of 8 bytes", strings(b"abcdefgh")
    yield "strings of 64 bytes", strings(b"abcdefgh" * 8)
    yield "strings of 1,000 bytes, not ASCII", strings("é".encode() * 500)
    yield "one string", lambda path: _write(path, 8, 1, _varint(6 << 3 | 2) + _varint(size), size, b"abcdefgh")


def main() -> int:
    """Write each model, run onnx-lint on it, print seconds and MB; returns 1 when a run failed or took too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gib", type=float, default=1)
    gib = parser.parse_args().gib
    failed = False
    print(f"| contents of {gib:g} GiB | time | processor time | peak |\n| --- | --: | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        for name, write in _cases(int(gib * (1 << 30)) // 12 * 12):
            write(path)
            start = time.perf_counter()
            done = subprocess.run([sys.executable, "-c", _RUN, str(path)], capture_output=True, text=True, check=False)
            seconds = time.perf_counter() - start
            if done.returncode:
                failed = True
                print(f"| {name} | {seconds:.1f} s | - | {done.stderr} |", flush=True)
                continue
            peak, processor = done.stdout.split()
            failed |= int(peak) >= BAR
            print(f"| {name} | {seconds:.1f} s | {float(processor):.1f} s | {peak} MB |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

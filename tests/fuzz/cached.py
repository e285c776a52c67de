# SPDX-License-Identifier: Apache-2.0
"""Reports with a cache compared with those without one: `python -m tests.fuzz.cached --count 8000 --seed 1`.

Each block of inputs is reported by whole processes, in three formats at once: without a cache, by eight processes that
fill one cache at the same time, with the full cache, with a damaged one, and after other contents in the same files.
All bytes must be equal.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from onnx_lint.cache.identity import SETTLED_NANOSECONDS
from onnx_lint.cache.store import DATABASE

from .inputs import input_of

PROCESSES = 8
_BLOCK = 1_000
_FORMATS = ("text", "json", "sarif")
_OPTIONS = ("--pedantic", "--exit-zero", "--jobs", "1", "--no-config", "--quiet")


class DifferenceError(AssertionError):
    """A report with a cache that differs from the one without; the text says with which cache."""


class Block:
    """Some inputs in a folder, and a cache for them."""

    def __init__(self, folder: Path, seed: int, numbers: range) -> None:
        self._folder = folder
        self._seed = seed
        self._numbers = numbers
        self._cache = folder / "cache"
        self._runs = 0
        (folder / "models").mkdir()
        for number in numbers:
            self._write(number, number)

    def check(self) -> None:
        """Compare all reports. Raises DifferenceError."""
        plain = self._report()
        for number, process in enumerate([self._started(with_cache=True) for _ in range(PROCESSES)]):
            self._compare(self._ended(*process), plain, f"process {number} of {PROCESSES} that fill one cache")
        with contextlib.closing(sqlite3.connect(self._cache / DATABASE)) as connection:
            assert connection.execute("SELECT count(*) FROM verdicts").fetchone()[0] > len(self._numbers) // 2
        self._compare(self._report(with_cache=True), plain, "a filled cache")
        for damage in (damage_entries, damage_file):
            damage(self._cache / DATABASE, random.Random(f"{self._seed} {self._numbers}"))
            self._compare(self._report(with_cache=True), plain, f"after {damage.__name__}")
        # Files that changed longer ago are not read again, so their entries can be stale in one more way.
        time.sleep(SETTLED_NANOSECONDS / 1e9)
        self._compare(self._report(with_cache=True), plain, "a cache that was made anew")
        for number in self._numbers[::2]:
            self._write(number, number + self._numbers.stop)
        self._compare(self._report(with_cache=True), self._report(), "a stale cache")

    def _write(self, name: int, number: int) -> None:
        """Write an input under a name that does not depend on the input, and with a time that is the same again."""
        path = self._folder / "models" / f"{name:07}.onnx"
        path.write_bytes(input_of(self._seed, number).data)
        os.utime(path, (1_600_000_000, 1_600_000_000))

    def _report(self, *, with_cache: bool = False) -> list[bytes]:
        return self._ended(*self._started(with_cache=with_cache))

    def _started(self, *, with_cache: bool) -> tuple[subprocess.Popen[bytes], list[Path]]:
        self._runs += 1
        outputs = [self._folder / f"{self._runs}.{name}" for name in _FORMATS]
        arguments = [part for name, path in zip(_FORMATS, outputs, strict=True) for part in ("-o", f"{name}={path}")]
        command = [sys.executable, "-m", "onnx_lint", "check", "models", *_OPTIONS, *arguments]
        environment = {**os.environ, "ONNX_LINT_CACHE_DIR": str(self._cache)}
        process = subprocess.Popen(
            [*command, "--cache"] if with_cache else command,
            cwd=self._folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return process, outputs

    def _ended(self, process: subprocess.Popen[bytes], outputs: list[Path]) -> list[bytes]:
        """Return the exit code, what the process printed, and its reports."""
        said, _ = process.communicate()
        found = [str(process.returncode).encode(), said]
        for path in outputs:
            found.append(path.read_bytes())
            path.unlink()
        return found

    def _compare(self, found: list[bytes], expected: list[bytes], cache: str) -> None:
        for name, one, other in zip(("exit code", "output", *_FORMATS), found, expected, strict=True):
            if one != other:
                lines = zip(one.splitlines(), other.splitlines(), strict=False)
                first = next((pair for pair in lines if pair[0] != pair[1]), (one[-200:], other[-200:]))
                raise DifferenceError(f"inputs {self._numbers}, {cache}: the {name} differs: {first}")


def damage_entries(path: Path, rng: random.Random) -> None:
    """Replace entries by those of other keys, and by ones with changed, missing or random bytes."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        rows = connection.execute("SELECT key, content FROM verdicts ORDER BY key").fetchall()
        for key, content in rows:
            changed = rng.choice(_CHANGES)(rng, content, rng.choice(rows)[1])
            connection.execute("UPDATE verdicts SET content = ? WHERE key = ?", (changed, key))


def damage_file(path: Path, rng: random.Random) -> None:
    """Change some bytes of the database, or cut it."""
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 20, 400))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    path.write_bytes(data[: rng.choice((len(data), len(data), rng.randrange(len(data))))])


def _flipped(rng: random.Random, content: bytes, _other: bytes) -> bytes:
    data = bytearray(content)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


_Change = Callable[[random.Random, bytes, bytes], object]
_CHANGES: tuple[_Change, ...] = (
    _flipped,
    lambda _rng, _content, other: other,
    lambda rng, content, _other: content[: rng.randrange(len(content))],
    lambda rng, _content, _other: rng.randbytes(rng.randrange(200)),
    lambda _rng, content, _other: content,
    lambda _rng, _content, _other: "a text",
)


def checked(seed: int, numbers: range) -> None:
    """Compare all reports on the inputs. Raises DifferenceError."""
    with tempfile.TemporaryDirectory() as folder:
        Block(Path(folder), seed, numbers).check()


def _blocks(first: int, count: int) -> Iterator[range]:
    for start in range(first, first + count, _BLOCK):
        yield range(start, min(start + _BLOCK, first + count))


def main() -> int:
    """Run from the command line; return 1 if a report differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.cached", description=__doc__)
    parser.add_argument("--count", type=int, default=8_000, help="how many inputs")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--seed", type=int, default=1, help="with the number it determines the input")
    options = parser.parse_args()
    failed = 0
    for numbers in _blocks(options.first, options.count):
        try:
            checked(options.seed, numbers)
        except DifferenceError as difference:
            failed += 1
            print(difference, flush=True)
        else:
            print(f"inputs {numbers.start} to {numbers.stop - 1}: all reports are equal", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Compares the time for models in a store with the ideal: `python benchmarks/stores.py`.

A server on this machine answers each request after 50 ms. The ideal is the start, one answer for the listing, and the
larger one of two times: how long 32 requests at a time wait, and the remaining work. The start is the processor time of
onnx-lint for one file on the disk, and that of a bare client that only fetches the listing. The work is what both take
in addition for all models. Needs the extra `remote`, and is only meaningful on a quiet machine.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

SECONDS: Final = 0.05
MODELS: Final = 500
AT_A_TIME: Final = 32

LISTING: Final = (
    '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>zoo</Name><Prefix/>'
    "<KeyCount>{}</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>{}</ListBucketResult>"
)
OBJECT: Final = (
    '<Contents><Key>{}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"1"</ETag><Size>{}</Size>'
    "<StorageClass>STANDARD</StorageClass></Contents>"
)

CLIENTS: Final = {
    "http": """
import asyncio, sys, aiohttp
async def main(place, names):
    one_of = asyncio.Semaphore(32)
    async with aiohttp.ClientSession() as session:
        async def fetch(name):
            async with one_of, session.get(place + name, headers={"Range": "bytes=0-65535"}) as answer:
                await answer.read()
        await fetch("")
        await asyncio.gather(*map(fetch, names))
asyncio.run(main(sys.argv[1], sys.argv[2:]))
""",
    "s3": """
import asyncio, sys, s3fs
from fsspec.asyn import sync
store = s3fs.S3FileSystem(config_kwargs={"max_pool_connections": 32})
store.find("zoo")
async def main(names):
    one_of = asyncio.Semaphore(32)
    async def fetch(name):
        async with one_of:
            answer = await store._call_s3("get_object", {}, Bucket="zoo", Key=name, Range="bytes=0-65535")
            await answer["Body"].read()
    await asyncio.gather(*map(fetch, names))
sync(store.loop, main, sys.argv[2:])
""",
}
"""The bare clients: what the packages that onnx-lint uses need for a listing and one request for each model."""


class Server:
    """Serves files over HTTP, with ranges, and lists them as a page and as S3 does."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self._files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        self._seconds = seconds
        self._counts: Counter[str] = Counter()
        self._now = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        self._counts["connections"] += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                target = head.split(" ", 2)[1]
                if target == "/counts":
                    status, headers, body = "200 OK", "", repr(dict(self._counts)).encode()
                    self._counts.clear()
                else:
                    self._counts["requests"] += 1
                    self._now += 1
                    self._counts["at a time"] = max(self._counts["at a time"], self._now)
                    await asyncio.sleep(self._seconds)
                    self._now -= 1
                    status, headers, body = self._answer(target, head)
                writer.write(f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _answer(self, target: str, head: str) -> tuple[str, str, bytes]:
        path, _, query = target.partition("?")
        if "list-type" in query:
            objects = "".join(OBJECT.format(escape(name), len(data)) for name, data in self._files.items())
            return "200 OK", "Content-Type: application/xml\r\n", LISTING.format(len(self._files), objects).encode()
        if path.endswith("/"):
            page = "".join(f'<a href="{name}">{name}</a>' for name in self._files)
            return "200 OK", "Content-Type: text/html\r\n", page.encode()
        data = self._files[path.rpartition("/")[2]]
        wanted = re.search(r"(?i)\r\nrange: bytes=(\d+)-(\d+)", head)
        assert wanted is not None
        start, stop = int(wanted[1]), min(int(wanted[2]) + 1, len(data))
        headers = f'ETag: "1"\r\nContent-Range: bytes {start}-{stop - 1}/{len(data)}\r\n'
        return "206 Partial Content", headers, data[start:stop]


def _serve(folder: Path, listening: socket.socket) -> None:
    async def main() -> None:
        server = await asyncio.start_server(Server(folder, SECONDS).talk, sock=listening)
        await server.serve_forever()

    asyncio.run(main())


def _counts(port: int) -> str:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET /counts HTTP/1.1\r\n\r\n")
        return connection.recv(1 << 16).decode().partition("\r\n\r\n")[2].strip("{}").replace("'", "")


def _run(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds that a command takes, and those of its processor time."""
    begun = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) > 1:
        raise SystemExit("a run has failed")
    return time.monotonic() - begun, usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="the model; the store has 500 copies")
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        names = [f"{number:03}.onnx" for number in range(MODELS)]
        for name in names:
            (Path(folder) / name).write_bytes(given.model.read_bytes())
        context = multiprocessing.get_context("fork")
        server = context.Process(target=_serve, args=(Path(folder), listening), daemon=True)
        server.start()
        port = listening.getsockname()[1]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
        environment |= {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_DEFAULT_REGION": "us-east-1"}
        environment |= {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "secret"}
        waiting = -(-MODELS // AT_A_TIME) * SECONDS
        lint = [sys.executable, "-m", "onnx_lint", "-j", "1", "-f", "concise"]
        print("| store | seconds | processor time | start | work | waiting | ideal | seconds / ideal | requests |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|---|")
        for kind, place in (("http", f"http://127.0.0.1:{port}/zoo/"), ("s3", "s3://zoo/")):
            client = [sys.executable, "-c", CLIENTS[kind], place]
            commands = {
                "store": [*lint, place],
                "one file": [*lint, f"{folder}/{names[0]}"],
                "files": [*lint, folder],
                "listing": client,
                "client": [*client, *names],
            }
            runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
            counts = ""
            for _ in range(given.rounds):
                for name, command in commands.items():
                    _counts(port)
                    runs[name].append(_run(command, environment))
                    counts = _counts(port) if name == "store" else counts
            seconds = min(each for each, _ in runs["store"])
            used = {name: min(each for _, each in found) for name, found in runs.items()}
            start = used["one file"] + used["listing"]
            work = used["files"] + used["client"] - start
            ideal = start + SECONDS + max(waiting, work)
            figures = (seconds, used["store"], start, work, waiting, ideal, seconds / ideal)
            print(f"| {kind} | {' | '.join(f'{each:.2f}' for each in figures)} | {counts} |", flush=True)
        server.terminate()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""A server of HTTP on this machine that follows or breaks the protocol, and records the requests."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

PIECE = 1 << 16


@dataclass
class File:
    """The content under a path, and the way to serve it."""

    data: bytes | Path
    """The content; a path for a file that is too large to be held."""
    etag: str | None = '"1"'
    modified: str | None = None
    ranges: bool = True
    """True if the server answers requests for parts."""
    length: bool = True
    """True if answers have the length."""
    status: list[int] = field(default_factory=list)
    """The status of the first answers; later ones are right. A negative status is for every answer."""
    headers: dict[str, str] = field(default_factory=dict)
    cut: list[int] = field(default_factory=list)
    """After how many bytes the first answers break off."""
    delay: float = 0.0
    """Seconds before each answer."""
    rate: float = 0.0
    """Bytes a second; 0 for all at once."""
    before: Callable[[File, Asked], None] | None = None
    """A call before each answer."""
    head: bool = True
    """True if the server knows the method HEAD."""
    honours_conditions: bool = True

    @property
    def size(self) -> int:
        return self.data.stat().st_size if isinstance(self.data, Path) else len(self.data)

    def part(self, start: int, stop: int) -> bytes:
        if isinstance(self.data, bytes):
            return self.data[start:stop]
        with self.data.open("rb") as stream:
            stream.seek(start)
            return stream.read(stop - start)


@dataclass(frozen=True)
class Asked:
    """A request."""

    method: str
    path: str
    headers: dict[str, str]
    """By name in lower case."""

    @property
    def range(self) -> str | None:
        return self.headers.get("range")


class WebServer(ThreadingHTTPServer):
    """Give it files by path, or functions that answer for all paths with a beginning."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, host: str = "127.0.0.1") -> None:
        super().__init__((host, 0), _Handler)
        self.files: dict[str, File] = {}
        self.answers: dict[str, Callable[[_Handler], None]] = {}
        self.asked: list[Asked] = []
        self.sent = 0
        """Bytes of content that went out."""
        self._counting = threading.Lock()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def count_sent(self, size: int) -> None:
        """Add to `sent`; several requests are answered at once."""
        with self._counting:
            self.sent += size

    def url(self, path: str = "", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}/{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: clients that disconnect are part of the tests."""

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def __enter__(self) -> Self:
        return self


class _Handler(BaseHTTPRequestHandler):
    server: WebServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer waits for 40 ms

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        asked = Asked(self.command, self.path, {name.lower(): value for name, value in self.headers.items()})
        self.server.asked.append(asked)
        for beginning, answer in self.server.answers.items():
            if path.startswith(beginning):
                answer(self)
                return
        file = self.server.files.get(path.lstrip("/"))
        if file is None:
            self.reply(404)
        else:
            self._give(file, asked)

    do_HEAD = do_POST = do_GET  # noqa: N815 - the names of the base class

    def reply(self, status: int, content: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _give(self, file: File, asked: Asked) -> None:
        time.sleep(file.delay)
        if file.before is not None:
            file.before(file, asked)
        if file.status:
            status = file.status[0] if file.status[0] < 0 else file.status.pop(0)
            self.reply(abs(status), **file.headers)
            return
        if self.command == "HEAD" and not file.head:
            self.reply(405)
            return
        if file.honours_conditions and self._has_changed(file):
            self.reply(412)
            return
        self._give_content(file, asked)

    def _has_changed(self, file: File) -> bool:
        wanted = self.headers.get("If-Match"), self.headers.get("If-Unmodified-Since")
        return (wanted[0] is not None and wanted[0] != file.etag) or (
            wanted[1] is not None and wanted[1] != file.modified
        )

    def _give_content(self, file: File, asked: Asked) -> None:
        start, stop, size = 0, file.size, file.size
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", asked.range or "") if file.ranges else None
        if found is not None:
            start, stop = int(found[1]), min(int(found[2]) + 1, size)
            if start >= size:
                self.reply(416, Content_Range=f"bytes */{size}")
                return
        self.send_response(206 if found is not None else 200)
        headers = {"ETag": file.etag, "Last-Modified": file.modified, **file.headers}
        if found is not None:
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        if file.length:
            headers["Content-Length"] = str(stop - start)
        else:
            headers["Connection"] = "close"
            self.close_connection = True
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self._send(file, start, stop)

    def _send(self, file: File, start: int, stop: int) -> None:
        if file.cut:
            stop = min(stop, start + file.cut.pop(0))
            self.close_connection = True
        piece = max(int(file.rate / 20), 1) if file.rate else PIECE
        with suppress(OSError):
            while start < stop:
                data = file.part(start, min(start + piece, stop))
                self.server.count_sent(len(data))  # before the client can have them, and compare
                self.wfile.write(data)
                start += len(data)
                if file.rate:
                    self.wfile.flush()
                    time.sleep(len(data) / file.rate)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

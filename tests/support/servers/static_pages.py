# SPDX-License-Identifier: Apache-2.0
"""A static web server for a folder, with the MIME types that a test wants."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

RIGHT: Final = {".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm"}


@contextlib.contextmanager
def serve(folder: Path, types: Mapping[str, str] = RIGHT, policy: str = "") -> Iterator[str]:
    """Serve the folder on this machine, and yield the address of its root. `policy` goes with worker.mjs."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, **types}  # noqa: RUF012

        def log_message(self, *arguments: object) -> None:
            """Nothing is printed."""

        def end_headers(self) -> None:
            if policy and self.path.endswith("/worker.mjs"):
                self.send_header("Content-Security-Policy", policy)
            super().end_headers()

        def copyfile(self, source: Any, outputfile: Any) -> None:
            with contextlib.suppress(ConnectionError):  # the browser has gone
                super().copyfile(source, outputfile)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()

# SPDX-License-Identifier: Apache-2.0
"""A server with the part of the JSON API of Google Cloud Storage that gcsfs uses: objects, listings, content."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from support.servers.web_server import WebServer


class CloudStorageServer(WebServer):
    """One bucket, `zoo`."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, tuple[int, bytes]] = {}
        """Generation and content by name."""
        self.answers["/storage/v1/b/zoo/o"] = self._metadata
        self.answers["/download/storage/v1/b/zoo/o/"] = self._content

    def put(self, name: str, data: bytes) -> None:
        self.objects[name] = self.objects.get(name, (0, b""))[0] + 1, data

    def _metadata(self, handler: Any) -> None:
        address = urlsplit(handler.path)
        name = unquote(address.path.removeprefix("/storage/v1/b/zoo/o").removeprefix("/"))
        if name:
            found = self._about(name)
            handler.reply(404 if found is None else 200, json.dumps(found or {"error": {"message": "none"}}).encode())
            return
        query = {key: values[0] for key, values in parse_qs(address.query).items()}
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        items, prefixes = [], set()
        for key in sorted(self.objects):
            if key.startswith(prefix):
                head, found, _ = key.removeprefix(prefix).partition(delimiter) if delimiter else (key, "", "")
                if found:
                    prefixes.add(prefix + head + found)
                else:
                    items.append(self._about(key))
        handler.reply(200, json.dumps({"items": items, "prefixes": sorted(prefixes)}).encode())

    def _about(self, name: str) -> dict[str, Any] | None:
        if name not in self.objects:
            return None
        generation, data = self.objects[name]
        digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
        described = {"kind": "storage#object", "name": name, "bucket": "zoo", "size": str(len(data)), "md5Hash": digest}
        times = {"updated": "2026-11-22T10:00:00.000Z", "timeCreated": "2026-11-22T10:00:00.000Z"}
        return {**described, **times, "generation": str(generation)}

    def _content(self, handler: Any) -> None:
        name = unquote(urlsplit(handler.path).path.removeprefix("/download/storage/v1/b/zoo/o/"))
        if name not in self.objects:
            handler.reply(404, b"none")
            return
        data = self.objects[name][1]
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", handler.headers.get("Range", ""))
        if found is None:
            handler.reply(200, data)
            return
        start, stop = int(found[1]), min(int(found[2]) + 1, len(data))
        self.sent += stop - start
        handler.reply(206, data[start:stop], Content_Range=f"bytes {start}-{stop - 1}/{len(data)}")

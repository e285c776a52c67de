# SPDX-License-Identifier: Apache-2.0
"""A server with the part of the API of the Hugging Face Hub that `HfFileSystem` uses: repositories, trees, files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from support.servers.web_server import File, WebServer


@dataclass
class Repository:
    """The files of a repository at each of its commits; the last one is `main`."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    token: str | None = None
    """The server answers requests without it as if the repository did not exist."""

    def files(self, revision: str) -> dict[str, bytes] | None:
        return self.commits.get(self.sha(revision) or "")

    def sha(self, revision: str) -> str | None:
        if revision == "main":
            return list(self.commits)[-1]
        return revision if revision in self.commits else None


class HubServer(WebServer):
    """True to redirect to another path for files, as the hub does with large ones."""

    def __init__(self) -> None:
        super().__init__()
        self.repositories: dict[str, Repository] = {}
        self.answers["/api/models/"] = self._api
        self.answers["/org/"] = self._resolve

    def _repository(self, handler: Any, name: str) -> Repository | None:
        found = self.repositories.get(name)
        given = handler.headers.get("Authorization", "")
        if found is None or (found.token is not None and given != f"Bearer {found.token}"):
            handler.reply(401, b"{}", X_Error_Code="RepoNotFound", X_Error_Message="Repository not found")
            return None
        return found

    def _api(self, handler: Any) -> None:
        parts = unquote(handler.path.partition("?")[0]).removeprefix("/api/models/").split("/")
        length = int(handler.headers.get("Content-Length", 0))
        body = handler.rfile.read(length)
        name = "/".join(parts[:2])
        repository = self._repository(handler, name)
        if repository is None:
            return
        what, revision = (parts[2], parts[3]) if len(parts) > 3 else ("revision", "main")
        files, sha = repository.files(revision), repository.sha(revision)
        if files is None:
            handler.reply(404, b"{}", X_Error_Code="RevisionNotFound", X_Error_Message="Invalid rev id")
        elif what == "revision":
            _json(handler, {"id": name, "sha": sha, "private": False, "tags": [], "siblings": []})
        elif what == "tree":
            folder = "/".join(parts[4:])
            entries = _tree(files, folder, "recursive=True" in handler.path or "recursive=true" in handler.path)
            if folder and not entries:
                handler.reply(404, b"{}", X_Error_Code="EntryNotFound", X_Error_Message="no such entry")
            else:
                _json(handler, entries)
        elif what == "paths-info":
            wanted = json.loads(body)["paths"] if body.startswith(b"{") else []
            _json(handler, [_entry(path, files[path]) for path in wanted if path in files])
        else:
            handler.reply(404)

    def _resolve(self, handler: Any) -> None:
        owner, name, _, revision, *path = unquote(handler.path.partition("?")[0]).strip("/").split("/")
        repository = self._repository(handler, f"{owner}/{name}")
        if repository is None:
            return
        data = (repository.files(revision) or {}).get("/".join(path))
        if data is None:
            handler.reply(404, b"", X_Error_Code="EntryNotFound", X_Error_Message="no such entry")
            return
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"cdn/{digest}"] = File(data, etag=f'"{digest}"')
        handler.reply(302, Location=f"/cdn/{digest}", X_Repo_Commit=repository.sha(revision) or "")


def _entry(path: str, data: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(data).hexdigest()
    large = {"oid": digest, "size": len(data), "pointerSize": 130}
    return {"type": "file", "oid": digest[:40], "size": len(data), "path": path, "lfs": large}


def _tree(files: dict[str, bytes], folder: str, is_recursive: bool) -> list[dict[str, Any]]:
    prefix = f"{folder}/" if folder else ""
    found: dict[str, dict[str, Any]] = {}
    for path, data in files.items():
        if not path.startswith(prefix):
            continue
        below = path.removeprefix(prefix).split("/")
        for end in range(1, len(below)):
            name = prefix + "/".join(below[:end])
            found[name] = {"type": "directory", "oid": "0" * 40, "size": 0, "path": name}
        found[path] = _entry(path, data)
    depth = prefix.count("/")
    return [entry for path, entry in found.items() if is_recursive or path.count("/") == depth]


def _json(handler: Any, value: object) -> None:
    handler.reply(200, json.dumps(value).encode(), Content_Type="application/json")

# SPDX-License-Identifier: Apache-2.0
"""The key of an entry: everything that decides a report besides the files that the check reads."""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import re
import sys
import time
from collections.abc import Iterator
from typing import Final

from google.protobuf import __version__ as protobuf_version

from onnx_lint.cache.identity import digest_at, identity_at, is_settled
from onnx_lint.engine.registry import registry
from onnx_lint.engine.settings import Settings
from onnx_lint.input.locations import is_remote, is_web
from onnx_lint.version import __version__

_IGNORED: Final = frozenset({"__pycache__"})


_ENDPOINTS: Final = (
    "FSSPEC_.*|AWS_ENDPOINT_URL(_S3)?|AWS_PROFILE|AZURE_STORAGE_(ACCOUNT_NAME|CONNECTION_STRING)|HF_ENDPOINT"
    "|STORAGE_EMULATOR_HOST"
)
"""Matches the environment variables that decide which server an address of a store leads to."""


def key_of(settings: bytes, *, path: str, name: str, context: int) -> bytes:
    """Return the key of a check: of these settings, and of a file by its path and by its name in the report.

    `context`: what the report shows around findings.
    """
    place: object = path
    if not is_remote(path):
        place = os.path.abspath(path)
    elif not is_web(path):  # the name has the whole address; the path may have a commit of the hub
        place = sorted((name, value) for name, value in os.environ.items() if re.fullmatch(_ENDPOINTS, name))
    found = hashlib.blake2b(settings, digest_size=32)
    found.update(repr((place, name, int(context))).encode("utf-8", "surrogatepass"))
    return found.digest()


def digest_of_settings(settings: Settings) -> bytes | None:
    """Return the digest of onnx-lint, its plugins, settings and their schema files.

    None if a schema file has changed so shortly before that another content may have been read, and with plugin files:
    it is not known what else they read.
    """
    if settings.plugins:
        return None
    now = time.time_ns()
    schemas: list[str] = []
    for path in settings.opset_schemas:
        identity, digest = identity_at(path), digest_at(path)
        if identity is None or digest is None or not is_settled(identity, now):
            return None
        schemas.append(digest)
    described = repr((_program(), settings, schemas))
    return hashlib.blake2b(described.encode("utf-8", "surrogatepass"), digest_size=32).digest()


@functools.cache
def _program() -> tuple[object, ...]:
    """Return the identity of the code: the files of onnx-lint and of its plugins, and the versions of what parses."""
    folders = own_folders()
    packages = {entry.module.partition(".")[0] for entry in registry().values() if entry.plugin is not None}
    for package in sorted(packages):
        module = sys.modules[package]
        folders += list(getattr(module, "__path__", ()))
    files = tuple(found for folder in dict.fromkeys(folders) for found in sorted(code_files(folder)))
    return __version__, sys.version, protobuf_version, files


def own_folders() -> list[str]:
    """Return the folders of the code of onnx-lint and its rules."""
    return [os.path.dirname(os.path.dirname(__file__)), *importlib.import_module("onnx_lint.rules").__path__]


def code_files(folder: str) -> Iterator[tuple[str, int, int]]:
    """Yield path, size and time of each file of a package; of one in a zip file, that file."""
    try:
        entries = list(os.scandir(folder))
    except NotADirectoryError:
        yield from _archive(folder)
        return
    for entry in entries:
        if entry.is_dir():
            if entry.name not in _IGNORED:
                yield from code_files(entry.path)
        else:
            status = entry.stat()
            yield entry.path, status.st_size, status.st_mtime_ns


def _archive(folder: str) -> Iterator[tuple[str, int, int]]:
    place = folder
    while not os.path.exists(place):
        place = os.path.dirname(place)
    status = os.stat(place)
    yield place, status.st_size, status.st_mtime_ns

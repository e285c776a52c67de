# SPDX-License-Identifier: Apache-2.0
"""The versions of objects: in the metadata of their file systems, and as revisions of a repository of the hub."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

_NAMES: Final = (
    *("VersionId", "version_id", "generation", "ETag", "etag", "content_hash", "blob_id", "xet_hash"),
    *("md5Hash", "crc32c", "LastModified", "last_modified", "updated", "mtime", "modified", "created"),
)
"""The keys of versions in the metadata of file systems, from the most to the least exact."""


_OF_CONTENT: Final = ("ETag", "etag", *_NAMES[:7], "md5Hash")
"""The keys of versions that other content cannot have. A time can be the same, and so can a checksum of 32 bits."""


def content_version_of(about: Mapping[str, Any]) -> str | None:
    """Return the version of an object that no other content of it has; None if its store names none."""
    versions = (about.get(name) for name in _OF_CONTENT)
    return next(
        (each for each in versions if isinstance(each, str) and each not in {"", "null"} and each[:2] != "W/"), None
    )


def version_of(about: Mapping[str, Any]) -> str | None:
    """Return the version of an object from its metadata; None if there is none."""
    for name in _NAMES:
        value = about.get(name)
        if value not in (None, "", "null"):
            # Listings and single objects may format the same time differently.
            return str(value.timestamp() if isinstance(value, datetime) else value)
    return None


def pinned(system: Any, address: str) -> str:
    """Return the path of an object or folder in the current revision of its address.

    Revisions are those of a repository of the Hugging Face Hub. For another store, return the path as its file system
    expects it. Raises the errors of the file system.
    """
    path: str = system._strip_protocol(address)
    if system.protocol != "hf":
        return path
    from huggingface_hub import HfApi

    resolved = system.resolve_path(path)
    if not hasattr(resolved, "repo_id"):
        return path  # a bucket has no revisions
    api = HfApi(endpoint=system.endpoint, token=system.token)
    revision = api.repo_info(resolved.repo_id, revision=resolved.revision, repo_type=resolved.repo_type).sha
    # Older packages resolve a path without the attribute `root`.
    root = resolved.unresolve().removesuffix(resolved.path_in_repo).rstrip("/")
    repository = root.rpartition("@")[0] or root
    return f"{repository}@{revision}/{resolved.path_in_repo}".rstrip("/")

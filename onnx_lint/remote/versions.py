# SPDX-License-Identifier: Apache-2.0
"""What a store calls the version of an object, in the words of its file system."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

_NAMES: Final = (
    *("VersionId", "version_id", "generation", "ETag", "etag", "content_hash", "blob_id", "xet_hash"),
    *("md5Hash", "crc32c", "LastModified", "last_modified", "updated", "mtime", "modified", "created"),
)
"""The keys under which file systems tell versions, those first that change with every change."""


def version_of(about: Mapping[str, Any]) -> str | None:
    """The version of an object, by what its file system tells of it; None where it tells none."""
    for name in _NAMES:
        value = about.get(name)
        if value not in (None, "", "null"):
            # Of one and the same object some listings tell the time otherwise than what tells of it alone.
            return str(value.timestamp() if isinstance(value, datetime) else value)
    return None

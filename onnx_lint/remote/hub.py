# SPDX-License-Identifier: Apache-2.0
"""Addresses of the Hugging Face Hub, whose versions are revisions of a whole repository."""

from __future__ import annotations

from typing import Any


def pinned(system: Any, address: str) -> str:
    """Return the path of an object or folder in the current revision of its address.

    For a store other than the Hub, return the path as its file system expects it. Raises the errors of the file system.
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
    root = resolved.root.rpartition("@")[0] or resolved.root
    return f"{root}@{revision}/{resolved.path_in_repo}".rstrip("/")

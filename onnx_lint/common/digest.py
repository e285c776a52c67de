# SPDX-License-Identifier: Apache-2.0
"""SHA-256 without OpenSSL. `hashlib` loads OpenSSL, which needs three megabytes, as much as 4,000 findings."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final


def _sha256() -> Any:
    for name in ("_sha2", "_sha256"):  # from Python 3.12 on, and before
        try:
            return import_module(name).sha256
        except ImportError:  # a Python built without it
            continue
    import hashlib

    return hashlib.sha256


sha256: Final = _sha256()
"""Same as `hashlib.sha256`."""

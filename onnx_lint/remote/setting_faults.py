# SPDX-License-Identifier: Apache-2.0
"""Names the settings of the environment that may make a store unusable. Their values may be credentials."""

from __future__ import annotations

import json
import os
import sys
from typing import Final

from onnx_lint.input.locations import scheme_of

_PROXIES: Final = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
_ENDPOINTS: Final = {
    **dict.fromkeys(("http", "https"), _PROXIES),
    **dict.fromkeys(("s3", "s3a"), ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")),
    "hf": ("HF_ENDPOINT",),
}
"""The variables with the address of a server for a store."""

_SAME_STORE: Final = (("http", "https"), ("s3", "s3a"), ("gs", "gcs"))
"""The schemes of one file system, which uses the settings of each."""


def unread_setting(address: str) -> str | None:
    """Return the fault of a variable that fsspec would ignore, for the store of an address; None if there is none."""
    for name in _fsspec_variables(address):
        try:
            value = json.loads(os.environ.get(name, "{}"))
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            return f"the environment variable {name} is not a JSON object"
    return None


def settings_in_use(address: str) -> str:
    """Return where the settings of a store are, for a sentence; empty if it has none."""
    names = [*_ENDPOINTS.get(scheme_of(address), ()), *_fsspec_variables(address)]
    found = [name for name in names if os.environ.get(name)]
    configured = getattr(sys.modules.get("fsspec.config"), "conf", {})
    if any(configured.get(scheme) for scheme in _schemes(address)):
        found.append("the configuration of fsspec")
    return " or ".join(found)


def _fsspec_variables(address: str) -> list[str]:
    return [f"FSSPEC_{scheme.upper()}" for scheme in _schemes(address)]


def _schemes(address: str) -> tuple[str, ...]:
    own = scheme_of(address)
    return next((schemes for schemes in _SAME_STORE if own in schemes), (own,))

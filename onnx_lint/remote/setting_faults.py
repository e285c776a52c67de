# SPDX-License-Identifier: Apache-2.0
"""Finds environment settings that make a store unusable. It shows only their names: values may be credentials."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from onnx_lint.input.locations import is_web, scheme_of

_PROXIES: Final = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
_ENDPOINTS: Final = {
    **dict.fromkeys(("http", "https"), _PROXIES),
    **dict.fromkeys(("s3", "s3a"), ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")),
    "hf": ("HF_ENDPOINT",),
}
"""The variables with the address of a server for a store."""

_SAME_STORE: Final = (("http", "https"), ("s3", "s3a"), ("gs", "gcs"))
"""The schemes of one file system, which uses the settings of each."""

_OF_VALUES: Final = frozenset({"EndpointResolutionError", "UnsupportedProtocol"})
"""The exceptions of botocore and httpx about a value that are not ValueErrors."""

_UNEXPECTED: Final = r"unexpected keyword argument '([A-Za-z_][A-Za-z0-9_]*)'"


def unread_setting(address: str) -> str | None:
    """Return the fault of a variable that fsspec would ignore, for the store of an address; None if there is none."""
    for scheme in _schemes(address):
        name = f"FSSPEC_{scheme.upper()}"
        try:
            value = json.loads(os.environ.get(name, "{}"))
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            return f"the environment variable {name} is not a JSON object"
    return None


def faulty_setting(address: str, causes: Sequence[BaseException]) -> str | None:
    """Return the setting that probably caused these errors, and its fault; None if no setting is to blame."""
    if not any(map(_is_about_a_value, causes)):
        return None
    for name in _ENDPOINTS.get(scheme_of(address), ()):
        if name in os.environ and os.environ[name] and not _is_server(os.environ[name]):
            return f"the environment variable {name} is not an http or https address"
    given = list(_given(address))
    clients = [options.get("client_kwargs") for _, options in given]
    for options in (*(options for _, options in given), *(each for each in clients if isinstance(each, dict))):
        if "endpoint_url" in options and not _is_server(options["endpoint_url"]):
            return f"the endpoint_url for {_shown(address)} in fsspec's configuration is not an http or https address"
    if not given or not any(isinstance(cause, (TypeError, AttributeError)) for cause in causes):
        return None
    found = next(filter(None, (re.search(_UNEXPECTED, str(cause)) for cause in causes)), None)
    why = f": there is no {found[1]}" if found is not None else ""
    names = " or ".join(f"FSSPEC_{scheme.upper()}" for scheme, _ in given)
    return f"the file system rejects the settings in {names} or in the configuration of fsspec{why}"


def _is_about_a_value(error: BaseException) -> bool:
    return isinstance(error, (TypeError, AttributeError, ValueError)) or type(error).__name__ in _OF_VALUES


def _schemes(address: str) -> tuple[str, ...]:
    own = scheme_of(address)
    return next((schemes for schemes in _SAME_STORE if own in schemes), (own,))


def _given(address: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the configuration of fsspec for each scheme of the store; nothing if fsspec was not imported."""
    configured = getattr(sys.modules.get("fsspec.config"), "conf", {})
    for scheme in _schemes(address):
        if isinstance(configured.get(scheme), dict) and configured[scheme]:
            yield scheme, configured[scheme]


def _is_server(value: object) -> bool:
    """Return whether a setting is an http or https address."""
    if not isinstance(value, str) or not is_web(value):
        return False
    try:
        parts = urlsplit(value)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _shown(address: str) -> str:
    return f"{scheme_of(address)}://"

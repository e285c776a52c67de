# SPDX-License-Identifier: Apache-2.0
"""The HTTP session of fsspec's file system. It checks redirects."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
import yarl
from aiohttp.abc import AbstractResolver, ResolveResult

from onnx_lint.remote.redirects import check_reach, check_scheme


def web_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the file system for HTTP: the configured options `given`, and our session.

    Like other programs, it reads proxies from the environment and credentials from `~/.netrc`. A listing follows no
    redirect.
    """
    client = {"trust_env": True, **given.get("client_kwargs", {})}
    return {**given, "client_kwargs": client, "get_client": session, "allow_redirects": False}


async def session(**options: Any) -> aiohttp.ClientSession:
    """Return a session that follows no redirect to a less public address."""
    resolver = _KnownAddresses()
    trace = aiohttp.TraceConfig()

    async def on_redirect(
        _: aiohttp.ClientSession, __: SimpleNamespace, redirect: aiohttp.TraceRequestRedirectParams
    ) -> None:
        try:
            await _check_redirect(resolver, redirect)
        except BaseException:
            redirect.response.close()
            raise

    trace.on_request_redirect.append(on_redirect)
    options.setdefault("connector", aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False))
    traces = [*options.pop("trace_configs", ()), trace]
    return aiohttp.ClientSession(trace_configs=traces, **options)


async def _check_redirect(resolver: _KnownAddresses, redirect: aiohttp.TraceRequestRedirectParams) -> None:
    location = redirect.response.headers.get("Location") or redirect.response.headers.get("URI") or ""
    target = redirect.url.join(yarl.URL(location))
    check_scheme(redirect.url.scheme, target.scheme)
    check_reach(await resolver.addresses(redirect.url), await resolver.addresses(target))


_KNOWN_SECONDS: Final = 300
"""The seconds for which the addresses of a host name are reused."""


class _KnownAddresses(AbstractResolver):
    """Caches the addresses of names, so that a request goes to the address that was checked, even if DNS changes."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], tuple[float, list[ResolveResult]]] = {}
        self._resolver = aiohttp.ThreadedResolver()

    async def addresses(self, url: yarl.URL) -> list[str]:
        """Return the IP addresses of the host; empty if they are unknown here."""
        host = url.host or ""
        try:
            return [str(ipaddress.ip_address(host))]
        except ValueError:
            pass
        try:
            key = host.lower().rstrip("."), url.port or 0
            if key in self._found and time.monotonic() - self._found[key][0] > _KNOWN_SECONDS:
                del self._found[key]
            return [found["host"] for found in await self.resolve(*key)]
        except (OSError, UnicodeError):
            return []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of a name. Raises OSError if there are none."""
        key = host.lower().rstrip("."), port
        if key not in self._found or time.monotonic() - self._found[key][0] > 2 * _KNOWN_SECONDS:
            self._found[key] = time.monotonic(), await self._resolver.resolve(host, port, socket.AF_UNSPEC)
        return self._found[key][1]

    async def close(self) -> None:
        """Release the resolver."""
        await self._resolver.close()

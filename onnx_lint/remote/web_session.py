# SPDX-License-Identifier: Apache-2.0
"""The session of HTTP that fsspec's file system is given: it looks at redirects, and counts requests."""

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


class Counter:
    """Counts requests, those to which a redirect leads among them."""

    def __init__(self) -> None:
        self.requests = 0


def web_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the file system for HTTP: what is configured, `given`, and a session of ours.

    As other programs do, it takes proxies from the environment and credentials from `~/.netrc`. A listing follows no
    redirect.
    """
    client = {"trust_env": True, **given.get("client_kwargs", {})}
    return {**given, "client_kwargs": client, "get_client": session, "allow_redirects": False}


async def session(**options: Any) -> aiohttp.ClientSession:
    """A session that follows no redirect to a less public address."""
    resolver = _KnownAddresses()
    trace = aiohttp.TraceConfig()

    async def on_redirect(
        _: aiohttp.ClientSession, context: SimpleNamespace, redirect: aiohttp.TraceRequestRedirectParams
    ) -> None:
        try:
            await _check_redirect(resolver, redirect)
        except BaseException:
            redirect.response.close()
            raise
        _count(context)

    async def on_start(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        _count(context)

    trace.on_request_start.append(on_start)
    trace.on_request_redirect.append(on_redirect)
    options.setdefault("connector", aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False))
    traces = [*options.pop("trace_configs", ()), trace]
    return aiohttp.ClientSession(trace_configs=traces, **options)


def _count(context: SimpleNamespace) -> None:
    counter = context.trace_request_ctx
    if isinstance(counter, Counter):
        counter.requests += 1


async def _check_redirect(resolver: _KnownAddresses, redirect: aiohttp.TraceRequestRedirectParams) -> None:
    location = redirect.response.headers.get("Location") or redirect.response.headers.get("URI") or ""
    target = redirect.url.join(yarl.URL(location))
    check_scheme(redirect.url.scheme, target.scheme)
    check_reach(await resolver.addresses(redirect.url), await resolver.addresses(target))


_KNOWN_SECONDS: Final = 300
"""So long a name leads to the same addresses."""


class _KnownAddresses(AbstractResolver):
    """Remembers where names lead, so that a request goes to what was looked at, even if that was changed since."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], tuple[float, list[ResolveResult]]] = {}
        self._resolver = aiohttp.ThreadedResolver()

    async def addresses(self, url: yarl.URL) -> list[str]:
        """The IP addresses of the host; none where they are not known here."""
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
        """The addresses of a name. Raises OSError where there are none."""
        key = host.lower().rstrip("."), port
        if key not in self._found or time.monotonic() - self._found[key][0] > 2 * _KNOWN_SECONDS:
            self._found[key] = time.monotonic(), await self._resolver.resolve(host, port, socket.AF_UNSPEC)
        return self._found[key][1]

    async def close(self) -> None:
        """Release the resolver."""
        await self._resolver.close()

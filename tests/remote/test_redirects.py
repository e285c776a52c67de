# SPDX-License-Identifier: Apache-2.0
"""Redirects are followed only to addresses that are as public as the server."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers.remote_models import small_model
from support.servers.web_server import File, WebServer

from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import Limits
from onnx_lint.remote import RemoteError, redirects
from onnx_lint.remote.redirects import (
    LINK_LOCAL,
    LOOPBACK,
    METADATA,
    PRIVATE,
    PUBLIC,
    check_scheme,
    reach_of,
)

pytestmark = pytest.mark.remote

QUICK = Settings(limits=Limits(request_seconds=2))

PUBLIC_HERE = "127.0.0.2"
"""An address of this machine that the tests take for a public one."""


@pytest.mark.parametrize(
    ("address", "reach"),
    [
        ("8.8.8.8", PUBLIC),
        ("2606:4700::1111", PUBLIC),
        ("10.0.0.1", PRIVATE),
        ("172.16.5.4", PRIVATE),
        ("192.168.1.1", PRIVATE),
        ("100.64.0.1", PRIVATE),
        ("224.0.0.1", PRIVATE),
        ("fd00::254", PRIVATE),
        ("fec0::1", PRIVATE),
        ("fd00:ec2::254", METADATA),
        ("168.63.129.16", METADATA),
        ("::ffff:100.100.100.200", METADATA),
        ("::127.0.0.1", LOOPBACK),
        ("::ffff:0:127.0.0.1", LOOPBACK),
        ("64:ff9b:1::a9fe:a9fe", LINK_LOCAL),
        ("127.0.0.1", LOOPBACK),
        ("127.9.9.9", LOOPBACK),
        ("0.0.0.0", LOOPBACK),
        ("::1", LOOPBACK),
        ("::", LOOPBACK),
        ("169.254.169.254", LINK_LOCAL),
        ("fe80::1%eth0", LINK_LOCAL),
        ("::ffff:169.254.169.254", LINK_LOCAL),
        ("::ffff:10.0.0.1", PRIVATE),
        ("64:ff9b::a9fe:a9fe", LINK_LOCAL),
        ("2002:7f00:1::", LOOPBACK),
        ("2002:808:808::", PUBLIC),
        ("no address", LINK_LOCAL),
    ],
)
def test_how_far_an_address_reaches(address: str, reach: int):
    assert reach_of(address) == reach


@pytest.mark.parametrize(("origin", "target"), [("http", "https"), ("http", "http"), ("https", "https")])
def test_redirects_may_lead_to_what_is_as_secure(origin: str, target: str):
    check_scheme(origin, target)


def test_redirects_do_not_lead_away_from_https():
    with pytest.raises(RemoteError, match="from https to a scheme that is not secure"):
        check_scheme("https", "http")


@pytest.fixture
def everywhere() -> Iterator[WebServer]:
    """A server on all addresses of this machine, with a model that is redirected to."""
    with WebServer("0.0.0.0") as started:
        started.files["m.onnx"] = File(small_model())
        yield started


@pytest.fixture
def public_here(monkeypatch: pytest.MonkeyPatch) -> None:
    before = redirects.reach_of
    monkeypatch.setattr(redirects, "reach_of", lambda address: PUBLIC if address == PUBLIC_HERE else before(address))


def redirect(server: WebServer, target: str, status: int = 302) -> None:
    server.answers["/go"] = lambda handler: handler.reply(status, Location=target)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_on_one_host_is_followed(everywhere: WebServer, status: int):
    redirect(everywhere, "/m.onnx", status)
    report = lint_file(everywhere.url("go"), QUICK)
    assert report.unreadable is None
    assert [asked.path for asked in everywhere.asked] == ["/go", "/m.onnx"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.3", "localhost", "0.0.0.0", "2130706433", "127.1"])
def test_none_leads_from_a_public_address_to_a_private_one(everywhere: WebServer, public_here: None, host: str):
    redirect(everywhere, everywhere.url("m.onnx", host))
    report = lint_file(everywhere.url("go", PUBLIC_HERE), QUICK)
    said = "the server redirects to a loopback address: refused, since it is less public than the server's own"
    assert report.unreadable == f"{everywhere.url('go', PUBLIC_HERE)}: {said}"
    assert [asked.path for asked in everywhere.asked] == ["/go"]


def test_nor_in_two_steps(everywhere: WebServer, public_here: None):
    redirect(everywhere, everywhere.url("on", PUBLIC_HERE))
    everywhere.answers["/on"] = lambda handler: handler.reply(302, Location=everywhere.url("m.onnx"))
    report = lint_file(everywhere.url("go", PUBLIC_HERE), QUICK)
    assert "refused" in report.unreadable
    assert [asked.path for asked in everywhere.asked] == ["/go", "/on"]


def test_nor_from_loopback_to_a_link_local_address(everywhere: WebServer):
    redirect(everywhere, "http://169.254.169.254/latest/meta-data/")
    report = lint_file(everywhere.url("go"), QUICK)
    assert "the server redirects to a link-local address: refused" in report.unreadable


def test_what_the_user_names_is_asked_for_wherever_it_is(everywhere: WebServer):
    assert lint_file(everywhere.url("m.onnx"), QUICK).unreadable is None


def test_a_redirect_to_a_public_address_is_followed(everywhere: WebServer, public_here: None):
    redirect(everywhere, everywhere.url("m.onnx", PUBLIC_HERE))
    assert lint_file(everywhere.url("go"), QUICK).unreadable is None


def test_a_name_leads_to_the_addresses_that_were_looked_at(
    everywhere: WebServer, public_here: None, monkeypatch: pytest.MonkeyPatch
):
    """Its owner may answer the second time with another address than the first time."""
    import aiohttp

    answers = {"rebound.example": iter([PUBLIC_HERE, "127.0.0.1", "127.0.0.1"])}

    async def resolve(_: object, host: str, port: int = 0, family: int = 0) -> list[dict[str, object]]:
        address = next(answers[host]) if host in answers else host
        return [{"hostname": host, "host": address, "port": port, "family": 2, "proto": 6, "flags": 0}]

    monkeypatch.setattr(aiohttp.ThreadedResolver, "resolve", resolve)
    redirect(everywhere, everywhere.url("m.onnx", "rebound.example"))
    report = lint_file(everywhere.url("go", PUBLIC_HERE), QUICK)
    assert report.unreadable is None
    assert list(answers["rebound.example"]) == ["127.0.0.1", "127.0.0.1"], "it was asked for once"


def test_an_endless_chain_ends(everywhere: WebServer):
    redirect(everywhere, "/go")
    report = lint_file(everywhere.url("go"), QUICK)
    assert report.unreadable.endswith("the server redirects too often")
    assert len(everywhere.asked) <= 11


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/m.onnx", "javascript:0", "", "http://["])
def test_other_targets_are_no_targets(everywhere: WebServer, target: str):
    redirect(everywhere, target)
    assert lint_file(everywhere.url("go"), QUICK).unreadable is not None


def test_credentials_go_to_the_host_that_they_are_for(everywhere: WebServer, tmp_path: Path):
    redirect(everywhere, everywhere.url("m.onnx", "127.0.0.3"))
    named = everywhere.url("go").replace("://", "://user:secret@")
    report = lint_file(named, QUICK)
    assert (report.unreadable, report.path) == (None, everywhere.url("go"))
    first, second = everywhere.asked
    wanted = base64.b64encode(b"user:secret").decode()
    assert (first.headers.get("authorization"), second.headers.get("authorization")) == (f"Basic {wanted}", None)


def test_external_data_is_not_looked_for_by_a_redirect_into_the_machine(everywhere: WebServer, public_here: None):
    from support.servers.remote_models import external_model

    everywhere.files["m.onnx"] = File(external_model(1, 8))
    everywhere.answers["/weights.bin"] = lambda handler: handler.reply(302, Location=everywhere.url("secret"))
    everywhere.files["secret"] = File(bytes(32))
    report = lint_file(everywhere.url("m.onnx", PUBLIC_HERE), QUICK)
    assert (report.unreadable, report.diagnostics) == (None, ())
    assert "refused" in report.incomplete[0]
    assert "/secret" not in {asked.path for asked in everywhere.asked}

# SPDX-License-Identifier: Apache-2.0
"""Remote models on the command line, in processes of their own as a user starts them."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from support.servers.remote_models import ENVIRONMENT, external_model, small_model, write_inlined
from support.servers.web_server import File, WebServer

from onnx_lint.reporters import REPORTERS

pytestmark = pytest.mark.remote

SECRET = "s3cr3t"
FORMATS = tuple(REPORTERS)


def run(folder: Path, *arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    given = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    command = [sys.executable, "-m", "onnx_lint", *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**given, **environment},
        input=stdin,
    )
    assert "Traceback" not in done.stderr
    return done


ZOO = ("zoo/m.onnx", "zoo/old/n.onnx")


@pytest.fixture
def zoo(server: WebServer) -> WebServer:
    server.files |= {name: File(small_model(fault=True)) for name in ZOO}
    return server


def paths(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [file["path"] for file in json.loads(done.stdout)["files"]]


def test_a_web_server_has_no_listing(server: WebServer, tmp_path: Path):
    done = run(tmp_path, server.url("zoo/"))
    assert (done.returncode, server.asked) == (2, [])
    assert f"{server.url('zoo/')}: a web server has no listing" in done.stderr


def test_no_credential_is_in_any_report(server: WebServer, tmp_path: Path):
    server.files |= {
        "a/m.onnx": File(external_model(1, 8)),
        "a/late.onnx": File(b"", status=[-403]),
        "a/bad.onnx": File(b"no model at all, only words"),
    }
    addresses = [
        server.url(f"a/{name}?X-Amz-Signature={SECRET}&sig={SECRET}&{SECRET}").replace("://", f"://user:{SECRET}@")
        for name in ("m.onnx", "late.onnx", "bad.onnx", "none.onnx")
    ]
    outputs = [option for form in FORMATS for option in ("-o", f"{form}=report.{form}")]
    for more in ((), ("--verbose", "--jobs", "2", "--statistics")):
        done = run(tmp_path, *addresses, *outputs, *more)
        assert done.returncode == 2
        assert SECRET not in done.stdout + done.stderr
        said = [*((tmp_path / f"report.{form}").read_text() for form in FORMATS)]
        assert len(said) == 10
        for text in said:
            assert SECRET not in text
            assert "m.onnx?X-Amz-Signature=***&sig=***&***" in html.unescape(text).replace("\\", "")


@pytest.mark.parametrize("address", ["s3://{0}@zoo/m.onnx", "http://u:{0}@[bad/m.onnx", "http://u:{0}@h:99999/m.onnx",
                                     "nowhere://u:{0}@h/m", "https://127.0.0.1:1/m.onnx?{0}=1&x={0}"])  # fmt: skip
def test_nor_of_an_address_that_leads_nowhere(tmp_path: Path, address: str):
    done = run(tmp_path, address.format(SECRET), "--limit", "request_seconds=1", AWS_EC2_METADATA_DISABLED="true")
    said = done.stdout + done.stderr
    assert done.returncode == 2
    assert SECRET not in said.replace(f"?{SECRET}=", "?"), "the name of a parameter is none"


def test_bytes_and_requests_are_told(server: WebServer, tmp_path: Path):
    write_inlined(tmp_path / "m.onnx", tensors=3, elements=1 << 20)
    server.files["m.onnx"] = File(tmp_path / "m.onnx")
    done = run(tmp_path, server.url("m.onnx"), "-f", "jsonl")
    [file] = [json.loads(line) for line in done.stdout.splitlines() if '"record":"file"' in line]
    assert file["remote"] == {"requests": len(server.asked), "bytes": server.sent, "version": '"1"'}


def test_local_files_are_not_told_as_fetched(tmp_path: Path):
    (tmp_path / "m.onnx").write_bytes(small_model())
    done = run(tmp_path, "m.onnx", "-f", "json")
    assert "remote" not in json.loads(done.stdout)["files"][0]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("n.onnx", ["m.onnx"]),
        ("old", ["m.onnx"]),
        ("old/", ["m.onnx"]),
        ("{url}zoo/old/*", ["m.onnx"]),
        ("{url}**/*.onnx", []),
        ("http://elsewhere/**", ["m.onnx", "old/n.onnx"]),
        ("old/*", ["m.onnx", "old/n.onnx"]),
    ],
)
def test_exclusions(zoo: WebServer, tmp_path: Path, pattern: str, left: list[str]):
    done = run(
        tmp_path, *map(zoo.url, ZOO), "--exclude", pattern.format(url=zoo.url()), "-f", "json", "--allow-no-input"
    )
    assert paths(done) == [zoo.url(f"zoo/{name}") for name in left]


def test_a_baseline_knows_models_by_address(zoo: WebServer, tmp_path: Path):
    assert run(tmp_path, *map(zoo.url, ZOO), "--write-baseline", "known.json").returncode == 0
    assert zoo.url("zoo/m.onnx") in (tmp_path / "known.json").read_text()
    signed = zoo.url("zoo/m.onnx").replace("://", f"://user:{SECRET}@")
    assert run(tmp_path, signed, "--baseline", "known.json").returncode == 0
    assert run(tmp_path, *map(zoo.url, ZOO), "--baseline", "known.json", "--prune-baseline").returncode == 0
    assert zoo.url("zoo/old/n.onnx") in (tmp_path / "known.json").read_text()


def test_sarif_names_a_model_by_its_address(zoo: WebServer, tmp_path: Path):
    zoo.files["zoo/ü b.onnx"] = zoo.files["zoo/%C3%BC%20b.onnx"] = File(small_model(fault=True))
    done = run(tmp_path, zoo.url("zoo/m.onnx"), zoo.url("zoo/ü b.onnx"), "-f", "sarif")
    places = [artifact["location"] for artifact in json.loads(done.stdout)["runs"][0]["artifacts"]]
    assert [place["uri"] for place in places] == [zoo.url("zoo/m.onnx"), zoo.url("zoo/%C3%BC%20b.onnx")]
    assert all("uriBaseId" not in place for place in places)


def test_a_configuration_beside_a_remote_model_is_not_asked_for(server: WebServer, tmp_path: Path):
    server.files |= {"m.onnx": File(small_model(fault=True)), "onnx-lint.toml": File(b'fail-on = "never"')}
    assert run(tmp_path, server.url("m.onnx")).returncode == 1
    assert [asked.path for asked in server.asked] == ["/m.onnx"]
    (tmp_path / "onnx-lint.toml").write_text('fail-on = "never"')
    assert run(tmp_path, server.url("m.onnx")).returncode == 0


def test_a_list_of_addresses(zoo: WebServer, tmp_path: Path):
    done = run(
        tmp_path, "--files-from", "-", "-f", "json", stdin=f"{zoo.url('zoo/old/n.onnx')}\n{zoo.url('zoo/m.onnx')}\n"
    )
    assert paths(done) == [zoo.url("zoo/old/n.onnx"), zoo.url("zoo/m.onnx")]


def test_what_a_server_without_parts_gives(server: WebServer, tmp_path: Path):
    write_inlined(tmp_path / "m.onnx", tensors=2, elements=1 << 20)
    server.files["m.onnx"] = File(tmp_path / "m.onnx", ranges=False)
    small = ("--limit", "download_bytes=1000000")
    done = run(tmp_path, server.url("m.onnx"), *small)
    assert done.returncode == 2
    assert "(option --limit download_bytes)" in done.stderr
    assert run(tmp_path, server.url("m.onnx"), "--limit", "download_bytes=1GiB").returncode == 0


def test_shapes(server: WebServer, tmp_path: Path):
    server.files["m.onnx"] = File(small_model())
    done = run(tmp_path, "shapes", server.url("m.onnx").replace("://", f"://user:{SECRET}@"))
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"{server.url('m.onnx')}: 3 values, 3 of known shape")
    done = run(tmp_path, "shapes", server.url(f"none.onnx?sig={SECRET}"), "-f", "json")
    assert (done.returncode, done.stderr) == (
        2,
        f"Error: {server.url('none.onnx')}?sig=***: there is no such object (404)\n",
    )


def test_settings_are_shown(zoo: WebServer, tmp_path: Path):
    done = run(tmp_path, "--show-settings", zoo.url(f"zoo/m.onnx?sig={SECRET}"))
    assert (done.returncode, SECRET in done.stdout) == (0, False)


def test_an_environment_of_proxies(server: WebServer, tmp_path: Path):
    """The proxy gets the whole address, as from any program."""
    server.answers["http://models.example/"] = lambda handler: handler.reply(
        206, small_model(), Content_Range=f"bytes 0-{len(small_model()) - 1}/{len(small_model())}"
    )
    done = run(tmp_path, "http://models.example/m.onnx", HTTP_PROXY=server.url())
    assert (done.returncode, [asked.path for asked in server.asked]) == (0, ["http://models.example/m.onnx"])


def test_credentials_from_the_file_of_other_programs(server: WebServer, tmp_path: Path):
    (tmp_path / "netrc").write_text(f"machine 127.0.0.1 login user password {SECRET}\n")
    server.files["m.onnx"] = File(small_model())
    assert run(tmp_path, server.url("m.onnx"), NETRC=str(tmp_path / "netrc")).returncode == 0
    assert server.asked[0].headers["authorization"].startswith("Basic ")


def test_a_file_of_credentials_that_cannot_be_read_is_not_told(server: WebServer, tmp_path: Path):
    (tmp_path / "netrc").write_text(f"machine 127.0.0.1 login\nuser {SECRET}\n")
    server.files["m.onnx"] = File(small_model())
    done = run(tmp_path, server.url("m.onnx"), NETRC=str(tmp_path / "netrc"))
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_configured_for_fsspec(server: WebServer, tmp_path: Path):
    server.files["m.onnx"] = File(small_model())
    given = json.dumps({"client_kwargs": {"headers": {"Authorization": f"Bearer {SECRET}"}}})
    assert run(tmp_path, server.url("m.onnx"), FSSPEC_HTTP=given).returncode == 0
    assert server.asked[0].headers["authorization"] == f"Bearer {SECRET}"


def test_models_that_differ_in_a_query_alone_are_told_apart(server: WebServer, tmp_path: Path):
    """A baseline of the one is none of the other, whichever form the report has."""
    served = {f"/m?id={SECRET}1": small_model(), f"/m?id={SECRET}2": small_model(fault=True)}
    server.answers["/m"] = lambda handler: handler.reply(200, served[handler.path])
    sound, faulty = (server.url(address.lstrip("/")) for address in served)
    report = run(tmp_path, sound, faulty, "-f", "json")
    name = server.url("m?id=***")
    found = {file["path"]: len(file["diagnostics"]) for file in json.loads(report.stdout)["files"]}
    assert found == {name: 0, f"{name}#2": 1}
    for form in FORMATS:
        shown = run(tmp_path, sound, faulty, "-f", form).stdout
        assert ("*#2" in unquote(html.unescape(shown)).replace("\\", ""), SECRET in shown) == (True, False), form
    assert run(tmp_path, sound, faulty, "--write-baseline", "b.json").returncode == 0
    assert run(tmp_path, sound, faulty, "--baseline", "b.json").returncode == 0
    assert run(tmp_path, faulty, sound, "--baseline", "b.json").returncode == 1


def test_the_difference_of_a_large_model_leaves_no_file_open(server: WebServer, tmp_path: Path):
    """What was fetched of it is in a temporary file."""
    write_inlined(tmp_path / "m.onnx", tensors=3, elements=1 << 18)
    server.files["m.onnx"] = File(tmp_path / "m.onnx")
    done = run(tmp_path, "fix", "--diff", server.url("m.onnx"))
    assert (done.returncode, done.stderr) == (0, "nothing to fix\n")

# SPDX-License-Identifier: Apache-2.0
"""Models on servers of HTTP, good ones and bad ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.servers.remote_models import external_model, small_model, write_inlined
from support.servers.web_server import Asked, File, WebServer

from onnx_lint import fix
from onnx_lint.engine.lint import lint_file, lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import Limits
from onnx_lint.input.source import BytesSource
from onnx_lint.remote.access import Patience
from onnx_lint.report.file_report import FileReport

pytestmark = pytest.mark.remote

QUICK = Settings(limits=Limits(request_seconds=1))


def linted(url: str, settings: Settings = QUICK) -> FileReport:
    return lint_file(url, settings)


def found(report: FileReport) -> list[tuple[str, str]]:
    return [(item.rule, item.place) for item in report.diagnostics]


def same(report: FileReport, data: bytes) -> None:
    """The report equals that of the same bytes in a local file, apart from the path."""
    local = lint_source(BytesSource(data), report.path, QUICK)
    assert (report.unreadable, report.diagnostics, report.facts) == (None, local.diagnostics, local.facts)
    assert report.size == len(data)


@pytest.mark.parametrize("fault", [False, True])
def test_a_small_model_is_one_request(server: WebServer, fault: bool):
    data = small_model(fault)
    server.files["m.onnx"] = File(data)
    report = linted(server.url("m.onnx"))
    same(report, data)
    assert bool(report.diagnostics) is fault
    assert (report.traffic.requests, report.traffic.received, report.traffic.version) == (1, len(data), '"1"')
    assert len(server.asked) == 1


def test_a_remote_model_is_not_replaced(server: WebServer, tmp_path: Path):
    """The library fixes a copy of it."""
    data = small_model(fault=True)
    server.files["m.onnx"] = File(data)
    report = fix(server.url("m.onnx"), unsafe=True, select="ALL")
    assert report.files[0].repair is not None
    assert str(report.files[0].repair.problem).endswith(
        "m.onnx was not changed: it is in a store, and only local files are replaced"
    )


def test_a_gibibyte_of_weights_inside_costs_less_than_a_hundredth(server: WebServer, tmp_path: Path):
    size = write_inlined(tmp_path / "m.onnx", tensors=256, elements=1 << 20, extra_nodes=5_000)
    assert size > 1 << 30
    server.files["m.onnx"] = File(tmp_path / "m.onnx")
    report = linted(server.url("m.onnx"))
    assert (report.unreadable, report.not_judged, found(report)) == (None, None, [])
    assert report.facts.nodes == 5_256
    traffic = report.traffic
    assert traffic.received == server.sent
    assert traffic.requests == len(server.asked)
    assert traffic.received < size / 100
    assert traffic.requests < 256 + 30


def test_a_small_tensor_behind_a_large_one_needs_no_request(server: WebServer, tmp_path: Path):
    size = write_inlined(tmp_path / "m.onnx", tensors=300, elements=1 << 19, biases=2048)
    server.files["m.onnx"] = File(tmp_path / "m.onnx")
    traffic = linted(server.url("m.onnx")).traffic
    assert traffic.requests == len(server.asked) < 160
    assert traffic.received == server.sent < size / 100


def test_ten_gibibytes_of_weights_beside_cost_less_than_a_megabyte(server: WebServer, tmp_path: Path):
    elements = 10 << 20
    data = external_model(256, elements)
    weights = tmp_path / "weights.bin"
    with weights.open("wb") as stream:
        stream.truncate(4 * elements * 256)
    assert weights.stat().st_size == 10 << 30
    server.files |= {"a/m.onnx": File(data), "a/weights.bin": File(weights)}
    report = linted(server.url("a/m.onnx"))
    assert (report.unreadable, found(report), report.incomplete) == (None, [], ())
    assert report.traffic.received == server.sent < 1_000_000
    assert report.traffic.requests == len(server.asked) == 2


def test_external_data_is_judged_by_what_the_server_says(server: WebServer):
    server.files["m.onnx"] = File(external_model(3, 8, "w{}.bin"))
    server.files |= {"w0.bin": File(bytes(32)), "w1.bin": File(bytes(31), head=False)}
    report = linted(server.url("m.onnx"))
    assert found(report) == [
        ("external-range-beyond-file", "graph.initializer[1]"),
        ("missing-external-file", "graph.initializer[2].external_data[0]"),
    ]


def test_external_data_that_the_server_does_not_tell_of_is_not_missing(server: WebServer):
    server.files |= {"m.onnx": File(external_model(1, 8)), "weights.bin": File(b"", status=[-403])}
    report = linted(server.url("m.onnx"))
    assert found(report) == []
    [left] = report.incomplete
    assert left.startswith("the external data 'weights.bin' was not examined: access is denied (403)")


def test_what_stands_in_the_place_of_a_large_file_is_seen(server: WebServer):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 32\n"
    server.files |= {"m.onnx": File(external_model(1, 8)), "weights.bin": File(pointer)}
    [item] = linted(server.url("m.onnx")).diagnostics
    assert (item.rule, "Git LFS pointer" in item.message) == ("missing-external-file", True)


@pytest.mark.parametrize(
    "location", ["http://127.0.0.1:1/w.bin", "//127.0.0.1/w.bin", "../w.bin", "/w.bin", "s3://b/w.bin"]
)
def test_no_address_that_a_model_states_is_asked_for(server: WebServer, location: str):
    with WebServer() as other:
        named = location.replace("127.0.0.1:1", f"127.0.0.1:{other.server_port}")
        server.files |= {"a/m.onnx": File(external_model(1, 8, named)), "w.bin": File(bytes(32))}
        report = linted(server.url("a/m.onnx"))
        assert report.unreadable is None
        assert other.asked == []
        for asked in server.asked:
            assert asked.path.startswith("/a/"), "what is beside the model, and nothing else"


def test_a_location_cannot_smuggle_a_query(server: WebServer):
    server.files["a/m.onnx"] = File(external_model(1, 8, "w.bin?x=1#y %2e%2e/z"))
    report = linted(server.url("a/m.onnx"))
    assert [item.rule for item in report.diagnostics] == ["missing-external-file"]
    assert [asked.path for asked in server.asked[1:]] == ["/a/w.bin%3Fx%3D1%23y%20%252e%252e/z"]


class TestVersions:
    """An object that changes midway is unreadable."""

    @pytest.fixture
    def large(self, tmp_path: Path) -> Path:
        write_inlined(tmp_path / "m.onnx", tensors=8, elements=1 << 20)
        return tmp_path / "m.onnx"

    @pytest.mark.parametrize("honours", [True, False])
    @pytest.mark.parametrize("names", [("etag",), ("modified",), ("etag", "modified")])
    def test_another_version_makes_the_model_unreadable(
        self, server: WebServer, large: Path, names: tuple[str, ...], honours: bool
    ):
        values = {"etag": '"1"', "modified": "Sat, 21 Nov 2026 10:00:00 GMT"}
        said = {name: values[name] if name in names else None for name in values}

        def change(file: File, _: Asked) -> None:
            if len(server.asked) == 4:
                file.etag = '"2"' if file.etag else None
                file.modified = "Sat, 21 Nov 2026 11:00:00 GMT" if file.modified else None

        server.files["m.onnx"] = File(large, before=change, honours_conditions=honours, **said)
        report = linted(server.url("m.onnx"))
        assert report.unreadable == f"{server.url('m.onnx')}: it was changed while it was read"
        assert report.diagnostics == ()

    def test_another_size_is_another_version(self, server: WebServer, large: Path):
        def change(file: File, _: Asked) -> None:
            if len(server.asked) == 4:
                file.data = file.part(0, file.size - 1)

        server.files["m.onnx"] = File(large, etag=None, before=change)
        assert "changed while it was read" in linted(server.url("m.onnx")).unreadable

    def test_a_weak_etag_is_compared_and_not_sent(self, server: WebServer, large: Path):
        server.files["m.onnx"] = File(large, etag='W/"1"')
        assert linted(server.url("m.onnx")).unreadable is None
        assert not any("if-match" in asked.headers for asked in server.asked)

    def test_a_strong_etag_is_sent(self, server: WebServer, large: Path):
        server.files["m.onnx"] = File(large)
        assert linted(server.url("m.onnx")).unreadable is None
        assert {asked.headers.get("if-match") for asked in server.asked[1:]} == {'"1"'}


class TestServersWithoutRanges:
    def test_a_small_file_is_fetched_whole(self, server: WebServer):
        data = small_model()
        server.files["m.onnx"] = File(data, ranges=False)
        same(linted(server.url("m.onnx")), data)
        assert len(server.asked) == 1

    def test_so_is_one_of_unknown_length(self, server: WebServer):
        data = small_model(fault=True)
        server.files["m.onnx"] = File(data, ranges=False, length=False)
        same(linted(server.url("m.onnx")), data)

    @pytest.mark.parametrize("length", [True, False])
    def test_a_large_file_is_refused_unless_it_is_to_be_downloaded(
        self, server: WebServer, length: bool, tmp_path: Path
    ):
        size = write_inlined(tmp_path / "m.onnx", tensors=2, elements=1 << 20)
        server.files["m.onnx"] = File(tmp_path / "m.onnx", ranges=False, length=length)
        limits = Limits(request_seconds=5, download_bytes=1 << 20)
        report = linted(server.url("m.onnx"), Settings(limits=limits))
        assert "the server has no range requests" in report.unreadable
        assert "more than the limit download_bytes of 1,048,576 (option --limit download_bytes)" in report.unreadable
        report = linted(server.url("m.onnx"), Settings())
        assert (report.unreadable, found(report), report.size) == (None, [], size)


class TestFailures:
    """Each status has its own message."""

    @pytest.mark.parametrize(
        ("status", "sentence"),
        [
            (401, "the server asks for credentials (401); credentials are taken from ~/.netrc or FSSPEC_HTTP"),
            (403, "access is denied (403); credentials are taken from ~/.netrc or FSSPEC_HTTP"),
            (404, "there is no such object (404)"),
            (410, "there is no such object (410)"),
            (418, "the server refused the request (418)"),
            (429, "the server received too many requests (429), and still after 4 tries"),
            (500, "the server failed (500), and still after 4 tries"),
            (503, "the server failed (503), and still after 4 tries"),
            (600, "the server failed (600)"),
            (999, "the server failed (999)"),
        ],
    )
    def test_statuses(self, server: WebServer, status: int, sentence: str):
        server.files["m.onnx"] = File(b"", status=[-status])
        assert linted(server.url("m.onnx")).unreadable == f"{server.url('m.onnx')}: {sentence}"
        assert len(server.asked) == (4 if "tries" in sentence else 1)

    def test_a_signed_address_may_be_too_old(self, server: WebServer):
        server.files["m.onnx"] = File(b"", status=[-403])
        said = linted(server.url("m.onnx?X-Amz-Signature=s3cr3t")).unreadable
        assert said.endswith("access is denied (403); a signed address expires after some time")
        assert "s3cr3t" not in said

    @pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
    def test_what_passes_is_tried_again(self, server: WebServer, status: int):
        server.files["m.onnx"] = File(small_model(), status=[status, status, status])
        assert linted(server.url("m.onnx")).unreadable is None
        assert len(server.asked) == 4

    @pytest.mark.parametrize("cut", [0, 5])
    def test_an_answer_that_breaks_off_is_tried_again(self, server: WebServer, cut: int):
        server.files["m.onnx"] = File(small_model(), cut=[cut, cut])
        same(linted(server.url("m.onnx")), small_model())
        server.files["m.onnx"] = File(small_model(), cut=[cut] * 4)
        said = linted(server.url("m.onnx")).unreadable
        assert said.endswith("the connection broke off, and still after 4 tries")

    def test_an_answer_without_ranges_that_breaks_off(self, server: WebServer):
        server.files["m.onnx"] = File(small_model(), cut=[5], ranges=False)
        same(linted(server.url("m.onnx")), small_model())

    def test_a_server_that_does_not_answer(self, server: WebServer):
        server.files["m.onnx"] = File(small_model(), delay=3)
        said = linted(server.url("m.onnx")).unreadable
        assert said.endswith("no response came within 1 second, and still after 4 tries")

    @pytest.mark.parametrize("ranges", [True, False])
    def test_a_server_that_drips(self, server: WebServer, monkeypatch: pytest.MonkeyPatch, ranges: bool):
        monkeypatch.setattr("onnx_lint.remote.access._LEAST_RATE", 1 << 30)
        server.files["m.onnx"] = File(small_model(), rate=20, ranges=ranges)
        assert "no response came within 1 second" in linted(server.url("m.onnx")).unreadable

    def test_a_large_file_may_take_longer_than_an_answer(self, server: WebServer):
        """The response comes faster than the time limit for a response."""
        server.files["m.onnx"] = File(small_model() + bytes(50_000), rate=25_000, ranges=False)
        report = linted(server.url("m.onnx"))
        assert (report.unreadable, report.size) == (None, len(small_model()) + 50_000)

    def test_many_slow_answers_are_too_much(self, server: WebServer, tmp_path: Path):
        write_inlined(tmp_path / "m.onnx", tensors=30, elements=1 << 16)
        server.files["m.onnx"] = File(tmp_path / "m.onnx", delay=0.2)
        report = linted(server.url("m.onnx"), Settings(limits=Limits(remote_seconds=1)))
        said = "the requests took longer than the limit remote_seconds of 1 (option --limit remote_seconds=N)"
        assert report.unreadable == f"{server.url('m.onnx')}: {said}"
        assert len(server.asked) < 10

    def test_a_server_that_wants_time_gets_it_and_the_user_is_told(
        self, server: WebServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ):
        waited: list[float] = []
        monkeypatch.setattr(Patience, "wait", lambda _, seconds, _reason: waited.append(seconds))
        server.files["m.onnx"] = File(small_model(), status=[503], headers={"Retry-After": "30"})
        same(linted(server.url("m.onnx"), Settings()), small_model())
        assert waited == [30]
        (said,) = caplog.messages
        assert said.startswith("Waiting ")
        assert said.endswith(f" s before the next request to {server.url('m.onnx')}, as its server asked (Retry-After)")

    @pytest.mark.parametrize("wanted", ["0", "-5", "soon", "", "Sun, 06 Nov 1994 08:49:37 GMT", "\u0663", "1e9"])
    def test_what_is_no_time_to_wait_is_none(self, server: WebServer, caplog: pytest.LogCaptureFixture, wanted: str):
        server.files["m.onnx"] = File(
            small_model(), status=[503], headers={"Retry-After": wanted.encode().decode("latin-1")}
        )
        same(linted(server.url("m.onnx")), small_model())
        assert caplog.messages == []

    def test_no_wait_is_longer_than_an_answer_may_take(self, server: WebServer, monkeypatch: pytest.MonkeyPatch):
        waited: list[float] = []
        monkeypatch.setattr(Patience, "wait", lambda _, seconds, _reason: waited.append(seconds))
        server.files["m.onnx"] = File(small_model(), status=[503, 429], headers={"Retry-After": "9" * 5_000})
        same(linted(server.url("m.onnx"), Settings(limits=Limits(request_seconds=7))), small_model())
        assert waited == [7, 7]

    def test_nobody_waits_in_vain(self, server: WebServer):
        """The wait would take longer than all requests for the model may."""
        server.files["m.onnx"] = File(small_model(), status=[-503], headers={"Retry-After": "30"})
        said = linted(server.url("m.onnx"), Settings(limits=Limits(remote_seconds=20))).unreadable
        assert "would exceed the limit remote_seconds of 20" in said
        assert len(server.asked) == 1

    def test_nobody_listens(self):
        assert linted("http://127.0.0.1:1/m.onnx").unreadable.endswith("the host refused the connection")

    def test_an_unknown_host(self):
        said = linted("http://nowhere.invalid/m.onnx").unreadable
        assert said == "http://nowhere.invalid/m.onnx: the host name is unknown"

    @pytest.mark.parametrize(
        "answer",
        [b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", b"HTTP/1.1 206 \r\n" + bytes(99999)],
    )
    def test_what_is_no_http(self, server: WebServer, answer: bytes):
        def give(handler: Any) -> None:
            handler.close_connection = True
            handler.wfile.write(answer)

        server.answers["/m.onnx"] = give
        said = linted(server.url("m.onnx")).unreadable
        assert said == f"{server.url('m.onnx')}: the response of the server is not valid HTTP"

    def test_what_is_compressed_cannot_be_read_in_parts(self, server: WebServer):
        server.files["m.onnx"] = File(small_model(), headers={"Content-Encoding": "gzip"})
        assert linted(server.url("m.onnx")).unreadable.endswith(
            "the server compresses the response although the request forbids it"
        )

    @pytest.mark.parametrize(
        "content_range", ["bytes 0-9/", "", "bytes 5-14/99999", "bytes 0-4/5", "items 0-1/2", "bytes 0-1/*"]
    )
    def test_a_range_that_is_not_what_was_asked_for(self, server: WebServer, content_range: str):
        data = small_model()
        server.answers["/m.onnx"] = lambda handler: handler.reply(206, data[:10], Content_Range=content_range)
        said = linted(server.url("m.onnx")).unreadable
        assert said.startswith(server.url("m.onnx"))

    def test_an_empty_file(self, server: WebServer):
        server.files["m.onnx"] = File(b"")
        assert linted(server.url("m.onnx")).not_judged == linted_bytes(b"").not_judged is not None

    def test_other_files_are_told_as_what_they_are(self, server: WebServer):
        server.files["m.onnx"] = File(b"\x89PNG\r\n\x1a\n" + bytes(100))
        report = linted(server.url("m.onnx"))
        assert (report.unreadable, report.not_judged) == (None, "the file is a PNG image, not a model")


def linted_bytes(data: bytes) -> FileReport:
    return lint_source(BytesSource(data), "m.onnx", QUICK)

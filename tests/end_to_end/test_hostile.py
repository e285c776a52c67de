# SPDX-License-Identifier: Apache-2.0
"""Files that mean harm are found, in little time and memory, and their names are shown escaped."""

from __future__ import annotations

import contextlib
import errno
import functools
import itertools
import json
import os
import re
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.hostile.hostile_files import (
    ATTACKS,
    HEAD,
    HEAVY,
    HEAVY_LIMIT,
    NOT_CHECKED,
    OUTPUT,
    Attack,
    graph,
    in_bytes,
    laughs,
    located,
)
from support.project.each_case import each_case
from support.wire.wire_bytes import length, number

from onnx_lint import lint, schema
from onnx_lint.cli.application import run
from onnx_lint.engine.lint import lint_file, lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import DEFAULT_LIMITS, NAMES, shown_limit
from onnx_lint.input.source import BytesSource
from onnx_lint.report.file_report import FileReport
from onnx_lint.reporters import REPORTERS

HANG_SECONDS = 300
"""Seconds of the processor. A process that takes as long counts as hanging."""
SECONDS = 10
"""Seconds of the processor for a heavy attack; the heaviest takes about two."""
MEMORY_BYTES = 1 << 30
PATIENCE = 600
"""Seconds of the clock. The real limit is on processor time, since other programs may keep the processor busy."""


def _limit(memory_bytes: int, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def _run(
    *arguments: str | Path,
    stdin: Any = subprocess.DEVNULL,
    memory_bytes: int = MEMORY_BYTES,
    seconds: int = HANG_SECONDS,
) -> subprocess.CompletedProcess[str]:
    """Run the program on its own, with limits on time and memory."""
    return subprocess.run(
        [sys.executable, "-m", "onnx_lint", *map(str, arguments)],
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        preexec_fn=functools.partial(_limit, memory_bytes, seconds),
        check=False,
    )


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The program in this process, for models that threaten neither time nor memory."""

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        code = run([*map(str, arguments)])
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return call


Here = Callable[..., subprocess.CompletedProcess[str]]


def _rules(file: dict[str, Any]) -> set[str]:
    return {item["rule"] for item in file["diagnostics"]}


def test_attacks_are_found(tmp_path: Path):
    """In one run, under the limits of one."""
    paths = {f"{tmp_path / attack.name}{attack.suffix}": attack for attack in ATTACKS}
    for path, attack in paths.items():
        Path(path).write_bytes(attack.make())
    done = _run(*paths, "-f", "json")
    assert (done.returncode, done.stderr) == (1, "")
    for file in json.loads(done.stdout)["files"]:
        assert (file["internal_errors"], file["unreadable"]) == ([], None)
        assert paths[file["path"]].rule in _rules(file), file["path"]


@pytest.mark.timing
@pytest.mark.parametrize("attack", HEAVY, ids=lambda attack: attack.name)
def test_the_heavy_attack_is_found_in_time(attack: Attack, tmp_path: Path):
    path = tmp_path / f"model{attack.suffix}"
    path.write_bytes(attack.make())
    done = _run(path, "-f", "json", *HEAVY_LIMIT, memory_bytes=attack.memory_bytes, seconds=SECONDS)
    (file,) = json.loads(done.stdout)["files"]
    assert file["internal_errors"] == []
    if attack.rule == NOT_CHECKED:
        assert (done.returncode, "suffices)" in file["unreadable"]) == (2, True)
        return
    assert (done.returncode, done.stderr) in ((0, ""), (1, ""))
    assert attack.rule in _rules(file)
    assert len(done.stdout) < 5_000_000


# --- inputs that are no files


def test_a_pipe_a_device_and_a_folder_are_no_models(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.onnx")
    (tmp_path / "folder.onnx").mkdir()
    done = _run(tmp_path / "pipe.onnx", "/dev/zero", tmp_path / "folder.onnx", "-f", "json")
    assert done.returncode == 2
    kinds = ("is a pipe", "is a character device", "no model in this directory")
    for file, kind in zip(json.loads(done.stdout)["files"], kinds, strict=True):
        assert kind in file["unreadable"]


def test_a_folder_with_the_name_of_a_model_is_searched_like_any(tmp_path: Path, here: Here):
    (tmp_path / "x.onnx").mkdir()
    (tmp_path / "x.onnx" / "inner.onnx").write_bytes(located("../x"))
    done = here(tmp_path, "-f", "json")
    assert [file["path"] for file in json.loads(done.stdout)["files"]] == [str(tmp_path / "x.onnx" / "inner.onnx")]


def test_standard_input_that_never_ends_is_cut_off():
    reading, writing = os.pipe()
    many = in_bytes(HEAD) * 1000

    def pour() -> None:
        # Without a buffer, which would be written once more when the stream is closed.
        with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "wb", buffering=0) as stream:
            while True:
                stream.write(many)

    thread = threading.Thread(target=pour)
    thread.start()
    with os.fdopen(reading, "rb") as stream:
        done = _run("-", "--limit", "file_bytes=1000000", "-f", "json", stdin=stream)
    thread.join()
    (file,) = json.loads(done.stdout)["files"]
    assert done.returncode == 2
    assert file["diagnostics"] == []
    assert "file_bytes of 1,000,000" in file["unreadable"]


class _ShrinkingSource(BytesSource):
    """A file that loses its end after a number of reads."""

    def __init__(self, data: bytes, reads: int, kept: int) -> None:
        super().__init__(data)
        self._reads = reads
        self._kept = kept

    def read_at(self, offset: int, length: int) -> bytes:
        self._reads -= 1
        data = super().read_at(offset, length)
        return data if self._reads >= 0 else data[: max(self._kept - offset, 0)]


@functools.cache
def _large() -> bytes:
    """A model that is large enough for its tensor to be read only by the rules that need it."""
    model = schema.message("ModelProto").FromString(graph(""))
    model.graph.initializer.add(name="w", data_type=9, dims=[5 << 20], raw_data=b"\1" * (5 << 20))
    return bytes(model.SerializeToString())


@each_case("kept", [0, 1, 20, 100, 5000])
@each_case("reads", range(6))
def test_a_file_that_shrinks_while_it_is_read(reads: int, kept: int):
    for data in (in_bytes(HEAD + f'graph {{ name: "g" {OUTPUT} }}'), _large()):
        file = lint_source(_ShrinkingSource(data, reads, kept), "model.onnx", Settings())
        assert file.internal_errors == ()
        assert file.diagnostics or file.facts is not None


@pytest.mark.parametrize("reads", range(8))
def test_a_disk_that_fails_leaves_no_verdict(reads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "model.onnx"
    path.write_bytes(_large())
    read, done = os.pread, itertools.count()

    def fail(descriptor: int, length: int, offset: int) -> bytes:
        if next(done) >= reads:
            raise OSError(errno.EIO, "Input/output error")
        return read(descriptor, length, offset)

    monkeypatch.setattr(os, "pread", fail)
    file = lint_file(str(path), Settings())
    if next(done) <= reads:
        assert file.unreadable is None, "all of it was read before the disk failed"
    else:
        assert (file.unreadable, file.internal_errors) == (f"{path}: Input/output error", ())


# --- names


NAMES_OF_STRANGERS = (
    "\x1b[2J\x1b[31mred",
    "a\nerror[forged]: line",
    "a\r\tb",
    "\u202eevil\u2066",
    "\u200b\ufeff",
    "[link](http://example.com)",
    "<script>alert(1)</script>",
    "[bold]rich[/bold]",
    "::error::workflow",
    "\x85\x9b31m",
    "`${x}` | %0A",
)

_STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def _named(name: str) -> bytes:
    """A model in which nearly everything is called `name`, and wrong in a way that makes messages name it."""
    model = graph("", "functions { }")
    proto = schema.message("ModelProto").FromString(model)
    proto.graph.name = proto.producer_name = name
    for field in ("name", "op_type", "domain"):
        setattr(proto.graph.node[0], field, name)
    proto.graph.node[0].input[0] = name
    proto.graph.node.add(op_type="Abs", input=[f"{name}2"], output=["y", f"{name}3"])
    proto.graph.initializer.add(name=name, data_type=99)
    proto.opset_import.add(domain=name, version=1)
    proto.metadata_props.add(key=name, value=name)
    proto.functions[0].name = name
    return bytes(proto.SerializeToString())


def _strange_files(folder: Path) -> None:
    """Make, for each name, a folder with that name and a file in it, without the characters that paths cannot have."""
    for index, name in enumerate(NAMES_OF_STRANGERS):
        inner = folder / f"{index}{name.replace('/', '-')}"
        inner.mkdir()
        (inner / f"{name.replace('/', '-')}.onnx").write_bytes(_named(name))
    inner = Path(os.fsdecode(os.fsencode(folder) + b"/\xff\x1b[2J"))
    inner.mkdir()
    Path(os.fsdecode(os.fsencode(inner) + b"/\xfe\n.onnx")).write_bytes(_named("x"))


def test_names_of_files_steer_nothing_in_any_report(tmp_path: Path):
    models, reports = tmp_path / "models", tmp_path / "reports"
    models.mkdir()
    reports.mkdir()
    _strange_files(models)
    outputs = [f"--output={name}={reports / name}" for name in REPORTERS]
    done = _run(models, "--select", "ALL", "--statistics", *outputs)
    assert done.returncode == 1
    written = {name: (reports / name).read_text(encoding="utf-8") for name in REPORTERS}
    for name, text in {**written, "stdout": done.stdout, "stderr": done.stderr}.items():
        assert _STEERING.findall(text) == [], name
        assert len(text) > (200 if name == "stderr" else 1000), name
        assert not any(line.startswith(("error[forged]", "::error::workflow")) for line in text.splitlines()), name


def test_an_argument_steers_nothing_in_an_error_of_the_command_line(capsys: pytest.CaptureFixture[str]):
    assert run(["rules", "--", "-\x1b]0;title\x07"]) == 2
    assert "(-\\x1b]0;title\\x07)" in capsys.readouterr().err


def test_names_of_files_steer_nothing_beside_the_progress_bar(tmp_path: Path):
    pty = pytest.importorskip("pty", reason="the system has no pseudo-terminals")
    _strange_files(tmp_path)
    leader, follower = pty.openpty()
    program = (
        "from onnx_lint.cli.progress import ProgressBar\n"
        "ProgressBar.__enter__ = lambda bar: bar._show() or bar  # now, not after a second\n"
        "from onnx_lint.__main__ import main\n"
        "main()"
    )
    command = [sys.executable, "-c", program, str(tmp_path), "-f", "json"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160", "NO_COLOR": "1"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=follower, env=environment) as process:
        os.close(follower)
        shown = b""
        while piece := _read_terminal(leader):
            shown += piece
    os.close(leader)
    assert process.returncode == 1
    text = re.sub(r"\x1b\[(\?25[lh]|[0-9]*[AK]|2K)|\r", "", shown.decode("utf-8"))  # what moves the bar itself
    assert "linting" in text
    assert _STEERING.findall(text) == []


def _read_terminal(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # how Linux says that nobody has the other end open
        return b""


@pytest.mark.parametrize("option", [(), ("--opset-schema",), ("--baseline",), ("--config",)], ids=str)
def test_names_of_what_cannot_be_read_steer_nothing(option: tuple[str, ...], tmp_path: Path):
    path = tmp_path / "model.onnx"
    path.write_bytes(graph(""))
    name = "".join(NAMES_OF_STRANGERS).replace("/", "-")
    done = _run(path, *option, tmp_path / name)
    assert done.returncode == 2
    assert len(done.stderr) > 100
    assert _STEERING.findall(done.stdout + done.stderr) == []


# --- limits


def _lint(data: bytes, **limits: int) -> FileReport:
    return lint(data, {"limits": limits}).files[0]


@pytest.mark.parametrize(
    ("proto", "data"),
    [
        ("GraphProto", length(1, b"") * 9),
        ("NodeProto", length(5, b"") * 9),
        ("OperatorSetProto", length(1, "ONNXOPSET") + length(8, b"") * 9),
        ("SequenceProto", number(2, 4) + length(5, b"") * 9),
    ],
)
def test_limits_hold_for_documents_other_than_models(proto: str, data: bytes):
    limits = DEFAULT_LIMITS.with_values({"memory": 1000})
    file = lint_source(BytesSource(data), "file.onnx", Settings(proto=proto, limits=limits))
    assert (file.diagnostics, file.not_judged) == ((), None)
    assert "more than the limit memory of 1,000 (--limit memory=" in (file.unreadable or "")


def test_what_a_report_says_of_a_model_stays_short():
    """The lists of the report, apart from the findings, whose number is limited."""
    domains = " ".join(f'opset_import {{ domain: "com.d{index}" version: 1 }}' for index in range(3000))
    nodes = " ".join(f'node {{ op_type: "A" domain: "com.d{index}" output: "v{index}" }}' for index in range(3000))
    file = _lint(in_bytes(f'{HEAD} {domains} graph {{ name: "graph" {nodes} }}'.replace('"test"', f'"{"p" * 5000}"')))
    assert file.facts is not None
    assert (len(file.facts.opset_imports), len(file.not_verified)) == (1000, 1000)
    assert len(file.facts.producer) < 1100


def test_findings_beyond_the_limit_are_told():
    nodes = " ".join(f'node {{ op_type: "Abs" input: "u{index}" output: "v{index}" }}' for index in range(50))
    file = _lint(graph(nodes), findings_per_rule=20)
    assert sum(item.rule == "undefined-name" for item in file.diagnostics) == 20
    assert file.incomplete == (
        "only the first 20 findings are reported of rule 'undefined-name': "
        "limit findings_per_rule of 20 (option --limit findings_per_rule=N)",
    )
    file = _lint(graph(nodes), findings=10)
    rules = [item.rule for item in file.diagnostics]
    assert len(rules) - rules.count("exceeded-limit") >= 10
    assert "undefined-name" in rules
    assert len(rules) < 10 + len(set(rules)) + rules.count("exceeded-limit")


def test_as_many_findings_as_the_limit_are_complete():
    nodes = " ".join(f'node {{ op_type: "Abs" input: "u{index}" output: "v{index}" }}' for index in range(20))
    assert _lint(graph(nodes), findings_per_rule=20).incomplete == ()


def test_bytes_that_are_no_model_do_not_pass_when_the_rule_is_not_selected(tmp_path: Path, here: Here):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x1f\x8b")
    done = here(path, "--select", "graph")
    assert done.returncode == 2
    assert "not judged: the file is a gzip archive, not a model" in done.stdout


def test_the_documentation_names_every_limit_with_its_default():
    from onnx_lint.engine.registry import registry

    documentation = " ".join(registry()["exceeded-limit"].rule.documentation.split())
    for name in NAMES:
        default = shown_limit(name, getattr(DEFAULT_LIMITS, name)).replace(" ", "").replace(",", "")
        assert f"`{name}` ({default}" in documentation


def test_the_expansion_of_functions_is_counted_and_not_made():
    message = next(item.message for item in _lint(laughs(20)).diagnostics if item.rule == "exceeded-limit")
    assert "1,048,576 nodes" in message
    assert [item.rule for item in _lint(laughs(19)).diagnostics if item.rule == "exceeded-limit"] == []


# --- what was not examined, and what is a matter of security


def test_every_report_says_that_no_external_data_was_examined(tmp_path: Path, here: Here):
    path = tmp_path / "model.onnx"
    path.write_bytes(located("w.bin"))
    file = lint_file(str(path), Settings(external_data=False))
    assert file.incomplete == ("the files of external data were not examined, because external data is switched off",)
    for format_name in ("text", "json", "sarif"):
        done = here(path, "--no-external-data", "-f", format_name)
        assert "the files of external data were not examined, because external data is switched off" in done.stdout, (
            format_name
        )
    assert lint_file(str(path), Settings()).incomplete == ()
    said = ("the files of external data were not examined: the model has no place in the file system",)
    assert lint(path.read_bytes()).files[0].incomplete == said


def test_checksums_of_large_files_are_verified_when_asked_for(tmp_path: Path, here: Here):
    with (tmp_path / "w.bin").open("wb") as stream:
        stream.truncate((16 << 20) + 8)
    entries = 'external_data { key: "location" value: "w.bin" } '
    entries += f'external_data {{ key: "checksum" value: "{"0" * 40}" }}'
    path = tmp_path / "model.onnx"
    path.write_bytes(graph(f'initializer {{ name: "w" data_type: 1 dims: 2 data_location: EXTERNAL {entries} }}'))
    for options, expected in (((), set()), (("--verify-checksums",), {"checksum-mismatch"})):
        (file,) = json.loads(here(path, "-f", "json", "--select", "checksum-mismatch", *options).stdout)["files"]
        assert _rules(file) == expected
        reason = "its 16,777,224 bytes would only be read on request (option --verify-checksums)"
        said = () if options else (f"the checksum of 'w.bin' was not verified: {reason}",)
        assert tuple(file["incomplete"]) == said


def test_security_rules_are_marked_in_sarif_and_in_their_documentation(tmp_path: Path, here: Here):
    path = tmp_path / "model.onnx"
    path.write_bytes(located("../x"))
    log = json.loads(here(path, "-f", "sarif").stdout)
    rules = {rule["id"]: rule for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    found = rules["parent-directory-location"]
    assert {"security", "CVE-2022-25882", "external/cwe/cwe-022"} <= set(found["properties"]["tags"])
    assert float(found["properties"]["security-severity"]) >= 7
    assert "CVE-2024-27318" in found["help"]["text"]
    assert "security" not in rules["unordered-nodes"]["properties"]["tags"]
    assert "security-severity" not in rules["unordered-nodes"]["properties"]
    assert "CVE-2024-27318" in here("explain", "parent-directory-location").stdout

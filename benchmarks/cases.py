# SPDX-License-Identifier: Apache-2.0
"""The cases to measure: models, and the commands of onnx-lint and its peers."""

from __future__ import annotations

import importlib.util
import multiprocessing
import shutil
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import families
import huge_models
import large_models
import models
from google.protobuf import text_format
from measurement import Command

GIB: Final = 1 << 30
_CHECK: Final = "import onnx, sys; onnx.checker.check_model(sys.argv[1])"
_FULL_CHECK: Final = "import onnx, sys; onnx.checker.check_model(sys.argv[1], full_check=True)"
_SESSION: Final = """
import onnxruntime, sys
onnxruntime.set_default_logger_severity(4)
onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
"""
_LOOP: Final = """
import onnx, pathlib, sys
for path in sorted(pathlib.Path(sys.argv[1]).glob('**/*.onnx')):
    try:
        onnx.checker.check_model(str(path){})
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        pass  # a real model may have faults
"""
_SESSIONS: Final = """
import onnxruntime, pathlib, sys
onnxruntime.set_default_logger_severity(4)
for path in sorted(pathlib.Path(sys.argv[1]).glob('**/*.onnx')):
    try:
        onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception:
        pass  # an operator without a kernel
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A line of the table: what the model is, what writes it to a path, and whether CI measures it."""

    title: str
    write: Callable[[Path], None]
    is_small: bool = False
    many: bool = False
    """True if the case is a folder of models. One process of a peer then loops over all of them."""
    options: tuple[str, ...] = ()
    """The arguments of onnx-lint."""
    exit_code: int = 0
    """The expected exit code: 1 if the model has an error."""
    is_second_run: bool = False
    """True if onnx-lint runs on the models once before, so that its cache has their verdicts."""


def saved(make: Callable[[int], Any], count: int) -> Callable[[Path], None]:
    """Return a function that writes a model of so many elements to a path."""
    return lambda path: models.save(make(count), path)


def _mixture(count: int) -> Callable[[Path], None]:
    return saved(models.mixture, count)


def _large(kind: str, count: int) -> Case:
    return Case(f"{count:,} {kind}", saved(large_models.MODELS[kind], count))


def _inlined(size: int) -> Callable[[Path], None]:
    return lambda path: huge_models.write_inlined(path, size)


def _nested(path: Path) -> None:
    models.save(models.nested(60, 8), path)


def write_text(path: Path) -> None:
    """Write a model in text form to a path."""
    path.write_text(text_format.MessageToString(large_models.chain(245_000)), encoding="utf-8")


def _many(folder: Path) -> None:
    folder.mkdir()
    for seed in range(2_000):
        models.save(models.mixture(10 + seed % 40, seed), folder / f"model_{seed:04}.onnx")


def _families(folder: Path) -> None:
    families.write(folder, 40)


def in_the_wheel() -> Path:
    """Return the folder of the models that the `onnx` package tests backends with."""
    found = importlib.util.find_spec("onnx")
    if found is None or found.origin is None:
        raise SystemExit("the models of the onnx package need it installed")
    return Path(found.origin).parent / "backend" / "test" / "data"


def _wheel(folder: Path) -> None:
    """The models with which the `onnx` package tests backends: of operators, of PyTorch, and nine networks."""
    tested = in_the_wheel()
    folder.mkdir()
    for path in sorted(tested.rglob("*.onnx")):
        shutil.copy(path, folder / f"{'_'.join(path.relative_to(tested).parts)}")


def _network(path: Path) -> None:
    shutil.copy(in_the_wheel() / "light" / "light_resnet50.onnx", path)


def _node_tests(folder: Path) -> None:
    """The models with which the `onnx` package tests each operator, nearly all of one node: each unlike the others."""
    from onnx.backend.test.case.node import collect_testcases  # late, since it makes the data of all tests

    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # some of the data are infinite
        tests = collect_testcases()
    for test in tests:
        if test.model is not None and test.name != _REFUSED:
            (folder / f"{test.name}.onnx").write_bytes(test.model.SerializeToString())


_REFUSED: Final = "test_mvn"
"""The one node test that `full_check` of the same package does not accept."""


_HOOK: Final = ("check", "--allow-no-input")

CASES: Final = (
    Case("10 nodes", _mixture(10)),
    Case("10 nodes, `check --allow-no-input`, as the hook runs it", _mixture(10), options=_HOOK),
    *(Case(f"10 nodes, `-f {form}`", _mixture(10), options=("-f", form)) for form in ("json", "sarif", "html")),
    Case("1,000 nodes", _mixture(1_000), is_small=True),
    Case("10,000 nodes", _mixture(10_000), is_small=True),
    Case("100,000 nodes", _mixture(100_000)),
    Case("1,000,000 nodes, `--limit memory=8GiB`", _mixture(1_000_000), options=("--limit", "memory=8GiB")),
    Case("100,000 nodes side by side, a tenth Constants of 256 bytes", saved(models.flat, 100_000)),
    Case("1 GiB of inlined weights, 64 nodes", _inlined(GIB), is_small=True),
    Case("3 GiB of inlined weights, one file", _inlined(3 * GIB), exit_code=1),
    Case("2,000 models of 10 to 49 nodes, one call, `--jobs 1`", _many, many=True, options=("--jobs", "1")),
    Case("the same, `--jobs auto`", _many, many=True),
    Case("40 families of 6 models, one call, `--jobs 1`", _families, many=True, options=("--jobs", "1")),
    Case("a ResNet-50 of the onnx package", _network),
    Case("149 models of the onnx package, one call, `--jobs 1`", _wheel, many=True, options=("--jobs", "1")),
    Case("the same, second run with `--cache`", _wheel, many=True, options=("--cache",), is_second_run=True),
    Case("1,883 node tests of the onnx package, one call, `--jobs 1`", _node_tests, many=True, options=("--jobs", "1")),
    Case("960 subgraphs: 60 chains of If, 8 deep", _nested),
    Case("10,000 nodes with the metadata of torch's exporter", saved(models.annotated, 10_000)),
    Case("100,000 nodes with the metadata of torch's exporter", saved(models.annotated, 100_000)),
    _large("functions", 5_000),
    _large("nodes, each Add with a Constant of its own", 20_000),
    _large("LeakyRelu, each with an alpha of its own", 10_000),
    _large("subgraphs of Loop and If with names of their own", 3_000),
    _large("nodes, each with an initializer", 100_000),
    _large("nodes with value_info", 450_000),
    _large("Constants of their own", 20_000),
    _large("tree nodes", 2_000_000),
    _large("tree nodes", 10_000_000),
    _large("strings of a LabelEncoder", 5_000_000),
    Case("245,000 nodes in text", write_text),
)


def real(folder: Path) -> list[Case]:
    """Return the cases for a folder of models, which may have faults: one process, and as many as there are cores."""
    count = sum(1 for _ in folder.rglob("*.onnx"))

    def write(path: Path) -> None:
        shutil.copytree(folder, path)

    never = ("--fail-on", "never")
    return [
        Case(
            f"{count:,} models of `{folder.name}`, one call, `--jobs 1`", write, many=True, options=("-j", "1", *never)
        ),
        Case("the same, `--jobs auto`", write, many=True, options=never),
    ]


def written(write: Callable[[Path], None], path: Path) -> Path:
    """Write a model in a process of its own, so that its memory is free again when the commands run."""
    process = multiprocessing.get_context("fork").Process(target=write, args=(path,))
    process.start()
    process.join()
    if process.exitcode != 0:
        raise SystemExit(f"the model at {path} could not be written")
    return path


def onnx_lint(path: Path, *options: str, exit_code: int = 0) -> Command:
    """All default rules; most models break nothing that a default run fails on."""
    return Command("onnx-lint", (str(Path(sys.executable).with_name("onnx-lint")), *options, str(path)), exit_code)


def full_check(path: Path, code: str = _FULL_CHECK) -> Command:
    """Return the command of `onnx.checker` that also infers types and shapes."""
    return Command("check_model, full", (sys.executable, "-c", code, str(path)))


def commands(case: Case, path: Path) -> list[Command]:
    """onnx-lint and its peers on the model, or on a folder of them."""
    check, full = (_LOOP.format(""), _LOOP.format(", full_check=True")) if case.many else (_CHECK, _FULL_CHECK)
    found = [
        onnx_lint(path, *case.options, exit_code=case.exit_code),
        Command("check_model", (sys.executable, "-c", check, str(path))),
        full_check(path, full),
    ]
    doctor = Path(sys.executable).with_name("onnx-doctor")
    if doctor.exists():
        found.append(Command("onnx-doctor", (str(doctor), "check", str(path))))
    if importlib.util.find_spec("onnxruntime") is not None:
        session = _SESSIONS if case.many else _SESSION
        found.append(Command("onnxruntime", (sys.executable, "-c", session, str(path))))
    return found

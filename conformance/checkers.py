# SPDX-License-Identifier: Apache-2.0
"""The checkers that the suite can be run with. Each judges one model in a process of its own."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from conformance.suite import Case

if TYPE_CHECKING:
    from onnx_lint.library import Edition


class RejectedError(Exception):
    """The checker rejects the model; the message is its reason."""


class UnsupportedError(Exception):
    """The checker does not judge such a model, for example because it has no kernel for an operator."""


@dataclass(frozen=True)
class Checker:
    """A checker: its name, the package that has it, and a function that raises RejectedError for a model."""

    name: str
    package: str | None
    """The package to install; None for a command."""
    judge: Callable[[Path, Case], None]
    preload: tuple[str, ...] = ()
    """Modules to import once, before the processes for the models are forked."""

    @property
    def release(self) -> str:
        """The version of the package; empty for a command. Raises PackageNotFoundError if it is not installed."""
        return "" if self.package is None else version(self.package)


def _onnx(path: Path, _: Case) -> None:
    _check_model(path, full_check=False)


def _onnx_full(path: Path, _: Case) -> None:
    _check_model(path, full_check=True)


def _check_model(path: Path, full_check: bool) -> None:
    import onnx

    try:
        onnx.checker.check_model(str(path), full_check=full_check)
    except Exception as error:  # ValidationError, InferenceError, DecodeError, RuntimeError ...
        raise RejectedError(str(error)) from error


def _onnxruntime(path: Path, _: Case) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        reason = str(error)
        if "NOT_IMPLEMENTED" in reason or "guarantees support for models stamped with official released" in reason:
            raise UnsupportedError(reason) from error
        raise RejectedError(reason) from error


def _onnx_doctor(path: Path, _: Case) -> None:
    from onnx_doctor._cli import main

    if main(["check", "--severity", "error", str(path)]):
        raise RejectedError("onnx-doctor reports errors")


def _onnx_lint(path: Path, case: Case) -> None:
    from onnx_lint import Settings, lint
    from onnx_lint.spec.target import ONNX, WITHOUT_ML

    target = WITHOUT_ML if case.variant == "onnx" else ONNX
    report = lint(path, Settings(edition=cast("Edition", case.edition), proto=case.message), target=target)
    if report.errors:
        raise RejectedError("\n".join(found.message for found in report.errors))


def _command(words: list[str]) -> None:
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode < 0:
        raise OSError(f"{words[0]} was ended by signal {-done.returncode}")
    if done.returncode:
        raise RejectedError((done.stdout + done.stderr).decode(errors="replace"))


_BUILT_IN: Final = {
    checker.name: checker
    for checker in (
        Checker("onnx", "onnx", _onnx, ("onnx",)),
        Checker("onnx-full", "onnx", _onnx_full, ("onnx",)),
        Checker("onnxruntime", "onnxruntime", _onnxruntime, ("onnxruntime",)),
        Checker("onnx-doctor", "onnx-doctor", _onnx_doctor, ("onnx_doctor._cli",)),
        Checker("onnx-lint", "onnx-lint", _onnx_lint, ("onnx_lint.library", "onnx_lint.engine.registry", "numpy")),
    )
}
NAMES: Final = tuple(_BUILT_IN)


def find(name: str) -> Checker:
    """Return the built-in checker with this name, or one for a command that contains `{}` where the path goes.

    Such a command rejects a model by any other exit code than 0. Raises ValueError for another name, and if the
    package of the checker is not installed.
    """
    if "{}" in name:
        words = shlex.split(name)
        return Checker(name, None, lambda path, _: _command([word.replace("{}", str(path)) for word in words]))
    if name not in _BUILT_IN:
        raise ValueError(f"unknown checker {name!r}; the checkers are {', '.join(NAMES)}, or a command that has {{}}")
    checker = _BUILT_IN[name]
    try:
        _ = checker.release
    except PackageNotFoundError as error:
        raise ValueError(f"{name} needs the package {checker.package}: pip install {checker.package}") from error
    return checker

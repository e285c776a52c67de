# SPDX-License-Identifier: Apache-2.0
"""Compares the verdicts of `--target` with the product, which loads the same models.

    python -m tools.compare_target TARGET PYTHON PATH...

TARGET is such as onnxruntime=1.32 or openvino=2026.4, and PYTHON an interpreter with that release. Each PATH is a
model, or a folder whose models are loaded. `python -m tools.single_nodes FOLDER` writes some. A model that onnx-lint
finds in error anyway is counted apart: the product may refuse it for that. The output has the numbers, and a line for
each model on which the two disagree.
"""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

LACKS = re.compile(
    "NOT_IMPLEMENTED|is not a registered|MLDataType for|InsertedPrecisionFreeCast|bound to different types|"
    "of input parameter .* is invalid"
)
"""What ONNX Runtime says of an operator, or of types, that it lacks."""
_OWN = "unsupported-by-product"
_NO_ERROR = (_OWN, "shapeless-graph-value", "untyped-graph-value")
"""The rules that do not find the errors for which a product may refuse a model."""


def main(arguments: list[str]) -> int:
    """Print the comparison. Returns 1 if there are models on which the two disagree, otherwise 0."""
    if arguments[0] == "--load":
        load({"onnxruntime": onnxruntime_loader, "openvino": openvino_loader}[arguments[1]]())
        return 0
    from onnx_lint import lint  # late: the environment of PYTHON need not have it

    target, python, *given = arguments
    files = [path for name in given for path in _models(Path(name))]
    product = target.partition("=")[0]
    answers = outcomes(python, product, files)
    counts: Counter[str] = Counter()
    for path in files:
        reason = answers[str(path)]
        report = lint(path, target=target)
        own = report.of_rule(_OWN)
        if any(found.rule not in _NO_ERROR for found in report.errors):
            counts["in error by the specification"] += 1
        elif bool(own) == (reason is not None):
            counts["refused by both" if own else "accepted by both"] += 1
        else:
            counts["refused by onnx-lint only" if own else f"refused by {product} only"] += 1
            print(f"{path}: {own[0].message if own else reason}")
    print(f"{len(files)} models:", ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return int(any("only" in what for what in counts))


def outcomes(python: str, product: str, files: list[Path]) -> dict[str, str | None]:
    """Return why each model was refused, None if it was loaded. Some models end the process of the product."""
    left = [str(path) for path in files]
    found: dict[str, str | None] = {}
    while left:
        names = "".join(f"{name}\n" for name in left)
        command = [python, __file__, "--load", product]
        run = subprocess.run(command, input=names, stdout=subprocess.PIPE, text=True, check=False)
        found |= dict(json.loads(line) for line in run.stdout.splitlines())
        if run.returncode:
            found[left[len(run.stdout.splitlines())]] = f"the process ended with {run.returncode}"
        left = [name for name in left if name not in found]
    return found


def reasons(python: str, product: str, models: Iterable[bytes]) -> list[str | None]:
    """Return why each model was refused; None if it was loaded."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for index, model in enumerate(models):
            files.append(Path(folder, f"{index}.onnx"))
            files[-1].write_bytes(model)
        found = outcomes(python, product, files)
        return [found[str(file)] for file in files]


def onnxruntime_loader() -> Callable[[str], object]:
    """Return the function that loads a model in ONNX Runtime."""
    runtime = importlib.import_module("onnxruntime")
    runtime.set_default_logger_severity(4)
    return lambda path: runtime.InferenceSession(path, providers=["CPUExecutionProvider"])


def openvino_loader() -> Callable[[str], object]:
    """Return the function that converts a model in OpenVINO."""
    core = importlib.import_module("openvino").Core()
    return lambda path: core.read_model(path)


def load(loader: Callable[[str], object]) -> None:
    """Load each model of standard input; print its path and why it was refused, or null, as JSON."""
    for line in [*sys.stdin]:
        try:
            loader(line.rstrip("\n"))
            reason = None
        except Exception as error:
            reason = str(error)
        print(json.dumps([line.rstrip("\n"), reason]), flush=True)


def _models(path: Path) -> list[Path]:
    return sorted(path.rglob("*.onnx")) if path.is_dir() else [path]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
"""The models of onnx's own tests: what onnx rejects there and onnx-lint does not, and the other way round.

`python -m tools.captured_models SOURCE` takes the folder of an sdist of onnx (`pip download onnx --no-binary onnx
--no-deps`, then unpack) of the version that is installed. It runs the tests with `onnx.checker.check_model` and
`onnx.shape_inference.infer_shapes` wrapped, keeps each model with the verdict, and lints it. It prints the models that
only one side rejects, by what that side says. `--to FOLDER` keeps the models; `--from FOLDER` lints those of an earlier
run.

Only a strict run of shape inference counts: without `strict_mode` it ignores faults. A model that one test has accepted
and another rejected counts as rejected.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Final

from onnx_lint import Diagnostic, lint
from onnx_lint.common.record import Record

FOLDER: Final = "ONNX_LINT_CAPTURED"
"""The environment variable that names the folder for the models while the tests run."""

TESTS: Final = ("*test*.py", "version_converter/*test*.py")
EXPLAINED: Final = (
    ("too large", "a test with a model that only says that it is of 2 GiB"),
    ("is not an output of any node in graph", "`outer-scope-output`, an error with --consumer onnx.checker"),
    (
        "Integer overflow in .* during data propagation",
        "a run computes modulo 2**64, and the text does not forbid that",
    ),
    ("duplicate keys in metadata_props", "`duplicate-metadata-key`, an error with --consumer onnx.checker"),
    ("No Op registered for CustomOp", "an operator of another domain, refused only with check_custom_domain=True"),
    ("default tensor must be a singleton", "the text of LabelEncoder states no shape for the attribute"),
    (
        "op_type:F.* is out of bounds",
        "a call that leaves out an output of a function, as IR.md allows for trailing ones",
    ),
)
"""Models that onnx rejects and onnx-lint has a reason to accept: a pattern of onnx's message, and the reason."""
SHOWN: Final = 3
"""The most models of a kind to print."""


class Captured(Record):
    """A model and the verdict of onnx."""

    path: Path
    rejected: str
    """The first line of the exception; empty for a model that was accepted."""
    by: str
    """`check_model` or `infer_shapes`."""


# --- in the process of the tests


def pytest_configure() -> None:
    """Wrap the two functions before any test imports them."""
    import onnx.checker
    import onnx.shape_inference

    wrapped: list[tuple[Any, str]] = [(onnx.checker, "check_model"), (onnx.shape_inference, "infer_shapes")]
    for module, name in wrapped:
        setattr(module, name, _capturing(getattr(module, name)))


def _capturing(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def wrapper(model: Any, *arguments: Any, **options: Any) -> Any:
        data = _bytes_of(model)
        rejected = ""
        try:
            return function(model, *arguments, **options)
        except Exception as error:
            rejected = str(error).strip() or type(error).__name__
            raise
        finally:
            is_strict = options.get("strict_mode", arguments[1] if len(arguments) > 1 else False)
            if data is not None and (function.__name__ == "check_model" or is_strict):
                _keep(data, function.__name__, rejected)

    return wrapper


def _bytes_of(model: Any) -> bytes | None:
    """Return the bytes of a model; None for a path, beside which there may be external data."""
    if isinstance(model, bytes):
        return model
    try:
        found: bytes = model.SerializeToString(deterministic=True)
    except Exception:  # a model that cannot be written has no file to lint
        return None
    return found


def _keep(data: bytes, by: str, rejected: str) -> None:
    folder = Path(os.environ[FOLDER])
    name = hashlib.sha256(data).hexdigest()[:24]
    (folder / f"{name}.onnx").write_bytes(data)
    record = {"model": name, "by": by, "rejected": rejected, "test": os.environ.get("PYTEST_CURRENT_TEST", "")}
    with (folder / "verdicts.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


# --- the comparison


def capture(source: Path, folder: Path) -> None:
    """Run the tests of onnx in a process of their own and keep the models in a folder."""
    tests = source / "tests" / "python"
    files = sorted(str(path.relative_to(tests)) for pattern in TESTS for path in tests.glob(pattern))
    root = Path(__file__).resolve().parent.parent
    environment = {**os.environ, FOLDER: str(folder), "PYTHONPATH": str(root)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.captured_models", "-p", "no:cacheprovider"]
    command += ["--continue-on-collection-errors", "-c", os.devnull, "--rootdir", ".", *files]
    ended = subprocess.run(command, cwd=tests, env=environment, capture_output=True, text=True, check=False)
    print("\n".join(ended.stdout.splitlines()[-1:]))


def captured(folder: Path) -> list[Captured]:
    """Return the models in a folder, each once."""
    found: dict[str, Captured] = {}
    for line in (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        name = record["model"]
        if name not in found or (record["rejected"] and not found[name].rejected):
            found[name] = Captured(folder / f"{name}.onnx", record["rejected"], record["by"])
    return list(found.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what only one side rejects."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("source", nargs="?", type=Path, help="the folder of the sdist of onnx")
    parser.add_argument("--to", type=Path, help="keep the models in this folder")
    parser.add_argument("--from", dest="kept", type=Path, help="lint the models of an earlier run")
    options = parser.parse_args(arguments)
    if (options.source is None) == (options.kept is None):
        parser.error("give either the folder of the sdist or --from")
    with tempfile.TemporaryDirectory(prefix="onnx-lint-captured-") as temporary:
        folder = options.kept or options.to or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if options.kept is None:
            capture(options.source, folder)
        models = captured(folder)
        missed: dict[str, list[str]] = defaultdict(list)
        alone: dict[str, list[str]] = defaultdict(list)
        for model in models:
            report = lint(model.path)
            errors = [item for item in report.diagnostics if item.severity.label == "error" and not _is_of_helper(item)]
            if model.rejected and not errors:
                missed[_kind(model.rejected)].append(f"{model.path.stem} ({model.by}): {model.rejected}")
            elif errors and not model.rejected:
                for item in errors[:1]:
                    alone[f"{item.rule}: {_kind(item.message)}"].append(f"{model.path.stem}: {item.message}")
        rejected = sum(bool(model.rejected) for model in models)
    print(f"{len(models):,} models; onnx rejects {rejected:,}")
    explained = {kind: why for kind in missed for pattern, why in EXPLAINED if re.search(pattern, missed[kind][0])}
    print(f"\nonnx rejects and onnx-lint accepts with a reason: {len(explained)} kinds")
    for kind, why in explained.items():
        print(f"{len(missed[kind]):5} {kind}\n        {why}")
    missed = {kind: models for kind, models in missed.items() if kind not in explained}
    _print("onnx rejects and onnx-lint accepts", missed)
    _print("onnx-lint rejects and onnx accepts", alone)
    return 1 if missed else 0


def _is_of_helper(item: Diagnostic) -> bool:
    """Return whether a finding is about a Reshape that the tests use to make a value of unknown size."""
    return item.rule == "contradictory-declared-shape" and "'SEED_" in item.message


def _kind(message: str) -> str:
    """Return a message without names and numbers."""
    return re.sub(r"\s+", " ", re.sub(r"'[^']*'|\([^)]*\)|\[[^]]*\]|-?\d+", "#", message))[:160]


def _print(title: str, found: Mapping[str, Sequence[str]]) -> None:
    print(f"\n{title}: {sum(map(len, found.values())):,} of {len(found):,} kinds")
    for kind, models in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{len(models):5} {kind}")
        for each in models[:SHOWN]:
            print(f"        {re.sub(chr(10), ' ', each)[:400]}")


if __name__ == "__main__":
    raise SystemExit(main())

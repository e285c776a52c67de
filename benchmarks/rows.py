# SPDX-License-Identifier: Apache-2.0
"""The rows whose instructions are counted: models, and the arguments with which onnx-lint runs on them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import families
import large_models
import models
import runtime_models
from cases import in_the_wheel
from exports import EXPORTERS


@dataclass(frozen=True, slots=True)
class Row:
    """What is linted, what writes it to a path, and the options of onnx-lint."""

    title: str
    write: Callable[[Path], None]
    options: tuple[str, ...] = ()


def _model(title: str, make: Callable[[int], Any], count: int, *options: str) -> Row:
    return Row(title, lambda path: models.save(make(count), path), options)


def _small(options: str) -> Row:
    return _model(f"10 nodes, `{options}`" if options else "10 nodes", models.mixture, 10, *options.split())


_OF_THE_WHEEL: Final = 30
_EXPORTS: Final = 30


def _real(folder: Path) -> None:
    """Write nine networks and some operators of the `onnx` package, and small models of each exporter."""
    tested = in_the_wheel()
    folder.mkdir()
    found = sorted(tested.rglob("*.onnx"))
    networks = [path for path in found if path.parent.name == "light"]
    others = [path for path in found if path not in networks]
    count = _OF_THE_WHEEL - len(networks)
    chosen = [others[index * len(others) // count] for index in range(count)]
    for path in [*networks, *chosen]:
        shutil.copyfile(path, folder / "_".join(path.relative_to(tested).parts))
    for name, export in EXPORTERS.items():
        for seed in range(_EXPORTS // len(EXPORTERS)):
            models.save(export(seed), folder / f"{name}_{seed}.onnx")


ROWS: Final[Mapping[str, Row]] = MappingProxyType(
    {
        "bare": _small(""),
        "hook": _small("check --allow-no-input"),
        "json": _small("-f json"),
        "sarif": _small("-f sarif"),
        "real": Row("60 real models in one process", _real, ("-j", "1")),
        "families": Row("6 families of 6 models", lambda folder: families.write(folder, 6), ("-j", "1")),
        "constants": _model("1,000 Constants of 256 bytes", large_models.constants, 1_000),
        "added-constants": _model("2,000 nodes, each Add with a Constant", large_models.own_constants, 2_000),
        "attributes": _model("2,000 LeakyRelu, each with its own alpha", large_models.own_attributes, 2_000),
        "initializers": _model("20,000 nodes, each with an initializer", large_models.initializers, 20_000),
        "subgraphs": _model("880 subgraphs", lambda count: models.nested(count // 16, 8), 880),
        "functions": _model("1,000 functions", large_models.functions, 1_000),
        "metadata": _model("4,000 nodes with metadata", models.annotated, 4_000),
        "blocks": _model("5,000 nodes in blocks", models.mixture, 5_000),
        "microsoft": _model("40 decoder blocks of `com.microsoft`", runtime_models.decoder, 40),
    }
)
"""The rows by their names, which the messages of commits use as well."""

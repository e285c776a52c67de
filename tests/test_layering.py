# SPDX-License-Identifier: Apache-2.0
"""Imports go one way, and nothing is imported before it is needed."""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest
from support.models.clean_model import clean_proto
from support.project.checkout import ROOT, TESTS
from support.project.syntax_trees import files, last_name, nodes_of, tree_of

from onnx_lint import model
from onnx_lint.inference.shapes import rules
from tools import catalogue

LAYERS = (
    {"common", "version"},
    {"wording"},
    {"input"},
    {"spec"},
    {"schema"},
    {"ir"},
    {"inference"},
    {"model"},
    {"refusals", "rule"},
    {"rules"},
    {"loader", "report"},
    {"remote", "surroundings"},
    {"engine"},
    {"cache", "reporters"},
    {"fixing"},
    {"tasks"},
    {"cluster"},
    {"configuration"},
    {"cli"},
    {"library"},
    {"assertion"},
    {"pytest_plugin", "__main__"},
)
"""The parts of the package from the ground up: each imports from itself and from the layers below it."""

FLOORS = {
    "ir": (
        {"in_words", "payload", "places"},
        {"columns", "fault"},
        {"graph"},
        {"sharding"},
        {"crashes", "names", "parts"},
        {"attributes"},
        {"tensors"},
        {"long_lists"},
        {"left_in_file"},
        {"documents", "nesting", "operators"},
    ),
    "inference": ({"types"}, {"shapes"}, {"flow"}),
    "engine": (
        {"internal_errors", "plugins", "value_kinds"},
        {"checked_values", "option_kinds", "registry"},
        {"fix_candidates", "proposed_fixes"},
        {"suppressions"},
        {"plugin_findings", "settings", "withdrawn_fixes"},
        {"describe", "facts", "selection", "targets"},
        {"ordered_texts"},
        {"views"},
        {"numbered_steps"},
        {"structure"},
        {"doubtful_deletions", "identities", "trials"},
        {"diagnose"},
        {"rule_runs"},
        {"lint"},
    ),
    "refusals": (
        {"causes", "operands"},
        {"refused_values"},
        {"converters", "onnxruntime"},
        {"operators"},
    ),
    "model": (
        {"model"},
        {"declared_values"},
        {"constants", "import_proposals", "questions", "searches", "subgraphs"},
        {"newer_features"},
        {"__init__"},
    ),
}
"""The parts of five packages from the ground up: each imports from itself and from the floors below it."""

READ_BYTES = ("FromString", "MergeFromString", "ParseFromString", "SerializeToString", "SerializePartialToString")
"""The methods of messages that turn bytes into parts of a model, or parts of a model into bytes."""

FACADE = "__init__"
"""The package itself imports the library's names when they are asked for. No module imports them from it."""

RUN_TIME = {"google", "click", "markdown_it", "rich", "numpy"}
LATE = {"markdown_it", "rich", "numpy"}
NUMERIC = {Path("onnx_lint/ir/operators/tree_ensembles.py")}
"""Modules that import numpy at their head, and are imported late themselves."""

REMOTE = Path("onnx_lint/remote")
LENT = {
    Path("onnx_lint/pytest_plugin.py"): {"pytest"},
    REMOTE / "answers.py": {"huggingface_hub"},
    REMOTE / "file_systems.py": {"fsspec", "gcsfs"},
    REMOTE / "google_session.py": {"aiohttp"},
    REMOTE / "s3_object.py": {"fsspec"},
    REMOTE / "s3_session.py": {"aiobotocore"},
    REMOTE / "versions.py": {"huggingface_hub"},
    REMOTE / "web_object.py": {"aiohttp", "fsspec", "yarl"},
    REMOTE / "web_session.py": {"aiohttp", "yarl"},
}
"""Packages that are there whenever the module is imported: it is they who import it, or `file_systems.py`, which says
where they are not, has run before."""

OF_EXTRAS: dict[str, set[str]] = {"cluster": {"dask", "distributed"}}
"""Packages that an extra installs, by the layer that has them to itself."""


@dataclass(frozen=True)
class Import:
    """One imported module; `late` when the line runs only inside a function or for a type checker."""

    file: Path
    line: int
    name: str
    late: bool

    @property
    def layer(self) -> str:
        parts = self.file.parts
        return "rules" if parts[0] == "rules" else Path(parts[1]).stem

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.name}"


def _imports(path: Path) -> Iterator[Import]:
    file = path.relative_to(ROOT)
    statements = [(node, False) for node in reversed(tree_of(path).body)]
    while statements:
        child, late = statements.pop()
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(file, child.lineno, alias.name, late)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{file}:{child.lineno}: relative import"
            for alias in child.names:
                yield Import(file, child.lineno, f"{child.module}.{alias.name}", late)
        late = late or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) or _is_for_types(child)
        statements += [(inner, late) for inner in reversed([*_statements_in(child)])]


def _statements_in(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements directly in one; expressions, most of each tree, hold none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            yield from _statements_in(child)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


@functools.cache
def _all() -> tuple[Import, ...]:
    """The modules that all modules import."""
    return tuple(found for path in files() for found in _imports(path))


def _package() -> list[Path]:
    return [path for path in files() if path.is_relative_to(ROOT / "onnx_lint")]


def _level(layer: str) -> int:
    """Return the index of the layer of a part; the names of the package itself are above all."""
    return next((level for level, layers in enumerate(LAYERS) if layer in layers), len(LAYERS))


def test_every_module_has_a_layer():
    names = {Path(path.relative_to(ROOT / "onnx_lint").parts[0]).stem for path in (ROOT / "onnx_lint").rglob("*.py")}
    names |= {"rules"}
    assert sorted(names - {FACADE}.union(*LAYERS)) == []


def test_imports_go_one_way():
    wrong = []
    for found in _all():
        parts = found.name.split(".")
        if parts[0] != "onnx_lint" or found.layer == FACADE:
            continue
        target = parts[1] if len(parts) > 1 else FACADE
        if target != found.layer and _level(target) >= _level(found.layer):
            wrong.append(str(found))
    assert wrong == []


def _module(file: Path) -> str:
    """Return the name that imports the module in `file`; rules have their names in the package."""
    parts = file.with_suffix("").parts
    parts = parts if parts[0] == "onnx_lint" else ("onnx_lint", *parts)
    return ".".join(parts[:-1] if parts[-1] == FACADE else parts)


def _needed(found: Import, modules: Set[str]) -> Iterator[str]:
    """The modules that run when the line runs: importing `a.b.c` runs `a` and `a.b` unless the importer is in them."""
    importer = _module(found.file)
    name = found.name if found.name in modules else found.name.rpartition(".")[0]
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        module = ".".join(parts[:end])
        if module in modules and not f"{importer}.".startswith(f"{module}."):
            yield module


def test_no_import_circles():
    """No modules import each other in a circle; late imports and imports for types alone count as well."""
    modules = {_module(path.relative_to(ROOT)) for path in files()}
    needs: dict[str, set[str]] = {module: set() for module in modules}
    for found in _all():
        needs[_module(found.file)].update(_needed(found, modules))
    assert sum(map(len, needs.values())) > len(modules), "hardly any import was seen"
    while free := {module for module in needs if not needs[module] & needs.keys()}:
        needs = {module: others for module, others in needs.items() if module not in free}
    while top := needs.keys() - {other for others in needs.values() for other in others}:
        needs = {module: others for module, others in needs.items() if module not in top}
    assert sorted(needs) == []


@pytest.mark.parametrize("package", FLOORS)
def test_inside_a_package_imports_go_down(package: str):
    floors = FLOORS[package]
    folder = ROOT / "onnx_lint" / package
    parts = {Path(path.relative_to(folder).parts[0]).stem for path in folder.rglob("*.py")}
    assert sorted(parts - {FACADE}.union(*floors)) == []
    level = {part: level for level, floor in enumerate(floors) for part in floor}
    wrong = []
    for found in _all():
        if found.layer != package or not found.name.startswith(f"onnx_lint.{package}"):
            continue
        own, (_, _, target, *_) = Path(found.file.parts[2]).stem, [*found.name.split("."), FACADE]
        target = target if target in parts else FACADE
        if target != own and level.get(target, len(floors)) >= level.get(own, len(floors)):
            wrong.append(str(found))
    assert wrong == []


def test_the_bytes_of_nodes_initializers_and_value_infos_are_read_in_columns_only():
    """Elsewhere the message of one of them is asked for by `schema.opened`, when something is to be said of it."""
    wrong, seen = [], 0
    for path in files():
        reads = [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for node in nodes_of(path)
            if isinstance(node, ast.Attribute) and node.attr in READ_BYTES
        ]
        seen += len(reads)
        folder = path.relative_to(ROOT / "onnx_lint" if path.is_relative_to(ROOT / "onnx_lint") else ROOT)
        if not folder.is_relative_to("ir/columns") and folder.parts[0] in {"ir", "inference", "model", "rules"}:
            wrong += reads
    assert seen > 10
    assert wrong == []


MAKERS = {"Model", "load", "make", "model_of", "_bounded", "with_faults"}
"""The functions that return a model."""


def _models_in(function: ast.FunctionDef) -> set[str]:
    """The names of parameters and local variables that are models."""
    arguments = (*function.args.args, *function.args.kwonlyargs)
    found = {each.arg for each in arguments if each.annotation is not None and ast.unparse(each.annotation) == "Model"}
    for node in ast.walk(function):
        is_call = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if is_call and last_name(node.value.func) in MAKERS:
            found |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    return found


def test_nobody_sets_an_attribute_of_a_model():
    """A model is finished when `load` returns it; what it derives it keeps itself."""
    wrong, seen = [], 0
    for path in files():
        if path == ROOT / "onnx_lint" / "model" / "model.py":
            continue
        for function in nodes_of(path):
            if not isinstance(function, ast.FunctionDef):
                continue
            models = _models_in(function)
            seen += len(models)
            for node in ast.walk(function):
                is_set = isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del))
                owner = node.value if is_set else None
                if isinstance(node, ast.Call) and last_name(node.func) in {"setattr", "delattr", "__setattr__"}:
                    owner = node.args[0]
                if isinstance(owner, ast.Name) and owner.id in models:
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert seen > 200
    assert wrong == []


OF_THE_PROCESS = {
    Path("onnx_lint/ir/tensors/checksum.py"),  # how far a file is read, to whoever shows it meanwhile
    Path("onnx_lint/engine/plugins.py"),  # which plugin files the run uses
    Path("onnx_lint/common/deadline.py"),  # the thread that an alarm interrupts
    Path("onnx_lint/cli/standard_streams.py"),  # that a stream of the process is lost
}
"""Modules with a global that is of no model."""


OF_THE_SPECIFICATION = {
    "a message of the schema": {
        *("schema/variants:message", "schema/variants:outline", "schema/variants:nodeless", "schema/variants:packed"),
        *(
            "schema/variants:columns",
            "schema/wire:fields",
            "loader/limits/memory_estimate:_weights",
            "schema/wire:fields_by_name",
            "schema/reserved:_ranges",
        ),
        *("ir/places/enclosing_names:_naming_field", "ir/columns/attribute_kinds:_field_name"),
    },
    "an element type and a field of TensorProto": {"ir/columns/tensor_encodings:_encoding_of_known"},
    "a published IR version, or that of the target": {
        "spec/ir_versions:later_fields",
        "spec/element_types:later_element_types",
    },
    "a release that the user names": {"spec/products/__init__:product_releases", "spec/products/__init__:_data"},
    "a plugin file that the user names": {"engine/plugins:_module_of_file", "engine/registry:_registry_with"},
    "an equation in the module of a shape rule, or a text in a record": {
        f"spec/operators/records/grammar:{each}"
        for each in (
            *("parse_sum", "parse_operand", "parse_equation", "parse_condition", "parse_all", "_alternatives"),
            "parse_requirements",
        )
    },
    "a rule, and the address of the documentation": {
        "reporters/links:documentation_url",
        "common/distribution:_project_urls",
    },
}
"""Functions that remember every answer, by what they are asked: of all these there is a fixed number."""


def test_what_remembers_every_answer_is_asked_of_the_specification():
    """`functools.cache` has no bound, so that what it keeps must be the specification's choice and not a file's."""
    found: list[str] = []
    for path in _package():
        module = path.relative_to(ROOT / "onnx_lint").with_suffix("").as_posix()
        for node in nodes_of(path):
            if not isinstance(node, ast.FunctionDef) or not node.args.args + node.args.kwonlyargs:
                continue
            if any(last_name(each) == "cache" for each in node.decorator_list):
                found.append(f"{module}:{node.name}")
    assert sorted(found) == sorted(chain.from_iterable(OF_THE_SPECIFICATION.values()))
    calls = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in _package()
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and last_name(node.func) == "cache"
    ]
    assert calls == []


def test_only_a_memory_outlives_a_model():
    """A module-level value is a constant, or a `Memory`, which is bounded."""
    wrong, memories = [], 0
    for path in _package():
        tree = tree_of(path)
        where = path.relative_to(ROOT)
        if where not in OF_THE_PROCESS:
            wrong += [f"{where}:{node.lineno} global" for node in nodes_of(path) if isinstance(node, ast.Global)]
        for node in nodes_of(path):
            if isinstance(node, (ast.Name, ast.Attribute)) and last_name(node).endswith("lru_cache"):
                wrong.append(f"{where}:{node.lineno} lru_cache")
        for node in tree.body:
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            memories += ast.unparse(node.value).startswith("Memory(")
            is_empty = ast.unparse(node.value) in {"{}", "[]", "set()", "dict()", "list()"}
            is_constant = isinstance(node, ast.AnnAssign) and "Final" in ast.unparse(node.annotation)
            if is_empty and not is_constant:
                wrong.append(f"{where}:{node.lineno} {ast.unparse(node)}")
    assert memories > 4
    assert wrong == []


def test_nobody_imports_a_rule_by_its_name():
    """The folder of the rules differs between a checkout and a wheel, so the registry imports them."""
    assert [str(found) for found in _all() if found.name.split(".")[0] == "rules"] == []
    assert [str(found) for found in _all() if found.name.startswith("onnx_lint.rules")] == []


DOORS = {"onnx_lint.model", "onnx_lint.rule", "onnx_lint.wording"}
"""The modules that plugins may import from, and rules if rules of several chapters need the name."""

MAX_NAMES = 150
"""The most names that `onnx_lint.model` offers to rules and plugins."""


def _imports_of_rules() -> list[Import]:
    return [each for each in _all() if each.layer == "rules" and each.name.startswith("onnx_lint")]


def _is_defined(name: str) -> bool:
    """Return whether the module of `a.b.c` defines `c`, rather than imports it; a module defines its submodules."""
    module, _, last = name.rpartition(".")
    folder = ROOT.joinpath(*module.split("."))
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    found: set[str] = set()
    for node in tree_of(path).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return last in found or (folder / f"{last}.py").exists()


def test_plugins_import_from_three_modules():
    plugins = [*(TESTS / "plugin").rglob("*.py"), *(ROOT / "docs" / "house_rules").rglob("*.py")]
    found = {each.name.rpartition(".")[0] for path in plugins for each in _imports(path)}
    assert {name for name in found if name.startswith("onnx_lint")} == DOORS


def test_rules_import_a_name_of_one_chapter_from_the_module_that_defines_it():
    """So `onnx_lint.model` is small, and the imports of a rule say where the things of its subject are."""
    homes = model._homes()
    chapters: dict[str, set[str]] = {}
    for found in _imports_of_rules():
        chapters.setdefault(found.name, set()).add(found.file.parts[1])
    wrong = []
    for found in _imports_of_rules():
        module, _, name = found.name.rpartition(".")
        if module in DOORS:
            continue
        if name in model.__all__ or homes.get(name) == module:
            wrong.append(f"{found}: import it from onnx_lint.model")
        elif len(chapters[found.name]) > 1:
            wrong.append(f"{found}, as rules of other chapters do: offer it in onnx_lint/model/__init__.py")
        elif not _is_defined(found.name):
            wrong.append(f"{found}: another module defines it")
    assert wrong == []
    promised = set(re.findall(r"(?m)^plugin: onnx_lint\.model\.(\w+)$", (ROOT / "docs" / "public_api.txt").read_text()))
    questions = {name for name, home in homes.items() if home == "onnx_lint.model.questions"}
    subjects = {entry["about"] for entry in json.loads((ROOT / "rules" / "index.json").read_text()).values()}
    shared = {name for name in homes if len(chapters.get(f"onnx_lint.model.{name}", ())) > 1}
    assert sorted(homes.keys() - shared - questions - subjects - promised) == [], "used by rules of one chapter at most"
    assert sorted(questions - shared - subjects) == [], "no rule is about this: it belongs into a module of its subject"
    assert len(model.__all__) + len(homes) <= MAX_NAMES


def test_what_rules_import_late_is_offered_as_it_is_typed():
    """Type checkers read imports, and the running program a table: both name the same things.

    Rules import each, or plugins are promised it.
    """
    typed = json.loads(catalogue.names(ROOT / "onnx_lint"))
    assert model._homes() == typed
    assert [name for name in typed if getattr(model, name, None) is None] == []
    used = {each.name for each in _imports_of_rules()}
    promised = (ROOT / "docs" / "public_api.txt").read_text(encoding="utf-8").splitlines()
    used.update(line.removeprefix("plugin: ") for line in promised)
    assert [name for name in typed if f"onnx_lint.model.{name}" not in used] == []


SAME_MEANING = {"Report", "Settings", "Writer"}
"""`library.Report` is a report with more to ask, `library.Settings` are those that a user writes, and each form
of report has a `Writer`."""


def _class_or_alias(node: ast.stmt) -> str:
    """The name of a class, or of another name for a type, that a statement defines; empty for any other statement."""
    if isinstance(node, ast.ClassDef):
        return node.name
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    name = target.id if isinstance(target, ast.Name) else ""
    is_alias = re.fullmatch(r"_?[A-Z]\w*[a-z]\w*", name) and not isinstance(getattr(node, "value", None), ast.Call)
    return name if is_alias else ""


def test_a_class_name_has_one_meaning():
    """No two modules give one name to different classes or types; a leading underscore makes no other name of it."""
    meanings: dict[str, dict[str, str]] = {}
    for path in files():
        for node in nodes_of(path):
            if isinstance(node, ast.stmt) and (name := _class_or_alias(node)):
                what = f"{path}:{node.lineno}" if isinstance(node, ast.ClassDef) else ast.unparse(node)
                meanings.setdefault(name.lstrip("_"), {})[what] = f"{path.relative_to(ROOT)}:{node.lineno}"
    assert len(meanings) > 300
    several = {name: sorted(found.values()) for name, found in meanings.items() if len(found) > 1}
    assert {name: found for name, found in several.items() if name not in SAME_MEANING} == {}
    assert several.keys() >= SAME_MEANING


def test_run_time_needs_five_packages_and_no_onnx():
    wrong = []
    for found in _all():
        package = found.name.split(".")[0]
        allowed = RUN_TIME | {"onnx_lint"} | LENT.get(found.file, set()) | OF_EXTRAS.get(found.layer, set())
        if package not in allowed and package not in sys.stdlib_module_names:
            wrong.append(str(found))
    assert wrong == []


BORDER = {"application", "catalogue", "commands", "new_rule", "options", "sections"}
"""The modules that speak with click: the program, its commands and options."""


def test_click_stands_at_the_border():
    """The command line is turned into a Request, and everything else works on that without click."""
    using = {found.file for found in _all() if found.name.split(".")[0] == "click"}
    assert using == {Path("onnx_lint/cli", f"{name}.py") for name in BORDER}
    inside = {f"onnx_lint.cli.{name}" for name in BORDER}
    wrong = [
        str(found)
        for found in _all()
        if found.file not in using
        and found.file != Path("onnx_lint/__main__.py")
        and (found.name in inside or found.name.rpartition(".")[0] in inside)
    ]
    assert wrong == []


def test_rich_and_numpy_are_imported_late():
    numeric = tuple(_module(file) for file in NUMERIC)
    wrong = [
        str(found)
        for found in _all()
        if (found.name.split(".")[0] in LATE or found.name.startswith(numeric))
        and not found.late
        and found.file not in NUMERIC
    ]
    assert wrong == []


def test_one_file_owns_the_garbage_collector():
    wrong = [str(found) for found in _all() if found.name.split(".")[0] == "gc"]
    assert [place.partition(":")[0] for place in wrong] == ["onnx_lint/common/memory.py"]


SMALL = b"\x08\x0a\x3a\x00"
"""A model with an IR version and an empty graph: enough for every rule to have a look."""


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import onnx_lint", ["google", "click", "rich", "numpy", "onnx"]),
        (f"from onnx_lint import lint; lint({SMALL!r})", ["click", "rich", "numpy", "onnx"]),
        ("import onnx_lint.pytest_plugin", ["google", "click", "rich", "numpy", "onnx", "onnx_lint.assertion"]),
    ],
    ids=["package", "library", "pytest plugin"],
)
def test_nothing_is_imported_before_it_is_needed(statement: str, absent: list[str]):
    code = f"import sys; {statement}; print(sorted(set(sys.argv[1:]) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code, *absent], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


RUN_AND_TELL = (
    "import sys; from onnx_lint.__main__ import main\ntry: main()\nfinally: sys.stderr.write(' '.join(sys.modules))"
)
"""Runs the program, and prints the imported modules on standard error."""


@pytest.fixture
def small_model(tmp_path: Path) -> Path:
    proto = clean_proto()
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    return tmp_path / "m.onnx"


def _imported(*arguments: Path | str, **variables: str) -> set[str]:
    """The modules that a run over a model imports."""
    command, environment = [sys.executable, "-c", RUN_AND_TELL, *arguments], os.environ | variables
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert "conforms" in done.stdout
    return set(done.stderr.split())


def test_a_plain_run_imports_nothing_for_findings_or_for_operators_that_the_model_lacks(small_model: Path):
    """Whoever lints each commit waits for these imports, see docs/performance.md."""
    found = _imported(small_model)
    families = f"{rules.__name__}."
    assert {name for name in found if name.startswith(families)} == {f"{families}unary"}
    of_findings = {"byte_ranges", "conflict", "digraph", "in_words", "marks", "surroundings"}
    of_other_runs = {"commands", "protected_files", "statistics", "whole_file"}
    assert "onnx_lint.report.folding" not in found
    assert {name for name in found if name.rpartition(".")[2] in of_findings | of_other_runs} == set()
    assert found & {"click", "heapq", "numpy", "pkgutil", "rich", "select", "tempfile", "unicodedata"} == set()


def test_a_run_whose_verdicts_are_in_the_cache_imports_nothing_for_models(tmp_path: Path):
    model = TESTS / "models" / "iris_logistic_regression.onnx"  # the cache does not trust a file of a second ago
    first, second = (_imported("--cache", model, ONNX_LINT_CACHE_DIR=str(tmp_path / "cache")) for _ in range(2))
    of_models = {"click", "google.protobuf.descriptor", "onnx_lint.engine.lint", "onnx_lint.model", "onnx_lint.schema"}
    assert (first & of_models, second & of_models) == (of_models - {"click"}, set())


def test_where_a_module_is_tested_follows_from_its_path():
    """`ir/a/b.py` is tested by `tests/ir/a/test_b.py`, or as a part of its folder by `tests/ir/test_a.py`.

    A module without functions, such as a table or a record, needs no test. Beside the tests of shape rules there is a
    file of cases for each family, which compares the rules with the onnx package.
    """
    modules = {
        path.relative_to(ROOT / "onnx_lint").with_suffix("")
        for folder in ("ir", "inference", "model", "loader")
        for path in (ROOT / "onnx_lint" / folder).rglob("*.py")
        if path.name != "__init__.py" and "def " in path.read_text(encoding="utf-8")
    }
    assert len(modules) > 90
    tests = {path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    untested = [
        str(module)
        for module in modules
        if tests.isdisjoint(each.with_name(f"test_{each.name}.py") for each in (module, *module.parents[:-2]))
    ]
    assert sorted(untested) == []

# SPDX-License-Identifier: Apache-2.0
"""The pages of the documentation that are made from the sources, and the examples in those that are written.

Whether the site can be built, links included, `python docs/build.py` checks; CI runs it.
"""

from __future__ import annotations

import ast
import inspect
import io
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt
from support.project.built_in_rules import RULES, check_each_rule
from support.project.checkout import ROOT
from support.project.each_case import each_case
from support.project.fixture_files import Fixture, fixtures_of

from onnx_lint import Settings, lint
from onnx_lint.cli.application import application, run
from onnx_lint.configuration.settings import keys
from onnx_lint.engine.registry import Registered
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.reporters import REPORTERS, Options, write_report
from onnx_lint.spec.clauses import clauses
from tools.public_api import public_api

DOCS = ROOT / "docs"
sys.path.append(str(DOCS))

from generate import forms as report_forms  # noqa: E402 - found by the line above
from generate import rules as rule_pages  # noqa: E402
from generate import site as made_site  # noqa: E402
from generate.examples import CONFIGURATION, command, configuration, examples, title  # noqa: E402
from generate.line_schema import LINE_SCHEMA, line_schema_text  # noqa: E402
from generate.site import CONTENTS  # noqa: E402

FOLDERS = ("benchmarks", "conformance", "docs", "fixtures", "fuzz", "onnx_lint", "rules", "tests", "tools")
"""The folders of the checkout with pages in Markdown."""

WITH_EXAMPLES = sorted(RULES)[::4]
"""The rules whose pages have examples here. `docs/build.py` makes those of all."""


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule_pages, "examples", lambda rule: examples(rule) if rule.id in WITH_EXAMPLES else ())
        return dict(made_site.pages())


def test_the_schema_of_a_json_line_is_made_from_that_of_the_report():
    assert LINE_SCHEMA.read_text(encoding="utf-8") == line_schema_text(), "run python docs/generate/line_schema.py"


@pytest.mark.slow
def test_there_is_a_page_for_each_rule(site: dict[str, str]):
    assert {name for name in site if name.startswith("rules/")} == {
        "rules/index.md",
        *(f"rules/{name}.md" for name in RULES),
    }
    assert all(f"[{name}]({name}.md)" in site["rules/index.md"] for name in RULES)


@pytest.mark.slow
def test_the_page_tells_all_about_the_rule(site: dict[str, str]):
    above = ["## What it reports", "## How to fix", "## Example", "## Why it matters", "## Details", "## Clauses"]
    below = ["## Models that break it", "## Models that keep it"]

    def check(entry: Registered) -> Iterator[str]:
        name, rule = entry.rule.id, entry.rule
        page = site[f"rules/{name}.md"]
        if not page.startswith(f"# {name}\n"):
            yield "its page has another title"
        headings = [line for line in page.splitlines() if re.match("## [A-Z]", line)]
        if headings[:6] != above or (headings[-2:] != below and name in WITH_EXAMPLES):
            yield f"the headings of its page are {headings}"
        for clause in rule.clauses:
            if f"(../clauses.md#clause-{clause.lower()})" not in page:
                yield f"its page has no link to {clause}"
        for option in rule.options:
            if f"- `{option}`, " not in page:
                yield f"its page does not describe the option '{option}'"
        if name not in WITH_EXAMPLES:
            return
        broken, _, kept = page.partition(below[0])[2].partition(below[1])
        if f"[{name}]: " not in broken:
            yield "its page shows no report with a finding"
        if f"[{name}]: " in kept:
            yield "its page shows a finding in a model that keeps the rule"
        if "$ onnx-lint " not in kept:
            yield "its page shows no model that keeps the rule"

    check_each_rule(check)


@pytest.mark.slow
def test_each_clause_has_one_line(site: dict[str, str]):
    anchors = re.findall(r"^\| \[([^]]+)\]\{#clause-[^}]+\} \|", site["clauses.md"], re.MULTILINE)
    assert anchors == list(dict.fromkeys(anchors))
    assert sorted(anchors) == sorted(clauses())


@pytest.mark.slow
def test_each_command_and_each_key_is_described(site: dict[str, str]):
    commands = re.findall(r"^## onnx-lint (\S+)$", site["command_line.md"], re.MULTILINE)
    assert commands == list(application.commands)
    assert re.findall(r"^## ([a-z-]+)$", site["configuration_keys.md"], re.MULTILINE) == list(keys())


@pytest.mark.slow
def test_all_pages_are_in_the_table_of_contents(site: dict[str, str]):
    names = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    names |= {name.removesuffix(".md") for name in site if "/" not in name}
    listed = [name for of_page in CONTENTS.values() for text in of_page.values() for name in text.split()]
    assert sorted({*listed} - {"rules/index"}) == sorted(names)
    assert len(listed) == len({*listed})


@each_case("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_a_page_has_no_block_that_only_the_site_understands(path: Path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"^```\{|^: ", text, re.MULTILINE) == []


# --- the examples are what a user would see


def _shown(site: dict[str, str], fixture: Fixture) -> str | None:
    """Return what the page shows for the fixture, if it is among the examples."""
    heading = f"\n### {title(fixture)}\n"
    page = site[f"rules/{fixture.rule}.md"]
    # A faulty model and a sound one may have one name; the faulty ones come first.
    sections = page.split(heading)[1:]
    if not sections:
        return None
    same = fixture.path.parents[1] / ("valid" if "invalid" in fixture.path.parts else "invalid") / fixture.path.name
    if len(sections) == 1 and same.exists():
        return None  # which of the two it is does not show
    after = sections[-1 if "valid" in fixture.path.parts else 0]
    match = re.search(r"^(```+)text\n\$ onnx-lint [^\n]*\n(.*?)\n\1$", after, re.MULTILINE | re.DOTALL)
    assert match is not None
    return match[2] + "\n"


@pytest.mark.slow
def test_the_shown_command_gives_the_shown_report(
    site: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for variable in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(variable, raising=False)

    def check(entry: Registered) -> Iterator[str]:
        ignored = [] if entry.rule.id == "missing-producer" else ["--ignore", "missing-producer"]
        for number, fixture in enumerate(fixtures_of(entry.rule.id)):
            shown = _shown(site, fixture)
            if shown is None:
                continue
            arguments = shlex.split(command(fixture))[1:]
            monkeypatch.chdir(_beside(fixture, arguments[-1], tmp_path / entry.rule.id / str(number)))
            Path(CONFIGURATION).write_text(configuration(fixture))
            run([*ignored, *arguments])
            printed = capsys.readouterr().out
            if printed != shown:
                yield f"{fixture.id} prints\n{printed}\nand its page shows\n{shown}"

    check_each_rule(check)


def _beside(fixture: Fixture, name: str, folder: Path) -> Path:
    """Return the folder, made anew, with the fixture's model under this name and its external data beside it."""
    data = fixture.path.parent / "data"
    if data.is_dir():
        shutil.copytree(data, folder, symlinks=True)
    else:
        folder.mkdir(parents=True)
    (folder / name).write_bytes(fixture.data)
    return folder


# --- the examples of the written pages

IN_A_CIRCLE = """
ir_version: 10
producer_name: "an exporter"
opset_import { version: 21 }
graph {
  name: "graph"
  node { name: "add" op_type: "Add" input: "x" input: "b" output: "a" }
  node { name: "relu" op_type: "Relu" input: "a" output: "b" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "b" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
"""


@pytest.mark.parametrize(("page", "width"), [("README.md", None), ("docs/index.md", 80)])
def test_the_first_example_is_what_the_program_prints(
    page: str, width: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """On the site it is what a terminal of 80 columns shows, since there is no room for more."""
    for variable in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    model = load(BytesSource(IN_A_CIRCLE.encode())).proto
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    assert run(["model.onnx"]) == 1
    printed = capsys.readouterr().out
    if width is not None:
        stream = io.StringIO()
        write_report("text", lint("model.onnx"), stream, Options(width=width))
        printed = stream.getvalue()
    shown = (ROOT / page).read_text(encoding="utf-8")
    assert f"```\n$ onnx-lint model.onnx\n{printed}```\n" in re.sub("```text", "```", shown)


def test_the_quick_start_shows_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for variable in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tests" / "models" / "iris_logistic_regression.onnx", tmp_path / "model.onnx")
    page = (DOCS / "quickstart.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(text|python)\n(.*?)^```$", page, re.M | re.S)
    for language, block in blocks:
        if language == "python":
            exec(block, {})
            continue
        line, _, printed = block.partition("\n")
        run(shlex.split(line)[2:])
        assert capsys.readouterr().out == printed, line
    assert [language for language, _ in blocks].count("text") == 7


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as a forge makes them."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.+)$", _prose(page), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found[anchor] = found.get(anchor, -1) + 1
    return {
        anchor if number == 0 else f"{anchor}-{number}" for anchor, last in found.items() for number in range(last + 1)
    }


def _prose(page: Path) -> str:
    return re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def _pages() -> list[Path]:
    return [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]


def test_no_line_of_prose_is_longer_than_120_characters():
    """Tables, code, a line that is one command, and what a program wrote may be longer."""
    written = [page for page in _pages() if "goldens" not in page.parts and page.parent.name != "rules"]
    parser = MarkdownIt("commonmark").enable("table")
    long = []
    for page in written:
        lines = page.read_text(encoding="utf-8").splitlines()
        for token in parser.parse("\n".join(lines)):
            if token.type == "paragraph_open" and token.map is not None:
                first, last = token.map
                long += [f"{page.name}: {line[:60]}" for line in lines[first:last] if _is_long_prose(line)]
    assert len(written) > 30
    assert long == []


def _is_long_prose(line: str) -> bool:
    return len(line) > 120 and not re.fullmatch(r"[\s\d.*-]*`[^`]+`[.,:]?", line)


def test_no_link_is_dead():
    """In all Markdown files as a forge shows them: each relative link leads to a file, and to a heading in it."""
    pages = _pages()
    dead = []
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", _prose(page))):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if ":" in link:  # an address
                continue
            if not target.exists() or (anchor and target.suffix == ".md" and anchor not in _anchors(target)):
                dead.append(f"{page.relative_to(ROOT)}: {link}")
    assert len(pages) > 30
    assert dead == []


def test_the_recipes_of_the_readme_name_inputs_that_there_are():
    blocks = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    hooks, jobs = map(yaml.safe_load, blocks)
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hooks["repos"][0]["hooks"] == [{"id": hook["id"]}]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    (step,) = (step for step in jobs["jobs"]["onnx-lint"]["steps"] if "onnx-lint@" in step["uses"])
    assert set(step["with"]) <= set(inputs)
    for repository in (hooks["repos"][0]["rev"], step["uses"].partition("@")[2]):
        assert repository == "COMMIT"


def _blocks(page: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_examples_for_the_library_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    shutil.copyfile(ROOT / "tests" / "models" / "iris_logistic_regression.onnx", tmp_path / "model.onnx")
    monkeypatch.chdir(tmp_path)
    first, settings, second, fixing, in_memory, third = _blocks("library.md")
    names: dict[str, object] = {}
    exec(compile(first + settings + second + third, "library.md", "exec"), names)
    printed = capsys.readouterr().out
    assert printed.startswith("True\n")
    assert "model.onnx: conforms to ONNX" in printed
    exec(compile(fixing, "library.md", "exec"), names)
    assert capsys.readouterr().out == "()\n"
    assert (tmp_path / "fixed" / "model.onnx").read_bytes() == (tmp_path / "model.onnx").read_bytes()
    exec(compile(in_memory, "library.md", "exec"), names)
    assert capsys.readouterr().out == "(('duplicate-opset-import', 1),) True\n"
    assert names["proto"] == names["onnx"].load("model.onnx")  # type: ignore[attr-defined]  # the block imports it
    (shortest,) = _blocks("fixing.md")
    exec(compile(shortest, "fixing.md", "exec"), names | {"model": names["proto"]})


def test_the_page_names_all_arguments_of_lint():
    page = (DOCS / "library.md").read_text(encoding="utf-8")
    named = []
    for heading in ("| Keyword | |", "| Setting | |"):
        rows = page.partition(heading)[2].partition("\n\n")[0].splitlines()
        named.append({name for row in rows for name in re.findall("`([a-z_]+)`", row.split("|")[1] if row else "")})
    keywords = set(inspect.signature(lint).parameters) - {"model", "settings", "others"}
    settings = set(Settings.__annotations__)
    assert named == [keywords, settings - keywords]


def test_the_example_of_a_plugin_is_the_one_that_is_tested():
    *_, block = _blocks("plugins.md")
    file = ROOT / "tests/plugin/onnx_lint_example/rules/model/placeholder_producer.py"
    assert file.read_text(encoding="utf-8") == f"# SPDX-License-Identifier: Apache-2.0\n{block}"


def _asked_by_rules() -> set[tuple[str, str]]:
    """Each attribute that a rule of onnx-lint asks of a model, graph or node, by the name of the variable or field."""
    asked = set()
    for path in (ROOT / "rules").glob("*/*.py"):
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(found, ast.Attribute) and isinstance(found.value, (ast.Name, ast.Attribute)):
                holder = found.value.id if isinstance(found.value, ast.Name) else found.value.attr
                asked.add((holder, found.attr))
    return asked


def test_plugins_page_lists_what_the_rules_use():
    page = (DOCS / "plugins.md").read_text(encoding="utf-8")
    table = page.partition("## What a rule can use")[2].partition("## A package")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    said = [name.split(".") for row in rows for name in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)", row)]
    assert len(said) > 30, "the table is read"
    asked = _asked_by_rules()
    unasked = [".".join(names) for names in said for pair in pairwise(names) if pair not in asked]
    assert unasked == []


def test_the_promised_api_is_the_one_that_there_is():
    kept, now = (DOCS / "public_api.txt").read_text(encoding="utf-8").splitlines(), public_api().splitlines()
    gone, added = sorted(set(kept) - set(now)), sorted(set(now) - set(kept))
    assert gone == [], "docs/stability.md promises these; if one has to go, the changelog says how to go on"
    assert added == [], "run python -m tools"


def test_the_promised_names_of_models_graphs_and_nodes_exist():
    promised = re.findall(r"^plugin: ((?:model|graph|node)\..+)$", public_api(), re.MULTILINE)
    model = load(BytesSource((ROOT / "tests" / "models" / "iris_logistic_regression.onnx").read_bytes()))
    start = {"model": model, "graph": model.main_graph, "node": model.main_graph.nodes[0]}
    for name in promised:
        first, *attributes = name.split(".")
        found: object = start[first]
        for attribute in attributes:
            found = getattr(found, attribute)


def test_no_recipe_needs_what_has_not_been_released():
    """There is neither a tag nor a package on an index, so a recipe that names one does not work as it stands."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    named = re.compile(r"rev: v\d|onnx-lint@v\d|pip3? install (?:-\S+ )*onnx-lint\b")
    assert [(page.name, found) for page in pages for found in named.findall(page.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("name", sorted(set(REPORTERS) - {"html"}))
def test_the_forms_of_a_report_are_current(name: str, tmp_path: Path):
    """One model with an error, a warning and a note, in each form."""
    text = report_forms.forms(tmp_path)[name]
    shown = report_forms.FORMS / f"report.{report_forms.SUFFIXES[name]}"
    assert text == shown.read_bytes().decode(), "run python -m tools"
    for rule in ("undefined-name", "missing-producer", "unknown-value-info-name"):
        assert rule in text


def test_the_table_of_folders_is_that_of_the_packages():
    """CONTRIBUTING.md says of each package what the first sentence of its docstring says."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `onnx_lint/(\w+)` \| (.+) \|$", text, re.MULTILINE))
    packages = {path.parent.name: path for path in (ROOT / "onnx_lint").glob("*/__init__.py")}
    sentences = {
        name: (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n\n")[0]
        for name, path in packages.items()
    }
    assert rows == {name: " ".join(sentence.split()).removesuffix(".") for name, sentence in sentences.items()}


def test_the_problem_matchers_of_the_editor_read_the_form_concise(capsys: pytest.CaptureFixture[str]):
    page = (DOCS / "editors.md").read_text(encoding="utf-8")
    tasks = json.loads(page.partition("```json\n")[2].partition("```")[0])
    patterns = [matcher["pattern"] for matcher in tasks["tasks"][0]["problemMatcher"]]
    fixture = next(fixture for fixture in fixtures_of("cycle") if not fixture.is_valid)
    binary = ROOT / "tests" / "models" / "iris_logistic_regression.onnx"
    run(["-f", "concise", "--pedantic", "--no-config", str(fixture.path), str(binary)])
    for line in capsys.readouterr().out.splitlines():
        of_text = line.startswith(str(fixture.path))
        found = [re.match(pattern["regexp"], line) for pattern in patterns]
        assert [match is not None for match in found] == [not of_text, of_text], line
        for pattern, match in zip(patterns, found, strict=True):
            if match is not None:
                assert match[pattern["file"]] in (str(fixture.path), str(binary))
                assert match[pattern["severity"]] in ("error", "warning", "note")
                assert match[pattern["message"]]


def test_each_sentence_of_the_security_page_names_a_test():
    rows = [line for line in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(rows) > 12
    named = []
    for row in rows[2:]:
        tests = row.rstrip("| ").rpartition(" | ")[2].split(", ")
        parts = [re.fullmatch(r"`(tests/[\w/]+\.py)::(\w+)`", test) for test in tests]
        assert None not in parts, row
        named += [part.groups() for part in parts if part is not None]
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not (ROOT / path).exists() or f"\ndef {name}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert not missing

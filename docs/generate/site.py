# SPDX-License-Identifier: Apache-2.0
"""All pages of the site: those that are made, and those that are written."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from generate.clauses import clause_page
from generate.reference import command_page, key_page
from generate.rules import rule_pages

DOCS: Final = Path(__file__).parent.parent
ROOT: Final = DOCS.parent

COPIED: Final = {"CHANGELOG.md": "changelog.md", "fixtures/README.md": "fixtures.md"}
"""Pages that lie elsewhere in the repository."""

LINKS: Final = {
    "../rules/README.md": "rules/index.md",
    "../fixtures/README.md": "fixtures.md",
    "../onnx_lint/spec/clauses.toml": "clauses.md",
    "config.schema.json": "configuration_keys.md",
}
"""Links of the written pages that lead to a file in a checkout, and the page of the site with the same content."""


CONTENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "index.md": {
        "First steps": "install quickstart browser common_questions",
        "Using it": "terminal coming_from_onnx_checker editors configuration continuous_integration reports fixing "
        "hygiene targets shapes documents remote many_models opset-schema",
        "Reference": "rules/index clauses command_line configuration_keys changelog",
        "From Python": "library plugins stability",
        "Other checkers": "conformance checkers faults_of_onnx",
        "The project": "project",
    },
    "project.md": {"Working on it": "design writing_rules fixtures new_onnx_release fuzzing performance"},
}
"""The tables of contents of the site, which a reader of the files does not need: by the page, by the caption."""


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of each page that is not written in the folder docs."""
    yield "clauses.md", clause_page()
    yield "command_line.md", command_page()
    yield "configuration_keys.md", key_page()
    yield from rule_pages()
    for path, name in COPIED.items():
        yield name, (ROOT / path).read_text(encoding="utf-8")


def contents_of(page: str) -> str:
    """The table of contents that a page has on the site; empty for most pages."""
    return "".join(
        "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *listed.split(), "```", ""])
        for caption, listed in CONTENTS.get(page, {}).items()
    )


def gather(folder: Path) -> None:
    """Put all pages, written and made, into `folder`, which is emptied before."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in DOCS.glob("*.json"):
        shutil.copyfile(path, folder / path.name)
    for path in DOCS.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        for file, page in LINKS.items():
            text = text.replace(f"]({file})", f"]({page})")
        (folder / path.name).write_text(f"{text}{contents_of(path.name)}", encoding="utf-8")
    shutil.copytree(DOCS / "captures", folder / "captures")
    for name, text in pages():
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")

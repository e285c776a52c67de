# SPDX-License-Identifier: Apache-2.0
"""Reads the commands in documentation and scripts, and finds those that take a stranger's file name for an option.

A name comes from outside if a shell expands it (`*.onnx`, `$path`, `$(find .)`), if xargs or `find -exec` appends it,
or if pre-commit does. It must stand after `--`, or in a list for `--files-from`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from onnx_lint.configuration.settings import Request

_FENCED: Final = re.compile(r"^ *(```+)[^\n]*\n(.*?)^ *\1 *$", re.MULTILINE | re.DOTALL)
_INDENTED: Final = re.compile(r"(?:\A|(?<=\n\n))((?: {4,}[^\n]*\n)+)")
_SPAN: Final = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_CONTINUED: Final = re.compile(r"\\+\n\s*")
_CALL: Final = re.compile(r"""(?:(?<![^\s"'/`(])onnx-lint["']?|python3? \S*onnx-lint.pyz|-m onnx_lint)(?= |$)(.*)""")
"""A call of the program, and the rest of its line."""
_WORD: Final = re.compile(r"""(?:\$\([^)]*\)|"[^"]*"|'[^']*'|`[^`]*`|[^\s"'`|;&<>()])+|[|;&<>()"'`]""")
_STOPS: Final = frozenset("|;&<>()\"'`")
"""What ends the words of a call."""
_APPENDED: Final = re.compile(r"\bxargs\b[^|;&]*$|-exec\w* [^|;&]*$|\bparallel\b[^|;&]*$")
"""What is before a call to which another program appends names."""
_QUOTED: Final = re.compile(r"'[^']*'")
_DOUBLE_QUOTED: Final = re.compile(r'"[^"]*"')
_OWN: Final = ('${args[@]+"${args[@]}"}',)
"""The words of our recipes that are options by intention."""
_WITH_VALUE: Final = frozenset(
    spelling
    for setting in Request.settings.values()
    if setting.section and setting.kind.option != "flag"
    for spelling in setting.option.split()
)
_END: Final = "--"


def code_of_page(text: str) -> str:
    """Return the code of a page in Markdown: its blocks, and the spans in its prose, each on lines of its own."""
    blocks = [match[2] for match in _FENCED.finditer(text)]
    prose = _FENCED.sub("", text)
    blocks += _INDENTED.findall(prose)
    blocks += [" ".join(match[2].split()) for match in _SPAN.finditer(_INDENTED.sub("", prose))]
    return "\n".join(blocks)


def yaml_of_page(text: str) -> list[Any]:
    """Return the content of the blocks and spans of a page that are YAML."""
    found = [match[2] for match in _FENCED.finditer(text) if match[0].lstrip().startswith("```yaml")]
    found += [match[2] for match in _SPAN.finditer(_FENCED.sub("", text)) if match[2].startswith("args: [")]
    return [yaml.safe_load(block) for block in found]


def calls(code: str) -> Iterator[tuple[str, list[str]]]:
    """Yield what is before each call of onnx-lint on its line, and the words of the call."""
    for line in _CONTINUED.sub(" ", code).splitlines():
        for match in _CALL.finditer(line):
            words: list[str] = []
            for word in _WORD.findall(match[1]):
                if word in _STOPS or word.startswith("#"):
                    break
                words.append(word)
            yield line[: match.start()], words


def unsafe_calls(code: str) -> list[str]:
    """Return the calls of onnx-lint that may take a name from outside for an option or a command."""
    return [" ".join(["onnx-lint", *words]) for before, words in calls(code) if not _is_safe(before, words)]


def safe_calls(code: str) -> list[str]:
    """Return the calls whose names come from outside, and that take none of them for an option."""
    return [
        " ".join(["onnx-lint", *words])
        for before, words in calls(code)
        if _is_safe(before, words) and ("--files-from" in words or _END in words)
    ]


def _is_safe(before: str, words: list[str]) -> bool:
    if _END in words:
        words = words[: words.index(_END)]
    elif _APPENDED.search(before):
        return False
    return not any(_is_from_outside(word) for word in _without_values(words))


def _without_values(words: list[str]) -> Iterator[str]:
    """Yield the words that may be taken for paths: neither options nor their values."""
    previous = ""
    for word in words:
        if previous not in _WITH_VALUE and not word.startswith("-") and word not in _OWN:
            yield word
        previous = word


def _is_from_outside(word: str) -> bool:
    """Return whether a shell or another program replaces the word, or a part of it."""
    unquoted = _QUOTED.sub("", word)
    return any(mark in unquoted for mark in ("$", "{}", "%", "`")) or any(
        mark in _DOUBLE_QUOTED.sub("", unquoted) for mark in "*?["
    )


def unsafe_hooks(content: Any) -> list[str]:
    """Return the `args` and the entries of hooks for pre-commit that do not end with `--`."""
    if isinstance(content, list):
        return [found for each in content for found in unsafe_hooks(each)]
    if not isinstance(content, dict):
        return []
    entry = str(content.get("entry", ""))
    arguments = content.get("args")
    is_hook = content.get("id") == "onnx-lint" or "onnx-lint" in entry or set(content) == {"args"}
    if is_hook and isinstance(arguments, list | None) and content.get("pass_filenames", True):
        last = (arguments or entry.split() or [_END])[-1]  # without an entry of its own the hook's args hold
        return [] if last == _END else [str(content)]
    return [found for each in content.values() for found in unsafe_hooks(each)]

# SPDX-License-Identifier: Apache-2.0
"""Completion in bash, which takes `=` and `:` for the ends of words.

For `--severity cycle=no` it hands over the four words `--severity`, `cycle`, `=` and `no`, and wants what takes the
place of the last one. `register` makes click put the words together again.
"""

from __future__ import annotations

from typing import Any

from click.shell_completion import BashComplete, CompletionItem, add_completion_class

_BREAKS = ("=", ":")


class _BashComplete(BashComplete):
    """Completes whole words, and offers of each what bash does not have yet."""

    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)",
        "COMPREPLY+=($value)\n            [[ $value == *= ]] && compopt -o nospace 2>/dev/null",
    )
    """The script, in which a word that a value has to follow gets no blank."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one to complete, and that one."""
        args, incomplete = super().get_completion_args()
        *args, incomplete = _joined([*args, incomplete])
        if incomplete.startswith("--") and "=" in incomplete:
            option, _, incomplete = incomplete.partition("=")
            args.append(option)
        self._present = incomplete[: max(map(incomplete.rfind, _BREAKS)) + 1]
        return args, incomplete

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """The part of the offered word that bash is to put in."""
        return f"{item.type},{item.value.removeprefix(self._present)}"


def _joined(words: list[str]) -> list[str]:
    """The words with those put together that a character in which bash breaks stands between."""
    joined: list[str] = []
    goes_on = False
    for word in words:
        is_break = word in _BREAKS
        if joined and (is_break or goes_on):
            joined[-1] += word
        else:
            joined.append(word)
        goes_on = is_break
    return joined


def register() -> None:
    """Make this what click does for bash."""
    add_completion_class(_BashComplete, "bash")

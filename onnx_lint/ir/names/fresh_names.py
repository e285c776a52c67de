# SPDX-License-Identifier: Apache-2.0
"""Names that nothing has yet."""

from __future__ import annotations

from collections.abc import Iterable


class FreshNames:
    """Makes names that differ from all names in use, and from each other."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}
        """The number that was last tried behind each name."""

    def like(self, name: str) -> str:
        """Return the name, or the name with a number behind it, if something has the name; it is in use from now on."""
        found = name
        while found in self._taken:
            self._counts[name] = self._counts.get(name, 0) + 1
            found = f"{name}_{self._counts[name]}"
        self._taken.add(found)
        return found

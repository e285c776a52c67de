# SPDX-License-Identifier: Apache-2.0
"""The rules of a SARIF report: static text from the registry, never from a finding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.reporters.documentation import clauses_markdown, headed, security_markdown, worst_severity
from onnx_lint.reporters.escape import shortened
from onnx_lint.reporters.json_text import without_none
from onnx_lint.reporters.links import documentation_url
from onnx_lint.spec.clauses import Severity, clauses

MAX_DESCRIPTION: Final = 1024
"""The longest description that GitHub accepts."""

_PROBLEM_SEVERITIES: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "recommendation",
}

_SECURITY_SEVERITIES: Final = {Severity.ERROR: "8.0", Severity.WARNING: "5.0", Severity.NOTE: "3.0"}
"""The scores that GitHub ranks the results of security rules by: from 7 high, from 4 medium, otherwise low."""

MAX_TAGS: Final = 20
"""The most tags that GitHub accepts for a rule."""


class _Notification(Record):
    """What SARIF reports beside findings."""

    id: str
    description: str
    """What happened."""
    advice: str


_NOTIFICATIONS: Final = (
    _Notification(
        "internal-error",
        "A rule or an analysis crashed, so that some findings may be missing. The fault is not in the file.",
        "Report the exception to the maintainers of onnx-lint, or of the plugin that has the rule.",
    ),
    _Notification(
        "not-judged",
        "A file was read, but it contains no model that rules can check.",
        "Lint the file that contains the model. The results of this file say what it contains.",
    ),
    _Notification(
        "not-verified",
        "Some operators are unknown, some files were not examined, or findings exceed a limit.",
        "Describe the operators with --opset-schema, lint the file in the folder of its external data, or raise the"
        " limit.",
    ),
    _Notification(
        "weakened-verdict",
        "A configuration file hides findings, or makes them less severe.",
        "Lint with --no-config to see what is found without it.",
    ),
    _Notification(
        "interrupted",
        "The run was interrupted, so that some files were not linted.",
        "Lint again. The results for the files that were linted are complete.",
    ),
    _Notification(
        "too-many-results",
        "There are more results than code scanning accepts. The least severe are missing.",
        "Lint fewer files in one run, or select fewer rules. The JSON report is complete.",
    ),
    _Notification(
        "unreadable-file",
        "A file could not be read, so there is no verdict on it.",
        "Check that the file exists, is a regular file, and is readable.",
    ),
)


def sarif_rules(ids: Iterable[str], edition: str) -> list[dict[str, Any]]:
    """Return the rules with these ids. A rule that is not registered has only its id."""
    known = registry()
    return [_rule(known[name], edition) if name in known else _unknown(name) for name in ids]


def _rule(entry: Registered, edition: str) -> dict[str, Any]:
    level = worst_severity(entry, edition) or Severity.NOTE
    words = {clauses()[name].keyword.get(edition) for name in entry.clauses}
    keywords = sorted(word for word in words if word is not None)
    documentation = f"{headed(entry.documentation)}\n\n### Clauses\n\n{clauses_markdown(entry)}"
    if entry.security:
        documentation += f"\n\n### Security\n\n{security_markdown(entry)}"
    security = {"security-severity": _SECURITY_SEVERITIES[level]} if entry.security else {}
    properties = {
        "tags": [*_security_tags(entry), "onnx", entry.chapter, *keywords][:MAX_TAGS],
        "precision": "very-high",
        "problem.severity": _PROBLEM_SEVERITIES[level],
        **security,
        **without_none(plugin=entry.plugin),
    }
    return {
        **_identity(entry.id),
        **without_none(helpUri=documentation_url(entry.id)),
        "shortDescription": {"text": shortened(entry.summary, MAX_DESCRIPTION)},
        "fullDescription": {"text": shortened(_full_description(entry.documentation), MAX_DESCRIPTION)},
        "help": {"text": documentation.replace("### ", ""), "markdown": documentation},
        "defaultConfiguration": {"level": level.label},
        "properties": properties,
    }


def _security_tags(entry: Registered) -> list[str]:
    """Return GitHub's tags for a security rule: `security`, and one for each CWE."""
    if not entry.security:
        return []
    return ["security", *(_security_tag(name) for name in entry.security)]


def _security_tag(name: str) -> str:
    kind, _, number = name.partition("-")
    return f"external/cwe/cwe-{number.zfill(3)}" if kind == "CWE" else name


def _unknown(name: str) -> dict[str, Any]:
    text = {"text": f"The rule {name}."}
    return {
        **_identity(name),
        "shortDescription": text,
        "fullDescription": text,
        "help": text,
    }


def _identity(name: str) -> dict[str, str]:
    """Return the id and, for an id of several words, the name in PascalCase: they must differ by more than case."""
    words = name.split("-")
    return {"id": name, "name": "".join(word.capitalize() for word in words)} if len(words) > 1 else {"id": name}


def notifications() -> list[dict[str, Any]]:
    """Return the descriptions of everything that is reported beside findings. GitHub wants both descriptions."""
    return [
        {
            **_identity(each.id),
            "shortDescription": {"text": each.description},
            "fullDescription": {"text": each.description},
            "help": {"text": each.advice},
        }
        for each in _NOTIFICATIONS
    ]


def notification_index(name: str) -> int:
    """Return the index of a notification in `notifications`."""
    return [each.id for each in _NOTIFICATIONS].index(name)


def _full_description(documentation: str) -> str:
    """Return what the rule reports and why it matters, on one line."""
    reported = documentation.partition("\n### ")[0]
    why = documentation.partition("\n### Why it matters\n")[2].partition("\n### ")[0]
    return " ".join(f"{reported} {why}".split())

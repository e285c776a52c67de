# SPDX-License-Identifier: Apache-2.0
"""The command line of the suite."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from conformance import checkers, running, suite, table


@click.group(help="The conformance suite: models with verdicts, for any checker of ONNX models.")
def main() -> None:
    """Run one of the commands."""


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
def export(folder: Path) -> None:
    """Write the models and a manifest into a new FOLDER."""
    try:
        made = suite.export(folder)
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error
    verdicts = Counter(case.verdict for case in made)
    click.echo(f"{len(made):,} cases: " + ", ".join(f"{count:,} {name}" for name, count in sorted(verdicts.items())))


@main.command()
@click.option(
    "--checker",
    "names",
    multiple=True,
    default=("onnx", "onnx-lint"),
    show_default=True,
    metavar="NAME",
    help=f"A checker ({', '.join(checkers.NAMES)}), or a command with {{}} for the path. Repeatable.",
)
@click.option("--suite", "folder", type=click.Path(path_type=Path), help="An exported suite; else it is exported now.")
@click.option("--seconds", default=20.0, show_default=True, help="The time limit of a model.")
@click.option("--jobs", default=2, show_default=True, help="The number of models that are judged at a time.")
@click.option("--outcomes", type=click.Path(path_type=Path), help="Write each outcome with its reason as JSON Lines.")
@click.option("--page", type=click.Path(path_type=Path), help="Write all tables as a page of the documentation.")
def run(
    names: tuple[str, ...], folder: Path | None, seconds: float, jobs: int, outcomes: Path | None, page: Path | None
) -> None:
    """Judge the models of the newest edition by checkers, and print a table."""
    with tempfile.TemporaryDirectory() as temporary:
        try:
            found = [checkers.find(name) for name in names]
            if folder is None:
                folder = Path(temporary) / "suite"
                suite.export(folder)
            cases = [case for case in suite.read(folder) if suite.is_for_every_checker(case)]
        except (OSError, ValueError) as error:
            raise click.ClickException(str(error)) from error
        results = {checker.name: running.run(checker, folder, cases, seconds, jobs) for checker in found}
    releases = {checker.name: checker.release for checker in found}
    if outcomes is not None:
        outcomes.write_text("".join(_lines(results)), encoding="utf-8")
    if page is not None:
        page.write_text(table.page(results, releases, f"{datetime.now(UTC):%Y-%m-%d}"), encoding="utf-8")
    click.echo("\n".join(table.totals(results, releases)))


def _lines(results: table.Results) -> Iterator[str]:
    for name, outcomes in results.items():
        for outcome in outcomes:
            entry = {"checker": name, "case": outcome.case.id, "is": table.judged(outcome)}
            yield json.dumps(entry | {"result": outcome.result, "reason": outcome.reason}) + "\n"


if __name__ == "__main__":
    main(prog_name="python -m conformance")

# SPDX-License-Identifier: Apache-2.0
"""The command `shapes`: shows the inferred types and shapes of a model's values, and how each was inferred."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from onnx_lint.cli import exit_codes
from onnx_lint.cli.errors import RequestError, RunError
from onnx_lint.cli.request import COMMAND_LINE, Request
from onnx_lint.cli.shared_options import config_option, form_option, no_config_option, opset_schema_option
from onnx_lint.cli.streams import standard_output
from onnx_lint.input.locations import shown_location

if TYPE_CHECKING:
    from onnx_lint.inference.flow.provenance import Provenance
    from onnx_lint.inference.flow.walks import Walked
    from onnx_lint.model import Model

_MAX_WAYS: Final = 20
"""The number of values of one name to show; a function may be called from thousands of places."""

_MAX_PLACES: Final = 5


@click.command("shapes", short_help="Show the inferred types and shapes of a model's values.")
@click.argument("model", metavar="MODEL", type=click.Path(readable=False))
@form_option
@click.option("--value", "name", metavar="NAME", help="Show only the values of this name, and how each was inferred.")
@click.option(
    "--graph",
    "graph",
    metavar="PLACE",
    help="Show only this graph or function, such as graph, functions[0] or graph.node[3].attribute[0].g.",
)
@click.option("--no-external-data", "external_data", flag_value=False, default=True, type=bool, help="Do not look "
              "at external data files.")  # fmt: skip
@opset_schema_option
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a limit, such as memory=4GiB.",
)
@config_option
@no_config_option
@click.pass_context
def shapes_command(
    ctx: click.Context, /, model: str, format_name: str, name: str | None, graph: str | None, **options: Any
) -> None:
    """Show the inferred types and shapes of the values of MODEL, a file or - for standard input.

    A function is listed once for each call with different argument types. A question mark stands for what cannot be
    inferred, with the operator or input that is the reason.
    """
    given = {parameter: COMMAND_LINE for parameter, value in options.items() if value not in (True, False, ())}
    given |= {} if options["external_data"] else {"external_data": COMMAND_LINE}
    try:
        loaded = _load(model, Request((model,), given, **options))
        model = shown_location(model)
    except RequestError as error:
        raise click.UsageError(str(error)) from error
    if loaded is None:
        ctx.exit(exit_codes.NOT_CHECKED)
    provenance = loaded.provenance
    walks = [walked for walked in provenance.walks() if graph is None or str(walked.graph.place) == graph]
    if not walks and graph is not None:
        _refuse_graph(provenance, graph)
    if name is None:
        _show_values(model, loaded, provenance, walks, format_name)
    else:
        found = [walked for walked in walks if name in walked.graph.positions]
        if not found:
            _refuse_value(walks, name)
        _show_ways(model, provenance, found, name, format_name)
    if len(loaded.crashes):
        from onnx_lint.cli.failures import print_internal_error
        from onnx_lint.report import InternalError

        printed: set[str] = set()
        for site in loaded.crashes:
            print_internal_error(model, InternalError.at(site), "Error", printed)
        ctx.exit(exit_codes.INTERNAL_ERROR)


def _load(path: str, request: Request) -> Model | None:
    """Return the model in the file. If there is none, print why on standard error, as a run does, and return None."""
    from onnx_lint.cli.choices import Plan
    from onnx_lint.cli.failures import print_unreadable
    from onnx_lint.cli.paths import has_working_directory
    from onnx_lint.engine.facts import why_not_judged
    from onnx_lint.engine.lint import load_source, opened
    from onnx_lint.input.source import ReadError, SourceError
    from onnx_lint.ir.documents.kinds import MODEL_KIND
    from onnx_lint.report import FileReport

    if not has_working_directory():
        raise RunError("the working directory does not exist any more")
    shown = shown_location(path)
    plan = Plan(request)
    settings = plan.choices_for(shown).settings
    if plan.has_configuration:
        from onnx_lint.cli.weakened import print_weakenings, weakenings

        print_weakenings(weakenings(plan, [shown]))
    try:
        opening = closing(opened(path, settings))
    except (SourceError, OSError) as error:
        print_unreadable(FileReport(shown, 0, unreadable=str(error)))
        return None
    problem: str | None = None
    try:
        with opening as source:
            model = load_source(source, shown, settings, is_file=path != "-")
            # Reading is complete: nothing below looks at the data of tensors.
            problem = why_not_judged(model)
            if problem is None and model.kind != MODEL_KIND:
                problem = f"the file holds the message {model.kind}, not a model"
            if problem is None:
                _ = model.provenance
                return model
            problem = f"{shown}: {problem}"
    except ReadError as error:
        problem = f"{shown}: {error}"
    print_unreadable(FileReport(shown, 0, unreadable=problem))
    return None


def _refuse_graph(provenance: Provenance, graph: str) -> NoReturn:
    from onnx_lint.reporters.shape_wording import places_of

    places = places_of(provenance.walks(), _MAX_PLACES)
    raise click.BadParameter(
        f"{graph!r} is not a graph or function of the model, whose graphs are {places}", param_hint="--graph"
    )


def _refuse_value(walks: list[Walked], name: str) -> NoReturn:
    from onnx_lint.wording import quote, suggestion

    hint = suggestion(name, (known for walked in walks for known in walked.graph.positions))
    raise click.BadParameter(f"no value has the name {quote(name)}{hint}", param_hint="--value")


def _head(path: str) -> dict[str, Any]:
    from onnx_lint import __version__
    from onnx_lint.common.distribution import NAME
    from onnx_lint.reporters.escape import shown_path

    shown = shown_path(path) if path == "-" else path
    return {"version": 1, "tool": {"name": NAME, "version": __version__}, "file": shown}


def _show_values(path: str, model: Model, provenance: Provenance, walks: list[Walked], format_name: str) -> None:
    values = sum(len(walked.graph.positions) for walked in walks)
    unknown = sum(len(walked.unknown) for walked in walks)
    if format_name == "json":
        from onnx_lint.reporters.shape_records import document, graph_parts

        head = _head(path) | {"values": values, "unknown": unknown}
        with standard_output() as stream:
            stream.writelines(document(head, "graphs", (graph_parts(provenance, walked) for walked in walks)))
        return
    from onnx_lint.reporters.escape import shown_path
    from onnx_lint.reporters.shape_wording import graph_title, table

    with standard_output() as stream:
        stream.write(f"{shown_path(path)}: {values:,} values, {values - unknown:,} of known shape\n")
        for walked in walks:
            stream.write(f"\n{graph_title(walked)}\n")
            stream.writelines(f"{line}\n" for line in table(provenance, walked))


def _show_ways(path: str, provenance: Provenance, found: list[Walked], name: str, format_name: str) -> None:
    ways = (provenance.way(walked, name) for walked in found[:_MAX_WAYS])
    if format_name == "json":
        from onnx_lint.reporters.shape_records import document, way_parts

        with standard_output() as stream:
            stream.writelines(document(_head(path) | {"found": len(found)}, "values", map(way_parts, ways)))
        return
    from onnx_lint.reporters.shape_wording import way_lines

    with standard_output() as stream:
        for number, lines in enumerate(map(way_lines, ways)):
            stream.write("\n" if number else "")
            stream.writelines(f"{line}\n" for line in lines)
        if len(found) > _MAX_WAYS:
            stream.write(f"\nand {len(found) - _MAX_WAYS:,} more values of that name: --graph selects one graph\n")

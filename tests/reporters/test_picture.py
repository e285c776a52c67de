# SPDX-License-Identifier: Apache-2.0
"""The picture of a finding as SVG."""

from __future__ import annotations

import re
import unicodedata
from random import Random
from xml.etree import ElementTree

import onnx
import pytest
from onnx.helper import make_graph, make_model, make_node, make_tensor_value_info
from support.models.places import place_at
from support.project.checkout import TESTS
from support.project.each_case import each_case
from support.reports.made_up_picture import PICTURE

from onnx_lint.engine.lint import LintOptions, lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.report import Context
from onnx_lint.report.pictures import FAULT, RELATED, Picture, PictureArrow, PictureBox, PictureValue
from onnx_lint.reporters.picture import MAX_UNSCROLLED_WIDTH, svg_of

GOLDEN = TESTS / "goldens" / "picture.svg"

ELEMENTS = {"figure", "svg", "desc", "g", "path", "rect", "text", "title", "tspan", "circle", "figcaption"}
ATTRIBUTES = {"class", "role", "aria-label", "width", "height", "viewBox", "x", "y", "cx", "cy", "r", "d"}

HOSTILE = (
    "</svg></details><script>alert(1)</script>",
    "\"'&<>` onload=alert(1) ",
    "\u202eevil\u2066\u200b\x00\x1b[31m",
    "n" * 5000,
    "\U0001f600" * 40,
    "変換" * 30,
    "\ud800\udcff",
    "%s{0}$&\\",
    " ",
)


def root_of(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def width_of(text: str) -> float:
    """Return the width of a text in 12 pixels, in the widest usual font."""
    return sum(14.5 if unicodedata.east_asian_width(each) in "WF" else 7.25 for each in text)


def check(svg: str) -> ElementTree.Element:
    """Fail unless the SVG is well-formed and inert, no boxes overlap, and no text reaches beyond the edge."""
    root = root_of(svg)
    assert {each.tag for each in root.iter()} <= ELEMENTS
    assert {name for each in root.iter() for name in each.attrib} <= ATTRIBUTES
    assert svg.isprintable()
    picture = root.find("svg")
    wide, tall = (int(picture.attrib[name]) for name in ("width", "height"))
    boxes = [[int(each.attrib[name]) for name in ("x", "y", "width", "height")] for each in picture.iter("rect")]
    for index, (x, y, width, height) in enumerate(boxes):
        assert 0 <= x < x + width <= wide
        assert 0 <= y < y + height <= tall
        for x2, y2, width2, height2 in boxes[:index]:
            assert x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y
    for each in picture.iter("text"):
        text = (each.text or "") + "".join(more.text or "" for more in each.iter("tspan"))
        assert 0 <= int(each.attrib["x"]) <= int(each.attrib["x"]) + width_of(text) <= wide + 1
        assert 0 <= int(each.attrib["y"]) <= tall
    for each in picture.iter("path"):
        head = each.attrib["d"].partition("m")[0]
        assert all(0 <= int(number) <= max(wide, tall) for number in re.findall(r"-?\d+", head))
    return root


def made_up(seed: int) -> Picture:
    random = Random(seed)

    def name() -> str:
        return random.choice(HOSTILE) if random.random() < 0.3 else "a" * random.randint(0, 40)

    def value() -> PictureValue:
        kind = random.choice(["", "float[1, 3, 224, 224]", "seq(float (of unknown rank))"])
        return PictureValue(name(), kind, random.choice(["", "int64[2]"]), random.choice(["", FAULT, RELATED]))

    def box(index: int) -> PictureBox:
        kind = random.choice(["node", "node", "input", "more", "output", "undefined", "outer"])
        counts = random.randint(0, 3), random.randint(1, 4)
        reads, values = (tuple(value() for _ in range(count)) for count in counts)
        number = index * 1000 if kind == "node" else None
        return PictureBox(kind, name(), name(), number, reads, values, random.choice(["", FAULT, RELATED]))

    boxes = tuple(box(index) for index in range(random.randint(1, 20)))
    arrows = []
    for _ in range(random.randint(0, 30)):
        source = random.randrange(len(boxes))
        number = random.randrange(len(boxes[source].values))
        arrows.append(PictureArrow(source, number, random.randrange(len(boxes)), random.choice(["", FAULT])))
    return Picture((place_at("graph"),), name(), boxes, tuple(arrows))


@each_case("seed", range(60), one_in=4)
def test_any_picture_is_well_formed_and_fits(seed: int):
    picture = made_up(seed)
    assert svg_of(picture, "error") == svg_of(picture, "error")
    root = check(svg_of(picture, "error"))
    assert len(list(root.iter("rect"))) == len(picture.boxes)


def test_golden(request: pytest.FixtureRequest):
    found = svg_of(PICTURE, "error")
    check(found)
    text = found.replace("><", ">\n<") + "\n"
    if request.config.getoption("--bless", default=False):
        GOLDEN.write_text(text, encoding="utf-8", newline="")
    assert text == GOLDEN.read_bytes().decode("utf-8")


def test_the_marks_are_not_only_colours():
    root = root_of(svg_of(PICTURE, "warning"))
    assert root.attrib["class"] == "picture warning"
    assert [group.attrib["class"] for group in root.iter("g") if group.find("circle[@class='b']") is not None] == [
        "node fault",
        "node related",
    ]
    assert root.find("figcaption").text == "subgraph 'body' · ! the finding · ○ a related place"
    assert root.find("svg/desc").text.startswith("Gemm 3: the finding; Neg 40: a related place; input to Split 2; ")


def test_a_cut_name_has_a_title_with_all_of_it():
    root = root_of(svg_of(PICTURE, "error"))
    [text] = [each for each in root.iter("text") if each.find("title") is not None]
    assert text.text == "/a/rath…f/a/node/Split"
    assert text.find("title").text == "/a/rather/long/name/of/a/node/Split"


def test_a_picture_that_a_phone_cannot_show_is_marked_as_wide():
    boxes = tuple(PictureBox("node", "Relu", "n" * 22, index) for index in range(12))
    arrows = tuple(PictureArrow(0, 0, index) for index in range(1, 12))
    start = PictureBox("node", "Relu", "n" * 22, 0, (), (PictureValue("v"),))
    wide = root_of(svg_of(Picture((), "", (start, *boxes[1:]), arrows), "error")).find("svg")
    narrow = root_of(svg_of(PICTURE, "error")).find("svg")
    assert int(wide.attrib["width"]) > MAX_UNSCROLLED_WIDTH
    assert wide.attrib["class"] == "wide"
    assert int(narrow.attrib["width"]) <= MAX_UNSCROLLED_WIDTH
    assert "class" not in narrow.attrib


@pytest.mark.parametrize("name", [each for each in HOSTILE if "\ud800" not in each])  # no UTF-8
def test_names_of_a_model_are_text(name: str):
    nodes = [make_node("Relu", [name], [f"{name}2"], name=f"{name}3"), make_node("Add", [f"{name}2", "gone"], ["y"])]
    x, y = (make_tensor_value_info(each, onnx.TensorProto.FLOAT, [4]) for each in (name, "y"))
    model = make_model(make_graph(nodes, name, [x], [y]))
    source = BytesSource(model.SerializeToString())
    file = lint_source(source, "m", Settings(select=("undefined-name",)), LintOptions(context=Context.NODES))
    [picture] = file.pictures
    svg = svg_of(picture, "error")
    check(svg)
    assert len(svg) < 10_000

# SPDX-License-Identifier: Apache-2.0
"""Patterns that RE2, whose syntax RegexFullMatch uses, cannot compile.

Only certain faults are reported: groups, escapes and classes of other engines, unclosed parentheses and brackets,
ranges and repetitions that end before they begin, and repetitions of nothing or of more than RE2 allows.
"""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = (
    r"\\Q.*?(?:\\E|\Z) | \\[pP](?: \{[^}]{0,99}\} | [^{] )? | \\x(?: \{[^}]{0,99}\} | [^{]{0,2} ) | \\[1-7][0-9] | \\.?"
)

_CHARACTER: Final = r"(?> \\x\{[^}]{0,99}\} | \\x[0-9A-Fa-f]{2} | \\[0-7]{1,3} | \\.? | [^\\] )"

_IN_CLASS: Final = rf"""
    (?P<named> \[: .{{0,30}}? :\] )
  | (?P<set> \\[pP] (?: \{{[^}}]{{0,99}}\}} | [^{{] ) | \\[dDsSwW] )
  | (?! \] ) (?P<low> {_CHARACTER} ) (?: - (?! \] ) (?P<high> {_CHARACTER} ) )?
"""
"""Matches a part of the content of a class. The end of a range may be a bracket: `[A-[:a]` is `A` to `[`, `:`, `a`."""

_FLAGS: Final = r"[imsU]*(?:-[imsU]+)?"

_PARTS: Final = rf"""
    (?P<escape> {_ESCAPE} )
  | (?P<class> \[ \^? (?: \] (?: - (?! \] ) {_CHARACTER} )? )? (?: {_IN_CLASS} )*? (?P<end> \] | \Z ) )
  | (?P<group> \( (?: \? (?: (?P<flags> {_FLAGS}\) ) | {_FLAGS}: | P?<\w+> | (?P<other> .{{0,2}}) ))? )
  | (?P<close> \) )
  | (?P<repeat> [*+?] | \{{ (?P<least> \d+ ) (?:,(?P<most> \d* ) )? \}} ) \??
  | (?P<plain> . )
"""
"""Matches a part of a pattern. `flags`: the flags of a group without content. `other`: a group that RE2 lacks."""

_CHARACTER_ESCAPES: Final = frozenset("aftnrvx01234567")
_ESCAPES: Final = _CHARACTER_ESCAPES | frozenset("dDsSwWpPQAbBCz")
"""The letters and digits with a meaning after a backslash; any other character there means itself. In a class, only
`_CHARACTER_ESCAPES` have one; `set` matches the others."""

_NAMED: Final = r"\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]"

_CONTROLS: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}

_CATEGORIES: Final = {"C": "cfos", "L": "lmotu", "M": "cen", "N": "dlo", "P": "cdefios", "S": "ckmo", "Z": "lps"}
"""The general categories of Unicode that RE2 knows, with their parts."""

_SCRIPTS: Final = (
    "Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Beria_Erfe "
    "Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham "
    "Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra "
    "Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek Gujarati "
    "Gunjala_Gondi Gurmukhi Gurung_Khema Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic "
    "Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi "
    "Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian "
    "Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui "
    "Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari "
    "New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic "
    "Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya "
    "Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada "
    "Shavian Siddham Sidetic SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac "
    "Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tai_Yo Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh "
    "Tirhuta Todhri Tolong_Siki Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Zanabazar_Square"
)
"""The scripts of Unicode 17. RE2 of ONNX Runtime 1.32 knows those of Unicode 15."""

_MAX_CODE_POINT: Final = 0x10FFFF

_MAX_REPEATS: Final = 1000
_MAX_DIGITS: Final = 99
"""Python refuses to read thousands of digits."""


def pattern_fault(pattern: str) -> str | None:
    """Return why RE2 cannot compile a pattern; None if no fault is found."""
    # For each open group, and the whole, the most repetitions of a part: those of nested ones are multiplied.
    repeats = [1]
    of_last = 1
    can_repeat = is_repeated = False
    for part in re.finditer(_PARTS, pattern, re.DOTALL | re.VERBOSE):
        kind = part.lastgroup
        fault = _fault(part, can_repeat=can_repeat, is_open=len(repeats) > 1)
        if fault is not None:
            return fault
        if kind == "group" and not part["flags"]:
            repeats.append(1)
        elif kind in ("close", "repeat"):
            of_last = repeats.pop() if kind == "close" else of_last * _times(part)
            repeats[-1] = max(repeats[-1], of_last)
            if of_last > _MAX_REPEATS:
                return f"has the repetition '{part.group()}' of another one: RE2 repeats at most {_MAX_REPEATS} times"
        elif kind != "group":
            of_last = 1
        if part["flags"] or part.group() == r"\Q\E":
            can_repeat |= is_repeated  # RE2 stacks repetitions if such a part is between them
        else:
            can_repeat = kind not in ("group", "repeat") and part.group() != "|"
            is_repeated = kind == "repeat"
    return "leaves a parenthesis open" if len(repeats) > 1 else None


def _times(repetition: re.Match[str]) -> int:
    """Return how many times a part is repeated at most, or at least if there is no limit; 1 for *, + and ?."""
    times = repetition["most"] or repetition["least"] or "1"
    return max(int(times[:_MAX_DIGITS]), 1)


def _fault(part: re.Match[str], *, can_repeat: bool, is_open: bool) -> str | None:
    text = part.group()
    match part.lastgroup:
        case "escape":
            return _escape_fault(text, _ESCAPES)
        case "class":
            return _class_fault(text) or (None if part["end"] else "leaves a bracket open")
        case "group" if part["other"] is not None:
            return f"has the group '{text}', which RE2 does not know"
        case "close" if not is_open:
            return "closes a parenthesis that is not open"
        case "repeat":
            return _repetition_fault(part, can_repeat=can_repeat)
    return None


def _repetition_fault(part: re.Match[str], *, can_repeat: bool) -> str | None:
    least, most = (int(each[:_MAX_DIGITS]) if each else None for each in part.group("least", "most"))
    if max(least or 0, most or 0) > _MAX_REPEATS:
        return f"has the repetition '{part['repeat']}', but RE2 repeats at most {_MAX_REPEATS} times"
    if not can_repeat:
        return f"has the repetition '{part['repeat']}' of nothing"
    if least is not None and most is not None and most < least:
        return f"has the repetition '{part['repeat']}', whose greatest number is less than its least"
    return None


def _class_fault(text: str) -> str | None:
    """Return the fault of an escape in a class, or of a range from a character to an earlier one."""
    content = text.removeprefix("[").removeprefix("^").removesuffix("]")
    if content.startswith("]"):
        content = f"\\{content}"  # there it is a character, as after a backslash
    for part in re.finditer(_IN_CLASS, content, re.DOTALL | re.VERBOSE):
        if part["named"] is not None and re.fullmatch(_NAMED, part["named"]) is None:
            return f"has the class '{part['named']}', which RE2 does not know"
        if (part["set"] or "")[1:2] in ("p", "P"):
            fault = _escape_fault(part["set"], _ESCAPES)
            if fault is not None:
                return fault
        ends = [each for each in part.group("low", "high") if each is not None]
        for each in ends:
            fault = _escape_fault(each, _CHARACTER_ESCAPES, " in brackets")
            if fault is not None:
                return fault
        codes = [code for each in ends if (code := _code_point(each)) is not None]
        if len(codes) > 1 and codes[0] > codes[1]:
            return f"has the range '{part.group()}', whose end is before its begin"
    return None


def _code_point(character: str) -> int | None:
    """Return the number of a character of a class, which may be an escape; None if that is malformed."""
    if not character.startswith("\\"):
        return ord(character)
    escaped = character[1:]
    if escaped in _CONTROLS:
        return _CONTROLS[escaped]
    if escaped[0] in "01234567":
        return int(escaped, 8)
    hexadecimal = re.fullmatch(r"x(?:\{([0-9A-Fa-f]{1,8})\}|([0-9A-Fa-f]{2}))", escaped)
    if hexadecimal is not None:
        return int(hexadecimal[1] or hexadecimal[2], 16)
    return None if escaped[0] == "x" else ord(escaped)


def _escape_fault(text: str, known: frozenset[str], where: str = "") -> str | None:
    escaped = text[1:2]
    if not text.startswith("\\"):
        return None
    if not escaped:
        return "ends with a backslash"
    if not escaped.isascii() or (escaped.isalnum() and escaped not in known):
        return f"has the escape '\\{escaped}', which RE2 does not know{where}"
    if escaped in "pP" and not _is_set(text[2:]):
        return f"has the class '{text}', which RE2 does not know"
    if escaped == "x":
        code = _code_point(text)
        return None if code is not None and code <= _MAX_CODE_POINT else f"has the escape '{text}' of no character"
    return f"has the reference '{text}' to a group, which RE2 does not know" if re.fullmatch(r"\\[1-7]", text) else None


def _is_set(name: str) -> bool:
    """Return whether RE2 may know a set of characters of Unicode by this name; one of several letters is in braces."""
    if name.startswith("{"):
        name = name[1:-1].removeprefix("^")
    elif len(name) != 1:
        return False
    if len(name) > len("Lu"):
        return name == "Any" or name in _SCRIPTS.split()
    return name == "Yi" or (name[:1] in _CATEGORIES and name[1:] in ("", *_CATEGORIES[name[0]]))

"""MathML: write formulas as MathML, which browsers set without scripts, fonts or a network."""

from __future__ import annotations

import html
import re
from itertools import zip_longest
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

log = logging.getLogger(__name__)

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
OPERATOR, IDENTIFIER = f"{{{NAMESPACE}}}mo", f"{{{NAMESPACE}}}mi"
SUBSCRIPT, UNDER = f"{{{NAMESPACE}}}msub", f"{{{NAMESPACE}}}munder"
LIMITS = frozenset(
    {"lim", "max", "min", "sup", "inf", "arg\N{THIN SPACE}max", "arg\N{THIN SPACE}min"}
)
# numbers of equations are Sphinx's; `aligned` is not known to the converter
ALIGNED = re.compile(r"\\(begin|end)\{(?:align|aligned|split|gather|gathered)\}")
# what the converter leaves in its output when it does not understand a formula
TROUBLE = {
    r"<m(?:i|text)>\\": "an unknown command",
    r"<mi>&(?!#)": "an & outside of an environment such as aligned, cases or array",
    r'linebreak="newline"': r"a \\ outside of an environment such as aligned, cases or array",
}
SIGNS = frozenset("\N{MINUS SIGN}+\N{PLUS-MINUS SIGN}")
BARS = frozenset("|\N{DOUBLE VERTICAL LINE}")
SYMBOLS = frozenset(
    "\N{INFINITY}\N{DOWN TACK}\N{EMPTY SET}"
)  # no operators, whatever they are called
OPENING = frozenset("([{\N{LEFT FLOOR}\N{LEFT CEILING}") | BARS
CLOSING = frozenset(")]}\N{RIGHT FLOOR}\N{RIGHT CEILING}!\N{PRIME}") | BARS
THIN = "0.167em"
PUNCTUATION = re.compile(r"[.,;:!?)\]]+")

ElementTree.register_namespace("", NAMESPACE)


def to_mathml(latex: str, display: str) -> str:
    """Convert a formula.

    Raises
    ------
    ValueError
        If the converter does not understand it.
    """
    try:
        text: str = convert(ALIGNED.sub(r"\\\1{align*}", latex), display=display)
    except Exception as error:  # its errors have no family
        raise ValueError(type(error).__name__) from error
    for pattern, what in TROUBLE.items():
        if re.search(pattern, text):
            raise ValueError(what)
    # one letter is italic unless it says otherwise; \mathrm{d} comes as a character reference
    text = re.sub(r"<mi>(&#x000[4-7][0-9A-F];)</mi>", r'<mi mathvariant="normal">\1</mi>', text)
    formula = ElementTree.fromstring(text)
    formula.set("alttext", latex)
    for row in formula.iter():
        space_out(row)
        if display == "block" and row.tag == SUBSCRIPT and row[0].text in LIMITS:
            row.tag = UNDER
    return ElementTree.tostring(formula, encoding="unicode")


def space_out(row: ElementTree.Element) -> None:
    """Set the spaces of a row as LaTeX does: those of signs, bars, functions and symbols."""
    before: ElementTree.Element | None = None
    for element, after in zip_longest(row, row[1:]):
        text = element.text or ""
        if element.tag not in (OPERATOR, IDENTIFIER):
            pass
        elif text in SIGNS:
            element.tag = OPERATOR
            if before is None or (before.tag == OPERATOR and before.text not in CLOSING):
                element.set("form", "prefix")
        elif text in BARS and "stretchy" not in element.attrib:
            element.set("stretchy", "false")
        elif text in SYMBOLS:
            element.tag = IDENTIFIER
        elif len(text) > 1 and text.isalpha():  # log, max, sign
            element.tag = OPERATOR
            first = before is None or (before.tag == OPERATOR and before.text in OPENING)
            last = after is None or (after.tag == OPERATOR and after.text in OPENING)
            element.set("lspace", "0" if first else THIN)
            element.set("rspace", "0" if last else THIN)
        before = element


def rendered(node: nodes.Element, display: str) -> str:
    """The formula of a node. One that cannot be converted is a warning, and shown as LaTeX."""
    latex = node.astext().strip()
    try:
        return to_mathml(latex, display)
    except ValueError as error:
        log.warning("cannot convert the formula %r: %s", latex, error, location=node)
        return f"<code>{html.escape(latex)}</code>"


def attach_punctuation(app: Any, doctree: nodes.document) -> None:
    """Move a comma that follows a formula into it, so that no line begins with the comma."""
    for node in doctree.findall(nodes.math):
        # by identity: texts that are equal are equal to `index` and `replace`
        place = next(k for k, child in enumerate(node.parent) if child is node) + 1
        after = node.parent[place] if place < len(node.parent) else None
        found = PUNCTUATION.match(after) if isinstance(after, nodes.Text) else None
        if found:
            node["after"] = found[0]
            node.parent[place] = nodes.Text(after[found.end() :])


def inline(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    after = html.escape(node.get("after", ""))
    self.body.append(f'<span class="formula">{rendered(node, "inline")}{after}</span>')
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has one."""
    name = "".join(f' id="{name}"' for name in node["ids"][:1])
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    self.body.append(f'<div class="math"{name}>{rendered(node, "block")}{number}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer; `html_math_renderer = "mathml"` chooses it."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("doctree-read", attach_punctuation)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""MathML: write formulas as MathML, which browsers set without scripts, fonts or a network."""

from __future__ import annotations

import html
import re
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

log = logging.getLogger(__name__)

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
OPERATOR, IDENTIFIER = f"{{{NAMESPACE}}}mo", f"{{{NAMESPACE}}}mi"
# numbers of equations are Sphinx's; `aligned` is not known to the converter
ALIGNED = re.compile(r"\\(begin|end)\{(?:align|aligned|split|gather|gathered)\}")
# what the converter leaves in its output when it does not understand a formula
TROUBLE = {
    r"<m(?:i|text)>\\": "an unknown command",
    r"<mi>&(?!#)": "an & outside of an environment such as aligned, cases or array",
    r'linebreak="newline"': r"a \\ outside of an environment such as aligned, cases or array",
}
SIGNS = frozenset("\N{MINUS SIGN}+\N{PLUS-MINUS SIGN}")
CLOSING = frozenset(")]}|\N{DOUBLE VERTICAL LINE}\N{RIGHT FLOOR}\N{RIGHT CEILING}!\N{PRIME}")

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
        mark_signs(row)
    return ElementTree.tostring(formula, encoding="unicode")


def mark_signs(row: ElementTree.Element) -> None:
    """Set -1 close together: a minus or plus that follows no operand is a sign."""
    before: ElementTree.Element | None = None
    for element in row:
        if element.text in SIGNS and element.tag in (OPERATOR, IDENTIFIER):
            element.tag = OPERATOR
            if before is None or (before.tag == OPERATOR and before.text not in CLOSING):
                element.set("form", "prefix")
        before = element


def rendered(node: nodes.Element, display: str) -> str:
    """The formula of a node. One that cannot be converted is a warning, and shown as LaTeX."""
    latex = node.astext().strip()
    try:
        return to_mathml(latex, display)
    except ValueError as error:
        log.warning("cannot convert the formula %r: %s", latex, error, location=node)
        return f"<code>{html.escape(latex)}</code>"


def inline(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(rendered(node, "inline"))
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
    return {"parallel_read_safe": True, "parallel_write_safe": True}

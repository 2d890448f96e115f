"""Pages: HTML files that hold everything they need and can reach nothing else.

A page is a template, style sheets, scripts and data, all written into one file. What keeps
data from running as code:

- data are JSON in an element that is not a script, with <, > and & escaped;
- a Content-Security-Policy lets exactly our scripts run, by their digests, and forbids every
  connection, so that even a mistake in the first point would run nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.io.atomic import replace_file

UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def write_page(
    path: Path, folder: str, title: str, styles: Sequence[str], scripts: Sequence[str], data: Any
) -> None:
    """Write `page.html` of `folder`, with its parts put in, to `path`; whole or not at all."""
    text = page(folder, title, styles, scripts, data)
    with replace_file(path) as file:
        file.write(text.encode("utf-8"))


def page(folder: str, title: str, styles: Sequence[str], scripts: Sequence[str], data: Any) -> str:
    """The page as text. `styles` and `scripts` are names of files in `folder`."""
    home = files("rosenblatt.show") / folder

    def joined(names: Sequence[str]) -> str:
        return "\n" + "\n".join((home / name).read_text("utf-8") for name in names)

    style, script = joined(styles), joined(scripts)
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return _filled(
        (home / "page.html").read_text("utf-8"),
        {
            "title": escape(title),
            "policy": policy,
            "style": style,
            "data": as_json(data),
            "script": script,
        },
    )


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """{{name}} replaced in one go, so that no part is searched for others."""
    pieces = template.split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        filled += [parts[name], rest]
    return "".join(filled)


def as_json(data: Any) -> str:
    """JSON that can stand inside an HTML element: nothing in it ends the element.

    >>> as_json({"label": "</script>"})
    '{"label":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, default=_packed, allow_nan=False, separators=(",", ":"))
    for sign, code in UNSAFE.items():
        text = text.replace(sign, code)
    return text


def _packed(value: Any) -> Any:
    """An array as its bytes, little-endian, in base64; NaN survives, and so does every bit."""
    if isinstance(value, np.ndarray):
        kind = value.dtype.newbyteorder("<")
        raw = np.ascontiguousarray(value, dtype=kind).tobytes()
        return {
            "type": f"{kind.kind}{kind.itemsize}",
            "shape": list(value.shape),
            "bytes": base64.b64encode(raw).decode("ascii"),
        }
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in a page")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()

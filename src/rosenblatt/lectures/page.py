"""Page: a lecture as one readable HTML page with its figures beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from rosenblatt.data.written import replacing
from rosenblatt.lectures.lecture import (
    Lecture,
    Note,
    Part,
    Picture,
    Played,
    Section,
    Slip,
    Table,
    slug,
)
from rosenblatt.show.figures.canvas import pyplot

NUMBER = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?%?|[-+]?\d+/\d+|nan|inf|\.|-|")
STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fdfdfb; --soft: #6b6b6b;
  --line: #d8d8d2; --slip: #fff4d6; --slip-edge: #c98500; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --paper: #17181a; --soft: #a3a29d;
  --line: #3a3b3e; --slip: #332a12; --slip-edge: #e0a52b; } }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1rem 4rem; background: var(--paper);
  color: var(--ink); font: 1.05rem/1.55 Georgia, "Times New Roman", serif; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin: 2.6rem 0 .3rem; }
nav { font-size: .92rem; columns: 2; column-gap: 2rem; } nav a { display: block; }
a { color: inherit; } p { white-space: pre-line; }
.says { color: var(--soft); font-style: italic; margin-top: 0; }
.slip { background: var(--slip); border-left: 4px solid var(--slip-edge); padding: .6rem .9rem; }
.slip b { display: block; font-size: .85rem; text-transform: uppercase; letter-spacing: .05em; }
figure { margin: 1.2rem 0; } figcaption { color: var(--soft); font-size: .92rem; }
img { display: block; max-width: 100%; background: #fff; border-radius: 4px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font: .9rem/1.4 ui-monospace, Menlo, Consolas, monospace; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; }
@media (max-width: 34rem) { nav { columns: 1; } }
"""


def write_page(lecture: Lecture, sections: Iterable[Section], folder: Path) -> Path:
    """Write NAME.html and its figures under NAME/ into `folder`; where the page is.

    The page is written last and whole: one that was there stays until then.
    """
    beside = folder / lecture.name
    beside.mkdir(parents=True, exist_ok=True)
    done: list[Section] = []
    bodies: list[str] = []
    sections = list(sections)
    whole = len(sections) == len(lecture.sections)
    for section in sections:
        number = f"{len(done) + 1}. " if whole else ""  # as --section counts
        bodies.append(_section(section, len(done), number, beside))
        done.append(section)
    page = folder / f"{lecture.name}.html"
    with replacing(page) as file:
        file.write(_document(lecture, done, bodies).encode())
    return page


def _document(lecture: Lecture, sections: list[Section], bodies: list[str]) -> str:
    links = "".join(
        f'<a href="#{_anchor(k, s)}">{escape(s.title)}</a>' for k, s in enumerate(sections)
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src 'self' data: file:; style-src 'unsafe-inline'\">"
        f"<title>{escape(lecture.title)}</title><style>{STYLE}</style></head>\n<body>"
        f"<h1>{escape(lecture.title)}</h1>\n<nav>{links}</nav>\n"
        + "\n".join(bodies)
        + f'\n<p class="says">Made by <code>rosenblatt lectures {lecture.name}</code>: every '
        "number and figure was computed anew.</p></body></html>\n"
    )


def _section(section: Section, k: int, number: str, beside: Path) -> str:
    head = f'<h2 id="{_anchor(k, section)}">{number}{escape(section.title)}</h2>'
    parts = "\n".join(_part(part, beside) for part in section.parts)
    return f'<section>{head}\n<p class="says">{escape(section.says)}</p>\n{parts}</section>'


def _anchor(k: int, section: Section) -> str:
    return f"{k + 1}-{slug(section.title)}"


def _part(part: Part, beside: Path) -> str:
    if isinstance(part, Note):
        return f"<p>{escape(part.text)}</p>"
    if isinstance(part, Slip):
        return f'<p class="slip"><b>Where the lecture slips</b>{escape(part.text)}</p>'
    if isinstance(part, Table):
        caption = f"<figcaption>{escape(part.caption)}</figcaption>" if part.caption else ""
        return f'<figure class="wide">{_table(part)}{caption}</figure>'
    if isinstance(part, Played):
        path = beside / f"{part.name}.html"
        part.write(path)
        link = f"{beside.name}/{path.name}"
        return f'<p><a href="{escape(link)}">{escape(part.caption)}</a></p>'
    return _picture(part, beside)


def _table(table: Table) -> str:
    """Columns of numbers are set flush right, columns of text flush left."""
    columns = zip(*table.rows, strict=True) if table.rows else ()
    right = [all(NUMBER.fullmatch(cell) for cell in column) for column in columns]
    right += [False] * (len(table.header) - len(right))

    def line(cells: Sequence[str], tag: str) -> str:
        kinds = [' class="number"' if number else "" for number in right]
        filled = zip(kinds, cells, strict=True)
        return "<tr>" + "".join(f"<{tag}{k}>{escape(c)}</{tag}>" for k, c in filled) + "</tr>"

    body = "".join(line(row, "td") for row in table.rows)
    return f"<table><thead>{line(table.header, 'th')}</thead><tbody>{body}</tbody></table>"


def _picture(picture: Picture, beside: Path) -> str:
    plt = pyplot()
    figure, path = picture.drawn(), beside / f"{picture.name}.svg"
    # the same figure is the same file, whenever and wherever it is drawn
    with plt.rc_context({"svg.hashsalt": picture.name}):
        figure.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    link, caption = f"{beside.name}/{path.name}", escape(picture.caption)
    return (
        f'<figure><img src="{escape(link)}" alt="{caption}">'
        f"<figcaption>{caption}</figcaption></figure>"
    )

"""Check the built site: python .ci/check_site.py docs/_build/html

- every link to a page or file of the site leads somewhere, and so does its anchor;
- nothing is loaded from another host: scripts, styles, fonts, images, frames;
- formulas on the pages for students are typeset: no `^2`, `<=` and the like in their text;
- their figures are SVG: a cell that leaves a figure open would show it once more, as PNG.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

STUDENTS = ("lectures", "tutorial", "gallery")
ASCII_FORMULA = re.compile(r"\^2|theta_0|<=|>=|!=")
NOT_TEXT = {"code", "pre", "math", "script", "style", "kbd", "samp", "title"}
# attributes that make a browser load something
LOADS = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "embed": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
RELATIONS = {"stylesheet", "icon", "shortcut", "preload", "modulepreload", "manifest", "search"}
IN_STYLE = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")


class Page(HTMLParser):
    """What a page links to, loads, offers as anchors and says."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[tuple[int, str]] = []
        self.loaded: list[tuple[int, str]] = []
        self.anchors: set[str] = set()
        self.text: list[tuple[int, str]] = []
        self.skipped: list[str] = []  # open elements whose text is not running text
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        line = self.getpos()[0]
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag in NOT_TEXT:
            self.skipped.append(tag)
        if tag in ("a", "area") and "href" in given:
            self.links.append((line, given["href"]))
        if tag == "link" and RELATIONS & set(given.get("rel", "").split()):
            self.loaded.append((line, given.get("href", "")))
        for name in LOADS.get(tag, ()):
            if name in given:
                self.loaded.append((line, given[name]))
        self.loaded += [(line, url) for url in urls_of_style(given.get("style", ""))]

    def handle_endtag(self, tag: str) -> None:
        if tag in self.skipped:
            while self.skipped.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.text.append((self.getpos()[0], data))
        elif self.skipped[-1] == "style":
            self.loaded += [(self.getpos()[0], url) for url in urls_of_style(data)]


def urls_of_style(text: str) -> list[str]:
    """The addresses that a style sheet loads."""
    return [first or second for first, second in IN_STYLE.findall(text)]


class Site:
    """A folder of HTML pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        pages = sorted(set(self.folder.rglob("*.html")) - set(self.folder.glob("_static/**/*")))
        self.pages = {path: Page(path) for path in pages}

    def problems(self) -> list[str]:
        """What is wrong, one line each."""
        found: list[str] = []
        for path, page in self.pages.items():
            place = path.relative_to(self.folder)
            found += [
                f"{place}:{line}: {why}: {url}"
                for line, url in page.links
                if (why := self.broken(path, url))
            ]
            for line, url in page.loaded:
                if is_elsewhere(url):
                    found.append(f"{place}:{line}: loaded from another host: {url}")
                elif why := self.broken(path, url):
                    found.append(f"{place}:{line}: {why}: {url}")
            if place.parts[0] in STUDENTS:
                found += [
                    f"{place}:{line}: PNG figure, end its cell with picture(ax): {url}"
                    for line, url in page.loaded
                    if url.endswith(".png")
                ]
                found += [
                    f"{place}:{line}: formula that is not typeset: {text.strip()[:80]!r}"
                    for line, text in page.text
                    if ASCII_FORMULA.search(text)
                ]
        for path in sorted(self.folder.rglob("*.css")):
            for url in urls_of_style(path.read_text(encoding="utf-8")):
                if is_elsewhere(url):
                    place = path.relative_to(self.folder)
                    found.append(f"{place}: loaded from another host: {url}")
        return found

    def broken(self, path: Path, url: str) -> str | None:
        """Why a link on a page leads nowhere; None if it does, or leaves the site."""
        parts = urlsplit(url)
        if parts.scheme or parts.netloc:
            return None
        target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
        if target.is_dir():
            target /= "index.html"
        if not target.is_file():
            return "no such file"
        page = self.pages.get(target)
        if parts.fragment and page and unquote(parts.fragment) not in page.anchors:
            return "no such anchor"
        return None


def is_elsewhere(url: str) -> bool:
    """Whether a browser would fetch an address from another host."""
    parts = urlsplit(url.strip())
    return bool(parts.netloc) or parts.scheme in ("http", "https", "ftp")


def main() -> None:
    """Print what is wrong; exit code 1 if anything is."""
    site = Site(Path(sys.argv[1]))
    if not site.pages:
        sys.exit(f"No HTML pages in {sys.argv[1]}. Build the site first: make docs")
    problems = site.problems()
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(site.pages)} pages, {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()

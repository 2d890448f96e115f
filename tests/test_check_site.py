"""The check of the built site finds broken links, foreign resources and untypeset formulas."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "check_site.py"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="the check is in the source tree only")


def problems(folder, **pages):
    spec = importlib.util.spec_from_file_location("check_site", SCRIPT)
    check_site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check_site)
    for name, body in pages.items():
        path = folder / f"{name.replace('__', '/')}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"<html><body>{body}</body></html>")
    return check_site.Site(folder).problems()


def test_a_good_site_has_no_problems(tmp_path):
    (tmp_path / "picture.svg").write_text("<svg/>")
    first = '<h1 id="top">x</h1><a href="lectures/sutd.html#rule">rule</a><img src="picture.svg">'
    second = '<p id="rule"><math><mi>x</mi></math> <code>x^2 <= 1</code> &amp; R²</p>'
    second += '<a href="../index.html#top">back</a> <a href="https://example.org">elsewhere</a>'
    assert problems(tmp_path, index=first, lectures__sutd=second) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="missing.html">x</a>', "no such file: missing.html"),
        ('<a href="#missing">x</a>', "no such anchor: #missing"),
        ('<a href="other.html#missing">x</a>', "no such anchor: other.html#missing"),
        ('<img src="missing.png">', "no such file: missing.png"),
        ('<script src="https://cdn.example/x.js"></script>', "loaded from another host: https"),
        ('<link rel="stylesheet" href="//cdn.example/x.css">', "loaded from another host: //cdn"),
        ('<style>@import "https://cdn.example/x.css";</style>', "loaded from another host"),
        ('<p style="background: url(http://cdn.example/x.png)">x</p>', "loaded from another host"),
    ],
)
def test_a_problem_is_found(tmp_path, body, problem):
    (found,) = problems(tmp_path, index=body, other="<p>y</p>")
    assert found.startswith("index.html:1: ")
    assert problem in found


@pytest.mark.parametrize("text", ["x^2", "theta_0 = 1", "y &lt;= 0", "a >= b", "<td>p != q</td>"])
def test_formulas_of_pages_for_students_are_typeset(tmp_path, text):
    body = f"<pre>x^2</pre><p>{text}</p>"
    (found,) = problems(tmp_path, lectures__chan=body, index=body)
    assert found.startswith("lectures/chan.html:1: formula that is not typeset")


def test_a_figure_that_a_cell_left_open_is_found(tmp_path):
    (tmp_path / "open.png").write_bytes(b"")
    body = '<img src="../open.png">'
    (found,) = problems(tmp_path, gallery__index=body, reference__index=body)
    assert found.startswith("gallery/index.html:1: PNG figure")


def test_a_foreign_font_of_a_style_sheet_is_found(tmp_path):
    (tmp_path / "site.css").write_text("@font-face { src: url('https://fonts.example/a.woff2') }")
    (found,) = problems(tmp_path, index="x")
    assert found == "site.css: loaded from another host: https://fonts.example/a.woff2"

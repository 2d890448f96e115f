"""One SVG for light and dark: colours are CSS variables, ids belong to one figure."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from rosenblatt.errors import ParameterError
from rosenblatt.plot import axes, colors, picture
from rosenblatt.plot.style import DARK, LIGHT

CSS = Path(__file__).parents[2] / "docs" / "_static" / "figures.css"


def drawn(x=1.0):
    ax = axes()
    ax.plot([0, x], [0, 1], color=colors.accent)
    ax.fill([0, 1, 1], [0, 0, 1], color=colors.negative, alpha=0.3, hatch="//")
    ax.text(0.2, 0.2, "black by default")
    ax.set(xlabel=r"$w \cdot x$", title="a < b")
    return ax


def test_every_color_is_a_variable_with_a_fallback():
    svg = picture(drawn()).svg
    codes = re.findall(r"#[0-9a-f]{6}\b", svg)
    variables = re.findall(r"var\(--fig-[a-z]+, #[0-9a-f]{6}\)", svg)
    assert codes
    assert len(codes) == len(variables)
    assert "fill: var(--fig-ink, #1b1f24)" in svg.split(">", 1)[0]  # of text in black
    assert "var(--fig-accent, #d55e00)" in svg


def test_a_figure_in_a_dark_style_has_dark_fallbacks():
    with plt.style.context("dark_background"):
        ax = axes()
        ax.plot([0, 1], [0, 1])
        svg = picture(ax).svg
    assert f"var(--fig-ink, {DARK.ink})" in svg
    assert f"var(--fig-ground, {DARK.ground})" in svg
    assert "#1b1f24" not in svg


def test_figures_on_one_page_share_no_id_and_each_reference_has_its_target():
    both = [picture(drawn(x)).svg for x in (1.0, 2.0)]
    ids = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in both]
    assert not ids[0] & ids[1]
    for svg, own in zip(both, ids, strict=True):
        assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)) <= {
            pair for i in own for pair in ((i, ""), ("", i))
        }
    assert "<style" not in both[0]  # it would apply to the whole page


def test_the_same_drawing_is_the_same_text_and_well_formed():
    assert picture(drawn()).svg == picture(drawn()).svg
    root = ET.fromstring(picture(drawn()).svg)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "a < b; w · x"
    assert ET.fromstring(picture(drawn(), "What it is").svg).get("aria-label") == "What it is"


def test_the_figure_is_closed():
    before = plt.get_fignums()
    picture(drawn())
    assert plt.get_fignums() == before


def test_a_saved_file_follows_the_color_scheme(tmp_path):
    picture(drawn()).save(tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    ET.fromstring(text)
    assert "@media (prefers-color-scheme:dark)" in text
    assert f"--fig-ink:{DARK.ink}" in text


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_site_has_the_colors_of_the_palettes(palette):
    if not CSS.exists():
        pytest.skip("the folder docs is not here")
    css = CSS.read_text()
    for code, name in palette.css().items():
        assert f"{name}: {code};" in css


def test_several_axes_are_one_figure():
    several = axes(ncols=3, width=9, height=3)
    assert several.shape == (3,)
    assert "wide" in picture(several).svg.split(">", 1)[0]


def test_something_else_is_refused():
    with pytest.raises(ParameterError, match="picture needs an Axes, a figure or a Display"):
        picture(3)

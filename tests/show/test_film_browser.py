"""The film in a real browser: played, paused, stepped and scrubbed."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rosenblatt import Perceptron, film
from rosenblatt.learn import reference
from tests.show.browsing import until
from tests.waiting import PATIENCE

AND = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), ["no", "no", "no", "yes"]
EVIL = "</script><img src=x onerror=alert(1)><script>alert(1)</script>"


TEXTS = """() => Object.fromEntries(
  ["update", "pass", "visit", "mistakes", "example", "margin", "bound", "wrong"].map(
    (id) => [id, document.getElementById(id).textContent]))"""
COLOURS = """(places) => {
  const copy = document.createElement("canvas"), { canvas } = film.plot;
  Object.assign(copy, { width: canvas.width, height: canvas.height });
  const ctx = copy.getContext("2d", { willReadFrequently: true });
  ctx.drawImage(canvas, 0, 0);
  return places.map((p) => Array.from(ctx.getImageData(...p, 1, 1).data));
}"""


@pytest.fixture
def opened(browser, tmp_path):
    """Film a model and open the page; afterwards nothing may have failed or been fetched."""
    contexts, troubles, fetched = [], [], []

    def open_film(clf, options=None, **kwargs):
        path = film(clf, tmp_path / "film.html", **kwargs)
        size = {"width": 1100, "height": 900}
        context = browser.new_context(**{"viewport": size, "offline": True} | (options or {}))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.on("console", lambda m: troubles.append(m.text) if m.type != "log" else None)
        page.on("pageerror", lambda e: troubles.append(str(e)))
        page.on("dialog", lambda d: troubles.append(f"dialog: {d.message}"))
        page.on("request", lambda r: fetched.append(r.url))
        page.goto(path.as_uri())
        until(page, "Boolean(window.film && window.film.firstFrame)")
        return page

    yield open_film
    for context in contexts:
        context.close()
    assert troubles == []
    assert set(fetched) == {(tmp_path / "film.html").as_uri()}


def recorded(X, y, **choices):
    choices = {"shuffle": False, "tol": None, "record": "updates"} | choices
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Perceptron(**choices).fit(X, y)


@pytest.fixture(scope="module")
def learned_and():
    return recorded(*AND)


def state(page):
    return page.evaluate("film.state()")


def number(page, name):
    return int(page.text_content(f"#{name}").replace(",", ""))


# ------------------------------------------------------------------- what is on the page


def test_every_step_shows_the_numbers_of_the_trace(opened, learned_and):
    page, record = opened(learned_and), learned_and.trace_.record
    plain = reference.train(AND[0].tolist(), [-1, -1, -1, 1])
    visits = [k + 1 for k, v in enumerate(plain.visits) if v.step]
    assert number(page, "update") == number(page, "mistakes") == 0
    assert "None yet" in page.text_content("#example")
    w, b = np.zeros(2), 0.0
    for k, update in enumerate(record, start=1):
        page.keyboard.press("ArrowRight")
        shown = page.evaluate(TEXTS)
        assert [int(shown[n]) for n in ("update", "pass", "visit", "mistakes")] == [
            k,
            update.epoch,
            visits[k - 1],
            k,
        ]
        x, label = AND[0][update.row], AND[1][update.row]
        sign = 1 if label == "yes" else -1
        said = f"Row {update.row}, class {label} ({'+1' if sign > 0 else '−1'})"
        assert shown["example"] == said
        before = sign * (w @ x + b)
        w, b = update.w, update.b[0]
        after = sign * (w @ x + b)
        assert shown["margin"] == f"y·score {before + 0:g} → {after + 0:g}".replace("-", "−")
        assert shown["bound"] == f"{k} of at most 51 updates"
        line = state(page)["line"]
        assert (line["a"], line["b"], line["c"]) == (*w, b)
        wrong = int((np.array([-1, -1, -1, 1]) * (AND[0] @ w + b) <= 0).sum())
        assert shown["wrong"].startswith(f"{wrong} of 4 rows")
    assert "a whole epoch without an update" in page.text_content("#status").lower()
    assert page.get_by_role("button", name="One frame forward").is_disabled()


def test_the_line_is_drawn_where_the_weights_say(opened, learned_and):
    """The colour of the line on the canvas, at points worked out from the trace alone."""
    page, record = opened(learned_and), learned_and.trace_.record
    ink = (28, 32, 36)
    box, inner = page.evaluate("[film.plot.box, film.plot.inner]")
    for k in (5, 8, 12, 18):
        page.evaluate(f"film.go({k})")
        w, b = record[k - 1].w, record[k - 1].b[0]
        foot, along = -b * w / (w @ w), np.array([-w[1], w[0]]) / np.linalg.norm(w)
        places = []
        for x, y in (foot + t * along for t in np.linspace(-2, 2, 161)):
            if box[0] + 0.05 < x < box[1] - 0.05 and box[2] + 0.05 < y < box[3] - 0.05:
                px = inner["left"] + inner["width"] * (x - box[0]) / (box[1] - box[0])
                py = inner["top"] + inner["height"] * (box[3] - y) / (box[3] - box[2])
                places.append([round(px - 0.5), round(py - 0.5)])
        colours = page.evaluate(COLOURS, places)
        found = [np.abs(np.array(colour[:3]) - ink).max() < 60 for colour in colours]
        assert len(found) >= 5
        assert np.mean(found) > 0.8, k  # a row or a ring may lie on the line


def test_in_a_projection_rows_stand_at_their_distances(opened):
    X, y = load_iris(return_X_y=True)
    clf = recorded(X, y == 1, max_iter=20)
    page, record = opened(clf, feature_names=["a", "b", "c", "d"]), clf.trace_.record
    assert "There are 4 features" in page.text_content("#drawn")
    for k in (1, 7, len(record)):
        page.evaluate(f"film.go({k})")
        w, b = record[k - 1].w, record[k - 1].b[0]
        places = page.evaluate(
            "Array.from(film.data.rows.y, (_, i) => film.view.point(i)).map((p) => [p.x, p.y])"
        )
        line, places = state(page)["line"], np.array(places)
        assert line["b"] == 0
        distance = (X @ w + b) / np.linalg.norm(w)
        np.testing.assert_allclose(places[:, 0] + line["c"] / line["a"], distance, atol=1e-5)
        # up is a direction orthogonal to w: fitted from all rows, it is a unit vector
        v, *_ = np.linalg.lstsq(X - X.mean(axis=0), places[:, 1], rcond=None)
        assert np.linalg.norm(v) == pytest.approx(1, abs=1e-4)
        assert v @ w / np.linalg.norm(w) == pytest.approx(0, abs=1e-4)
        wrong = int((np.where(y == 1, 1, -1) * (X @ w + b) <= 0).sum())
        assert state(page)["wrong"] == wrong


# --------------------------------------------------------------------------- the player


def test_it_plays_pauses_and_stops_at_the_end(opened, learned_and):
    page = opened(learned_and)
    speed = page.get_by_role("combobox", name="Speed")
    speed.select_option("2")
    page.get_by_role("button", name="Play").click()
    until(page, "film.state().frame >= 1")
    page.get_by_role("button", name="Pause").click()
    paused = state(page)["frame"]
    page.wait_for_timeout(150)
    assert state(page)["frame"] == paused
    assert not state(page)["playing"]
    speed.select_option("250")
    page.locator("body").click(position={"x": 5, "y": 5})
    page.keyboard.press("Space")
    until(page, "film.state().frame === film.n - 1 && !film.state().playing")
    assert number(page, "update") == 18
    speed.select_option("1")
    page.locator("body").click(position={"x": 5, "y": 5})
    page.keyboard.press("Space")  # from the end it begins again
    assert state(page)["playing"]
    assert state(page)["frame"] < 18
    page.keyboard.press("ArrowLeft")  # a step by hand stops it
    assert not state(page)["playing"]


def test_buttons_keys_and_slider_lead_to_the_same_frames(opened, learned_and):
    page = opened(learned_and)
    for key, frame in [
        ("End", 18), ("ArrowLeft", 17), ("PageUp", 7), ("PageDown", 17), ("Home", 0),
        ("ArrowLeft", 0), ("ArrowRight", 1),
    ]:  # fmt: skip
        page.keyboard.press(key)
        assert state(page)["frame"] == frame == int(page.input_value("#slider"))
    for name, frame in [
        ("Last frame", 18), ("One frame back", 17), ("One frame forward", 18), ("First frame", 0),
    ]:  # fmt: skip
        page.get_by_role("button", name=name).click()
        assert state(page)["frame"] == frame
    slider = page.get_by_role("slider", name="Frame")
    box = slider.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert state(page)["frame"] == 9
    assert slider.get_attribute("aria-valuetext") == "update 9 of 18"
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + box["height"] / 2, steps=3)
    page.mouse.up()
    assert state(page)["frame"] == 18
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert state(page)["frame"] == 17
    speed = page.input_value("#speed")
    page.keyboard.press("+")
    assert float(page.input_value("#speed")) > float(speed)


def test_a_cycle_an_average_and_a_batch_are_told_in_words(opened):
    X, y = [[0.0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    page = opened(recorded(X, y))
    page.keyboard.press("End")
    said = page.text_content("#status")
    assert "The same weights as after update 3." in said
    assert "no hyperplane separates these rows" in said
    page = opened(recorded(*AND, keep="average"))
    page.keyboard.press("End")
    assert "the mean of the weights after each visit" in page.text_content("#status")
    assert page.is_visible("#averaged")
    page = opened(recorded(*AND, mode="batch"))
    page.keyboard.press("ArrowRight")
    assert page.text_content("#example") == "A batch step: 4 misclassified rows at once."
    assert page.is_hidden("#visiting")


# ------------------------------------------------------------------ every kind of reader


def test_it_fits_a_narrow_window_and_follows_the_colour_scheme(opened, learned_and):
    narrow = {"viewport": {"width": 400, "height": 800}, "color_scheme": "dark"}
    page = opened(learned_and, narrow)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    colour = "getComputedStyle(document.body).backgroundColor"
    dark, drawn = page.evaluate(colour), page.evaluate("film.plot.colours.ink")
    page.emulate_media(color_scheme="light")
    assert page.evaluate(colour) != dark
    until(page, f"film.plot.colours.ink !== '{drawn}'")
    page.set_viewport_size({"width": 1200, "height": 800})
    until(page, "film.plot.width > 500")


def test_reduced_motion_plays_slowly_and_all_controls_have_names(opened, learned_and):
    page = opened(learned_and, {"reduced_motion": "reduce"})
    assert page.input_value("#speed") == "1"
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, select, canvas")].filter((e) =>
             !(e.getAttribute("aria-label") || e.labels?.length)).length"""
    )
    assert unnamed == 0
    focused = []
    for _ in range(6):
        page.keyboard.press("Tab")
        focused.append(page.evaluate("document.activeElement.id"))
    assert "slider" in focused
    assert "play" in focused


def test_names_from_the_data_do_not_run(opened):
    clf = recorded(AND[0], [EVIL if label == "no" else "yes" for label in AND[1]])
    page = opened(clf, feature_names=[EVIL, EVIL], title=EVIL)
    page.keyboard.press("ArrowRight")
    assert page.text_content("#title") == page.title() == EVIL
    assert EVIL in page.text_content("#example")
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.scripts.length") == 2


def test_ten_thousand_updates_open(opened):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X @ [1, 2] + rng.normal(size=300) > 0
    clf = recorded(X, y, max_iter=400)
    assert len(clf.trace_.record) == 10_000
    page = opened(clf, bound=False)
    print(f"first frame after {page.evaluate('film.firstFrame'):.0f} ms")
    page.keyboard.press("End")
    assert number(page, "update") == 10_000
    assert number(page, "pass") == clf.trace_.record.epoch[-1]
    assert number(page, "visit") == clf.trace_.record.visit[-1] + 1
    page.goto(page.url + "#5000")
    page.reload()
    until(page, "Boolean(window.film && window.film.firstFrame)")
    assert number(page, "update") == 5000

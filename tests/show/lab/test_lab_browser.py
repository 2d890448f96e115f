"""The lab in a real browser: points, runs, proofs, links, files and a tour, by hand and by key."""

import base64
import json
import threading
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tests.show.browsing import until
from tests.waiting import PATIENCE, wait_until

pytest.importorskip("starlette", reason="the extra [lab] is not installed")
uvicorn = pytest.importorskip("uvicorn", reason="the extra [lab] is not installed")

from rosenblatt.show.lab.presets import preset  # noqa: E402  # after importorskip
from rosenblatt.show.lab.runs import run_of  # noqa: E402  # after importorskip
from rosenblatt.show.lab.server import application  # noqa: E402  # after importorskip
from rosenblatt.show.lab.serving import free_socket  # noqa: E402  # after importorskip
from rosenblatt.show.lab.table import Table  # noqa: E402  # after importorskip
from rosenblatt.show.lab.tours import told  # noqa: E402  # after importorskip
from rosenblatt.show.lab.verdict import verdict_of  # noqa: E402  # after importorskip

SIZE = {"width": 1280, "height": 720}


@pytest.fixture(scope="module")
def address():
    """A lab that runs as long as this module."""
    small = preset("and")
    for rule in ("perceptron", "pa"):  # compiled here, so that no page waits for it
        run_of(replace(small, segments=(replace(small.segments[0], rule=rule),)))
    verdict_of(small.X, small.y, True)
    bound = free_socket(0)
    config = uvicorn.Config(application(), log_level="warning", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    yield f"http://127.0.0.1:{bound.getsockname()[1]}/"
    server.should_exit = True
    thread.join()
    bound.close()


@pytest.fixture(scope="module")
def laptop(browser):
    """A new one for every page would take half the time of the tests."""
    context = browser.new_context(viewport=SIZE, accept_downloads=True)
    yield context
    context.close()


@pytest.fixture
def opened(browser, laptop, address):
    """Open the lab; afterwards nothing may have failed, or been fetched from elsewhere."""
    pages, contexts, troubles, allowed = [], [], [], []

    def open_lab(url=address, expect=(), **options):
        allowed.extend(expect)
        context = laptop
        if options:
            context = browser.new_context(**options)
            contexts.append(context)
        page = context.new_page()
        pages.append(page)
        page.set_default_timeout(1000 * PATIENCE)
        page.on("console", lambda m: troubles.append(m.text) if m.type != "log" else None)
        page.on("pageerror", lambda e: troubles.append(str(e)))
        page.on("dialog", lambda d: troubles.append(f"dialog: {d.message}"))
        page.on("request", lambda r: None if local(r.url, address) else troubles.append(r.url))
        page.goto(url)
        settle(page)
        return page

    yield open_lab
    for page in pages:
        page.evaluate("localStorage.clear()")
        page.close()
    for context in contexts:
        context.close()
    assert [t for t in troubles if not any(part in t for part in allowed)] == []


def local(url, address):
    return url.startswith((address, "blob:", "data:"))


def settle(page):
    until(page, "Boolean(window.lab) && !lab.busy")


def situation(page):
    return page.evaluate("lab.situation()")


def at(page):
    return page.evaluate("lab.run().at")


def total(page):
    return page.evaluate("lab.run().total")


def verdict(page):
    return page.get_attribute("#verdict-panel", "data-verdict")


def choose(page, **values):
    for name, value in values.items():
        page.select_option(f"#{name}", value)
        settle(page)
    page.evaluate("document.activeElement.blur()")


def place(page, x, y):
    """Where a point of the plane is in the window."""
    box, (u, v) = page.locator("#plane").bounding_box(), page.evaluate(f"lab.toPixel({x}, {y})")
    return box["x"] + u, box["y"] + v


def drag(page, start, end, steps=5):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=steps)
    page.mouse.up()
    settle(page)


def centre(page, selector):
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


# ------------------------------------------------------------------- points and verdict


def test_points_are_added_moved_and_deleted_and_all_of_it_is_undone(opened):
    page = opened()
    page.click("#clear")
    settle(page)
    assert verdict(page) == "empty"
    page.click("#add-positive")
    for spot in [(2, 4), (3, 4), (2.5, 5.5)]:
        page.mouse.click(*place(page, *spot))
    page.click("#add-negative")
    for spot in [(4, 1), (1, 1)]:
        page.mouse.click(*place(page, *spot))
    settle(page)
    points = situation(page)["points"]
    assert [p[2] for p in points] == [1, 1, 1, -1, -1]
    assert points[0][:2] == pytest.approx([2, 4], abs=0.02)
    assert page.locator("#plane .point").count() == 5
    assert verdict(page) == "separable"
    assert page.locator("#plane .band").count() == 1
    drag(page, place(page, 4, 1), place(page, 2.5, 4.5))  # among the others
    assert verdict(page) == "overlapping"
    assert page.locator("#plane .meet").count() == 1
    assert "/" in page.text_content("#proof")
    page.mouse.click(*place(page, 1, 1), button="right")
    page.click("#delete")
    page.mouse.click(*place(page, 3, 4))
    settle(page)
    assert [p[2] for p in situation(page)["points"]] == [1, 1, -1]
    for _ in range(3):
        page.keyboard.press("Control+z")
    settle(page)
    assert situation(page)["points"] == points
    assert verdict(page) == "separable"
    page.keyboard.press("Control+Shift+Z")
    settle(page)
    assert verdict(page) == "overlapping"


def test_dragging_one_point_across_flips_the_verdict_while_it_is_held(opened):
    page = opened()
    page.mouse.move(*place(page, 4, 1))
    page.mouse.down()
    for spot, found in [((2, 4.5), "overlapping"), ((4.5, 1), "separable")]:
        page.mouse.move(*place(page, *spot), steps=4)
        settle(page)
        assert verdict(page) == found
        assert page.evaluate("lab.run().current")  # the run is replayed with it
    page.mouse.up()
    page.click("#undo")  # one drag, one undo
    settle(page)
    assert [4, 1, -1] in situation(page)["points"]


# ------------------------------------------------------------------------------- motion


def test_a_run_is_stepped_passed_scrubbed_and_played(opened):
    page = opened()
    choose(page, preset="and")
    assert page.is_disabled("#back")
    page.click("#step")
    settle(page)
    assert page.text_content("#words").startswith("example 1 (-1) scored 0")
    assert page.locator("#plane .turn").count() == 1
    words, line = page.text_content("#words"), page.evaluate("lab.run().step.w")
    page.click("#step")
    page.click("#back")
    settle(page)
    assert at(page) == 1
    assert (page.text_content("#words"), page.evaluate("lab.run().step.w")) == (words, line)
    page.click("#pass")
    assert at(page) == 4
    page.keyboard.press("Shift+ArrowRight")
    assert at(page) == 8
    page.keyboard.press("End")
    settle(page)
    assert at(page) == total(page) > 8
    counts = {name: int(page.text_content(f"#{name}")) for name in ("tp", "tn", "fp", "fn")}
    assert counts == {"tp": 1, "tn": 3, "fp": 0, "fn": 0}
    box = page.locator("#mistakes-chart").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert 0 < at(page) < total(page)
    page.locator("#scrub").fill("2")
    assert at(page) == 2
    choose(page, speed="200")
    page.keyboard.press("Space")
    until(page, "lab.run().at === lab.run().total && !lab.playing()")
    page.click("#start-over")
    assert at(page) == 0


def test_a_rule_is_switched_in_the_middle_and_a_refused_one_loses_nothing(opened):
    page = opened(expect=["400 (Bad Request)"])
    choose(page, preset="xor")
    choose(page, keep="average")
    assert [s["keep"] for s in situation(page)["segments"]] == ["average"]  # at the start
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    choose(page, rule="pa")
    assert [(s["from"], s["rule"]) for s in situation(page)["segments"]] == [
        (0, "perceptron"), (3, "pa"),
    ]  # fmt: skip
    assert at(page) == 3
    kept = page.evaluate("lab.run().step.w")
    assert page.locator("#segments li").count() == 2
    choose(page, rule="minover")
    assert "minover" in page.text_content("#message")
    assert page.evaluate("lab.run().step.w") == kept  # the run before is still there
    assert page.input_value("#rule") == situation(page)["segments"][1]["rule"] == "pa"
    assert "eta" not in page.text_content("#segments li:last-child")  # pa has none
    for text in ("1e400", "0"):
        page.fill("#passes", text)
        page.keyboard.press("Enter")
        assert page.text_content("#message p").endswith(f"got {text}.")  # and nothing older
    page.click("#segments button")
    settle(page)
    assert page.is_hidden("#message")
    assert len(situation(page)["segments"]) == 1


TIPS = """async () => {
  const scrub = document.querySelector("#scrub"), plane = document.querySelector("#plane"), lost = [];
  for (let k = 0; k <= Math.min(40, scrub.max); k++) {
    scrub.value = k;
    scrub.dispatchEvent(new Event("input"));
    await new Promise(requestAnimationFrame);
    const tip = document.querySelector(".handle").getBoundingClientRect();
    const frame = document.querySelector("#plane .ground").getBoundingClientRect();
    const x = tip.x + tip.width / 2, y = tip.y + tip.height / 2;
    const inside = tip.left > frame.left && tip.right < frame.right && tip.top > frame.top && tip.bottom < frame.bottom;
    if (!inside || !document.elementFromPoint(x, y).matches(".handle")) lost.push([k, x, y]);
  }
  return lost;
}"""  # noqa: E501  # a script


def test_the_tip_of_the_weight_vector_can_always_be_grabbed(opened):
    page = opened()
    for name, size in [("margins", SIZE), ("and", {"width": 390, "height": 844})]:
        page.set_viewport_size(size)
        choose(page, preset=name)
        assert page.evaluate(TIPS) == []


def test_the_tip_of_the_weight_vector_is_dragged(opened):
    page = opened()
    x, y = centre(page, "#tip")
    drag(page, (x, y), (x + 60, y - 40))
    start = situation(page)["start"]
    assert start["kind"] == page.input_value("#start") == "given"
    assert start["w"][0] > 0
    assert start["w"][1] > 0
    assert page.evaluate("lab.run().step.w") == start["w"]
    page.keyboard.press("ArrowRight")
    settle(page)
    x, y = centre(page, "#tip")
    drag(page, (x, y), (x - 50, y + 30))  # in the middle of a run it begins again
    assert at(page) == 0
    assert situation(page)["start"]["w"] != start["w"]
    start = situation(page)["start"]
    page.mouse.move(*centre(page, "#tip"))
    page.mouse.down()
    page.mouse.move(x, y, steps=3)
    page.keyboard.press("Escape")  # as if it had not been touched
    page.mouse.move(x + 9, y)
    page.mouse.up()
    assert situation(page)["start"] == start


def test_the_keyboard_is_enough(opened):
    page = opened()
    page.click("#clear")
    page.keyboard.press("-")
    page.keyboard.press("p")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("a")
    page.keyboard.press("+")
    for _ in range(2):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("a")
    settle(page)
    (x, y, low), (u, v, high) = situation(page)["points"]
    assert (low, high) == (-1, 1)
    assert x < u
    assert y == v
    assert verdict(page) == "separable"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")  # turns the weight vector
    assert situation(page)["start"]["w"][1] > 0
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.row") == "0"
    page.keyboard.press("ArrowUp")
    settle(page)
    assert situation(page)["points"][0][1] > y
    page.keyboard.press("Delete")
    settle(page)
    assert len(situation(page)["points"]) == 1
    page.keyboard.press("Escape")
    for _ in range(3):
        page.keyboard.press("Control+z")
    settle(page)
    assert situation(page)["points"][0] == [x, y, -1]
    assert situation(page)["start"] == {"kind": "zero"}
    page.keyboard.press("End")
    settle(page)
    assert at(page) == total(page) > 0
    page.keyboard.press("Home")
    assert at(page) == 0
    page.keyboard.press("?")
    assert page.is_visible("#keys")
    page.keyboard.press("Escape")
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, select, svg[role]")].filter((e) => !(
             e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim())).length"""
    )
    assert unnamed == 0


# ------------------------------------------------------------------------ links and files


def test_a_link_opens_the_same_situation_and_a_broken_one_a_usable_page(opened, address):
    page = opened()
    choose(page, preset="quasi")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.mouse.click(*place(page, 1.5, 1))
    settle(page)
    page.click("#share")
    until(page, "document.querySelector('#shared-link').value !== ''")
    link = page.input_value("#shared-link")
    assert link.startswith(address + "#")
    other = opened(link)
    assert situation(other) == situation(page)
    assert other.text_content("#words") == page.text_content("#words")
    assert at(other) == 2
    page.click("#undo")
    page.fill("#link-to-open", link[link.index("#") + 1 :])
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#shared').hidden")
    settle(page)
    assert situation(page) == situation(other)
    broken = opened(link[:-30])
    assert "cut off or changed" in broken.text_content("#message")
    broken.click("#step")
    settle(broken)
    assert at(broken) == 1


def test_a_link_to_what_the_engine_refuses_shows_its_points(opened, address):
    given = preset("and").told()
    given["segments"][0]["tie"] = "correct"
    text = base64.urlsafe_b64encode(json.dumps(given).encode()).decode().rstrip("=")
    page = opened(f"{address}#j{text}", expect=["400 (Bad Request)"])
    assert "correct" in page.text_content("#message")
    assert page.locator("#plane .point title").all_text_contents()[3] == "example 4 (+1) at (1, 1)"
    assert page.locator("#plane .count").all_text_contents() == ["1", "2", "3", "4"]
    assert "No points" not in page.text_content("#words")
    assert verdict(page) == "separable"
    given["segments"] = [{"from": 0}, {"from": 5000, "rule": "pa"}]  # the first ends before
    text = base64.urlsafe_b64encode(json.dumps(given).encode()).decode().rstrip("=")
    page.evaluate(f"location.hash = '#j{text}'")
    until(page, "!lab.busy && lab.run().total > 0")
    assert page.is_hidden("#message")
    assert "from visit 36: pa" in page.text_content("#segments li:last-child")
    page.keyboard.press("End")
    settle(page)
    assert page.input_value("#rule") == "pa"


def saved(page, selector):
    with page.expect_download() as info:
        page.click(selector)
    return info.value.path().read_bytes()


def test_every_export_can_be_read(opened, tmp_path, browser, capsys):
    page = opened()
    choose(page, preset="and")
    page.keyboard.press("Shift+ArrowRight")
    settle(page)
    svg = ElementTree.fromstring(saved(page, "#export-svg"))
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [e for e in svg.iter() if e.get("class") or e.get("style")]
    squares = [
        e for e in svg.iter() if e.get("fill") == "rgb(230, 159, 0)" and e.get("x") == "-5.2"
    ]
    assert len(squares) == 1
    assert saved(page, "#export-png").startswith(b"\x89PNG\r\n\x1a\n")
    csv = saved(page, "#export-csv")
    names = situation(page)["names"]
    read, _ = Table.read(csv).situation(*names, "class", situation(page)["classes"][1])
    points = [[*x, int(y)] for x, y in zip(read.X.tolist(), read.y, strict=True)]
    assert points == situation(page)["points"]
    film = tmp_path / "film.html"
    film.write_bytes(saved(page, "#export-film"))
    context = browser.new_context(offline=True)
    shown = context.new_page()
    shown.goto(film.as_uri())
    until(shown, "Boolean(window.film && window.film.firstFrame)")
    context.close()
    page.click("#export-python")
    until(page, "document.querySelector('#python').open")
    lines = page.text_content("#python-text")
    assert saved(page, "#python-save").decode() == lines
    made = {}
    exec(compile(lines, "lab.py", "exec"), made)
    capsys.readouterr()
    end = page.evaluate("lab.run().answer.updates")
    assert made["clf"].trace_.n_updates == end


def upload(page, text, name="rows.csv"):
    page.set_input_files("#upload", {"name": name, "mimeType": "text/csv", "buffer": text.encode()})
    until(page, "document.querySelector('#upload').value === ''")  # emptied when it is read
    settle(page)


def test_a_table_is_uploaded_and_a_broken_one_is_told(opened):
    page = opened(expect=["400 (Bad Request)"])
    before = situation(page)["points"]
    upload(page, "a,b,c\n1,2,x\n3,4\n")
    assert "line 3" in page.text_content("#message")
    assert situation(page)["points"] == before
    upload(page, "a,b,kind\n1,2,<b>no</b>\n3,oops,yes\n2,2,yes\n")
    assert "column b: line 3 has 'oops'" in page.text_content("#message").lower()
    upload(page, "a,b,c,kind\n1,2,0,<b>no</b>\n3,4,1,yes\n2,2,5,yes\n")
    assert page.is_hidden("#message")
    assert page.input_value("#column-positive") == "yes"
    choose(page, **{"column-y": "c"})
    page.click("#columns-use")
    settle(page)
    assert situation(page)["points"] == [[1, 0, -1], [3, 1, 1], [2, 5, 1]]
    assert situation(page)["names"] == ["a", "c"]
    assert page.text_content("#name-negative") == "<b>no</b>"  # names do not become tags
    page.click("#undo")
    settle(page)
    assert situation(page)["points"] == before


def test_points_taken_away_as_csv_come_back_the_same(opened):
    page = opened()
    for name in ("and", "iris-setosa-versicolor"):
        choose(page, preset=name)
        before = situation(page)
        text = saved(page, "#export-csv").decode()
        page.click("#clear")
        upload(page, text)
        page.click("#columns-use")
        settle(page)
        after = situation(page)
        assert [after[k] for k in ("points", "names", "classes")] == [
            before[k] for k in ("points", "names", "classes")
        ]
    upload(page, "a,b,c,d\n1,2,no,5\n3,4,yes,5\n2,2,no,6\n")
    assert page.input_value("#column-label") == "c"  # an axis is no class
    assert page.input_value("#column-positive") == "yes"


def test_a_server_that_fails_leaves_the_page_usable(opened):
    page = opened(expect=["503", "Failed to load resource"])
    page.route(
        "**/api/*",
        lambda route: route.fulfill(status=503, body='{"error": "The lab is busy. Try again."}'),
    )
    page.mouse.click(*place(page, 2, 1))
    settle(page)
    assert "busy" in page.text_content("#message")
    assert page.locator("#plane .point").count() == 11  # drawn all the same
    page.unroute("**/api/*")
    page.route("**/api/*", lambda route: route.fulfill(status=200, body="{"))
    page.mouse.click(*place(page, 5, 1))
    settle(page)
    assert "could not be read" in page.text_content("#message")
    page.unroute("**/api/*")
    page.route("**/api/*", lambda route: route.abort())
    page.mouse.click(*place(page, 5, 0.5))
    settle(page)
    assert "does not answer" in page.text_content("#message")
    page.unroute("**/api/*")
    page.mouse.click(*place(page, 4.5, 0.5))
    settle(page)
    assert page.is_hidden("#message")
    assert page.evaluate("lab.run().current")


# -------------------------------------------------------------------------------- tours


def test_doing_what_the_tour_through_sutd_says_meets_its_goals(opened):
    page = opened()
    choose(page, tour="sutd")
    buttons = {"at_least": "#step", "at_end": "#to-end"}
    steps = told("sutd")["steps"]
    for k, step in enumerate(steps):
        kind, goal = (step["goal"] or {}).get("kind"), step["goal"]
        assert page.text_content("#tour-step") == step["title"]
        assert page.text_content("#tour-place") == f"{k + 1} of {len(steps)}"
        assert "**" not in page.text_content("#tour-text")
        assert page.locator(".pointed").count() == 1
        if kind == "verdict":
            low = step["situation"]["points"][2][:2]
            drag(page, place(page, *low), place(page, 1, 0))
        elif kind == "setting" and goal["name"] == "offset":
            page.uncheck("#offset")
        elif kind == "setting":
            choose(page, **{goal["name"]: goal["is"]})
        elif kind:
            page.click(buttons[kind])
        if kind:
            until(page, "document.querySelector('#tour-do').classList.contains('met')")
        page.click("#tour-next")
        settle(page)
    assert page.is_hidden("#tour-panel")
    assert page.locator(".pointed").count() == 0


def test_a_goal_of_a_tour_is_ticked_when_it_is_met(opened, address):
    page = opened()
    step = {"title": "t", "text": "a **b** c", "situation": None, "watch": "motion", "do": "Step."}
    steps = [step | {"goal": {"kind": "at_least", "visits": 2}}, step | {"goal": None}]
    told = json.dumps({"name": "mine", "title": "Mine", "steps": steps})
    page.route("**/api/tour/*", lambda route: route.fulfill(status=200, body=told))
    page.evaluate("document.querySelector('#tour').add(new Option('Mine', 'mine'))")
    choose(page, tour="mine")
    assert page.text_content("#tour-do") == "Step."
    assert page.text_content("#tour-text strong") == "b"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    until(page, "document.querySelector('#tour-do').textContent.startsWith('✓')")
    page.keyboard.press("n")
    page.keyboard.press("b")
    assert page.text_content("#tour-place") == "1 of 2"
    page.click("#tour-close")
    assert page.is_hidden("#tour-panel")


# ------------------------------------------------------------------ every kind of reader


def test_it_fits_screens_and_phones_in_light_and_dark(opened):
    page = opened()
    essential = ("#plane", "#words", "#verdict", "#step", "#play", "#scrub", "#rule", "#confusion")
    for selector in essential:
        box = page.locator(selector).bounding_box()
        assert box["y"] + box["height"] <= 720, selector
        assert box["x"] + box["width"] <= 1280, selector
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.click("#theme")
    assert page.evaluate(paper) != light
    page.click("#theme")
    assert page.evaluate(paper) == light
    narrow = opened(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 390
    tops = [narrow.locator(f"#{name}").bounding_box()["y"] for name in ("verdict", "rule", "tp")]
    assert tops == sorted(tops)
    assert narrow.locator("#step").bounding_box()["height"] >= 44
    motion = narrow.locator("#motion").bounding_box()
    assert motion["y"] + motion["height"] == pytest.approx(844, abs=1)
    before = len(situation(narrow)["points"])
    narrow.touchscreen.tap(*place(narrow, 3, 1))
    settle(narrow)
    assert len(situation(narrow)["points"]) == before + 1


def test_a_thousand_points_are_drawn_and_stepped(opened):
    page = opened()
    choose(page, preset="oracle-4")
    assert page.locator("#plane .point").count() == 1000
    page.keyboard.press("ArrowRight")
    settle(page)
    assert at(page) == 1

"""The server: its addresses, and what it does about nonsense, strangers and too much at once."""

import asyncio
import threading

import httpx
import pytest

from rosenblatt.show.lab import server
from rosenblatt.show.lab.presets import preset, presets
from rosenblatt.show.lab.server import application
from rosenblatt.show.lab.work import Memory, Work
from tests.waiting import PATIENCE

HERE = "http://127.0.0.1:8958"
XOR = preset("xor").told()

pytestmark = pytest.mark.threads  # the pools of the lab


class Client:
    """Requests to the application itself, without a network."""

    def __init__(self, app, base=HERE):
        self.transport, self.base = httpx.ASGITransport(app), base
        self.cookies = httpx.Cookies()

    def get(self, path, **given):
        return self.ask("GET", path, given)

    def post(self, path, **given):
        return self.ask("POST", path, given)

    def ask(self, method, path, given):
        async def asked():
            async with httpx.AsyncClient(transport=self.transport, base_url=self.base) as client:
                answer = await client.request(method, path, **given)
                self.cookies.update(client.cookies)
                return answer

        return asyncio.run(asked())


def client_of(app, base=HERE):
    return Client(app, base)


@pytest.fixture(scope="module")
def client():
    return client_of(application())


def test_the_choices_are_those_of_the_engine(client):
    told = client.get("/api/choices").json()
    assert told["rules"][:2] == ["perceptron", "margin"]
    assert told["keeps"] == ["last", "average", "vote", "pocket"]
    assert told["limits"]["points"] == 1000
    assert [p["name"] for p in told["presets"]] == list(presets())


def test_every_preset_can_be_had_and_read_again(client):
    for name in presets():
        told = client.get(f"/api/preset/{name}").json()
        again = server.Situation.read(told)
        assert again.digest == preset(name).digest
    assert client.get("/api/preset/nothing").status_code == 404


def test_a_run_is_told(client):
    told = client.post("/api/run", json={"situation": XOR, "from": 0, "to": 512}).json()
    assert told["total"] == 4
    assert told["stop"]["reason"] == "cycle"
    assert told["steps"]["to"] == 4
    lengths = {len(v) for v in told["steps"].values() if isinstance(v, list)}
    assert lengths == {5}
    later = client.post("/api/run", json={"situation": XOR, "from": 2, "to": 3}).json()
    assert later["steps"]["w"] == told["steps"]["w"][2:4]
    beyond = client.post("/api/run", json={"situation": XOR, "from": 99, "to": 100}).json()
    assert (beyond["steps"]["from"], beyond["steps"]["to"]) == (4, 4)


def test_a_film_and_lines_and_a_table(client):
    film = client.post("/api/film", json={"situation": XOR})
    assert film.headers["content-disposition"].startswith("attachment")
    assert film.text.startswith("<!doctype html>")
    lines = client.post("/api/python", json={"situation": XOR}).json()["python"]
    assert "clf = Perceptron(shuffle=False" in lines
    raw = b"a,b,c\n1,2,x\n3,4,y\n"
    assert client.post("/api/table", content=raw).json()["rows"] == 2
    chosen = {"x": "a", "y": "b", "label": "c", "positive": "y"}
    told = client.post("/api/table", content=raw, params=chosen).json()
    assert told["situation"]["points"] == [[1, 2, -1], [3, 4, 1]]
    broken = client.post("/api/table", content=b"a,b,c\n1,2,x\n3\n")
    assert broken.status_code == 400
    assert "line 3" in broken.json()["error"]
    switched = {**XOR, "segments": [{}, {"from": 2, "eta": 2.0}]}
    film = client.post("/api/film", json={"situation": switched})
    assert "(from visit 2 on)" in film.text


# ----------------------------------------------------------------------- nonsense


def test_text_that_is_no_json(client):
    for text in (b"", b"{", b"\xff", b"[" * 100_000, b"1" * 5000, b'{"a": NaN}', b"null"):
        answer = client.post("/api/run", content=text)
        assert answer.status_code == 400, text[:10]
        assert answer.json()["error"]


async def pieces(size):
    """No length is told."""
    for _ in range(size // 10_000):
        yield b"x" * 10_000


def test_too_much(client):
    points = [[k, k % 3, 1 - 2 * (k % 2)] for k in range(1001)]
    answer = client.post("/api/verdict", json={"points": points})
    assert answer.status_code == 400
    assert "1001 points are more than the 1000" in answer.json()["error"]
    answer = client.post("/api/run", json={"situation": XOR, "from": 0, "to": 513})
    assert "more than 512 at once" in answer.json()["error"]
    for size, path in ((600_000, "/api/run"), (3_000_000, "/api/table")):
        assert client.post(path, content=b"x" * size).status_code == 413
        assert client.post(path, content=pieces(size)).status_code == 413
    assert client.post("/api/run", content=b"{}", headers={"content-length": "-1"}).is_client_error
    for change in ({"passes": 1001}, {"passes": 0}, {"segments": [{}] * 51}, {"at": 10**9}):
        answer = client.post("/api/run", json={"situation": {**XOR, **change}})
        assert answer.status_code == 400


def test_what_is_not_there(client):
    for path in ("/nothing", "/static/../server.py", "/static/%2e%2e/server.py", "/static/",
                 "/static/..%2fserver.py", "/static/no.js", f"/static/{5000 * 'a'}.js",
                 "/api/tour/nothing", "/static//etc/passwd.js",
                 "/static/..\\server.py"):  # fmt: skip
        answer = client.get(path)
        assert answer.status_code == 404, path
        assert answer.json()["error"]
    assert client.get("/api/run").status_code == 404


# ----------------------------------------------------------------------- strangers


@pytest.mark.parametrize("base", ["http://localhost:1", "http://127.0.0.1", "http://[::1]:8958"])
def test_this_computer_is_let_in(base):
    assert client_of(application(), base).get("/api/choices").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "localhost:8958@evil.example"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8959"},
        {"origin": "https://127.0.0.1:8958"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)
def test_strangers_are_not(client, headers):
    for answer in (
        client.get("/api/choices", headers=headers),
        client.post("/api/verdict", json={"points": []}, headers=headers),
    ):
        assert answer.status_code == 403
        assert answer.json()["error"]
    assert "access-control-allow-origin" not in answer.headers


def test_own_requests_are_let_in(client):
    own = {"origin": HERE, "sec-fetch-site": "same-origin"}
    answer = client.post("/api/verdict", json={"points": []}, headers=own)
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in answer.headers
    typed = {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}
    assert client.get("/api/choices", headers=typed).status_code == 200
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}  # a link to the lab
    assert client.get("/", headers=followed).status_code != 403


def test_two_clients_do_not_see_each_other():
    app = application()
    one, two = client_of(app), client_of(app)
    mine = {**XOR, "names": ["my-secret", "x2"], "points": [[123.25, 4, 1], [5, 6, -1]]}
    assert one.post("/api/run", json={"situation": mine}).status_code == 200
    one.post("/api/verdict", json={"points": mine["points"]})
    for path in ("/api/choices", "/api/choices", "/api/preset/xor", "/api/run", "/api/verdict"):
        answer = two.get(path)
        assert "my-secret" not in answer.text
        assert "123.25" not in answer.text
    theirs = two.post("/api/run", json={"situation": {**mine, "names": ["a", "b"]}})
    assert "my-secret" not in theirs.text  # the same points: one memory of runs, no names in it
    assert not two.cookies


# --------------------------------------------------------------------- much at once


def test_a_full_queue_says_so_and_recovers(monkeypatch):
    started, go_on = threading.Event(), threading.Event()

    def slow(X, y, offset):
        started.set()
        assert go_on.wait(PATIENCE)
        return {"verdict": "slow"}

    monkeypatch.setattr(server, "verdict_of", slow)
    app = application(work=Work(at_once=1, waiting=0))
    found = []

    def ask():
        found.append(client_of(app).post("/api/verdict", json={"points": []}))

    asking = threading.Thread(target=ask)
    asking.start()
    assert started.wait(PATIENCE)
    refused = client_of(app).post("/api/verdict", json={"points": []})
    assert refused.status_code == 503
    assert "busy" in refused.json()["error"]
    go_on.set()
    asking.join()
    assert found[0].status_code == 200
    assert client_of(app).post("/api/verdict", json={"points": []}).status_code == 200


def test_an_error_of_ours_is_a_message_and_the_next_request_works(client, monkeypatch, caplog):
    def broken(X, y, offset):
        raise ZeroDivisionError("secret details")

    with monkeypatch.context() as changed:
        changed.setattr(server, "verdict_of", broken)
        answer = client.post("/api/verdict", json={"points": []})
    assert answer.status_code == 500
    assert "not foreseen: ZeroDivisionError" in answer.json()["error"]
    assert "secret" not in answer.text
    assert client.post("/api/verdict", json={"points": []}).status_code == 200


def test_what_the_engine_refuses_is_a_message(client):
    refused = {**XOR, "segments": [{"rule": "minover", "keep": "vote"}]}
    answer = client.post("/api/run", json={"situation": refused})
    assert answer.status_code == 400
    assert "rule='minover'" in answer.json()["error"]
    asleep = {**XOR, "segments": [{"tie": "correct"}]}
    said = client.post("/api/run", json={"situation": asleep}).json()["error"]
    assert "Choose another start (random or given)" in said
    one = {**XOR, "points": [[1, 1, 1]]}
    assert "two classes" in client.post("/api/film", json={"situation": one}).json()["error"]


def test_memory_is_bounded():
    memory = Memory(most=1_000_000)
    for k in range(20):
        text = {**XOR, "points": [*XOR["points"], [k, 5, 1]]}
        situation = server.Situation.read(text)
        assert memory.steps(situation) is memory.steps(situation)
    assert 1 <= len(memory.runs) < 20
    assert memory.held == sum(s.run.nbytes for s in memory.runs.values()) <= 1_000_000

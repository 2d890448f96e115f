"""What a film's page says, read back without the page's own code."""

import base64
import json
import re
from pathlib import Path

import numpy as np

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def told(path):
    """The data of a page, arrays and all."""
    return json.loads(DATA.search(Path(path).read_text("utf-8"))[1], object_hook=_unpacked)


def _unpacked(found):
    if "bytes" not in found:
        return found
    raw = base64.b64decode(found["bytes"])
    return np.frombuffer(raw, dtype="<" + found["type"]).reshape(found["shape"])


def line_of(data, k):
    """(a, b, c) with a x + b y + c = 0: the hyperplane of frame k in the picture."""
    frames = data["frames"]
    if data["kind"] == "projection":
        return frames["norm"][k], 0.0, frames["b"][k]
    a, b = (*frames["w"][k], 0.0)[:2]
    return a, b, frames["b"][k]

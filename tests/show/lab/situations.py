"""Random situations on small whole numbers, where every sum is exact."""

from hypothesis import strategies as st

COORDINATE = st.integers(-3, 3)
POINT = st.tuples(COORDINATE, COORDINATE, st.sampled_from([-1, 1])).map(list)


def segment(
    rules=("perceptron", "perceptron", "margin"),
    modes=("online", "online", "batch"),
    keeps=("last",),
):
    return st.fixed_dictionaries(
        {
            "rule": st.sampled_from(rules),
            "keep": st.sampled_from(keeps),
            "mode": st.sampled_from(modes),
            "tie": st.sampled_from(["mistake", "positive", "correct", "half"]),
            "eta": st.sampled_from([1, 2, 0.5]),
            "order": st.sampled_from(["order", "order", "shuffle", "sample"]),
            "seed": st.integers(0, 5),
        }
    )


@st.composite
def situations(draw, most_segments=3, **kinds):
    given = draw(
        st.fixed_dictionaries(
            {
                "points": st.lists(POINT, min_size=1, max_size=7),
                "offset": st.booleans(),
                "start": st.one_of(
                    st.just({"kind": "zero"}),
                    st.builds(
                        lambda w, b: {"kind": "given", "w": list(w), "b": b},
                        st.tuples(COORDINATE, COORDINATE),
                        COORDINATE,
                    ),
                ),
                "segments": st.lists(segment(**kinds), min_size=1, max_size=most_segments),
                "passes": st.integers(1, 6),
            }
        )
    )
    begin = 0
    for one in given["segments"]:
        one["from"] = begin
        begin += draw(st.integers(1, 12) | st.just(0))
    return given

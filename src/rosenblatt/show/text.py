"""Text: what people read in the terminal."""

from __future__ import annotations

from rosenblatt.learn.trace import Trace, text_table
from rosenblatt.prove.bounds import MistakeBound


def learned(trace: Trace, bound: MistakeBound) -> str:
    """What one run on two classes did, beside what its own hyperplane says it could do."""
    header, lines = trace.rows()
    facts = [
        ["stopped because", f"{trace.stop_reason} ({trace.stop_reason.sentence})"],
        ["mistakes made", str(trace.n_mistakes)],
        ["margin of the hyperplane found", f"{bound.margin:.6g}"],
        ["radius R of the data", f"{bound.radius:.6g}"],
        ["mistakes that R^2/margin^2 allows", f"{bound.mistakes:.6g}"],
    ]
    width = max(len(name) for name, _ in facts)
    summary = "\n".join(f"{name:<{width}}  {value}" for name, value in facts)
    return f"{text_table(header, lines)}\n\n{summary}"

"""Command line: parse, call, render. It contains no algorithm.

Exit codes: 0 done (`separable`: separable; `verify`: verified; `exercise`: right), 1 the answer is
no (`separable`: quasi-separable or overlapping; `verify`: not verified; `exercise`: wrong), 2 wrong
use or any error, which the message explains, 130 ended by Ctrl-C, 141 the output was closed, 143
ended by SIGTERM.
"""

try:
    from rosenblatt.cli import (  # each adds its command
        bench,
        compare,
        demo,
        explain,
        fit,
        lab,
        lectures,
        predict,
        separable,
        verify,
    )
    from rosenblatt.cli.app import app
except KeyboardInterrupt:  # Ctrl-C during the imports
    raise SystemExit(130) from None

__all__ = [
    "app", "bench", "compare", "demo", "explain", "fit", "lab", "lectures", "predict", "separable",
    "verify",
]  # fmt: skip

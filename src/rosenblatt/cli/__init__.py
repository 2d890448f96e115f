"""Command line: parse, call, render. No algorithm lives here.

Exit codes: 0 done (`separable`: separable; `verify`: verified), 1 the answer is no (`separable`:
quasi-separable or overlapping; `verify`: not verified), 2 wrong use or any error, which the message
explains, 130 ended by Ctrl-C, 141 nobody reads our output any more, 143 ended by SIGTERM.
"""

try:
    from rosenblatt.cli import fit, lab, machine, models, proofs, studies
    from rosenblatt.cli.app import app
except KeyboardInterrupt:  # Ctrl-C before there is anybody to catch it
    raise SystemExit(130) from None

__all__ = ["app", "fit", "lab", "machine", "models", "proofs", "studies"]

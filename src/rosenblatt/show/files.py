"""Files: what people read while a file is learned from, and after."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rosenblatt.data.reading import Progress
from rosenblatt.learn.trace import plural

if TYPE_CHECKING:  # figures and tables need no training
    from rosenblatt.stream.fit import FitResult

MOST_COLUMNS = 60  # lines about them


def fitted(facts: dict[str, Any], run: FitResult) -> str:
    """A few lines about training on a file; `facts` as `FitResult.to_dict` gives them.

    Below them what was done to each column, if they were raw.
    """
    mistakes = ", ".join(f"{m:,}" for m in facts["mistakes_per_pass"][:10])
    more = ", ..." if run.n_epochs > 10 else ""
    lines = [
        ("rows", f"{run.n_rows:,}"),
        ("features", f"{facts['features']:,}"),
        ("classes", _classes(run)),
        ("passes", f"{run.n_epochs} ({_why(run)})"),
        ("mistakes per pass", mistakes + more),
        ("progressive error", f"{run.progressive_error:.2%}"),
        ("first pass", f"{facts['megabytes_per_second']:,.0f} MB/s of the file"),
        ("all passes", f"{facts['rows_per_second']:,.0f} rows/s"),
        ("seconds", f"{facts['seconds']:.2f}"),
        ("model", facts["model"]),
    ]
    if facts["skipped_lines"]:
        lines.insert(1, ("malformed lines", f"{facts['skipped_lines']:,}, left out"))
    if run.cache_bytes:
        lines.insert(-1, ("cache", _cache(run)))
    table = "" if run.columns is None else f"\n\n{run.columns.describe(MOST_COLUMNS)}"
    return _aligned(lines) + table


def predicted(facts: dict[str, Any]) -> str:
    """A few lines about predicting a file; `facts` as `PredictResult.to_dict` gives them."""
    error = facts["error"]
    of = f"{facts['errors']:,} of {facts['labelled_rows']:,} labelled rows"
    shown = "the file has no labels of the model" if error is None else f"{error:.2%} ({of})"
    lines = [
        ("rows", f"{facts['rows']:,}"),
        ("error", shown),
        ("seconds", f"{facts['seconds']:.2f}"),
        ("labels", facts["labels"] or "not written (--out FILE)"),
    ]
    if facts["skipped_lines"]:
        lines.insert(1, ("malformed lines", f"{facts['skipped_lines']:,}, left out"))
    return _aligned(lines)


def _aligned(lines: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in lines)


def _classes(run: FitResult) -> str:
    names = [f"{c:g}" if isinstance(c, float) else str(c) for c in run.model.classes[:10].tolist()]
    listed = ", ".join(names) + (", ..." if len(run.model.classes) > 10 else "")
    many = f" ({len(run.model.classes)}, one against the rest each)"
    return listed + (many if len(run.model.classes) > 2 else "")


def _cache(run: FitResult) -> str:
    in_file = (
        f" and {run.cache_file_bytes / 1e6:,.1f} MB in a file, removed"
        if run.cache_file_bytes
        else ""
    )
    return f"{run.cache_memory_bytes / 1e6:,.1f} MB of parsed rows in memory{in_file}"


def _why(run: FitResult) -> str:
    reasons = set(run.reasons)
    if len(reasons) == 1:
        return next(iter(reasons)).sentence
    counted = ((r, run.reasons.count(r)) for r in sorted(reasons))
    return "; ".join(f"{plural(n, 'class', 'classes')}: {r.sentence}" for r, n in counted)


class Bar:
    """A watcher that draws a bar on standard error and says what is worth a line.

    Parameters
    ----------
    say : prints one line
    draw : whether to draw the bar: only where somebody looks
    """

    def __init__(self, say: Callable[[str], None], draw: bool) -> None:
        self._say, self._draw = say, draw
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, pass_number: int) -> None:
        if not self._draw:
            return
        named = f"pass {pass_number}" if pass_number else "looking at the columns"
        if self._bar is None:
            self._bar = _rich_bar()
            self._bar.start()
            self._task = self._bar.add_task(named, total=None, rate="")
        else:
            self._bar.reset(self._task, description=named)

    def progress(self, now: Progress) -> None:
        if self._task is not None:
            rate = f"{now.rows:,} rows, {now.rows_per_second:,.0f} rows/s"
            total = now.bytes_total or None  # of a pipe it is not known
            self._bar.update(self._task, completed=now.bytes_read, total=total, rate=rate)

    def say(self, message: str) -> None:
        if self._bar is not None:
            self._bar.console.print(f"rosenblatt: {message}", markup=False, highlight=False)
        else:
            self._say(message)


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        refresh_per_second=5,
        redirect_stdout=False,  # it may go elsewhere
    )

"""Case: a tumour data set taken through the five steps of supervised learning."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.estimators import Perceptron
from rosenblatt.lectures.case_study import tumours
from rosenblatt.lectures.drawing import intervals
from rosenblatt.lectures.lecture import Given, Note, Part, Picture, Section, Slip, Table
from rosenblatt.lectures.sutd.judging import Judged, classifiers, encoded, judge, regressors
from rosenblatt.prove.separability import separability

LECTURE_ROWS = (
    (18.02, 27.6, 117.5, "N", 31),
    (17.99, 10.38, 122.8, "N", 61),
    (20.29, 14.34, 135.1, "R", 27),
)
WITHOUT = (
    "The lecture's own data are not shipped. With --data wpbc.data, the prognostic file of the "
    "UCI repository, this part runs on them: missing values, outcomes R and N, and the time until "
    "recurrence. Until then the diagnostic set stands in: same measurements, malignant or benign."
)
BRIEFLY = "With --data wpbc.data it is there."


def case_study(given: Given) -> Section:
    """Which file, how many rows."""
    data = tumours(given.data)
    missing = int(np.isnan(data.X).sum())
    note = Note(
        f"The data are {data.source}: {len(data.X)} tumours, {data.X.shape[1]} measurements, "
        f"{missing} values missing."
    )
    parts = (note,) if given.data else (note, Note(WITHOUT))
    numbers = {"rows": len(data.X), "features": data.X.shape[1], "missing": missing}
    return Section("A case study", "Supervised learning on real data.", parts, numbers)


def supervised(given: Given) -> Section:
    """The answers are given with the rows."""
    data = tumours(given.data)
    rows = [[k, data.words[k], n, f"{n / len(data.X):.1%}"] for k, n in data.counts.items()]
    return Section(
        "Supervised Learning",
        "It is supervised because every example comes with its answer.",
        (Table.of(["outcome", "meaning", "tumours", "share"], rows),),
        {"counts": data.counts},
        step="the case study",
    )


def followed(given: Given) -> Section:
    """Cells, surgery, follow-up."""
    data = tumours(given.data)
    numbers: dict[str, Any] = {}
    if data.time is None:
        text = "In this set nobody was followed: there is an outcome and no time. " + BRIEFLY
    else:
        times = {k: data.time[data.outcome == k] for k in data.words}
        numbers = {k: {"median": float(np.median(t)), "rows": len(t)} for k, t in times.items()}
        text = "; ".join(
            f"{data.words[k]}: {len(t)} patients, {np.median(t):g} months (median)"
            for k, t in times.items()
        )
        text += (
            ". The time of a non-recurrent patient is how long the patient was followed in health. "
            "If the cancer came back later, it is not in the file: a lower bound, not a time until."
        )
    return Section(
        "Example: A dataset",
        "Cells were taken from tumours before surgery and imaged; patients were followed to see "
        "whether the cancer recurred, and when.",
        (Note(text),),
        numbers,
        step="how it came about",
    )


def three_rows(given: Given) -> Section:
    """The table of the lecture, found in the data."""
    data = tumours(given.data)
    rows, found = [], []
    for row in LECTURE_ROWS:
        hits = np.flatnonzero((data.X[:, :3] == row[:3]).all(axis=1))
        found.append(len(hits))
        for k in hits:
            time = "-" if data.time is None else f"{data.time[k]:g}"
            rows.append([*(float(v) for v in data.X[k, :4]), str(data.outcome[k]), time])
    radius, area = np.array([r[0] for r in rows]), np.array([r[3] for r in rows])
    ratio = float((area / radius**2).mean())
    where = "their texture, perimeter" if data.time is None else "outcome and time"
    return Section(
        "Example: A dataset",
        "30 real-valued variables per tumour, and two that can be predicted: the outcome (R or N) "
        "and the time.",
        (
            Table.of([*data.names[:4], "outcome", "time"], rows, "The lecture's rows, here."),
            Note(f"{sum(found)} of the three rows are in {data.source}, with {where} as shown."),
            Slip(
                'The lecture calls the first column "tumor size". It is the mean radius of the '
                f"cell nuclei: the fourth column is its area, and area / radius^2 is {ratio:.2f} "
                "on these rows. The tumour's size is another column of the prognostic file."
            ),
        ),
        {"found": found, "ratio": ratio, "features": data.X.shape[1]},
        step="its table",
    )


def terminology(given: Given) -> Section:
    """What the words are here."""
    data = tumours(given.data)
    n, d = data.X.shape
    targets = "outcome" if data.time is None else "outcome, time"
    rows = [
        ["input variables, features, attributes", f"{d} columns: {', '.join(data.names[:3])}, ..."],
        ["output variables, targets, responses", targets],
        ["training example, instance", f"one of {n} rows"],
        ["training data set", f"{n} x {d} numbers and the targets"],
        ["binary classification", f"{' or '.join(data.words)}"],
        ["regression", "months, a number" if data.time is not None else "needs the time: --data"],
    ]
    return Section(
        "Terminology",
        "Columns are features, rows are examples; predicting the outcome is classification, "
        "predicting the time is regression.",
        (Table.of(["word", "here"], rows),),
        {"rows": n, "features": d, "targets": targets},
    )


def training_data(given: Given) -> Section:
    """S_n = {(x, y)}."""
    data = tumours(given.data)
    n, d = data.X.shape
    first = ", ".join(f"{v:g}" for v in data.X[0, :4])
    return Section(
        "More formally",
        "Training data S_n = {(x, y)}: inputs x in R^d, outputs y a number or one of k classes.",
        (
            Note(
                f"n = {n}, d = {d}, k = 2. The first example: x = ({first}, ...), "
                f"y = {data.outcome[0]}."
            ),
        ),
        {"n": n, "d": d, "classes": sorted(data.words)},
        step="training data",
    )


def classifier(given: Given) -> Section:
    """h: X -> Y, and what the simplest h is worth."""
    data = tumours(given.data)
    larger = max(data.counts, key=lambda k: data.counts[k])
    error = 1 - data.counts[larger] / len(data.X)
    return Section(
        "More formally",
        "Find h: X -> Y that is a good predictor of y. Y = R is regression, a finite Y is "
        "classification, anything richer is structured prediction.",
        (
            Note(
                f"Here Y = {{{', '.join(data.words)}}}: classification. Good compared with what? "
                f"The h that always says {larger} is wrong on {error:.1%} of the rows. That is "
                "what every other h has to beat."
            ),
        ),
        {"majority": larger, "error": error},
        step="a good predictor",
    )


def steps(given: Given) -> Section:
    """The five steps, carried out."""
    data = tumours(given.data)
    y = data.outcome == data.positive
    encoder = encoded("passthrough")
    Z = encoder.fit_transform(data.X)
    verdict = separability(Z, y).verdict
    clf = Perceptron(shuffle=False, tol=None, keep="pocket", max_iter=200).fit(Z, y)
    error = float((clf.predict(Z) != y).mean())
    missing = int(np.isnan(data.X).sum())
    rows = [
        [
            "1. input-output pairs",
            f"a tumour's {Z.shape[1]} measurements -> {'/'.join(data.words)}",
        ],
        ["2. encoding", f"{missing} missing -> median; mean 0, deviation 1; +1, -1"],
        ["3. hypothesis class H", f"hyperplanes: {Z.shape[1]} weights and an offset"],
        ["4. error function", "E_n: the share of training examples that are wrong"],
        ["5. algorithm", f"perceptron, pocket, {clf.n_iter_} passes: {clf.stop_reason_}"],
    ]
    return Section(
        "Steps for solving a supervised learning problem:",
        "Pairs, encoding, a hypothesis class, an error function, an algorithm.",
        (
            Table.of(["step", "here"], rows),
            Note(
                f"Is E_n = 0 possible in this H? The classes are {verdict}, with a proof: "
                f"{'yes' if verdict == 'separable' else 'no'}. The algorithm reached "
                f"E_n = {error:.3f}."
            ),
        ),
        {"verdict": verdict, "error": error, "encoded": list(Z.shape), "missing": missing},
    )


def generalisation(given: Given) -> Section:
    """What the training error hides: cross-validation against the majority class."""
    data = tumours(given.data)
    found = judge(classifiers(), data.X, data.outcome, data.positive)
    rows = [
        [name, f"{j.train:.1%}", *_columns(j, "{:.1%}"), f"{j.found:.0%}"]
        for name, j in found.items()
    ]
    header = ["H", "training", "unseen", "95 %", "gain, 95 %", f"{data.positive} found"]
    judged = {name: j.as_dict() for name, j in found.items()}
    clear = [name for name, j in found.items() if j.gain_low > 0]
    said = f"Better than the constant, beyond the doubt of {len(data.X)} rows: {'; '.join(clear)}."
    if not clear:
        low = min(j.gain_low for j in found.values())
        high = max(j.gain_high for j in found.values())
        said = (
            f"Not one is better than the constant beyond the doubt that {len(data.X)} rows leave: "
            f"the gains lie between {low:.1%} and {high:.1%}. That these measurements tell who "
            "will relapse is not shown by any of these rules, low as some training errors are."
        )
    return Section(
        "Key aspects of learning problem",
        "H too big overfits, H too small underfits; what counts is generalisation.",
        (
            Table.of(
                header,
                rows,
                "Errors; unseen: 10 folds, twice, each row predicted "
                "without it. gain: how much smaller than the constant's, over rows.",
            ),
            Picture(
                "generalisation",
                lambda: intervals(judged, "share of errors"),
                "The dashed line is the constant. A larger H can fit its rows more closely; "
                "unseen rows need not follow.",
            ),
            Note(said),
        ),
        {"judged": judged, "clear": clear},
        step="classes of hypotheses",
    )


def _columns(j: Judged, form: str) -> list[str]:
    def between(low: float, high: float) -> str:
        return f"{form.format(low)} to {form.format(high)}"

    return [form.format(j.unseen), between(j.low, j.high), between(j.gain_low, j.gain_high)]


def time_until(given: Given) -> Section:
    """The other target: a regression on those who relapsed."""
    data = tumours(given.data)
    says = "The time until recurrence is a number: regression, with the same questions."
    heading, step = "Key aspects of learning problem", "the time, a regression"
    if data.time is None:
        return Section(heading, says, (Note("There is no time in this set. " + BRIEFLY),), {}, step)
    seen = data.outcome == data.positive
    found = judge(regressors(), data.X[seen], data.time[seen])
    rows = [[name, f"{j.train:.1f}", *_columns(j, "{:.1f}")] for name, j in found.items()]
    judged = {name: j.as_dict() for name, j in found.items()}
    parts: tuple[Part, ...] = (
        Table.of(
            ["H", "training", "unseen", "95 %", "gain, 95 %"],
            rows,
            f"Mean error in months on the {int(seen.sum())} patients with a recurrence.",
        ),
        Picture(
            "time",
            lambda: intervals(judged, "mean error, months"),
            "The dashed line is the constant.",
        ),
        Note(
            "Only these patients have a time until recurrence. Least squares with as many weights "
            "as measurements fits them closely and predicts new ones worse than the constant: "
            "overfitting. Using the others too needs methods for censored times."
        ),
    )
    numbers = {"judged": judged, "rows": int(seen.sum())}
    return Section(heading, says, parts, numbers, step)


SECTIONS = (
    case_study,
    supervised,
    followed,
    three_rows,
    terminology,
    training_data,
    classifier,
    steps,
    generalisation,
    time_until,
)

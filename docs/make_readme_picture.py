"""Draw the picture of the README and the first page: python docs/make_readme_picture.py"""

from pathlib import Path

from rosenblatt import CertificateDisplay, HyperplanesDisplay, Perceptron, UpdateDisplay
from rosenblatt.plot import axes, picture

PATH = Path(__file__).parent / "images" / "readme.svg"
X = [(1, 1), (2, 0), (0, 2), (1, 2), (4, 3), (2, 4), (5, 2), (3, 3)]
y = ["circle"] * 4 + ["square"] * 4
DESCRIPTION = (
    "Three panels. Train: points of two classes and the line of a perceptron as it moves. "
    "Prove: two convex hulls that cross, with the point that both contain. See: one update, the "
    "weight vector before and after."
)


def main() -> None:
    """Draw three panels side by side, one per job, and write them as SVG."""
    train, prove, see = axes(ncols=3, width=10.5, height=3.4)
    clf = Perceptron(shuffle=False, tol=None, record="updates").fit(X, y)
    HyperplanesDisplay.from_estimator(clf, X, y, ax=train, legend=False)
    CertificateDisplay.from_data([*X, (5, 4)], [*y, "circle"], ax=prove, legend=False)
    UpdateDisplay.from_example([1, -0.8], [1, 2], 1, ax=see, legend=False)
    train.set_title("Train: the line as it moves")
    prove.set_title("Prove: no line separates these")
    see.set_title("See: one update")
    picture(train, DESCRIPTION).save(PATH)
    print(f"written: {PATH}")


if __name__ == "__main__":
    main()

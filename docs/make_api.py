"""Build the API reference from the docstrings: python docs/make_api.py [folder]."""

import sys
import warnings
from pathlib import Path

ROOMS = ("data", "learn", "prove", "show", "errors")


def main(folder):
    """Write HTML pages into `folder`."""
    import pdoc

    import rosenblatt

    for name in rosenblatt.__all__:  # loaded lazily; pdoc looks at what is there already
        setattr(rosenblatt, name, getattr(rosenblatt, name))
    # named tuples lose their module when pdoc resolves annotations; the text is right
    warnings.filterwarnings("ignore", message="Error parsing type annotation")
    pdoc.render.configure(docformat="numpy", footer_text=f"rosenblatt {rosenblatt.__version__}")
    modules = ["rosenblatt", *(f"rosenblatt.{room}" for room in ROOMS)]
    pdoc.pdoc(*modules, output_directory=folder)
    print(f"written: {folder / 'index.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "api")

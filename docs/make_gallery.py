"""Draw the pictures of docs/plots.md from its own code: python docs/make_gallery.py [folder]."""

import doctest
import re
import sys
from pathlib import Path

PAGE = Path(__file__).parent / "plots.md"
DOTS_PER_INCH, COLOURS = 90, 256


def main(folder):
    """Run the page from top to bottom; at each image, save the picture drawn last."""
    import matplotlib as mpl
    from PIL import Image

    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    names = {}
    pieces = re.split(r"!\[[^\]]*\]\(images/plots/(\w+\.png)\)", PAGE.read_text(encoding="utf-8"))
    for text, name in zip(pieces[::2], [*pieces[1::2], None], strict=True):
        if name is None:
            break
        for example in doctest.DocTestParser().get_examples(text):
            exec(compile(example.source, PAGE.name, "single"), names)
        names["shown"].figure_.savefig(folder / name, dpi=DOTS_PER_INCH)
        with Image.open(folder / name) as picture:  # few colours make small files
            picture.convert("RGB").quantize(COLOURS).save(folder / name, optimize=True)
        print(f"written: {folder / name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE.parent / "images" / "plots")

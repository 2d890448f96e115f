"""Does the wheel hold every file of src, the lecture pages and the compiled module?

python .ci/same_files.py WHEEL CHECKOUT
"""

import sys
from pathlib import Path
from zipfile import ZipFile

COMPILED = (".so", ".pyd")
wheel, checkout = map(Path, sys.argv[1:])
PLACES = {"src/rosenblatt": "rosenblatt", "docs/lectures": "rosenblatt/lectures/pages"}


def sources(folder, place):
    """Files of a folder, under their names in the wheel."""
    return {
        f"{place}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in COMPILED
    }


files = {}
for folder, place in PLACES.items():
    files.update(sources(checkout / folder, place))
with ZipFile(wheel) as archive:
    names = [name for name in archive.namelist() if ".dist-info/" not in name]
    modules = [name for name in names if name.endswith(COMPILED)]
    packed = {name: archive.read(name) for name in names if name not in modules}
different = sorted(k for k in files.keys() | packed.keys() if files.get(k) != packed.get(k))
if different:
    sys.exit("the wheel differs from the source in " + ", ".join(different))
if [name.partition(".")[0] for name in modules] != ["rosenblatt/_core"]:
    sys.exit(f"the wheel must hold one compiled module, rosenblatt/_core; it holds {modules}")
print(f"{wheel.name} holds the {len(files)} files of {' and '.join(PLACES)}")

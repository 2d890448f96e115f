"""Does the wheel hold every file of the source, byte for byte, and the compiled module?"""

import sys
from pathlib import Path
from zipfile import ZipFile

COMPILED = (".so", ".pyd")
wheel, source = map(Path, sys.argv[1:])
files = {
    path.relative_to(source).as_posix(): path.read_bytes()
    for path in source.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts and path.suffix not in COMPILED
}
with ZipFile(wheel) as archive:
    names = [name for name in archive.namelist() if ".dist-info/" not in name]
    modules = [name for name in names if name.endswith(COMPILED)]
    packed = {name: archive.read(name) for name in names if name not in modules}
different = sorted(k for k in files.keys() | packed.keys() if files.get(k) != packed.get(k))
if different:
    sys.exit("the wheel differs from the source in " + ", ".join(different))
if [name.partition(".")[0] for name in modules] != ["rosenblatt/_core"]:
    sys.exit(f"the wheel must hold one compiled module, rosenblatt/_core; it holds {modules}")
print(f"{wheel.name} holds the {len(files)} files of {source}")

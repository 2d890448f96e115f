"""Does the wheel hold every file of the source, byte for byte?"""

import sys
from pathlib import Path
from zipfile import ZipFile

wheel, source = map(Path, sys.argv[1:])
files = {
    path.relative_to(source).as_posix(): path.read_bytes()
    for path in source.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}
with ZipFile(wheel) as archive:
    names = [name for name in archive.namelist() if ".dist-info/" not in name]
    packed = {name: archive.read(name) for name in names}
different = sorted(k for k in files.keys() | packed.keys() if files.get(k) != packed.get(k))
if different:
    sys.exit("the wheel differs from the source in " + ", ".join(different))
print(f"{wheel.name} holds the {len(files)} files of {source}")

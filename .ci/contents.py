"""Whether the wheel and the sdist hold what is tracked, all of it where it is needed, and nothing else."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT, WHEEL, SDIST = (Path(word) for word in sys.argv[1:])
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
TRACKED = set(listed.split())


def compare(file: Path, wanted: set[str], found: set[str]) -> None:
    """End the program where the two differ."""
    if wanted != found:
        sys.exit(
            f"{file.name} lacks {sorted(wanted - found)[:9]} and should not hold {sorted(found - wanted)[:9]}"
        )


package = {name.removeprefix("src/") for name in TRACKED if name.startswith("src/steelyard/")}
with zipfile.ZipFile(WHEEL) as archive:
    names = {name for name in archive.namelist() if not name.endswith("/")}
info = f"{WHEEL.name.split('-py3')[0]}.dist-info"
extra = {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
compare(WHEEL, package | extra, names)

include = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
source = {name for name in TRACKED if any(name == part or name.startswith(f"{part}/") for part in include)}
with tarfile.open(SDIST) as archive:
    held = {member.name.split("/", 1)[1] for member in archive.getmembers() if member.isfile()}
compare(SDIST, source | {"PKG-INFO", "pyproject.toml", "LICENSE", ".gitignore"}, held)
sys.stdout.write(
    f"{WHEEL.name}: {len(names)} files; {SDIST.name}: {len(held)} files; as tracked, and nothing else\n"
)

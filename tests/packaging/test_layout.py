"""The package as a whole: what it is made of, which way its imports point, and what a wheel holds."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS = {name: ROOT / folder for name, folder in PROJECT["tool"]["setuptools"]["package-dir"].items()}
NOT_PACKAGED = {"tests", "benchmarks", "training", "docs", "examples", "build", "dist"}


def test_every_folder_with_code_is_listed_in_pyproject():
    listed = set(FOLDERS.values())
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == set(FOLDERS)
    tops = {path.parent for path in ROOT.glob("*/*.py")} - {ROOT / name for name in NOT_PACKAGED}
    assert {path for path in tops if not path.name.startswith(".")} <= listed
    for folder in tops:
        below = {path.parent for path in folder.rglob("*.py") if "__pycache__" not in path.parts}
        assert below <= listed, below - listed


def test_type_checkers_see_every_package():
    links = {link.name: link.resolve() for link in (ROOT / ".types" / "recurrentgpt").iterdir()}
    outside = {name.partition(".")[2]: folder for name, folder in FOLDERS.items() if folder.parent == ROOT}
    outside.pop("", None)
    assert links == outside


def test_every_public_name_is_what_it_says():
    import recurrentgpt

    assert sorted(set(recurrentgpt.__all__)) == sorted(recurrentgpt.__all__)
    for name in recurrentgpt.__all__:
        assert getattr(recurrentgpt, name) is not None
    assert set(recurrentgpt.__all__) <= set(dir(recurrentgpt))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = recurrentgpt.nonsense
    errors = {name for name, value in vars(recurrentgpt.schema.errors).items() if isinstance(value, type)}
    assert errors <= set(recurrentgpt.__all__), "every error can be caught by its public name"


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, recurrentgpt; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert not {"langgraph", "langchain_core", "faiss", "numpy", "pydantic", "openai", "torch"} & set(loaded)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Build the sdist, and from it the wheel, as a release does; give both."""
    if int(version("setuptools").partition(".")[0]) < 77:
        pytest.skip("setuptools is too old to build the package; upgrade it")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(clean_copy(out.parent))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


def clean_copy(place):
    """Copy what a clone would hold: building leaves its traces in the source folder."""
    names = subprocess.check_output(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True
    )
    for name in filter(None, names.split("\0")):
        source, target = ROOT / name, place / "clone" / name
        if source.is_file() and not source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    return place / "clone"


def test_the_wheel_holds_all_code_and_data_and_nothing_else(built):
    _, wheel = built
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    data = PROJECT["tool"]["setuptools"]["package-data"]
    wanted = set()
    for package, folder in FOLDERS.items():
        files = {
            path for pattern in ("*.py", *data.get(package, [])) for path in folder.glob(pattern) if path.is_file()
        }
        wanted |= {f"{package.replace('.', '/')}/{path.relative_to(folder)}" for path in files}
    assert any(name.endswith("write.md") for name in wanted)
    assert any(name.endswith("index.html") for name in wanted)
    assert {f"recurrentgpt/models/embedded/storyteller.{kind}" for kind in ("gguf", "json")} <= held
    assert held == wanted


def test_the_sdist_holds_the_whole_project(built):
    sdist, _ = built
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = set(subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines())
    assert "recurrentgpt/py.typed" in files
    # Links are mypy's way into this layout; an archive has no use for them.
    assert {name for name in files - held if (ROOT / name).is_file() and not (ROOT / name).is_symlink()} == set()


STORY = """
import recurrentgpt
from recurrentgpt import Library, Story
from recurrentgpt.models.embeddings import HashEmbeddings
from recurrentgpt.testing import ScriptedChatModel

print(recurrentgpt.__file__)
for tier in ("small", "full"):
    with Library.open("stories") as library:
        story = Story.new("fantasy", library=library, model=ScriptedChatModel(tier=tier), embeddings=HashEmbeddings())
        list(story.stream(2))
        print(len(story.passages()))
"""


@pytest.mark.real
def test_a_story_is_written_from_the_wheel_in_a_clean_environment(built, tmp_path):
    """The environment is new; what the package depends on is lent to it by a .pth file, so that this takes seconds."""
    _, wheel = built
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run(install, check=True)
    site = next((tmp_path / "venv").glob("[Ll]ib/**/site-packages"))
    ours = next(entry for entry in sys.path if entry.endswith("site-packages"))
    # Folders named in a .pth file have no .pth files of their own read: the editable install does not come along.
    (site / "lent.pth").write_text(ours + "\n")
    said = subprocess.check_output([str(python), "-c", STORY], text=True, cwd=tmp_path).split()
    assert Path(said[0]).is_relative_to(tmp_path / "venv")
    assert said[1:] == ["2", "2"]
    printed = subprocess.check_output([str(python.parent / "recurrentgpt"), "--version"], text=True, cwd=tmp_path)
    assert re.search(re.escape(PROJECT["project"]["version"]), printed)

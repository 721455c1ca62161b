"""A story log of an earlier version is brought to this one, all of it or nothing, and nothing in it is lost."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recurrentgpt import Library, Story, maintenance
from recurrentgpt.checkpoints.read_only import read_rows
from recurrentgpt.checkpoints.row_values import value_of
from recurrentgpt.checkpoints.sqlite_faults import SCHEMA_VERSION
from recurrentgpt.memory.log_rows import link_of

FIRST = Path(__file__).parents[1] / "fixtures" / "first_edition"
NOVEL = json.loads((FIRST / "expected.json").read_text(encoding="utf-8"))["stories"]["novel"]


@pytest.fixture
def home(user_folder):
    """Give a home that the first edition left: its links have no digests."""
    return Path(shutil.copytree(FIRST / "home", user_folder))


def version(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def rows(home, table):
    found, fault = read_rows(home / "stories.db")
    assert not fault
    return {row.key: json.loads(row.value) for row in found if row.namespace[1] == table}


def change(home, key, **changes):
    with closing(sqlite3.connect(home / "stories.db")) as connection, connection:
        where = "WHERE prefix LIKE '%.commits.%' AND key = ?"
        value = value_of(connection.execute(f"SELECT value FROM store {where}", (key,)).fetchone()[0])
        connection.execute(f"UPDATE store SET value = ? {where}", (json.dumps({**value, **changes}), key))


def test_every_link_has_the_digest_of_its_commit(home):
    commits, links = rows(home, "commits"), rows(home, "links")
    assert not any("digest" in link for link in links.values())
    Library.open(home).close()
    assert version(home / "stories.db") == SCHEMA_VERSION
    assert rows(home, "commits") == commits
    assert rows(home, "links") == {key: link_of(commit) for key, commit in commits.items()}
    (copy,) = (home / "backups").glob("version-*")
    assert version(copy) == 1
    Library.open(home).close()
    assert list((home / "backups").glob("version-*")) == [copy], "it is brought on once"


def test_damage_to_what_only_a_digest_covers_is_told(home):
    Library.open(home).close()
    change(home, NOVEL["head"], short_term_memory="Another memory.")
    (damaged,) = (story for story in maintenance.check().stories if story.damage)
    assert damaged.story == NOVEL["id"]
    assert NOVEL["head"] in damaged.damage[0]


def test_what_was_damaged_before_is_not_sealed(home):
    change(home, NOVEL["head"], passage="Another text.")
    Library.open(home).close()
    assert "digest" not in rows(home, "links")[NOVEL["head"]]
    assert NOVEL["id"] in {story.story for story in maintenance.check().stories if story.damage}


def test_an_export_from_before_is_the_same_story(home):
    with Library.open(home) as library:
        assert library.restore(FIRST / "novel.json").id == NOVEL["id"]
        assert Story.open(NOVEL["id"], library=library).head == NOVEL["head"]


def test_an_erased_story_is_in_no_copy_made_by_itself(home):
    with Library.open(home) as library:
        assert list((home / "backups").glob("version-*"))
        library.erase(NOVEL["id"])
    assert not list((home / "backups").glob("version-*"))


def killed(warm, home, kills):
    done = warm.run(str(Path(__file__).with_name("migrator.py")), str(home), str(kills))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_migration_that_is_killed_is_done_or_undone(home, warm):
    ends = killed(warm, home, 15)
    assert ends["as it was"]
    assert sum(ends.values()) == 15


@pytest.mark.long
def test_a_migration_that_is_killed_often_is_done_or_undone(home, warm):
    ends = killed(warm, home, 300)
    assert ends["as it was"]
    assert ends["moved on"]

"""A map that shares what did not change is a mapping like any other, and says what changed."""

from hypothesis import given
from hypothesis import strategies as st

from recurrentgpt.schema.shared_map import SharedMap

values = st.dictionaries(st.text(max_size=3), st.integers(), max_size=20)
changes = st.dictionaries(st.text(max_size=3), st.one_of(st.none(), st.integers()), max_size=10)


@given(values, changes)
def test_a_changed_map_is_what_a_changed_dict_is_and_the_old_one_stays(first, then):
    old = SharedMap(first)
    new = old.changed(then)
    expected = {key: value for key, value in {**first, **then}.items() if value is not None}
    assert (dict(old), dict(new), len(new)) == (first, expected, len(expected))
    differs = {key for key in first.keys() | expected.keys() if first.get(key) != expected.get(key)}
    assert differs <= set(new.changed_since(old)) <= differs | then.keys()
    assert set(old.changed_since(new)) == set(new.changed_since(old))
    assert new.changed_since(new) == []

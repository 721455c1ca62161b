"""Our savers against LangGraph's own conformance suite, with nothing of it skipped."""

from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability


async def test_a_saver_does_all_that_langgraph_asks_of_one(place):
    @checkpointer_test(name=place.kind)
    async def ours():
        async with place.open() as opened:
            yield opened.saver

    report = await validate(ours)
    failures = {name: result.failures for name, result in report.results.items() if result.failures}
    assert not failures
    assert {name for name, result in report.results.items() if result.passed} == {it.value for it in Capability}
    assert all(result.tests_passed for result in report.results.values())

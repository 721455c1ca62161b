"""The host drives the loop: one call of the one-step graph writes one passage, and the log remembers the rest.

python examples/own_loop.py
"""

import asyncio

from langgraph.store.memory import InMemoryStore

from recurrentgpt import build_step_graph

step = build_step_graph(store=InMemoryStore())


async def main() -> None:
    """Write three passages, always from the longest plan; then go back to the first and take the shortest."""
    told = [await step.ainvoke({"genre": "mystery", "premise": "A parcel that nobody ordered."})]
    while told[-1]["step"] < 3:
        plan = max(told[-1]["candidate_plans"], key=len)
        told.append(await step.ainvoke({"story": told[-1]["story"], "plan": plan}))
    for passage in told:
        print(f"{passage['step']}. {passage['passage'][:60]} ...")
    # A head is a place in the story: from an earlier one begins another branch, with the memory of that time.
    first = told[0]
    other = await step.ainvoke(
        {"story": first["story"], "head": first["head"], "plan": min(first["candidate_plans"], key=len)}
    )
    print(f"Otherwise {other['step']}. {other['passage'][:60]} ...")


if __name__ == "__main__":
    asyncio.run(main())

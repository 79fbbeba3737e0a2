"""Turns go round, and nobody is left out."""

import asyncio

from shoal.service.turns import Turns


def test_turns_go_round_and_nobody_is_left_out() -> None:
    async def main() -> list[str]:
        turns, order = Turns(1), []

        async def work(key: str) -> None:
            async with turns.turn(key):
                order.append(key)
                await asyncio.sleep(0)

        tasks = [asyncio.create_task(work(key)) for key in "aaaaabbc"]
        await asyncio.sleep(0)
        tasks[6].cancel()  # the second b
        late = [asyncio.create_task(work("d"))]
        await asyncio.gather(*tasks, *late, return_exceptions=True)
        assert turns.free == 1
        assert not turns.queues
        return order

    assert asyncio.run(main()) == list("abcdaaaa")

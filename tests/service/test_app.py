"""The routes: who may ask what, and that the service does what its description says."""

import asyncio
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode, checks

from tests.audit.salaries import NAMES, PEOPLE, about, contradictions, made
from tests.service.serving import EAGER, Service, served


def test_counts_are_answered(service: Service) -> None:
    assert service.ask(aggregate="count", where="dept = 'X' and age < 30").json()["answer"] == "5"
    assert service.ask(aggregate="count").json()["answer"] == str(PEOPLE)


def test_analysts_see_the_transcript_and_what_can_be_asked(service: Service) -> None:
    for where in ("dept = 'X'", "name = 'p1'", "age > 30"):
        service.ask(aggregate="max", column="salary", where=where)
    whole = service.get("/transcript").json()
    first, second, _ = whole["lines"]
    assert (first["query"], first["denied"]) == ("max(salary) where dept = 'X'", False)
    assert (second["query"], second["denied"]) == ("max(salary) where name = 'p1'", True)
    assert whole["next"] is None
    page = service.get("/transcript?after=1&limit=1").json()
    assert page == {"lines": [second], "next": 2}
    columns = service.get("/columns").json()
    assert columns["public"] == {"name": "text", "dept": "text", "age": "integer"}
    [secret] = columns["secret"]
    assert secret | {"family": "max", "low": "0", "high": "200", "width": "1"} == secret


def test_the_size_of_a_page_of_the_transcript_is_limited(
    quick: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for end in range(2, 8):
        quick.ask(aggregate="max", column="salary", people=NAMES[:end])
    whole = quick.get("/transcript").json()["lines"]
    monkeypatch.setattr("shoal.service.app.TEXTS", 120)
    after, pages = 0, []
    while after is not None:
        page = quick.get(f"/transcript?after={after}").json()
        pages.append(page["lines"])
        after = page["next"]
    assert [line for page in pages for line in page] == whole
    assert len(pages) > 2
    assert all(sum(len(line["query"]) for line in page) <= 120 for page in pages if len(page) > 1)


def test_the_owner_sees_the_state_and_analysts_do_not(service: Service) -> None:
    service.ask(aggregate="max", column="salary")
    assert service.get("/state", "Ann").status_code == 403
    state = service.get("/state", "Bea").json()
    [column] = state["columns"]
    assert (column["column"], column["answered"], column["denied"]) == ("salary", 1, 0)
    assert state["head"] == service.audit.head()


@pytest.mark.parametrize("who", [None, "", "shoal-0", "x y"])
def test_nobody_without_a_key_sees_anything_but_health(service: Service, who: str | None) -> None:
    for path in ("/transcript", "/columns", "/state"):
        assert service.get(path, who).status_code == 401
    refused = service.ask(who, aggregate="max", column="salary")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert service.audit.transcript() == ()
    assert service.get("/health", None).json() == {"status": "ok"}


# By schemathesis


OPERATIONS = [(f"GET /{path}", GenerationMode.POSITIVE) for path in ("columns", "state", "health")]
OPERATIONS += [
    (operation, mode) for operation in ("POST /query", "GET /transcript") for mode in GenerationMode
]


@pytest.mark.parametrize(("operation", "mode"), OPERATIONS)
def test_the_service_does_what_its_description_says(
    tmp_path: Path, operation: str, mode: GenerationMode
) -> None:
    service = Service(made(str(tmp_path / "a")))
    schema = schemathesis.openapi.from_asgi("/openapi.json", service.app)
    method, path = operation.split()

    @settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(schema[path][method].as_strategy(generation_mode=mode, headers=service.headers("Bea")))
    def holds(case: Any) -> None:
        # The description says that a condition is a text, but not which texts are conditions.
        case.call_and_validate(excluded_checks=[checks.positive_data_acceptance])

    holds()
    assert not contradictions(service.audit.place, {})


def test_the_description_has_all_routes_and_needs_no_key(service: Service) -> None:
    described = service.get("/openapi.json", None).json()
    assert set(described["paths"]) == {"/query", "/transcript", "/columns", "/state", "/health"}
    assert described["paths"]["/query"]["post"]["security"]


# Over real connections


def crowded(place: str, clients: int) -> None:
    limits = replace(EAGER, waiting=clients, connections=clients, per_address=clients)
    service = Service(made(place), limits)
    replies: dict[str, str] = {}
    draws = random.Random(8)
    lists = [draws.sample(NAMES, draws.randint(2, PEOPLE - 2)) for _ in range(clients)]

    async def main(address: str) -> None:
        limits = httpx.Limits(max_connections=clients, max_keepalive_connections=0)
        async with httpx.AsyncClient(
            base_url=address, headers=service.headers("Ann"), limits=limits, timeout=600
        ) as client:

            async def ask(names: list[str]) -> None:
                asked = {"aggregate": "max", "column": "salary", "people": names}
                reply = (await client.post("/query", json=asked)).json()
                query = str(service.audit.query("max", "salary", people=names))
                replies[about(query)] = "denied" if reply["denied"] else reply["answer"]

            await asyncio.gather(*map(ask, lists))

    with served(service) as port:
        asyncio.run(main(f"http://127.0.0.1:{port}"))
    print(f"{len(replies)} queries of {clients} clients")
    assert len(replies) == len(service.audit.transcript())
    assert not contradictions(place, replies)


def test_concurrent_clients_are_served(tmp_path: Path) -> None:
    crowded(str(tmp_path / "a"), 30)


@pytest.mark.slow
def test_a_thousand_concurrent_clients_are_served(tmp_path: Path) -> None:
    crowded(str(tmp_path / "a"), 1000)

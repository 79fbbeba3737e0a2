"""A denial looks like an answer, and what cannot be asked is refused with the reason."""

import json
from typing import Any

import pytest

from shoal.audit import Audit
from shoal.errors import TooLargeError
from tests.audit.salaries import VALUES
from tests.service.serving import Service


def test_an_answer_and_a_denial_have_the_same_form_and_size(service: Service) -> None:
    answer = service.ask(aggregate="max", column="salary", where="dept = 'X'")
    denial = service.ask(aggregate="max", column="salary", people=["p1"])
    assert answer.status_code == denial.status_code == 200
    assert answer.json() == {"denied": False, "answer": str(max(VALUES[::2]))}
    assert denial.json() == {"denied": True, "answer": None}
    assert len(answer.content) == len(denial.content) == 128
    assert {**answer.headers} == {**denial.headers}
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"aggregate": "max", "column": "salary", "where": "salary > 3"}, 400),
        ({"aggregate": "max", "column": "salary", "where": "age > "}, 400),
        ({"aggregate": "max", "column": "salary", "where": "age < 0"}, 400),
        ({"aggregate": "max", "column": "salary", "where": "age = 20", "people": ["p1"]}, 400),
        ({"aggregate": "max", "column": "salary", "people": ["nobody"]}, 400),
        ({"aggregate": "max", "column": "salary", "people": [10**100]}, 400),
        ({"aggregate": "max", "column": "name"}, 400),
        ({"aggregate": "max"}, 400),
        ({"aggregate": "median", "column": "salary"}, 422),
        ({"aggregate": "max", "column": "salary", "sql": "x"}, 422),
        ({"aggregate": "max", "column": "salary", "people": [[]]}, 422),
        ({"aggregate": "max", "column": "salary", "people": [True]}, 422),
        ({"aggregate": "max", "column": "salary", "where": "a" * 9_000}, 422),
        ([], 422),
    ],
)
def test_a_request_that_cannot_be_answered_is_refused_with_the_reason(
    service: Service, body: Any, status: int
) -> None:
    refused = service.client.post("/query", json=body, headers=service.headers("Ann"))
    assert (refused.status_code, list(refused.json())) == (status, ["error"])
    assert service.audit.transcript() == ()


def test_a_text_with_half_a_character_is_refused(service: Service) -> None:
    for field in ("where", "column", "people"):
        half = ["\ud800"] if field == "people" else "\ud800"
        body = json.dumps({"aggregate": "max", "column": "salary", field: half})
        refused = service.client.post("/query", content=body, headers=service.headers("Ann"))
        assert refused.status_code in (400, 422)


def test_a_question_that_is_too_large_to_decide_is_refused_with_the_reason(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise TooLargeError("sums are audited for 10,000 people at most")

    monkeypatch.setattr(Audit, "_decided", fail)
    refused = service.ask(aggregate="max", column="salary")
    assert refused.status_code == 400
    assert "10,000 people at most" in refused.text
    assert service.audit.transcript() == ()

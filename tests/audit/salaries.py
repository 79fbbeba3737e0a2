"""People with salaries under audit, and what contradicts a log: for the tests of audits."""

import random
from typing import Any

import polars as pl

import shoal
from shoal.audit import Audit, Query, Reply, Secret
from shoal.audit.records import Asked
from shoal.audit.secret import FAMILY_OF
from shoal.audit.store import Store

PEOPLE = 40
NAMES = [f"p{i}" for i in range(PEOPLE)]
VALUES = [(i * 37) % 101 + 10 for i in range(PEOPLE)]


def people(**columns: Any) -> shoal.Table:
    frame = {
        "name": NAMES,
        "dept": ["X", "Y"] * (PEOPLE // 2),
        "age": list(range(20, 20 + PEOPLE)),
        "salary": VALUES,
    } | columns
    return shoal.table(pl.DataFrame(frame), types={"name": "text"})


def made(place: str, secret: Secret | None = None, **columns: Any) -> Audit:
    secret = secret or Secret("salary", low=0, high=200)
    return Audit.new(place, people(**columns), secret, public=["name", "dept", "age"], named="name")


def some_query(draws: random.Random, audit: Audit) -> Query:
    return audit.query("max", "salary", people=draws.sample(NAMES, draws.randint(1, PEOPLE)))


class Cut(BaseException):
    """Somebody pulled the plug."""


def contradictions(place: str, told: dict[str, str]) -> list[str]:
    """What is wrong with a log: it holds all replies, and follows from the data by the rules."""
    audit = Audit.open(place)
    found = [
        f"{query}: told {reply}"
        for query, reply in told.items()
        if str(replies_of(audit).get(query)) != reply
    ]
    states: dict[str, Any] = {}
    with Store(place).reading() as turn:
        _, *links = turn.chain()
    asked = set()
    for link in links:
        recorded = Asked.from_dict(link.facts)
        column, decision = recorded.column, recorded.decision
        members = decision.people
        auditor = audit._auditors[column]
        state = states.get(column, auditor.start())
        family = FAMILY_OF[recorded.aggregate]
        truth = audit._truth(column, family, members, audit._dithers.get(column))
        if auditor.decide(state, members, truth) != decision:
            found.append(f"entry {link.number} is not what is decided after those before it")
        if (column, members) in asked:
            found.append(f"entry {link.number} repeats an earlier one")
        asked.add((column, members))
        states[column] = auditor.after(state, decision)
    if any(one.known != states.get(one.secret.column) for one in audit.state()):
        found.append("the state is not that of the log")
    return found


def replies_of(audit: Audit) -> dict[str, Reply]:
    """By people, for names may be listed in another order."""
    return {about(line.query): line.reply for line in audit.transcript()}


def about(query: str) -> str:
    start, listed, names = query.partition(" in (")
    return start + listed + ", ".join(sorted(names.rstrip(")").split(", ")))

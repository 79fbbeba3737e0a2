"""The workbench of a team on the demo, for tests."""

from pathlib import Path

from starlette.testclient import TestClient

from shoal.workbench.access import TeamAccess
from shoal.workbench.app import application
from shoal.workbench.members import ROLES, Members
from tests.workbench.benches import HOST, ORIGIN, hospital

PROJECT = "/p/hospital~hospital"
HEADERS = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}


class Team:
    """The workbench of a team on the demo, and a client for each member."""

    def __init__(self, home: Path) -> None:
        hospital(home)
        self.home = home
        self.members = Members(home)
        self.events: list[object] = []
        self.access = TeamAccess((HOST,), members=self.members)
        self.app = application(home, self.access, self.events.append)
        self.keys = {role: self.members.add(role.title(), role) for role in ROLES}

    def client(self, role: str | None = None) -> TestClient:
        client = TestClient(self.app, base_url=ORIGIN, headers=HEADERS, follow_redirects=False)
        if role is not None:
            assert client.post("/enter", data={"key": self.keys[role]}).status_code == 303
        return client

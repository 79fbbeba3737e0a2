"""What pages share is fetched once, and never outdated."""

import re

from tests.workbench.benches import Bench


def test_browsers_keep_what_pages_share_by_its_digest(empty_bench: Bench) -> None:
    names = re.findall(r'"(/static/[^"]+)"', empty_bench.get("/new"))
    assert len(names) == 4
    for name in names:
        kept = empty_bench.client.get(name)
        assert kept.status_code == 200
        assert "immutable" in kept.headers["cache-control"]
        assert kept.headers["x-content-type-options"] == "nosniff"
        # Under another digest, or none, nothing is kept.
        for other in (name.partition("?")[0], name[:-1]):
            assert empty_bench.client.get(other).headers["cache-control"] == "no-store"


def test_nothing_else_is_shared(empty_bench: Bench) -> None:
    for name in ("workbench.css", "..%2fapp.py", "nothing"):
        empty_bench.get(f"/static/{name}", status=404)

"""Files of a release, read: what cannot be is an error in words."""

from dataclasses import replace
from pathlib import Path

import shoal
from shoal.releases.verification import verify
from tests.releases.test_release_folder import made


def test_a_certificate_that_says_neutralised_of_another_table_fails(tmp_path: Path) -> None:
    out = tmp_path / "out"
    release = replace(made("=1+1"), certificate=replace(made().certificate, private=True))
    path = release.write(out)
    paper = shoal.Certificate.from_json((out / "certificate.json").read_text(encoding="utf-8"))
    for said, found in ((True, "would run as a formula"), ("yes", "not a valid Shoal certificate")):
        forged = replace(paper, file={**(paper.file or {}), "neutralised": said})
        (out / "certificate.json").write_text(forged.to_json(), encoding="utf-8")
        assert [wrong for wrong in verify(out / "certificate.json", path) if found in wrong]

"""`python -m bench.workbench`: how long the workbench makes people wait, on adult and on health.

Times are the best of several, in seconds by the clock, after the table of the screen was read;
"cpu" is what the server itself uses for a page, which other work on the machine does not disturb.
"paint" is the first contentful paint in Chromium, where that and Playwright are installed, and
"page" the processor time of the page's thread until then; "parts" is the slowest of the parts that
come after the page by themselves. Memory is the most that the
server has held, without the process that draws charts, beside a fresh process that reads and codes
the same table.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from html import unescape
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import shoal
from bench.__main__ import Cells, Printed, say
from bench.measure import best, cpu_of, held_by, peak
from bench.sources import CACHE, Source, adult, large
from shoal.workbench.jobs import Job, Jobs
from shoal.workbench.projects import Home, Project
from shoal.workbench.screens import steps

FIRST_PAGE = 1.0
BARS = {"adult": 0.3, "health": 0.5}
"""Seconds until a screen has its first content, by table."""

ROLES = 0.2
DURING_JOB = 0.5

_MAIN = "from shoal.cli import main; main()"
_FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
_PART = re.compile(r'hx-get="([^"]+)"[^>]*hx-trigger="load')
_PAINTED = """() => new Promise((done) => new PerformanceObserver((list) => {
    const found = list.getEntriesByName("first-contentful-paint");
    if (found.length) { done(found[0].startTime); }
}).observe({type: "paint", buffered: true}))"""
_LONGEST = 120.0
"""Seconds that a screen may take to read its table."""


@dataclass
class Served:
    """A workbench in a process of its own, asked as a browser does."""

    process: subprocess.Popen[str]
    address: str
    cookie: str = ""

    def ask(self, path: str, **fields: str) -> str:
        """A page, or a part of one as htmx asks for it; fields are sent as a form."""
        return self._answer("POST" if fields else "GET", path, fields, part=bool(fields))

    def part(self, path: str) -> str:
        """A part of a page."""
        return self._answer("GET", path, {}, part=True)

    def _answer(self, method: str, path: str, fields: dict[str, str], *, part: bool) -> str:
        origin = self.address.partition("/?")[0]
        connection = HTTPConnection(urlsplit(self.address).netloc, timeout=_LONGEST)
        headers = {"Cookie": self.cookie, "Origin": origin, "Sec-Fetch-Site": "same-origin"}
        if part:
            headers["HX-Request"] = "true"
        if fields:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, path, urlencode(fields) or None, headers)
            answer = connection.getresponse()
            if cookie := answer.getheader("Set-Cookie"):
                self.cookie = cookie.partition(";")[0]
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status}: {text[:500]}")
        if 300 <= answer.status < 400:
            return self.ask(answer.getheader("Location") or "/")
        return text


@contextmanager
def serving(home: Path) -> Iterator[Served]:
    """`shoal workbench` on a folder, once it has printed its address."""
    process = subprocess.Popen(
        [sys.executable, "-c", _MAIN, "workbench", str(home), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield Served(process, process.stdout.readline().strip())
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def painting() -> Iterator[Any]:
    """A browser that tells when it has painted; None where there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        yield None
        return
    names = ("chromium", "chromium-browser", "chrome")
    place = next(filter(None, map(shutil.which, names)), None)
    if place is None:
        yield None
        return
    with sync_playwright() as run:
        opened = run.chromium.launch(executable_path=place, args=_FLAGS)
        yield opened
        opened.close()


def project_of(source: Source, home: Path) -> Project:
    """A table as a project in which everything is decided: all columns are quasi-identifying."""
    folder = home / source.path.stem
    folder.mkdir()
    names = shoal.read(source.path).names
    lines = ["[source]", f'path = "{source.path.resolve()}"', "[roles]"]
    lines += [f'"{name}" = "quasi"' for name in names]
    lines += ["[hierarchies]"]
    lines += [f'"{name}" = {{ file = "{source.folder / name}.csv", root = "*" }}' for name in names]
    lines += ["[method]", 'name = "optimal"', "suppression = 0.05"]
    lines += ["[[method.models]]", 'model = "k-anonymity"', "k = 5"]
    (folder / "recipe.toml").write_text("\n".join([*lines, ""]), "utf-8")
    return Home(home).project(f"{folder.name}~recipe")


def first_page(home: Path, repeats: int) -> Printed:
    """From the start of the command until the first page is there."""

    least = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        with serving(home) as served:
            served.ask(urlsplit(served.address).path + "?" + urlsplit(served.address).query)
            least = min(least, time.perf_counter() - start)
    row = ("the command", "first page", least, FIRST_PAGE)
    return Printed("The first page", ("from", "to", "seconds", "bar"), [row])


def screens(served: Served, project: Project, bar: float | None, repeats: int) -> Printed:
    """Each screen's first content after its table was read, and the parts that follow it."""
    rows: list[Cells] = []
    ready(served, project)
    with painting() as browser:
        for address in addresses(project):
            used = cpu_of(served.process.pid)
            took = best(partial(served.ask, address), repeats=repeats)
            cpu = (cpu_of(served.process.pid) - used) / repeats
            parts = parts_of(served.ask(address))
            slowest = [best(partial(served.part, part), repeats=1) for part in parts]
            own, painted = None, None
            if browser is not None:
                own, painted = paint(browser, served, address, repeats)
            name = address.rpartition("/")[2]
            part = max(slowest, default=None)
            rows.append((project.name, name, cpu, took, own, painted, part, bar))
    head = ("table", "screen", "cpu", "server", "page", "paint", "parts", "bar")
    return Printed(f"Screens on {project.name}", head, rows)


def addresses(project: Project) -> list[str]:
    return [f"/p/{quote(project.key)}/{step.key}" for step in steps()]


def parts_of(page: str) -> list[str]:
    """The parts of a page that the browser asks for by itself."""
    return [unescape(address) for address in _PART.findall(page)]


def ready(served: Served, project: Project) -> None:
    """Visit every screen with its parts, and wait for the jobs that this has begun."""
    say(f"{project.name}: every screen once")
    served.ask("/" if served.cookie else _way_in(served))
    for address in addresses(project):
        for part in parts_of(served.ask(address)):
            served.part(part)
    for job in Jobs().of(project):
        job.wait(_LONGEST)


def _way_in(served: Served) -> str:
    parts = urlsplit(served.address)
    return f"{parts.path}?{parts.query}"


def paint(browser: Any, served: Served, address: str, repeats: int) -> tuple[float, float]:
    """Processor time of a page's thread, and seconds until Chromium has painted something of it."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    origin = served.address.partition("/?")[0]
    name, _, value = served.cookie.partition("=")
    context.add_cookies([{"name": name, "value": value, "url": origin}])
    used: list[float] = []
    times: list[float] = []
    for _ in range(repeats):
        page = context.new_page()
        measuring = context.new_cdp_session(page)
        measuring.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(origin + address)
        times.append(page.evaluate(_PAINTED) / 1000)
        told = measuring.send("Performance.getMetrics")["metrics"]
        used.append(next(one["value"] for one in told if one["name"] == "TaskDuration"))
        page.close()
    context.close()
    return min(used), min(times)


def roles(served: Served, project: Project) -> Printed:
    """Deciding one role after another, each time with the risk of what is left."""
    names = shoal.Recipe.load(project.recipe).table().names
    address = f"/p/{quote(project.key)}/roles"
    times = []
    for name in names[:-1]:
        start = time.perf_counter()
        served.ask(f"{address}/set", **{f"role:{name}": "insensitive"})
        served.part(f"{address}/risk")
        times.append(time.perf_counter() - start)
    for name in names:
        served.ask(f"{address}/set", **{f"role:{name}": "quasi"})
    rows: list[Cells] = [
        (project.name, "the slowest change", max(times), ROLES),
        (project.name, "half of all changes", median(times), ROLES),
    ]
    return Printed("A role with its risk", ("table", "what", "seconds", "bar"), rows)


def during_a_job(served: Served, project: Project, repeats: int) -> Printed:
    """Screens that are asked for while releases are being made, one after the other."""
    rows: list[Cells] = []
    job: Job | None = None
    number = 0
    for address in addresses(project):
        times: list[float] = []
        while len(times) < repeats:
            if job is None or not job.is_unfinished:
                number += 1
                job = Jobs().start(project, "release", {"name": f"release {number}"})
            times.append(best(partial(served.ask, address), repeats=1))
        name = address.rpartition("/")[2]
        rows.append((project.name, name, min(times), max(times), DURING_JOB))
    if job is not None:
        job.wait(_LONGEST)
        if job.state != "done":
            raise RuntimeError(f"a release failed: {job.error}")
    head = ("table", "screen", "fastest", "slowest", "bar")
    return Printed(f"Screens while {project.name} is released", head, rows)


def memory(served: Served, source: Source) -> Printed:
    """What the server has held at most, beside the library with the same table."""
    library, server = peak("code", source), held_by(served.process.pid)
    row = (source.name, "peak memory (MB)", library, server, server / library)
    return Printed("Memory", ("table", "what", "library", "workbench", "ratio"), [row])


def measured(sources: Sequence[Source], home: Path, repeats: int = 5) -> Iterator[Printed]:
    """Every figure, a table at a time, each with a server of its own."""
    projects = {source: project_of(source, home) for source in sources}
    say("the first page")
    yield first_page(home, repeats)
    for source, project in projects.items():
        with serving(home) as served:
            bar = BARS.get(source.name.removeprefix("made-up "))
            yield screens(served, project, bar, repeats)
            if source == sources[0]:
                say(f"{source.name}: roles")
                yield roles(served, project)
            if source == sources[-1]:
                say(f"{source.name}: while a job runs")
                yield during_a_job(served, project, min(repeats, 3))
            yield memory(served, source)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.workbench", description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.add_argument("--data", type=Path, default=CACHE, help="where large tables are made")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        for printed in measured([adult(given.data), large("health", given.data)], Path(home)):
            print(printed.text(given.markdown), end="\n\n", flush=True)


if __name__ == "__main__":
    main()

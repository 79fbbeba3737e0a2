"""anjana's and pycanon's own examples, asked of Shoal too: the same answers, and how much faster.

python -m bench.examples ANJANA PYCANON --peers ENVIRONMENT

ANJANA and PYCANON are checkouts of their repositories, which have the tables; ENVIRONMENT is one
with both installed. CPU seconds, so that other work on the machine matters little.
"""

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from math import isclose
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from bench.__main__ import Cells, Printed
from shoal.data.hierarchy import Hierarchy
from shoal.measure.risk import Assessment
from shoal.methods.optimal import Optimal
from shoal.privacy.models import parse_model

ROOT = Path(__file__).parent.parent
REPEATS = 3
ALIKE = 1e-9

MATHS = ["Teacher", "Gender", "Ethnic", "Freeredu", "wesson"]
STROKE = ["gender", "age", "hypertension", "heart_disease", "ever_married", "work_type"]
STROKE += ["Residence_type", "smoking_status"]
DRUGS = ["Age", "Sex", "BP", "Cholesterol", "Na_to_K"]
ADULT = ["age", "education", "occupation", "relationship", "sex", "native-country"]
FLIGHTS = ["Gender", "Customer Type", "Age", "Type of Travel", "Class", "Flight Distance"]
FLIGHTS += ["Departure Delay in Minutes", "Arrival Delay in Minutes"]

CHECKED = (
    ("StudentsMath_Score", MATHS, "Score"),
    ("StudentsMath_Score_k5", MATHS, "Score"),
    ("healthcare-dataset-stroke-data", STROKE, "stroke"),
    ("stroke_k5", STROKE, "stroke"),
    ("drug_type", DRUGS, "Drug"),
    ("drugs_k5", DRUGS, "Drug"),
    ("adult_anonymized_3", ADULT, "salary-class"),
    ("adult_anonymized_20", ADULT, "salary-class"),
    ("airline_passenger_sat_k20", FLIGHTS, "satisfaction"),
)
"""Tables of pycanon's examples with their roles."""

MADE_OF = {
    "age": "age",
    "education": "education",
    "marital-status": "marital",
    "occupation": "occupation",
    "sex": "sex",
    "native-country": "country",
}
MADE = (
    ("k_anonymity", None, 50, "10-anonymity"),
    ("l_diversity", 2, 50, "10-anonymity, distinct 2-diversity of salary-class"),
    ("t_closeness", 0.5, 50, "10-anonymity, 0.5-closeness of salary-class"),
    ("delta_disclosure", 3, 50, "10-anonymity, 3-disclosure of salary-class"),
    ("basic_beta_likeness", 0.5, 100, "10-anonymity, 0.5-likeness of salary-class"),
)
"""Functions of anjana's examples with their settings, all with k = 10, and models of Shoal."""

HOSPITAL = (
    ("k_anonymity", None, 0, "2-anonymity"),
    ("l_diversity", 2, 0, "2-anonymity, distinct 2-diversity of disease"),
)
"""The same for anjana's hospital, with k = 2."""


def examples(anjana: Path, pycanon: Path, made: Path) -> list[dict[str, Any]]:
    """All examples as both sides read them.

    made: a folder for the hierarchies that anjana's example of a hospital has in its code
    """
    found: list[dict[str, Any]] = [
        {
            "file": str(pycanon / "data" / "processed" / f"{name}.csv"),
            "quasi": quasi,
            "sensitive": sensitive,
        }
        for name, quasi, sensitive in CHECKED
    ]
    folder = anjana / "examples"
    for function, strength, limit, _ in MADE:
        found.append(
            {
                "file": str(folder / "data" / "adult.csv"),
                "quasi": [*MADE_OF],
                "sensitive": "salary-class",
                "identifying": "race",
                "k": 10,
                "function": function,
                "strength": strength,
                "suppressed": limit,
                "hierarchies": {
                    name: str(folder / "hierarchies" / f"{file}.csv")
                    for name, file in MADE_OF.items()
                },
            }
        )
    trees = {
        "age": [f"{age};{_interval(age, 5)};{_interval(age, 10)}" for age in range(100)],
        "gender": ["Female;*", "Male;*"],
        "city": ["Tamil Nadu;*", "Kerala;*", "Karnataka;*"],
    }
    for name, lines in trees.items():
        (made / f"{name}.csv").write_text("\n".join(lines) + "\n")
    for function, strength, limit, _ in HOSPITAL:
        found.append(
            {
                "file": str(folder / "data" / "hospital_extended.csv"),
                "quasi": [*trees],
                "sensitive": "disease",
                "identifying": "name",
                "k": 2,
                "function": function,
                "strength": strength,
                "suppressed": limit,
                "separator": ";",
                "hierarchies": {name: str(made / f"{name}.csv") for name in trees},
            }
        )
    return found


def _interval(age: int, width: int) -> str:
    """As anjana writes it, whose comma is no separator here."""
    low = age // width * width
    return f"[{low}, {low + width})"


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        found = work()
        times.append(time.process_time() - start)
    return min(times), found


def read(file: str) -> pl.DataFrame:
    """A table as pandas reads it: without blanks after commas, and without empty lines."""
    frame = pl.read_csv(file, infer_schema=False)
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    frame = frame.rename({name: name.strip() for name in frame.columns})
    return frame.with_columns(pl.all().str.strip_chars_start())


def checked(example: dict[str, Any], theirs: dict[str, Any]) -> tuple[float, str]:
    """Shoal's CPU seconds for the same figures, and whether they are the same."""
    frame = read(example["file"])
    secret = example["sensitive"]
    # pycanon takes the order of numbers into account where pandas finds numbers.
    numbers = frame[secret].cast(pl.Float64, strict=False).null_count() == 0
    types = {secret: "float"} if numbers else {}

    def work() -> Assessment:
        return shoal.assess(
            shoal.table(frame, types=types), quasi=example["quasi"], sensitive=[secret]
        )

    seconds, found = best(work)
    figures = found.sensitive[secret]
    ours = {
        "k": found.k,
        "l": figures.distinct,
        "entropy": int(figures.entropy + ALIKE),
        "t": figures.closeness_ordered if numbers else figures.closeness,
        "beta": figures.likeness,
        "delta": figures.disclosure,
    }
    differ = [
        f"{name} ({ours[name]:.4g}, theirs {value:.4g})"
        for name, value in theirs["answers"].items()
        if not isclose(ours[name] or 0, value, rel_tol=1e-6, abs_tol=ALIKE)
    ]
    return seconds, f"differ: {', '.join(differ)}" if differ else "equal"


def made(example: dict[str, Any], models: str, theirs: dict[str, Any]) -> tuple[float, str]:
    """Shoal's CPU seconds for the same table, and what is left in both."""
    frame = read(example["file"])
    quasi = example["quasi"]
    separator = example.get("separator", ",")
    trees = {name: _tree(file, separator) for name, file in example["hierarchies"].items()}
    columns = [*quasi, example["sensitive"]]

    def work() -> shoal.Release:
        table = shoal.table(
            frame.select(columns),
            quasi=quasi,
            sensitive=[example["sensitive"]],
            hierarchies=trees,
            rows_are_people=True,
        )
        method = Optimal(
            tuple(parse_model(text) for text in models.split(", ")),
            suppression=f"{example['suppressed']}/100",
        )
        return method.release(table)

    seconds, release = best(work)
    levels = "".join(str(release.certificate.levels[name]) for name in quasi)
    answers = theirs["answers"]
    records = f"{int(release.rows.shape[0]):,} records, levels {levels}"
    return seconds, f"{records}; theirs {answers['records']:,}, {_levels(answers)}"


def _tree(file: str, separator: str) -> Hierarchy:
    """A hierarchy of anjana's; Shoal's have one root."""
    lines = pl.read_csv(file, has_header=False, infer_schema=False, separator=separator).rows()
    roots = {line[-1] for line in lines}
    return Hierarchy.from_lines([[*line, "*"] for line in lines] if len(roots) > 1 else lines)


def _levels(answers: dict[str, Any]) -> str:
    """The levels of the columns that a peer came to."""
    return "".join(map(str, answers.get("levels", [])))


def compared(anjana: Path, pycanon: Path, python: Path) -> Printed:
    """Every example, answered by both."""
    with tempfile.TemporaryDirectory() as folder:
        return _compared(examples(anjana, pycanon, Path(folder)), Path(folder), python)


def _compared(asked: list[dict[str, Any]], folder: Path, python: Path) -> Printed:
    (folder / "examples.json").write_text(json.dumps(asked))
    command = [str(python), str(ROOT / "bench" / "peers_examples.py"), f"{folder}/examples.json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answers = json.loads(done.stdout.splitlines()[-1])
    rows: list[Cells] = []
    names = [name for name, *_ in CHECKED]
    names += [f"adult, {name}" for name, *_ in MADE] + [
        f"hospital, {name}" for name, *_ in HOSPITAL
    ]
    models = [""] * len(CHECKED) + [text for *_, text in (*MADE, *HOSPITAL)]
    for name, model, example, theirs in zip(names, models, asked, answers["found"], strict=True):
        if model:
            seconds, words = made(example, model, theirs)
        else:
            seconds, words = checked(example, theirs)
        peer = "anjana" if model else "pycanon"
        ratio = theirs["seconds"] / seconds
        rows.append((name, peer, theirs["seconds"], seconds, ratio, words))
    versions = ", ".join(f"{name} {number}" for name, number in answers["versions"].items())
    head = ("example", "peer", "its CPU seconds", "Shoal's", "times faster", "answers")
    return Printed(f"Their own examples ({versions})", head, rows)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("anjana", type=Path)
    parser.add_argument("pycanon", type=Path)
    parser.add_argument("--peers", type=Path, required=True, metavar="DIR")
    given = parser.parse_args(words)
    python = given.peers / "bin" / "python"
    print(compared(given.anjana, given.pycanon, python).text(markdown=True))


if __name__ == "__main__":
    main()

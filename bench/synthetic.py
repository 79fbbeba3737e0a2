"""Synthetic data by dpmm, as a peer. Runs by itself in dpmm's own environment (it needs an older
numpy), writes rows of the table's own values into a file, prints JSON.

python bench/synthetic.py MODEL TABLE.csv FOLDER-WITH-HIERARCHIES EPSILON DELTA OUT.csv
"""

import csv
import json
import sys
import time
import warnings
from pathlib import Path


def main(model: str, table: str, folder: str, epsilon: str, delta: str, out: str) -> None:
    """Fit a model to a table and write as many rows as that has.

    The domain is what the hierarchies declare. The number of rows is given to the model for free.
    """
    from importlib.metadata import version

    import pandas as pd
    from dpmm.pipelines import AIMPipeline, MSTPipeline

    pipeline = {"MST": MSTPipeline, "AIM": AIMPipeline}[model]
    data = pd.read_csv(table, sep=";", dtype=str, keep_default_na=False)
    values = {name: leaves(Path(folder) / f"{name}.csv") for name in data.columns}
    codes = {name: {value: i for i, value in enumerate(values[name])} for name in data.columns}
    coded = pd.DataFrame({name: data[name].map(codes[name]) for name in data.columns})
    start = time.process_time()
    # Every column is categorical, so the whole of ε is the model's.
    made = pipeline(epsilon=float(epsilon), delta=float(delta), disable_processing=True, n_jobs=1)
    made.fit(coded, domain={name: len(values[name]) for name in data.columns})
    rows = made.generate(n_records=len(coded))
    seconds = time.process_time() - start
    shown = {name: [values[name][code] for code in rows[name]] for name in data.columns}
    pd.DataFrame(shown).to_csv(out, sep=";", index=False)
    print(json.dumps({"seconds": seconds, "version": version("dpmm")}))


def leaves(path: Path) -> list[str]:
    """The values that a hierarchy declares."""
    with path.open(newline="", encoding="utf-8") as file:
        return sorted({line[0] for line in csv.reader(file, delimiter=";") if line})


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])

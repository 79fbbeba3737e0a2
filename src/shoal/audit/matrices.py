"""Numbers on a grid where sums are exact, how far equations are away, and linear programs.

Nothing here knows of auditing. Uses numpy, and HiGHS where it is needed; `polytope` and `slices`
use it.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.errors import ShoalError

__all__ = [
    "Floats",
    "LinearProgram",
    "grid_unit",
    "norms",
    "on_grid",
    "reach",
    "round_down",
]

Floats = npt.NDArray[np.float64]

SETTINGS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    # so that each program starts where the last one ended
    "presolve": "off",
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-10,
}


def grid_unit(columns: int) -> float:
    """The grid on which sums of this many numbers up to 1, and a slack, are exact in floats."""
    return 2.0 ** (columns.bit_length() - 50)


def on_grid(values: Floats, unit: float) -> Floats:
    """The nearest multiples of the unit."""
    return np.rint(values / unit) * unit


def round_down(number: Fraction) -> float:
    """The largest float that is not above a number."""
    near = float(number)
    return near if Fraction(near) <= number else nextafter(near, -inf)


def norms(columns: Floats) -> Floats:
    """Upper bounds on the lengths of columns."""
    lengths: Floats = np.linalg.norm(columns, axis=0) * 1.001
    return lengths


def reach(a: Floats, mass: Floats | None = None) -> float | None:
    """An upper bound on the norm of the pseudo-inverse; None where rows may be dependent.

    mass: how often each column is there; by default once
    """
    # of whole numbers, hence exact
    gram = a @ a.T if mass is None else (a * mass) @ a.T
    try:
        inverse = np.linalg.inv(gram)
    except np.linalg.LinAlgError:
        return None
    size = float(np.linalg.norm(inverse))
    residue = float(np.linalg.norm(np.eye(len(a)) - inverse @ gram))
    rounding = len(a) * 2.0**-51 * size * float(np.linalg.norm(gram))
    wrong = residue + rounding
    if not wrong < 0.5:
        return None
    return sqrt(size / (1 - wrong)) * 1.001


@dataclass(frozen=True)
class LinearProgram:
    """A linear program, as the solver keeps it between runs, and its statuses."""

    solver: Any
    optimal: Any
    unbounded: Any = None

    @classmethod
    def within(
        cls,
        a: Floats,
        rows: tuple[Floats, Floats],
        columns: tuple[Floats, Floats],
    ) -> "LinearProgram":
        """Without costs yet. `rows` and `columns` are the lower and upper ends of both."""
        try:
            import highspy
        except ModuleNotFoundError:
            raise ShoalError(
                "auditing sums needs HiGHS", "install it with: pip install 'shoal[audit]'"
            ) from None
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = a.shape
        model.row_lower_, model.row_upper_ = rows
        model.col_lower_, model.col_upper_ = columns
        model.col_cost_ = np.zeros(a.shape[1])
        starts = np.concatenate([[0], np.cumsum(np.count_nonzero(a, axis=1))])
        places = np.nonzero(a)
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = starts.astype(np.int32)
        model.a_matrix_.index_ = places[1].astype(np.int32)
        model.a_matrix_.value_ = a[places]
        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, setting in SETTINGS.items():
            solver.setOptionValue(option, setting)
        solver.passModel(model)
        statuses = highspy.HighsModelStatus
        return cls(solver, statuses.kOptimal, statuses.kUnbounded)

    def minimum(self) -> float | None:
        """The least value of the objective, or -inf; None if nothing is possible."""
        self.solver.run()
        status = self.solver.getModelStatus()
        if status == self.optimal:
            return float(self.solver.getInfo().objective_function_value)
        return -inf if status == self.unbounded else None

    def ends(self, weights: Floats) -> tuple[float, float] | None:
        """The least and the largest that a weighted sum of columns can be, if anything is."""
        columns = np.flatnonzero(weights)
        found: list[float] = []
        for sign in (1.0, -1.0):
            for column in columns.tolist():
                self.solver.changeColCost(column, sign * float(weights[column]))
            least = self.minimum()
            if least is None:
                return None
            found.append(sign * least)
        for column in columns.tolist():
            self.solver.changeColCost(column, 0.0)
        low, high = found
        return low, high

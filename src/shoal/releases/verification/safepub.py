"""The check of SafePub: is k large enough, do the parts of ε add up, are all groups that large?

Uses `differential`, `levels` and `numbers`. The sums are those of docs/proofs/safepub.md, over all
group sizes, by an arithmetic of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from shoal.data.hierarchy.texts import ANY
from shoal.data.hierarchy.tree import Hierarchy
from shoal.errors import plural
from shoal.releases.verification import differential
from shoal.releases.verification.claims import Claims, is_name_list, one_of
from shoal.releases.verification.differential import DifferentialClaim
from shoal.releases.verification.levels import (
    NOT_OF_EACH,
    bounded_level_faults,
    hierarchies_missing,
    is_score,
    own_score,
    rows_per_person,
    unpaid_faults,
)
from shoal.releases.verification.method import MethodCheck, OpenEnd
from shoal.releases.verification.numbers import (
    CLEARLY,
    MOST_STEPS,
    StatedEpsilon,
    as_decimal,
    digits_for,
    is_numeric,
    precision,
)
from shoal.releases.verification.reading import ReleasedTables
from shoal.releases.verification.refined import EpsilonParts, TreeClaim
from shoal.releases.verification.rows import frequencies, row_codes, totals
from shoal.releases.verification.words import NOT_TAKEN

__all__ = ["CHECK", "Sampling"]

_GRAIN = Fraction(1, 1 << 64)
"""β is a multiple of it, unless it is given."""

_STEP = Fraction(1, 20)
"""One of whose multiples β is where it is chosen by the number of records."""

_AUTO = "auto"

_REVEALS_NOTHING = "such rows reveal nothing and count as suppressed, yet there are some"


@dataclass(frozen=True)
class Sampling:
    """Records drawn with chance β, where groups keep (ε, δ) if they are shown from k records on."""

    beta: Fraction
    epsilon: StatedEpsilon
    delta: Fraction
    definition: str

    @cached_property
    def _digits(self) -> int:
        return digits_for(self.epsilon, self.delta)

    @cached_property
    def largest_beta(self) -> Fraction:
        """1 − e^−ε, rounded down."""
        return 1 - 1 / self.epsilon.power(self._digits)[0]

    @property
    def is_usual(self) -> bool:
        """Whether β is at most 1 − e^−ε, so that a record less never reveals too much."""
        return self.beta <= self.largest_beta

    @cached_property
    def last_size(self) -> int:
        """A group size at or above which nothing that reveals too much has a probability above δ.

        That is at most e^(−nD) in a group of n, with D = γ ln(γ/β) − (1 − γ)ε: theorem 3 of
        docs/proofs/safepub.md.
        """
        rest = (1 - self.beta) / self.epsilon.power(self._digits)[0]
        with precision(self._digits):
            return self._first_size(as_decimal(1 - rest), -as_decimal(self.delta).ln())

    @cached_property
    def last_size_with_less(self) -> int:
        """The same for a record less: there it is at most γ/(1 − β)·e^(−nD)."""
        rest = (1 - self.beta) * self.epsilon.power(self._digits)[0]
        with precision(self._digits):
            gamma = as_decimal(1 - rest)
            most = gamma / as_decimal(1 - self.beta)
            return self._first_size(gamma, (most / as_decimal(self.delta)).ln())

    def _first_size(self, gamma: Decimal, needed: Decimal) -> int:
        """The first n with nD of at least what is needed, D being the divergence of γ from β."""
        beta = as_decimal(self.beta)
        drawn = gamma * (gamma / beta).ln()
        left = (1 - gamma) * ((1 - gamma) / (1 - beta)).ln()
        size = needed / (drawn + left)
        return max(int(size * (1 + Decimal("1e-20"))) + 1, 1)

    def can_be_summed(self, k: int) -> bool:
        """Whether the sums by which k is checked are short enough."""
        sizes = [self.last_size]
        if not self.is_usual:
            sizes.append(self.last_size_with_less)
        return max(sizes) - k <= MOST_STEPS

    def keeps(self, k: int) -> bool:
        """Whether suppressing groups below k keeps (ε, δ), in both orders of neighbours."""
        return self._keeps_with_more(k) and (self.is_usual or self._keeps_with_less(k))

    def _keeps_with_less(self, k: int) -> bool:
        """Whether a record less never reveals too much; for the standard definition.

        With γ = 1 − (1 − β)e^ε a count below γn does, and so may that nothing is seen. With i the
        first count that is at least k and γn, P[X_n−1 < i] − e^ε P[X_n < i] ≤ δ is asked for, for
        every n: lemma 6 of docs/proofs/safepub.md.
        """
        low, _ = self.epsilon.power(self._digits)
        # 1 − γ, rounded down where it is irrational.
        over, under = ((1 - self.beta) * low).as_integer_ratio()
        with precision(self._digits):
            drawn = as_decimal(self.beta)
            left = as_decimal(1 - self.beta)
            growth = as_decimal(low)
            limit = as_decimal(self.delta * (1 + CLEARLY))
            i = k
            # P[X_n = i − 1] and P[X_n < i], for n = i = k.
            term = k * drawn ** (k - 1) * left
            below = 1 - drawn**k
            for n in range(k, self.last_size_with_less):
                # ⌈γn⌉
                first = n - over * n // under
                while i < first:
                    term *= drawn * (n - i + 1) / (left * i)
                    below += term
                    i += 1
                # P[X_n−1 < i] is P[X_n < i] and the part of P[X_n−1 = i − 1] that one draw adds.
                before = below + drawn * term * (n - i + 1) / (n * left)
                if before - growth * below > limit:
                    return False
                below -= drawn * term
                term *= left * (n + 1) / (n + 2 - i)
        return True

    def _keeps_with_more(self, k: int) -> bool:
        """Whether a record more never reveals too much.

        Of a group of n records X are drawn. A count j tells too much if j > γn, with
        γ = 1 − (1 − β)e^−ε, and is seen if j ≥ k. With i the first such j, the probabilistic
        definition asks for P[X_n ≥ i] ≤ δ, the standard one for P[X_n ≥ i] − e^ε P[X_n−1 ≥ i] ≤ δ,
        for every n: lemma 2 of docs/proofs/safepub.md. Both go from n to n + 1 and from i to i + 1
        by one term.
        """
        low, high = self.epsilon.power(self._digits)
        # 1 − γ, rounded up where it is irrational.
        over, under = ((1 - self.beta) / low).as_integer_ratio()
        probabilistic = self.definition == "probabilistic"
        with precision(self._digits):
            drawn = as_decimal(self.beta)
            left = as_decimal(1 - self.beta)
            growth = as_decimal(high)
            limit = as_decimal(self.delta * (1 + CLEARLY))
            i = k
            # P[X_n = i] and P[X_n ≥ i], for n = i = k.
            term = tail = drawn**k
            for n in range(k, self.last_size):
                # ⌊γn⌋ + 1
                first = n - -(-over * n // under) + 1
                while i < first:
                    tail -= term
                    term *= drawn * (n - i) / (left * (i + 1))
                    i += 1
                lost = tail
                if not probabilistic:
                    lost -= growth * (tail - term * i / n)
                if lost > limit:
                    return False
                tail += term * i * left / (n + 1 - i)
                term *= left * (n + 1) / (n + 1 - i)
        return True


@dataclass(frozen=True)
class SafePubClaim:
    """What a certificate of SafePub says."""

    claims: Claims
    privacy: DifferentialClaim
    k: int
    beta: Fraction
    given_beta: Fraction | None
    """What the parameters ask for; None for the largest that is usual, or one that is chosen."""

    chosen_beta: bool
    """Whether β was chosen by the number of records."""

    records: int | None
    """About how many records there are, where that was public."""

    parts: EpsilonParts
    split: Fraction
    """The share of ε that is for the anonymisation."""

    searched_by: str
    tree: TreeClaim | None
    has_steps: bool
    fixed_levels: Mapping[str, int] | None
    floor: Mapping[str, int]
    ceiling: Mapping[str, int]

    @property
    def levels(self) -> Mapping[str, int]:
        return self.claims.levels

    @cached_property
    def sampling(self) -> Sampling:
        privacy = self.privacy
        return Sampling(self.beta, self.parts.release, privacy.row_delta, privacy.definition)


def parse(claims: Claims) -> SafePubClaim:
    given = claims.parameters
    derived = claims.derived
    given.require(is_numeric, "importance", "split", "steps")
    given.require(is_name_list, "classes")
    given.require(is_score, "score")
    parts = EpsilonParts.read(claims, "epsilon_anonymisation")
    chosen = given.part["beta"] == _AUTO
    return SafePubClaim(
        claims,
        privacy=DifferentialClaim.read(claims),
        k=derived.whole("k"),
        beta=derived.number("beta"),
        given_beta=None if chosen else given.number_if_any("beta"),
        chosen_beta=chosen,
        records=given.whole_if_any("records"),
        parts=parts,
        split=Fraction(1) if parts.search is None else given.number("split"),
        searched_by=given.checked(one_of("select", "walk", "tree"), "search"),
        tree=TreeClaim.read(claims),
        has_steps=given.part["steps"] is not None,
        fixed_levels=given.levels_if_any("levels"),
        floor=given.levels("floor"),
        ceiling=given.levels("ceiling"),
    )


def derivation(record: SafePubClaim) -> Iterator[str]:
    """Whether everything on the certificate follows from the parameters, and k is large enough."""
    yield from record.privacy.faults()
    yield from _level_faults(record)
    privacy = record.privacy
    has_tree = record.tree is not None
    if not record.parts.add_up(privacy.row_epsilon, record.split, has_tree=has_tree):
        rows = record.privacy.rows
        over = f" over {rows} rows" if rows > 1 else ""
        yield f"the parts of epsilon do not add up to {record.privacy.epsilon_text}{over}"
    if record.privacy.semantic_k is not None:
        yield "semantic k-anonymity is promised, which sampling does not keep"
    if record.has_steps != (record.searched_by == "walk"):
        yield f"{NOT_TAKEN}: a walk has steps, and nothing else has"
    yield from _sampling_faults(record)


def _level_faults(record: SafePubClaim) -> Iterator[str]:
    levels = record.levels
    names = record.claims.names
    quasi = record.claims.quasi
    refined = () if record.tree is None else record.tree.names
    if not set(quasi) <= {*levels, *refined} <= set(names):
        yield NOT_OF_EACH
    if record.tree is not None:
        yield from record.tree.faults(record.parts.tree)
    searched = record.parts.search is not None
    if (record.searched_by == "tree" and searched) != (record.tree is not None):
        yield "the levels were not chosen as the parameters say"
    if record.fixed_levels is None:
        yield from bounded_level_faults(levels, record.floor, record.ceiling)
    elif record.fixed_levels != levels or searched:
        yield (
            "the levels are not those that the parameters fix, "
            "or a search is paid for that did not take place"
        )


def _sampling_faults(record: SafePubClaim) -> Iterator[str]:
    """Whether β and k are those that ε and δ ask for."""
    beta = record.beta
    k = record.k
    sampling = record.sampling
    beta_faults = list(_beta_faults(record))
    if beta_faults:
        yield from beta_faults
    elif sampling.can_be_summed(k):
        if not sampling.keeps(k):
            yield f"k = {k} is too small for this epsilon, delta and beta"
        smaller_delta = sampling.delta * (1 - 10**10 * CLEARLY)
        clearly = Sampling(beta, sampling.epsilon, smaller_delta, sampling.definition)
        if k > 1 and clearly.keeps(k - 1):
            yield (
                f"k = {k} is larger than this epsilon, delta and beta ask for: "
                "it was not derived from them"
            )


def _beta_faults(record: SafePubClaim) -> Iterator[str]:
    """Whether β is one that the parameters, ε and the definition allow."""
    beta = record.beta
    sampling = record.sampling
    largest = sampling.largest_beta
    usual = beta <= largest < beta + _GRAIN and not beta % _GRAIN
    asked = record.given_beta is not None or record.chosen_beta
    allowed = sampling.is_usual or (asked and sampling.definition == "standard")
    if not (0 < beta < 1 and allowed):
        yield "beta is above 1 - e^-epsilon: records were drawn too often"
    elif record.given_beta is not None:
        if record.given_beta != beta:
            yield "beta is not the one that the parameters give"
    elif record.chosen_beta:
        if beta % _STEP and not usual:
            yield "beta is not one of those that are chosen from"
        if record.records is None and record.parts.search is None:
            yield "nothing is paid for the number of records, though beta was chosen by it"
    elif not usual:
        yield "beta is not the largest chance that epsilon allows: it was not derived from it"
    if record.records is not None and not record.chosen_beta:
        yield f"{NOT_TAKEN}: the number of records decides on beta, and on nothing else"


def released(record: SafePubClaim, tables: ReleasedTables) -> Iterator[str]:
    """Whether the table has only what may be released."""
    table = tables.table
    sizes = totals(row_codes(table, table.names), frequencies(table))
    small = int((sizes < record.k).sum())
    if small:
        yield (
            f"{small:,} of {plural(len(sizes), 'group')} over all columns "
            f"have fewer than k = {record.k} rows"
        )
    if table.rows and all(_is_at_root(record, tables, name) for name in table.names):
        yield f"every column is at its root: {_REVEALS_NOTHING}"
    if record.tree is not None:
        yield from record.tree.released(tables)
        if record.tree.at_root(tables):
            yield f"a row has every column at its root: {_REVEALS_NOTHING}"
    if record.parts.search is None and record.fixed_levels is None:
        yield from unpaid_faults(tables, record.floor, record.ceiling)


def _is_at_root(record: SafePubClaim, tables: ReleasedTables, name: str) -> bool:
    if name not in record.levels:
        return False
    tree = tables.level_trees.get(name)
    if tree is None:
        return tables.table.keys(name) == (ANY,)
    return record.levels[name] == tree.height


def trusted(record: SafePubClaim, hierarchies: Mapping[str, Hierarchy]) -> Iterator[OpenEnd]:
    yield OpenEnd(
        "that every record was drawn by chance, with the probability beta, "
        "and that nobody knows the draws"
    )
    if record.tree is not None:
        yield from record.tree.open_ends(hierarchies)
    elif record.parts.search is not None:
        yield OpenEnd(
            "that the levels were chosen by the search that is paid for, on a sample of its own"
        )
        yield from own_score(record.claims)
    if record.chosen_beta and record.records is None:
        yield OpenEnd("that beta was chosen by a noisy number of records, paid for by the search")
    if record.records is not None:
        yield OpenEnd("that the number of records was public, and not counted for this release")
    yield from rows_per_person(record.privacy.unit, record.privacy.rows)
    yield from hierarchies_missing(record.claims, hierarchies)
    yield OpenEnd("that the hierarchies were public, and not made from the rows")
    if not record.sampling.can_be_summed(record.k):
        yield OpenEnd("that k is large enough: for so small an epsilon the sum is too long")


def free(record: SafePubClaim) -> Iterator[str]:
    yield from ("score", "importance", "floor", "ceiling", "classes", "search", "steps")
    if record.parts.search is None:
        yield "split"
    if record.records is not None:
        yield "records"


CHECK = MethodCheck(
    name="safepub",
    promises=(differential.PROMISE,),
    parameters="epsilon delta definition split score importance floor ceiling classes search steps"
    " levels beta records unit rows",
    derived="k beta epsilon_anonymisation epsilon_search delta definition rows"
    " epsilon_order epsilon_tree tree",
    parse=parse,
    derivation=derivation,
    released=released,
    trusted=trusted,
    free=free,
)

"""What a release tells its owner: plain sentences, marked as theirs."""

from shoal.releases.facts import Entered, Facts, KeptFacts


def test_the_owner_is_told_figures_then_concerns_then_the_loss() -> None:
    facts = Facts(records=8, suppressed=2, loss=0.25, concerns=("few people", "fewer towns"))
    assert list(facts.lines()) == [
        "2 records suppressed, 25 %",
        "few people",
        "fewer towns",
        "loss 25 %, from 0 % for the input to 100 % for nothing left",
    ]


def test_what_is_not_known_or_did_not_happen_is_not_mentioned() -> None:
    assert list(Facts().lines()) == []
    assert list(Facts(records=8, groups=3, crowd=4).lines()) == []
    assert list(Facts(records=8, suppressed=1).lines()) == ["1 record suppressed, 12.5 %"]


def test_a_loss_of_nothing_is_known_too() -> None:
    assert list(Facts(loss=0.0).lines()) == [
        "loss 0 %, from 0 % for the input to 100 % for nothing left"
    ]


def test_kept_records_are_a_share_of_all_unless_there_are_none() -> None:
    kept = KeptFacts(records=2000, kept=1500, groups=1, suppressed=500)
    assert list(kept.lines()) == ["1,500 of 2,000 records kept (75 %), in 1 group"]
    drawn = KeptFacts(records=2000, used=600, kept=450, groups=9, suppressed=1550)
    assert list(drawn.lines()) == [
        "600 of 2,000 records drawn, at most `rows` of each person",
        "450 of 600 records kept (75 %), in 9 groups",
    ]
    assert list(KeptFacts(kept=0).lines()) == ["0 of 0 records kept, in 0 groups"]


def test_all_of_it_is_marked_as_the_owners() -> None:
    for facts in (Facts(records=7), KeptFacts(records=7, kept=3), Entered(2, other_data=False)):
        assert repr(facts).startswith(f"owner only: {type(facts).__name__}(")
        assert repr(facts).count("owner only") == 1

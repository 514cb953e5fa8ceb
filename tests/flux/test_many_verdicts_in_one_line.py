"""Roll-ups: counts that add up, the worst settled health, each cause once, green only when every member is live."""

from hypothesis import given
from hypothesis import strategies as st

from clusters_app.flux.rollup import WORDS, Member, member_of, problems, roll_up, word_of
from clusters_app.flux.status import Control, Freshness, Health

from .documents import failing, git_repository, judged, kustomization, ready

members = st.builds(
    Member,
    st.sampled_from(Health),
    st.sampled_from(Health),
    st.sampled_from(Control),
    st.sampled_from(Freshness),
    st.booleans(),
)


def good(freshness: Freshness = Freshness.LIVE, control: Control = Control.ACTIVE) -> Member:
    return Member(Health.READY, Health.READY, control, freshness)


BAD = Member(Health.FAILING, Health.FAILING, Control.ACTIVE, Freshness.LIVE)


@given(st.lists(members, max_size=30))
def test_counts_always_add_up(drawn: list[Member]) -> None:
    found = roll_up(drawn)
    assert sum(found.counts.values()) == found.total == len(drawn)
    assert set(found.counts) <= set(WORDS)


@given(st.lists(members, min_size=1, max_size=30))
def test_green_only_when_every_member_is_green(drawn: list[Member]) -> None:
    assert roll_up(drawn).is_green is all(member.is_green for member in drawn)
    if roll_up(drawn).is_green:
        assert all(member.freshness is Freshness.LIVE and member.control is Control.ACTIVE for member in drawn)


def test_a_line_says_how_many_are_what() -> None:
    line = roll_up([good()] * 37 + [BAD] * 2 + [good(Freshness.STALE)])
    assert str(line) == "37 ok / 2 failing / 1 stale"
    assert (line.worst, line.is_green) == (Health.FAILING, False)


def test_nothing_is_not_green() -> None:
    assert (roll_up([]).is_green, str(roll_up([])), roll_up([]).worst) == (False, "nothing", None)


def test_progress_over_a_failure_is_counted_as_failing() -> None:
    assert word_of(Member(Health.PROGRESSING, Health.FAILING, Control.ACTIVE, Freshness.LIVE)) == "failing"
    assert word_of(Member(Health.PROGRESSING, Health.READY, Control.ACTIVE, Freshness.LIVE)) == "waiting"


def test_suspended_is_neither_green_nor_red() -> None:
    assert word_of(good(control=Control.SUSPENDED)) == "suspended"
    assert word_of(Member(Health.FAILING, Health.FAILING, Control.SUSPENDED, Freshness.LIVE)) == "suspended"


def test_green_that_nobody_watches_is_not_ok() -> None:
    assert word_of(good(control=Control.ORPHANED)) == "orphaned"
    assert [word_of(good(freshness)) for freshness in Freshness] == ["ok", "stale", "stale", "stale"]


def test_what_is_blocked_is_counted_once_under_its_root() -> None:
    blocked = [
        kustomization(
            f"app-{number}",
            failing("DependencyNotReady", "dependency 'flux-system/infra' is not ready"),
            spec={"dependsOn": [{"name": "infra"}]},
        )
        for number in range(30)
    ]
    verdicts = judged(
        kustomization("infra", failing("BuildFailed", "no")), *blocked, kustomization("ok", ready()), git_repository()
    )
    (row,) = problems({verdict.ref: verdict for verdict in verdicts.values()})
    assert (str(row.root), len(row.blocked), row.verdict is not None) == ("Kustomization/flux-system/infra", 30, True)
    assert roll_up(map(member_of, verdicts.values())).counts == {"ok": 2, "failing": 1, "blocked": 30}


def test_a_root_that_does_not_exist_is_a_problem_too() -> None:
    lost = kustomization("apps", failing("ArtifactFailed", "Source 'GitRepository/flux-system/fleet' not found"))
    (row,) = problems({verdict.ref: verdict for verdict in judged(lost).values()})
    assert (str(row.root), row.verdict, list(map(str, row.blocked))) == (
        "GitRepository/flux-system/fleet",
        None,
        ["Kustomization/flux-system/apps"],
    )


def test_the_largest_problem_comes_first() -> None:
    def on(name: str, dependency: str) -> dict[str, object]:
        message = f"dependency 'flux-system/{dependency}' is not ready"
        return kustomization(name, failing("DependencyNotReady", message), spec={"dependsOn": [{"name": dependency}]})

    broken = [kustomization(name, failing("BuildFailed", "no")) for name in ("one", "two")]
    verdicts = judged(*broken, on("a", "two"), on("b", "two"), on("c", "one"), git_repository())
    rows = problems({verdict.ref: verdict for verdict in verdicts.values()})
    assert [row.root.name for row in rows] == ["two", "one"]

"""Exactly one pull request for a promotion, on forges that accept two, lose answers and lag behind."""

from collections.abc import Callable

from .base import Draft, Forge, PullRequest, State
from .errors import ForgeError, ForgePermanent, Meaning


def ensure_open(forge: Forge, draft: Draft, still_mine: Callable[[], bool]) -> PullRequest | None:
    """The pull request that carries the draft's key, found or created; None when the lease was lost meanwhile.

    One that was merged, or that a person closed, is answered as it is: nothing new is made under its key. `still_mine`
    is asked right before the only call that makes something. Raises ForgePermanent `forge.foreign-request` when an open
    pull request of somebody else has the branch.
    """
    if found := _ours(forge, draft):
        return found
    if not still_mine():
        return None
    try:
        created = forge.create(draft)
    except ForgeError as error:
        if error.meaning is Meaning.ALREADY and (found := _ours(forge, draft)):
            return found
        raise
    # Listed again: another worker may have created one too. A list that lags behind lacks even ours.
    return _ours(forge, draft) or created


def _ours(forge: Forge, draft: Draft) -> PullRequest | None:
    """The oldest open one with our key, else the newest that was merged or closed. Younger open ones are closed."""
    found = forge.find(head=draft.head, base=draft.base)
    ours = sorted((each for each in found if each.carries(draft.key)), key=lambda each: each.number)
    opened = [each for each in ours if each.state is State.OPEN]
    for surplus in opened[1:]:
        forge.close(surplus.number)
    foreign = [each for each in found if each.state is State.OPEN and each not in ours]
    if foreign and not opened:
        raise ForgePermanent("forge.foreign-request", url=foreign[0].url)
    merged = [each for each in ours if each.state is State.MERGED]
    return next(iter([*opened[:1], *merged[-1:], *ours[-1:]]), None)

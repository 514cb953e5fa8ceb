"""Who may send what, found out by sending it: the text that is compared with `matrix.txt`."""

from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

from django.db import transaction
from django.test import Client

from clusters_app.access import need_of
from clusters_app.queries import VERBS
from tests.access.requests import Request, all_requests, send
from tests.access.world import FOREIGN, OWN, World

FILE = Path(__file__).with_name("matrix.txt")
ROLES = ("viewer", "developer", "operator", "admin")
PLACES: Mapping[str, tuple[str, ...]] = {"all": (), "own": OWN, "foreign": FOREIGN}
SCOPES = "scopes"
GROUPS = ("anon", "none", *PLACES, SCOPES)
HEAD = """\
Who may send what: one line a route and method, one sign a person. Each sign was found by a request to a row of the own
environment. Made by `python -m tests.access`; a change of this file is a change of who may do what: review it.

  +  let in (done, or only its form was wrong)    -  refused: 403    .  not there for this person: 404
  ?  asked to sign in

Groups of four are viewer, developer, operator, administrator: everywhere (all), in the own environments, in a foreign
one. HEAD is answered as GET is.
"""
TOKENS = """
With a token of an administrator everywhere that has one scope alone: view, promote, edit, approve, operate, administer.
"""


def written(world: World) -> str:
    """The whole text. Some two thousand requests, each rolled back."""
    by_group = {group: signs(world, group) for group in GROUPS}
    rows = list(by_group["all"])
    width = max(map(len, rows))
    titles = "  ".join(f"{group:4}" for group in GROUPS if group != SCOPES)
    lines = [HEAD, f"{'':{width}}  {'needs':22} {titles}".rstrip()]
    for row in rows:
        found = "  ".join(f"{by_group[group][row]:4}" for group in GROUPS if group != SCOPES)
        lines.append(f"{row:{width}}  {_need(row):22} {found}".rstrip())
    lines += [TOKENS, *(f"{row:{width}}  {found}" for row, found in by_group[SCOPES].items())]
    return "\n".join(lines) + "\n"


def signs(world: World, group: str) -> dict[str, str]:
    """Row → one sign for each person of the group."""
    clients = _clients(world, group)
    wanted = [request for request in all_requests() if request[1] != "HEAD"]
    if group == SCOPES:
        wanted = [request for request in wanted if request[0].startswith("api-")]
    return {_row(request): "".join(_sign(client, world, request) for client in clients) for request in wanted}


def reviewed(group: str) -> dict[str, str]:
    """The same, as the file has it."""
    by_role, by_scope = FILE.read_text(encoding="utf-8").removeprefix(HEAD).split(TOKENS)
    if group == SCOPES:
        words = [line.split() for line in by_scope.strip().splitlines()]
        return {f"{method:6} {route}": found for method, route, found in words}
    lines = [line.split() for line in by_role.strip().splitlines()[1:]]
    column = GROUPS.index(group) - len(GROUPS) + 1
    return {f"{words[0]:6} {words[1]}": words[column] for words in lines}


def _clients(world: World, group: str) -> list[Client]:
    if group == "anon":
        return [world.browser(None)]
    if group == "none":
        return [world.browser(world.person("nobody"))]
    if group == SCOPES:
        admin = world.person("admin-all", "admin")
        return [world.script(admin, verb) for verb in VERBS]
    return [world.browser(world.person(f"{role}-{group}", role, *PLACES[group])) for role in ROLES]


def _row(request: Request) -> str:
    route, method = request
    return f"{method:6} {route}"


def _need(row: str) -> str:
    method, route = row.split()
    return str(need_of(route, method))


def _sign(client: Client, world: World, request: Request) -> str:
    """What the answer means; afterwards world and client are as they were (leaving signs a client out)."""
    cookies = copy(client.cookies)
    with transaction.atomic():
        answer = send(client, world, request)
        transaction.set_rollback(True)
    client.cookies = cookies
    return sign_of(answer)


def sign_of(answer: Any) -> str:
    if answer.status_code == 401 or (answer.status_code == 302 and answer["Location"].startswith("/sign-in/?next=")):
        return "?"
    known = {403: "-", 404: "."}
    assert answer.status_code < 500, answer.content[:500]
    assert answer.status_code != 405, answer.request
    return known.get(answer.status_code, "+")

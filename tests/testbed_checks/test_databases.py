"""PostgreSQL, Valkey and Chromium answer as the real ones that they are."""

import psycopg
import pytest
import redis

from tests.testbed.postgres import Postgres

pytestmark = pytest.mark.testbed


def test_each_database_is_new_and_empty(postgres: Postgres) -> None:
    first, second = postgres.create_database(), postgres.create_database()
    with psycopg.connect(first) as connection:
        connection.execute("CREATE TABLE seen (id int)")
    with psycopg.connect(second) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert tables == (0,)


def test_postgresql_wants_its_password(postgres_url: str) -> None:
    user, _, place = postgres_url.partition("@")
    without = f"{user.rpartition(':')[0]}@{place}"
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(without)


def test_valkey_keeps_what_it_is_given(valkey: str) -> None:
    with redis.Redis.from_url(valkey) as client:
        client.set("key", "value")
        assert client.get("key") == b"value"

"""What can go wrong with a Postgres server, each as a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolTimeout

from recurrentgpt.schema.errors import StorageError


@contextmanager
def storage_errors(place: str) -> Iterator[None]:
    """Turn the faults of server and connection into a StorageError that names `place`; let defects of the code pass.

    The original error is dropped rather than chained: what libpq says may quote the address, password included.
    """
    try:
        yield
    except (
        psycopg.OperationalError,
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.ReadOnlySqlTransaction,
    ) as error:
        advice = _advice(error)
    else:
        return
    raise StorageError(f"{place} cannot be used: {advice}") from None


def _advice(error: psycopg.Error) -> str:
    """Say what is wrong and what to do. What fails while connecting carries no code, only the server's words."""
    said = str(error)
    if isinstance(error, PoolTimeout):
        return "no connection came free in time; check that the server is running, and run again."
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return "its user may not create or change tables there; grant it CREATE on the schema."
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        return "the server is read-only; point RECURRENTGPT_DATABASE_URL at the primary server."
    if isinstance(error, psycopg.errors.DiskFull):
        return "the server's disk is full; free some space there and run again."
    if isinstance(error, psycopg.errors.DeadlockDetected | psycopg.errors.LockNotAvailable):
        return "another program holds it locked; end that program and run again."
    if any(words in said for words in ("authentication failed", "no password", 'role "', "no pg_hba.conf entry")):
        return "the server refused the user or password; correct RECURRENTGPT_DATABASE_URL."
    if 'database "' in said:
        return "the server has no such database; create it, or correct RECURRENTGPT_DATABASE_URL."
    return "the server cannot be reached; start it, or correct RECURRENTGPT_DATABASE_URL, and run again."

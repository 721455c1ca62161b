"""Who may talk to the desk."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

import pytest
from fastapi.testclient import TestClient

from recurrentgpt.desk.app import create_app
from recurrentgpt.desk.backend.guard import COOKIE, MOST_BYTES
from tests.desk.conftest import API, HOST, Client

TOKEN = "0123456789abcdef0123"


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:9", "127.0.0.1"])
def test_the_desk_answers_to_this_machines_own_names(client: Client, host: str) -> None:
    assert client.http.get(f"{API}/stories", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "[::1", "192.168.1.7"]
)
def test_a_name_that_somebody_pointed_here_is_refused(client: Client, host: str) -> None:
    answer = client.http.get(f"{API}/stories", headers={"Host": host})
    assert answer.status_code == 400
    assert "stories" not in answer.json()


@pytest.mark.parametrize("address", ["192.168.1.7", "8.8.8.8", "fe80::1", "nobody"])
def test_another_machine_is_refused_whatever_host_it_names(client: Client, address: str) -> None:
    elsewhere = TestClient(client.app, base_url=HOST, client=(address, 50000))
    assert elsewhere.get(f"{API}/stories").status_code == 403


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded"])
def test_what_came_through_a_proxy_is_refused(client: Client, header: str) -> None:
    assert client.http.get(f"{API}/stories", headers={header: "for=127.0.0.1"}).status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost", "file://"]
)
def test_a_post_from_another_page_is_refused(client: Client, origin: str) -> None:
    answer = client.http.post(f"{API}/stories", json={}, headers={"Origin": origin})
    assert answer.status_code == 403
    assert client.get("/stories")["stories"] == []


def test_the_desks_own_page_may_post(client: Client) -> None:
    answer = client.http.put(f"{API}/settings", json={}, headers={"Origin": HOST, "Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 200


@pytest.mark.parametrize("mode", ["no-cors", "cors", "navigate"])
def test_another_site_cannot_read_the_interface(client: Client, mode: str) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode}
    assert client.http.get(f"{API}/stories", headers=headers).status_code == 403


def test_a_link_from_another_site_opens_the_page(client: Client) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.http.get("/desk/", headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/desk/", f"{API}/stories", f"{API}/nothing", "/desk/stamp.json"])
def test_every_answer_carries_the_policy(client: Client, path: str) -> None:
    headers = client.http.get(path).headers
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"


def test_the_page_has_no_inline_script_or_style(client: Client) -> None:
    page = client.http.get("/desk/").text
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert "<style" not in page
    assert re.findall(r"""\s(?:style|on\w+)=""", page) == []
    assert all(found.startswith(("/desk/", "data:,")) for found in re.findall(r'(?:src|href)="([^"]*)"', page))


def test_a_body_may_not_be_endless(client: Client) -> None:
    body = b'{"premise": "' + b"a" * MOST_BYTES + b'"}'
    assert client.http.post(f"{API}/stories", content=body).status_code == 413


@pytest.fixture
def guarded(tmp_path) -> TestClient:
    """Give a desk that asks for a token."""
    return TestClient(
        create_app(folder=tmp_path, token=TOKEN), base_url="http://192.168.1.7:8000", follow_redirects=False
    )


def test_without_the_token_nothing_is_given(guarded: TestClient) -> None:
    for path in ("/", "/desk/", f"{API}/formats", f"{API}/openapi.json", "/desk/?token=wrong"):
        assert guarded.get(path).status_code == 401
    assert guarded.get(f"{API}/formats", headers={"Authorization": "Bearer é".encode("latin-1")}).status_code == 401


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address(guarded: TestClient) -> None:
    moved = guarded.get(f"/desk/?token={TOKEN}")
    assert moved.status_code == 303
    assert moved.headers["location"] == "/desk/"
    assert "httponly" in moved.headers["set-cookie"].lower()
    assert "samesite=strict" in moved.headers["set-cookie"].lower()
    assert guarded.get(f"{API}/formats").status_code == 200
    assert guarded.cookies[COOKIE] == TOKEN


@pytest.mark.parametrize(
    "path", ["//evil.example/", "///evil.example", "/\\evil.example/", "//evil.example/%2e%2e/desk/"]
)
def test_the_token_leads_to_no_other_host(guarded: TestClient, path: str) -> None:
    moved = guarded.get(f"http://192.168.1.7:8000{path}?token={TOKEN}")
    assert moved.status_code == 303
    there = urljoin("http://192.168.1.7:8000/desk/", moved.headers["location"].replace("\\", "/"))
    assert urlsplit(there).netloc == "192.168.1.7:8000"


def test_a_program_brings_the_token_as_a_bearer(guarded: TestClient) -> None:
    assert guarded.get(f"{API}/formats", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_a_name_is_refused_also_with_a_token(guarded: TestClient) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}
    assert guarded.get(f"{API}/formats", headers=headers).status_code == 400

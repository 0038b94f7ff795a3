"""Certificates that an HTTP session trusts."""

from __future__ import annotations

import ssl

import httpx2
import pytest

from weighbridge_producer.client.http_session import _certificates


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_an_encrypted_service_needs_a_certificate_of_the_systems_authorities() -> None:
    assert _certificates(httpx2.URL("https://grades.example")) is True


def test_an_unencrypted_service_needs_none_and_a_redirection_to_another_is_not_trusted() -> None:
    trusted = _certificates(httpx2.URL("http://localhost:8000"))
    assert isinstance(trusted, ssl.SSLContext)
    assert trusted.verify_mode is ssl.CERT_REQUIRED
    assert trusted.cert_store_stats()["x509_ca"] == 0


@pytest.mark.parametrize("name", ["http_proxy", "ALL_PROXY"])
def test_an_encrypted_proxy_needs_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "https://proxy.example:8443")
    assert _certificates(httpx2.URL("http://localhost:8000")) is True

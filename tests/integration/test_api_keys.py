"""API keys on a real server: what opens, what does not, and what of them lies in the store."""

from __future__ import annotations

import base64
import time
from typing import TYPE_CHECKING

import orjson
import pytest

from support.waiting import eventually
from weighbridge.errors import InvalidKeyError, InvalidProjectError
from weighbridge.store import Store
from weighbridge.store.api_keys import API_KEYS, KEYS_LIMIT, ApiKeys, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.embedded.server import EmbeddedServer


@pytest.fixture
def store(own_server: EmbeddedServer) -> Iterator[Store]:
    store = Store(own_server.url)
    yield store
    store.close()


@pytest.fixture
def keys(store: Store) -> ApiKeys:
    return ApiKeys(store.redis)


def altered(token: str, at: int) -> str:
    """Return a token with another character in one place."""
    return token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]


class TestFinding:
    def test_a_token_opens_its_own_key_and_no_other(self, keys: ApiKeys) -> None:
        made = [keys.make(f"key {number}", Role.READ) for number in range(20)]
        assert [keys.find(token) for _, token in made] == [key for key, _ in made]
        assert len({token for _, token in made}) == 20

    def test_a_token_has_an_id_and_256_random_bits(self, keys: ApiKeys) -> None:
        key, token = keys.make("ann", Role.ADMIN)
        prefix, key_id, secret = token.split("_", 2)
        assert (prefix, key_id) == ("wbk", key.id)
        assert len(base64.urlsafe_b64decode(secret + "=")) == 32

    def test_any_other_character_in_any_place_opens_nothing(self, keys: ApiKeys) -> None:
        _, token = keys.make("ann", Role.READ)
        assert not any(keys.find(altered(token, at)) for at in range(len(token)))

    def test_one_keys_secret_under_anothers_id_opens_nothing(self, keys: ApiKeys) -> None:
        (first, first_token), (second, second_token) = (
            keys.make(name, Role.READ) for name in ("a", "b")
        )
        secret = second_token.removeprefix(f"wbk_{second.id}_")
        assert keys.find(f"wbk_{first.id}_{secret}") is None
        assert keys.find(first_token) == first

    @pytest.mark.parametrize(
        "token",
        [
            *("", "_", "__", "wbk", "wbk_", "wbk__", "wbk_x_y", "Bearer", "*", "wbk_*_*"),
            *("wbk_\n_\r", "\x00", "\ud800", "é" * 40, "wbk_" + "0" * 100_000),
        ],
        ids=lambda token: repr(token[:20]),
    )
    def test_what_is_no_token_opens_nothing(self, keys: ApiKeys, token: str) -> None:
        keys.make("ann", Role.READ)
        assert keys.find(token) is None

    def test_an_expired_key_opens_nothing_and_is_still_listed(
        self, keys: ApiKeys, store: Store
    ) -> None:
        key, token = keys.make("soon over", Role.READ, lives_seconds=0.3)
        assert keys.find(token) == key
        eventually(lambda: keys.find(token) is None, 5)
        assert keys.all() == [key]
        assert key.has_expired(store.now())
        assert not keys.valid_among([key.id])

    def test_a_key_without_an_end_has_none(self, keys: ApiKeys) -> None:
        key, _ = keys.make("ever", Role.READ)
        assert key.expires_at is None
        assert not key.has_expired(time.time() + 1e12)
        assert key.created_at == pytest.approx(time.time(), abs=60)

    def test_a_revoked_key_opens_nothing_from_then_on(self, keys: ApiKeys) -> None:
        key, token = keys.make("ann", Role.READ)
        assert keys.revoke(key.id) is True
        assert keys.find(token) is None
        assert keys.all() == []
        assert keys.revoke(key.id) is False
        assert not keys.revoke("\ud800")


class TestMaking:
    def test_the_store_has_neither_the_token_nor_its_secret(
        self, store: Store, keys: ApiKeys
    ) -> None:
        _, token = keys.make("ann", Role.ADMIN)
        kept = b"".join(store.redis.hgetall(API_KEYS).values())
        assert token.split("_", 2)[2].encode() not in kept
        assert orjson.loads(kept)["name"] == "ann"

    def test_keys_are_listed_oldest_first_with_what_they_allow(self, keys: ApiKeys) -> None:
        made = [keys.make(name, role)[0] for name, role in zip("abcd", Role, strict=True)]
        assert keys.all() == made
        assert [key.role for key in keys.all()] == ["read", "submit", "manage", "admin"]

    @pytest.mark.parametrize("name", ["", "x" * 257, "a\nb", "a\x00b", "\ud800"])
    def test_a_name_that_nobody_could_read_is_refused(self, keys: ApiKeys, name: str) -> None:
        with pytest.raises(InvalidKeyError, match="cannot be a key's name"):
            keys.make(name, Role.READ)
        assert keys.all() == []

    @pytest.mark.parametrize("project", ["", "a b", "a/b", "-a", "x" * 65, "\u00e4", "a\nb", "a:b"])
    def test_a_project_that_could_be_misread_is_refused(self, keys: ApiKeys, project: str) -> None:
        with pytest.raises(InvalidProjectError, match="cannot be a project's name"):
            keys.make("ann", Role.READ, project=project)
        assert keys.all() == []

    @pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e12])
    def test_a_life_that_is_none_is_refused(self, keys: ApiKeys, seconds: float) -> None:
        with pytest.raises(InvalidKeyError, match="a key cannot be valid for"):
            keys.make("ann", Role.READ, lives_seconds=seconds)

    def test_an_unknown_role_is_told_the_known_ones(self, keys: ApiKeys) -> None:
        with pytest.raises(InvalidKeyError, match="read, submit, manage, admin"):
            keys.make("ann", "root")  # type: ignore[arg-type]

    def test_there_is_an_end_to_how_many_there_are(self, store: Store, keys: ApiKeys) -> None:
        store.redis.hset(API_KEYS, mapping={str(number): "{}" for number in range(KEYS_LIMIT)})
        with pytest.raises(InvalidKeyError, match="revoke some"):
            keys.make("one more", Role.READ)


@pytest.mark.parametrize(
    "stored",
    [
        *("", "null", "[]", "nonsense", '"text"', '{"name": "ann"}'),
        '{"name": 1, "role": "admin", "created_at": 0, "expires_at": null, "digest": ""}',
        '{"name": "x", "role": "root", "created_at": 0, "expires_at": null, "digest": "00"}',
        '{"name": "x", "role": "admin", "created_at": 0, "expires_at": null, "digest": "é"}',
    ],
)
def test_what_is_no_key_in_the_store_opens_nothing_and_hides_no_other(
    store: Store, keys: ApiKeys, stored: str
) -> None:
    key, token = keys.make("ann", Role.READ)
    store.redis.hset(API_KEYS, "forged", stored)
    store.redis.hset(API_KEYS, b"\xff", stored)
    assert keys.find("wbk_forged_secret") is None
    assert keys.find("wbk_forged_") is None
    assert keys.all() == [key]
    assert keys.find(token) == key


def test_a_role_includes_itself_and_those_before_it() -> None:
    allowed = {(role, other) for role in Role for other in Role if role.includes(other)}
    assert allowed == {
        (Role.READ, Role.READ),
        (Role.SUBMIT, Role.READ),
        (Role.SUBMIT, Role.SUBMIT),
        (Role.MANAGE, Role.READ),
        (Role.MANAGE, Role.SUBMIT),
        (Role.MANAGE, Role.MANAGE),
        (Role.ADMIN, Role.MANAGE),
        (Role.ADMIN, Role.READ),
        (Role.ADMIN, Role.SUBMIT),
        (Role.ADMIN, Role.ADMIN),
    }

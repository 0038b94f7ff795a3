"""What somebody meets who is new here: the version, the mistakes that all make first, and what is said of them."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from support.cli import Cli


def test_the_version_can_be_asked_for(cli: Cli) -> None:
    ended = cli("--version")
    assert (ended.status, ended.out) == (0, f"weighbridge {version('weighbridge')}\n")


def test_every_setting_of_every_grader_is_described_where_it_is_shown(cli: Cli) -> None:
    for grader in cli("graders", "--json").json["graders"]:
        settings = grader["config_schema"]["properties"]
        assert settings
        assert [name for name, schema in settings.items() if not schema.get("description")] == []

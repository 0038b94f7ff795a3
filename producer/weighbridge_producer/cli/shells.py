"""The shells that ask for completions: how each splits words, and what it replaces."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.markup import escape
from typer._click.shell_completion import CompletionItem, ShellComplete, add_completion_class
from typer._completion_classes import BashComplete, FishComplete, ZshComplete

if TYPE_CHECKING:
    from collections.abc import Callable


class _WithJoinedValues(ShellComplete):
    """Completion that offers values also in the form `--option=value`, as the whole word that a shell expects."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return what a word can be completed to."""
        found = super().get_completions(args, incomplete)
        if incomplete.startswith("--") and "=" in incomplete:
            for item in found:
                item.value = f"{incomplete.partition('=')[0]}={item.value}"
        return found


class _Bash(_WithJoinedValues, BashComplete):
    """Completion for bash, which splits `--option=value` and `label=grader` at `=`, and completes the last part."""

    _before = ""  #: what is before the last part of the word that is typed

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one that is typed, and that word, each joined again."""
        split, last = super().get_completion_args()
        joined: list[str] = []
        for before, word in pairwise(["", *split, last]):
            if joined and word and "=" in {before, word}:
                joined[-1] += word
            else:
                joined.append(word)
        *words, incomplete = joined
        if incomplete != last:
            self._before = incomplete[: incomplete.rindex("=") + 1]
        return words, incomplete

    def format_completion(self, item: CompletionItem) -> str:
        """Return what replaces the last part."""
        return super().format_completion(item).removeprefix(self._before)


class _Zsh(_WithJoinedValues, ZshComplete):
    """Completion for zsh."""

    def format_completion(self, item: CompletionItem) -> str:
        """Return a word and its description."""
        return _on_one_line(item, super().format_completion)


class _Fish(_WithJoinedValues, FishComplete):
    """Completion for fish."""

    def format_completion(self, item: CompletionItem) -> str:
        """Return a word and its description."""
        return _on_one_line(item, super().format_completion)


def _on_one_line(item: CompletionItem, written: Callable[[CompletionItem], str]) -> str:
    """Write a word and its description as they are; typer takes brackets for markup, and wraps at 80 characters."""
    item.help = escape(item.help) if item.help else None
    return re.sub(r" *\n", " ", written(item))


def register_shells() -> None:
    """Register the completion for each shell."""
    for shell in (_Bash, _Zsh, _Fish):
        add_completion_class(shell, shell.name)

"""Reworded searches that list what earlier ones have listed: a loop, if they are about one thing."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

QUERIES = [
    "codename of the harbour crane",
    "harbour crane codename",
    "the harbour crane codename name",
    "codename harbour crane of",
    "name of the codename harbour crane",
    "the crane of the harbour codename",
    "harbour crane name of the codename",
]
PAGES = ["Bridges", "Rivers", "Engines", "Harbours", "Cables", "Towers", "Locks", "Rails"]


def listed(pages):
    return "".join(f"{{'page_id': '{page.lower()}', 'title': 'The {page}'}}, " for page in pages)


def searches(queries, results, tool="search_pages", name="query"):
    return [
        {"type": "tool", "name": tool, "arguments": {name: query}, "output": f"[{result}]"}
        for query, result in zip(queries, results, strict=True)
    ]


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["steps"]) for loop in result["details"]["loops"]]


#: Results that begin alike, in other orders, and of which one page is new each time.
ORDERS = [listed([*PAGES[:1], *PAGES[at:], *PAGES[1:at]]) for at in range(1, 8)]


@pytest.mark.parametrize(("count", "found"), [(5, [("nothing_new", 4)]), (4, [])])
def test_searches_that_list_known_pages_are_a_loop(count, found):
    assert kinds(searches(QUERIES[:count], ORDERS[:count])) == found


def test_one_of_the_searches_may_list_another_page_first():
    assert kinds(searches(QUERIES[:5], [*ORDERS[:4], listed(PAGES[::-1])])) == [("nothing_new", 4)]


def test_one_new_page_of_nine_is_hardly_anything_new_and_two_are():
    few = [f"{pages}{listed([f'Extra {at}'])}" for at, pages in enumerate(ORDERS)]
    more = [f"{pages}{listed([f'Extra {at}', f'More {at}'])}" for at, pages in enumerate(ORDERS)]
    assert kinds(searches(QUERIES, few)) == [("nothing_new", 6)]
    assert kinds(searches(QUERIES, more)) == []


def test_searches_for_different_things_are_none():
    names = ["Pelican", "Heron", "Stork", "Crane", "Ibis", "Egret", "Bittern"]
    queries = [f"{name} nesting" for name in names]
    assert kinds(searches(queries, ORDERS)) == []


def test_other_calls_that_read_need_twice_max_repeats():
    paths = [{"path": f"/srv/notes {at % 2}", "mode": query} for at, query in enumerate(QUERIES)]
    steps = searches(QUERIES, ORDERS, "read_notes", "mode")
    for step, arguments in zip(steps, paths, strict=True):
        step["arguments"] = arguments
    assert kinds(steps) == [("nothing_new", 6)]
    assert kinds(steps[:6]) == []


def test_a_change_between_them_parts_them():
    edit = {"type": "tool", "name": "edit_page", "arguments": {"text": "x"}, "output": "edited"}
    steps = searches(QUERIES, ORDERS)
    assert kinds([*steps[:4], edit, *steps[4:]]) == []
    note = {"type": "tool", "name": "read_page", "arguments": {"id": "rivers"}, "output": "Long."}
    assert kinds([*steps[:4], note, *steps[4:]]) == [("nothing_new", 6)]


def test_a_new_request_between_parts_them():
    asked = [{"type": "user", "output": "And what else is there?"}]
    steps = searches(QUERIES, ORDERS)
    assert kinds([*steps[:4], *asked, *steps[4:]]) == []


def test_the_limit_follows_max_repeats():
    assert kinds(searches(QUERIES, ORDERS), max_repeats=6) == []
    assert kinds(searches(QUERIES[:4], ORDERS[:4]), max_repeats=2) == []
    assert kinds(searches(QUERIES[1:5], ORDERS[:4]), max_repeats=2) == [("nothing_new", 3)]


SITES = [
    "travel.example/pier",
    "archive.example/keel",
    "auction.example/lot/7",
    "museum.example/boats.pdf",
    "genea.example/ida",
]


def found_again(count, *, new=False):
    """Twenty wordings of one search, each of which finds the same addresses with other passages."""
    words = ["harbour", "crane", "codename", "closed", "year", "workshop", "when", "history"]
    queries = [
        " ".join(words[(at * 3 + k * (1 + at % 4)) % 8] for k in range(4)) for at in range(count)
    ]
    results = [
        "\n".join(
            f"{rank}. https://{'new' + str(at) + str(rank) + '.' if new else ''}{SITES[(at + rank) % 5]}\n   passage {at * 5 + rank} of the page"
            for rank in range(4)
        )
        for at in range(count)
    ]
    return searches(queries, results, tool="web_search")


def test_searches_that_find_known_addresses_are_a_loop_whatever_passages_they_show():
    assert kinds(found_again(18)) != []
    assert kinds(found_again(18, new=True)) == []

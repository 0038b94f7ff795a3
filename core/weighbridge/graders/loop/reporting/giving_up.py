"""Answers with which an agent only says that it gives up, or could not do what it should."""

from __future__ import annotations

import re

from weighbridge.graders.loop.finders.refusals import claims_completion, claims_inability
from weighbridge.graders.loop.linear_patterns import occurs

_CHARACTERS = 2_000  #: of the end of an answer that are searched
#: The end of a sentence, or of its first half if the agent says in the second what it did all the same.
_SENTENCE_END = re.compile(
    r"[.!?;]\s|\n|,? (?=(?:but|so|instead|therefore) (?:i|we|the|all|your|it)\b)|,? but (?=now\b)|, (?=(?:i|we) (?:\w{1,20}ed|took|made|found|wrote|sent|built|ran)\b)",
    re.IGNORECASE,
)
_gives_up = occurs(
    r"""\b(?:give|gave|given|giving) up\b|\b(?:could ?n[o']t|could not|did ?n[o']t manage|did not manage|(?:was|were|been|am|are|is|'m|'re) (?:\w+ly )?(?:unable|not able|not possible|impossible)|was ?n[o']t able|were ?n[o']t able
|(?:unable to|not able to|can ?not|can't|(?:\w{1,5}n't|not) know how to) (?:proceed|continue|go on)|failed to|no way to|without success|can ?not be (?:done|completed|resolved|finished|processed|fixed)|can't be (?:done|completed|resolved|finished|processed|fixed))\b
|\A\W{0,5}(?:unable|not able) to\b|\b(?:i'm|i am|we're|we are) (?:\w+ly |still )?stuck\b"""
)
#: What an agent says last if it stops, whatever it has done before.
_stops = occurs(
    r"\b(?:i|we) give up\b|\b(?:i'm|i am|we're|we are) (?:giving up|(?:\w+ly |still )?stuck)\b"
)
#: Last words that say nothing but that all failed. What failed of several things, as which test, may be what was asked.
_failed = re.compile(
    r"""\W*(?:(?:sorry|unfortunately|alas)\W+)?(?:(?:i|we|it|this|that|everything|(?:(?:the|this|my|our|all|every|each) )?(?:tasks?|requests?|attempts?|operations?|tries|retries))
(?: ha(?:s|ve|d))?(?: all| always| still| just)? )?(?:fail(?:ed|ure)?|error(?:ed)?|no luck|nothing worked|(?:did ?n[o']t|did not) work)
(?: again| once more| (?:every|each) time| (?:after|in) (?:\w+ ){1,3}(?:attempts|tries|retries|times))?\W*""".replace(
        "\n", ""
    ),
    re.IGNORECASE,
).fullmatch
#: A promise to go on as before, after which nothing comes.
_goes_on = re.compile(
    r"\W*(?:(?:ok|okay|now)\W+)?(?:let me|let's|i'll|i will|i'm going to|i am going to|we'll|we will) (?:\w+ ){0,2}(?:try|retry|keep (?:on\b|at it|\w+ing)|attempt|wait(?! for you))\b",
    re.IGNORECASE,
).match
#: A courtesy, after which an answer may say that all is well.
_COURTESY = re.compile(
    r"\b(?:sorry|apolog(?:y|ies|i[sz]e)(?: for it)?|regret)(?:,? (?:to hear|for (?:the|any|my|all|that|this|taking))\b|[,.] here\b)",
    re.IGNORECASE,
)
#: What is in the way, at the end of an answer. What says more of it, as what locks it, is a diagnosis.
_names_obstacle = occurs(
    r"""\b(?:is|are|remains?) (?:still |currently |temporarily )?(?:locked|unavailable|not available|down|blocked|unreachable|offline|out of service|out of order)
(?: (?:now|right now|for now|at the moment|at present|today))?\W*\z
|\bstill (?:fail(?:s|ed|ing)?|broken|red|queued|pending|h[au]ngs?|hanging|(?:does|do|did) ?n[o']t (?:work|pass|compile|build|run|start))\W*\z"""
)
#: Words with which a sentence says why something is in the way, or that nothing is.
_explains = occurs(
    r"\b(?:because|since|as|due to|causes?d?|reasons?|why|when|whenever|if|no|none|nothing)\b"
)
_denies = occurs(
    r"\b(?:not|never|no|none|without|until|unless|if|once|when|fail(?:s|ed|ing|ure)?|errors?|still|cannot|(?:needs?|ha[sd]|have|want(?:s|ed)?|tr(?:y|ied|ying)) to)\b|n't\b"
)
_passes = occurs(r"\b(?:pass(?:es)?|refunded|sent|booked|updated|cancell?ed|created|deployed)\b")

#: The beginning of a sentence that says what the agent did, whatever else is in it: `I fixed the parser, which failed to ...`.
_TELLS_OF_WORK = re.compile(
    r"\W*(?:(?:i|we)(?:'ve| have)? )?(?:now |also |only )?(?:(?:fixed|wrote|added|created|updated|replaced|repaired|removed|implemented|rewrote|corrected) (?!no |not|none)"
    r"|(?:found|identified) (?:it\b|the (?:\w+ )?(?:reason|cause|bug|problem|issue|error|fault)\b))",
    re.IGNORECASE,
)


def gives_up(text: str) -> bool:
    """Return whether an answer says that the agent could not do what it should, and of nothing that it is done."""
    said = text[-_CHARACTERS:].replace("\u2019", "'").strip()
    sentences = [each for each in _SENTENCE_END.split(said) if each.strip()]
    if not sentences:
        return False
    last = sentences[-1]
    if any(map(_TELLS_OF_WORK.match, sentences)) and not _stops(last):
        return False
    unable = [_is_unable(each) for each in sentences]
    unable[-1] = (
        unable[-1]
        or bool(_failed(last) or _goes_on(last))
        or (_names_obstacle(last) and not _explains(last))
    )
    return any(unable) and not any(
        _is_done(sentence)
        for sentence, is_unable in zip(sentences, unable, strict=True)
        if not is_unable
    )


def _is_unable(sentence: str) -> bool:
    return _gives_up(sentence) or claims_inability(_COURTESY.sub("", sentence))


def _is_done(sentence: str) -> bool:
    return (claims_completion(sentence) or _passes(sentence)) and not _denies(sentence)

"""A Bloom filter of the custom_ids seen so far, which saves most look-ups on the server."""

from __future__ import annotations

from functools import cache
from mmap import mmap
from random import Random

_WORDS_BITS = 20
_BITS_SET = 3
_PATTERNS_BITS = 12
_WORD_MASK, _PATTERN_MASK = (1 << _WORDS_BITS) - 1, (1 << _PATTERNS_BITS) - 1


@cache
def _patterns() -> list[int]:
    random = Random(0)  # noqa: S311 - any distribution of bits is suitable
    return [sum(1 << bit for bit in random.sample(range(64), _BITS_SET)) for _ in range(1 << 12)]


class BloomFilter:
    """A Bloom filter of ids: an id is either certainly new or possibly seen before.

    It has 16 MiB in words of 64 bits. An id sets three bits in each of two words, which is faster than six bits
    anywhere. The false positive rate is about 1e-8 at a million ids, and 1e-4 at ten million.
    """

    def __init__(self) -> None:
        # Mapped memory costs nothing until it is written to, which suits small batches.
        self._words = memoryview(mmap(-1, 2 * 8 << _WORDS_BITS)).cast("Q")
        self._patterns = _patterns()

    def add(self, spread: int) -> bool:
        """Add the id with a digest of 64 bits, and return whether it may have been added before."""
        first = spread & _WORD_MASK
        second = (spread >> _WORDS_BITS & _WORD_MASK) + _WORD_MASK + 1
        words, patterns = self._words, self._patterns
        bits = patterns[spread >> 2 * _WORDS_BITS & _PATTERN_MASK]
        more_bits = patterns[spread >> 2 * _WORDS_BITS + _PATTERNS_BITS & _PATTERN_MASK]
        word, other = words[first], words[second]
        if word & bits == bits and other & more_bits == more_bits:
            return True
        words[first] = word | bits
        words[second] = other | more_bits
        return False

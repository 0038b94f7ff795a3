"""The sweeper on a real server: chunks of lost workers are put back, and jobs are blamed only for what they caused."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from support.chunks import a_batch, a_chunk, a_line, blamed, claimed, filled, opened, recorded
from support.sweeping import QUEUE, SETTINGS, Site
from support.waiting import eventually
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.store import BatchOptions
from weighbridge.store.key_names import ACTIVE, DUE, SWEEPER, shared_key, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge.store import ClaimResult


@pytest.fixture
def site(own_server: EmbeddedServer) -> Iterator[Site]:
    """A server without other sweepers."""
    with ExitStack() as stack:
        yield Site(own_server.url, stack)


class TestLeases:
    def test_a_lease_past_its_end_goes_out_again_and_blames_nobody(self, site: Site) -> None:
        batch = a_batch(site.store, QUEUE)
        [chunk] = filled(site.store, batch, [3])
        site.live("slow")
        site.store.claim_next(QUEUE, "slow/1", 0.3)
        again = site.next_claim("other/1")
        assert again.chunk == chunk
        assert (again.info.suspicions, again.info.failures) == (0, {})
        assert not site.store.renew(batch, str(chunk), "slow/1", 60)

    def test_a_lease_that_is_renewed_stays(self, site: Site) -> None:
        batch = a_batch(site.store, QUEUE)
        [chunk] = filled(site.store, batch, [3])
        site.live("at-work")
        site.store.claim_next(QUEUE, "at-work/1", 0.5)

        def renewed_for_long() -> bool:
            assert site.store.renew(batch, str(chunk), "at-work/1", 0.5)
            site.sweeper.sweep()
            assert site.store.claim_next(QUEUE, "other/1", 60) is None
            return time.monotonic() > until

        until = time.monotonic() + 2
        eventually(renewed_for_long, 10)
        assert recorded(site.store, batch, chunk) == "new"

    def test_a_gone_workers_chunks_go_out_before_their_leases_end(self, site: Site) -> None:
        batch = a_batch(site.store, QUEUE)
        chunks = filled(site.store, batch, [3, 3])
        site.live("dead")
        site.live("lives")
        for worker in ("dead", "lives"):
            claimed(site.store, QUEUE, f"{worker}/1", SETTINGS.lease_seconds)
        site.sweep_for(1)
        site.die("dead")
        again = site.next_claim("lives/2")
        assert (again.chunk, again.info.suspicions) == (chunks[0], 1)
        assert site.store.renew(batch, str(chunks[1]), "lives/1", 60)

    def test_a_heartbeat_lasts_as_long_as_it_says(self, site: Site) -> None:
        site.live("busy", 60)
        left = site.store.redis.zscore(shared_key("workers"), "busy") - 1000 * site.store.now()
        assert 50_000 < left <= 60_000

    def test_a_worker_that_died_while_nobody_swept_raises_suspicion_all_the_same(
        self, site: Site
    ) -> None:
        """Its lease has ended by then; with a single worker, each new one finds only the chunks of its predecessor."""
        batch = a_batch(site.store, QUEUE)
        [chunk] = filled(site.store, batch, [3])
        claimed(site.store, QUEUE, "unheard/1", 0.2)
        eventually(lambda: site.store.due_batches(site.store.now(), 10), 5)
        again = site.next_claim("lives/1")
        assert (again.chunk, again.info.suspicions) == (chunk, 1)

    def test_a_worker_that_was_declared_dead_loses_its_chunks_in_the_next_sweep(
        self, site: Site
    ) -> None:
        """Also if it was sweeping itself, and the sweeper that takes over never heard of it."""
        batch = a_batch(site.store, QUEUE)
        [chunk] = filled(site.store, batch, [3])
        site.live("dead")
        claimed(site.store, QUEUE, "dead/1", SETTINGS.lease_seconds)
        site.a_sweeper("dead").sweep()
        site.sweeper.sweep()
        assert site.store.claim_next(QUEUE, "lives/1", 60) is None
        site.worker_registry.declare_dead("dead")
        assert site.worker_registry.alive() == []
        site.sweeper.sweep()
        again = site.store.claim_next(QUEUE, "lives/1", 60)
        assert again
        assert (again.chunk, again.info.suspicions) == (chunk, 1)

    def test_a_declaration_of_death_is_made_on_a_full_server_too(self, site: Site) -> None:
        batch = a_batch(site.store, QUEUE)
        filled(site.store, batch, [3])
        claimed(site.store, QUEUE, "dead/1", SETTINGS.lease_seconds)
        site.store.redis.config_set("maxmemory", 1)
        site.worker_registry.declare_dead("dead")
        assert site.worker_registry.declared_dead() == {"dead"}


class TestBlame:
    def test_a_worker_that_was_asked_to_end_raises_no_suspicion(self, site: Site) -> None:
        batch = a_batch(site.store, QUEUE)
        filled(site.store, batch, [3])
        site.live("leaving")
        site.worker_registry.note_shutdown_of("leaving")
        claimed(site.store, QUEUE, "leaving/1", SETTINGS.lease_seconds)
        site.sweep_for(0.5)
        site.die("leaving")
        again = site.next_claim("lives/1")
        assert (again.info.suspicions, again.info.failures) == (0, {})

    def test_a_server_that_forgot_all_heartbeats_raises_no_suspicion(self, site: Site) -> None:
        """Heartbeats run out while a server stalls, or is restarted; its workers say they live at once."""
        batch = a_batch(site.store, QUEUE)
        filled(site.store, batch, [3])
        site.live("lives")
        claimed(site.store, QUEUE, "lives/1", SETTINGS.lease_seconds)
        site.sweep_for(0.5)
        site.die("lives")
        site.sweeper.sweep()
        site.live("lives")
        site.sweep_for(2.5)
        assert blamed(site.store, batch) == []
        assert site.store.claim_next(QUEUE, "other/1", 60) is None

    def test_the_job_at_which_whole_workers_died_is_set_apart(self, site: Site) -> None:
        store, batch = site.store, a_batch(site.store, QUEUE)
        [chunk] = filled(store, batch, [5])
        self.killed(site, site.next_claim("first/1"))
        claim = site.next_claim("second/1")
        assert claim.info.suspicions == 1
        # The worker of a suspect chunk records each job before it begins.
        assert store.renew(batch, str(chunk), claim.token, SETTINGS.lease_seconds, at="2 0")
        self.killed(site, claim)
        eventually(lambda: (site.sweeper.sweep(), chunk not in store.open_chunks(batch))[1], 10)
        parts = store.open_chunks(batch)
        assert parts == [chunk.part(1, 3), chunk.part(3, 4), chunk.part(4, 6)]
        found = [store.info(batch, part) for part in parts]
        assert [(i.failures, i.suspicions) for i in found if i] == [
            ({}, 0),
            ({"0 WORKER_KILLED": 1}, 1),
            ({}, 0),
        ]

    def test_a_job_at_which_whole_workers_died_three_times_is_tried_no_more(
        self, site: Site
    ) -> None:
        store, batch = site.store, a_batch(site.store, QUEUE)
        [chunk] = filled(store, batch, [1])
        self.killed(site, site.next_claim("w0/1"))
        for number in (1, 2, 3):
            claim = site.next_claim(f"w{number}/1")
            assert claim.info.quarantined == {}
            store.renew(batch, str(chunk), claim.token, SETTINGS.lease_seconds, at="0 0")
            self.killed(site, claim)
        claim = site.next_claim("last/1")
        assert claim.info.faults[0].code == ErrorCode.WORKER_KILLED
        assert "the loss of its whole worker" in claim.info.faults[0].message

    def test_a_chunk_with_which_workers_die_again_waits_longer_each_time(self, site: Site) -> None:
        store, batch = site.store, a_batch(site.store, QUEUE)
        filled(store, batch, [3])
        self.killed(site, site.next_claim("w0/1"))
        eventually(lambda: self.is_waiting(site, batch), 10, "it to be put back")
        assert self.paused(site, batch) <= 0
        pauses = []
        for number in range(1, 4):
            self.killed(site, site.next_claim(f"w{number}/1"))
            pauses.append(eventually(lambda: self.paused(site, batch), 10, "a pause"))
        assert 0 < pauses[0] < pauses[1] < pauses[2]

    @staticmethod
    def is_waiting(site: Site, batch: str) -> bool:
        """Return whether no chunk of the batch is leased after a sweep."""
        site.sweeper.sweep()
        return not any(chunk.info.token for chunk in site.store.held(batch).chunks)

    @staticmethod
    def paused(site: Site, batch: str) -> float:
        """Return the remaining pause of an unleased chunk; 0 if it is leased."""
        site.sweeper.sweep()
        held = site.store.held(batch)
        return sum(chunk.until - held.now for chunk in held.chunks if not chunk.info.token)

    @staticmethod
    def killed(site: Site, claim: ClaimResult) -> None:
        """Declare the worker that has a chunk dead."""
        worker = claim.token.partition("/")[0]
        site.live(worker)
        site.sweeper.sweep()
        site.worker_registry.declare_dead(worker)


class TestWhatIsVisited:
    def test_batches_in_which_nothing_is_due_cost_nothing(self, site: Site) -> None:
        options = BatchOptions(queue=QUEUE)
        for number in range(200):
            batch = opened(site.store, options, expiry_seconds=3600, ttl_seconds=3600)
            if number % 2:
                site.store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
        site.sweeper.sweep()
        site.store.redis.config_resetstat()
        for _ in range(10):
            assert site.sweeper.sweep() == 0
        used = commands(site.store.redis)
        print(f"a sweep over 200 idle batches takes {used.total() / 10:.1f} commands: {used}")
        assert used.total() / 10 <= 10

    def test_with_waiting_workers_too_a_sweep_costs_the_same_for_any_number_of_batches(
        self, site: Site
    ) -> None:
        """The number of waiting chunks is read from the first batches of a queue only."""
        site.live("idle")
        cost = {}
        for count in (50, 400):
            for _ in range(count):
                batch = a_batch(site.store, QUEUE)
                site.store.submit_chunk(batch, a_chunk(batch, 0, [a_line("a")]))
            site.sweeper.sweep()
            site.store.redis.config_resetstat()
            for _ in range(5):
                site.sweeper.sweep()
            used = commands(site.store.redis)
            del used["lpush"]  # the messages that were missing
            cost[count] = used.total() / 5
        assert cost[400] <= cost[50] + 5, cost

    def test_of_many_batches_only_that_in_which_something_is_due_is_visited(
        self, site: Site
    ) -> None:
        site.live("at-work")
        batches = [a_batch(site.store, QUEUE) for _ in range(50)]
        for batch in batches:
            filled(site.store, batch, [1, 1])
            claimed(site.store, QUEUE, "at-work/1", 60)
        late = claimed(site.store, QUEUE, "at-work/2", 0.2)
        assert site.sweeper.sweep() == 0
        visited = eventually(site.sweeper.sweep, 5)
        assert visited == 1
        assert [c.chunk for c in site.store.held(late.batch).chunks] != [late.chunk]

    def test_a_batch_that_ended_is_forgotten(self, site: Site) -> None:
        batch = a_batch(site.store, QUEUE)
        [chunk] = filled(site.store, batch, [1])
        recorded(site.store, batch, chunk)
        assert eventually(site.sweeper.sweep, 5) == 1
        assert site.store.active_count() == 0
        assert site.sweeper.sweep() == 0
        assert site.store.due_batches(2e9, 10) == []

    def test_a_batch_whose_time_is_over_expires_although_nothing_else_happens_in_it(
        self, site: Site
    ) -> None:
        options = BatchOptions(queue=QUEUE)
        batch = opened(site.store, options, expiry_seconds=1, ttl_seconds=60)
        filled(site.store, batch, [2])
        eventually(lambda: (site.sweeper.sweep(), site.store.state(batch).status.final)[1], 10)
        state = site.store.state(batch)
        assert (state.status, state.counts.expired) == (BatchStatus.EXPIRED, 2)

    def test_a_batch_that_the_index_of_what_is_due_lost_is_found_again(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("weighbridge_worker.parent.sweeper._AUDIT_SECONDS", 2.0)
        batch = a_batch(site.store, QUEUE)
        [chunk] = filled(site.store, batch, [1])
        site.live("slow")
        claimed(site.store, QUEUE, "slow/1", 0.1)
        site.store.redis.delete("wb:{fleet}:due")
        assert site.next_claim("other/1", 15).chunk == chunk

    def test_as_many_batches_as_asked_are_compared_with_that_index(self, site: Site) -> None:
        for _ in range(5):
            a_batch(site.store, QUEUE)
        batches = list(map(text, site.store.redis.zrange(ACTIVE, 0, -1)))
        assert site.store.without_due_time(0, 5) == []
        site.store.redis.zrem(DUE, *batches[1:])
        assert site.store.without_due_time(0, 3) == batches[1:3]
        assert site.store.without_due_time(3, 9) == batches[3:]


class TestWhoSweeps:
    def test_one_worker_sweeps_at_a_time_and_another_takes_over(self, site: Site) -> None:
        first, second = site.a_sweeper("first"), site.a_sweeper("second")
        first.sweep()
        batch = a_batch(site.store, QUEUE)
        filled(site.store, batch, [1] * 3)
        site.live("slow")
        claimed(site.store, QUEUE, "slow/1", 0.1)
        eventually(lambda: site.store.due_batches(site.store.now(), 10), 5)
        assert second.sweep() == 0
        assert first.sweep() == 1
        claimed(site.store, QUEUE, "slow/2", 0.1)
        # The first sweeps no more; some seconds later the second does.
        assert eventually(second.sweep, 10, "the take-over") >= 1
        assert first.sweep() == 0

    def test_the_role_is_kept_for_as_long_as_was_asked(self, site: Site) -> None:
        for seconds in (30, 60):
            assert site.store.lead_sweep("first", seconds)
            left = site.store.redis.pttl(SWEEPER)
            assert 1000 * (seconds - 10) < left <= 1000 * seconds
        assert not site.store.lead_sweep("second", 90)

    def test_a_sweep_on_a_store_without_room_for_the_role_goes_on(
        self, site: Site, refused: Callable[[], None]
    ) -> None:
        batch = a_batch(site.store, QUEUE)
        [chunk] = filled(site.store, batch, [1])
        site.live("slow")
        claimed(site.store, QUEUE, "slow/1", 0.1)
        refused()
        assert site.next_claim("other/1").chunk == chunk

    @pytest.fixture
    def refused(self, site: Site) -> Iterator[Callable[[], None]]:
        """Let the server take nothing new in, when called."""
        yield lambda: site.store.redis.config_set("maxmemory", 1)
        site.store.redis.config_set("maxmemory", 0)


def commands(redis: Any) -> Counter[str]:
    """Return how often each command was called since the counts were reset, those of scripts too."""
    stats = redis.info("commandstats")
    counts = {name.removeprefix("cmdstat_"): row["calls"] for name, row in stats.items()}
    return Counter(
        {n: c for n, c in counts.items() if n.partition("|")[0] not in ("config", "info")}
    )

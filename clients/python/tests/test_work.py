"""Workers against a real daemon."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
import unittest
from typing import Any

from live import Live
from svc_agents import AsyncSvc, Clock, LeaseLostError, Parked, Permanent, Svc


class Jump(Clock):
    """The machine's clock, and what a test adds."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


class Working(Live):
    def test_acks_with_what_the_handler_returns(self) -> None:
        event_id = self.deliver(n=7)
        finished = self.drain(lambda event, ctx: {"n": event["payload"]["n"]})
        self.assertEqual([one.outcome for one in finished], ["acked"])
        self.assertEqual(self.svc.inbox.get(event_id)["result"], {"n": 7})

    def test_a_failure_is_tried_again_and_a_permanent_one_is_not(self) -> None:
        first, second = self.deliver(n=1), self.deliver(n=2)

        def handler(event: Any, ctx: Any) -> None:
            raise ValueError("broken") if event["payload"]["n"] == 1 else Permanent("no such order")

        with self.assertLogs("svc_agents", "WARNING"):
            finished = self.drain(handler)
        self.assertEqual([one.outcome for one in finished], ["retry", "dead"])
        self.assertEqual(self.svc.inbox.get(first)["status"], "failed")
        self.assertEqual(self.svc.inbox.get(second)["status"], "dead")
        self.assertIn("broken", finished[0].reason)

    def test_a_result_that_is_no_json_or_too_long_does_not_fail_the_event(self) -> None:
        self.deliver(n=1)
        self.deliver(n=2)
        results = [object(), "x" * 5000]
        with self.assertLogs("svc_agents", "WARNING"):
            finished = self.drain(lambda event, ctx: results.pop())
        self.assertEqual([one.outcome for one in finished], ["acked", "acked"])

    def test_parks_on_a_question_and_goes_on_from_the_top(self) -> None:
        event_id, runs, reviews = self.deliver(number=231), [], []

        def bot(event: Any, ctx: Any) -> str:
            runs.append(ctx.resumed)
            pr = {"number": event["payload"]["number"]}
            ctx.once("review", lambda: reviews.append(1))
            answer = ctx.ask.approval("pr.merge", "Merge it", bind=pr, state={"step": 1})
            ctx.spend(answer)
            return ctx.once("merge", lambda: "merged")

        self.assertEqual(self.work_on_one(bot).outcome, "parked")
        self.until_awake(event_id)
        self.assertEqual(self.work_on_one(bot).outcome, "acked")
        event = self.svc.inbox.get(event_id)
        self.assertEqual((event["status"], event["result"]), ("done", "merged"))
        self.assertEqual(len(reviews), 1)
        self.assertIsNone(runs[0])
        self.assertEqual(runs[1]["state"], {"step": 1})
        request = runs[1]["answers"][0]["request_id"]
        self.assertEqual(self.svc.request.status(request)["spent_by"], event_id)

    def test_an_approval_for_other_values_is_not_spent(self) -> None:
        event_id = self.deliver(n=1)

        def bot(event: Any, ctx: Any) -> None:
            answer = ctx.ask.approval("pay", "Pay 5", bind={"amount": 5})
            object.__setattr__(answer, "bind", {"amount": 500})
            ctx.spend(answer)

        self.work_on_one(bot)
        self.until_awake(event_id)
        with self.assertLogs("svc_agents", "ERROR"):
            finished = self.work_on_one(bot)
        self.assertEqual(finished.outcome, "dead")
        self.assertIn("APPROVAL_NOT_APPLICABLE", finished.reason)

    def test_a_handler_that_never_looks_at_the_answer_acts_on_no_denial(self) -> None:
        event_id = self.deliver(n=1)
        paid = []

        def bot(event: Any, ctx: Any) -> None:
            ctx.spend(ctx.ask.approval("pay", "Pay 6 (deny this)"))
            paid.append(1)

        self.work_on_one(bot)
        self.until_awake(event_id)
        self.assertEqual((self.work_on_one(bot).outcome, paid), ("acked", []))
        event = self.svc.inbox.get(event_id)
        self.assertEqual((event["status"], event["result"]["status"]), ("done", "denied"))

    def test_says_loudly_that_the_handler_caught_the_parking_and_acks_nothing(self) -> None:
        event_id = self.deliver(n=1)

        def bot(event: Any, ctx: Any) -> str:
            try:
                ctx.ask.approval("pay", "Pay 7 (leave open)")
            except BaseException:
                pass
            return "went on"

        with self.assertLogs("svc_agents", "ERROR") as logs:
            finished = self.drain(bot)
        self.assertIn("caught svc_agents.Parked", logs.output[0])
        self.assertEqual(finished[0].outcome, "parked")
        self.assertEqual(self.status(event_id), "waiting")

    def test_except_exception_lets_the_parking_pass(self) -> None:
        event_id = self.deliver(n=1)

        def bot(event: Any, ctx: Any) -> str:
            try:
                ctx.ask.approval("pay", "Pay 8 (leave open)")
            except Exception:
                self.fail("caught it")
            return "went on"

        with self.assertNoLogs("svc_agents", "ERROR") if hasattr(self, "assertNoLogs") else open(os.devnull):
            self.assertEqual([one.outcome for one in self.drain(bot)], ["parked"])
        self.assertEqual(self.status(event_id), "waiting")
        self.assertFalse(issubclass(Parked, Exception))

    def test_a_lease_that_is_lost_by_our_own_clock_is_not_acked(self) -> None:
        event_id, clock, seen = self.deliver(n=1), Jump(), []

        def handler(event: Any, ctx: Any) -> str:
            seen.append(ctx.lost.is_set())
            clock.ahead = 295  # Of 300: nobody else can hold the event yet.
            seen.append(ctx.lost.is_set())
            with self.assertRaises(LeaseLostError):
                ctx.once("charge", lambda: self.fail("ran"))
            return "too late"

        with self.assertLogs("svc_agents", "WARNING"):
            finished: Any = []
            svc = Svc(clock=clock)
            svc.work({"source": self.source}, handler, max=1, on_finished=finished.append)
        self.assertEqual(seen, [False, True])
        self.assertEqual(finished[0].outcome, "lost")
        self.assertEqual(self.status(event_id), "claimed")

    def test_a_beat_as_long_as_the_lease_is_refused_at_the_start(self) -> None:
        with self.assertRaisesRegex(ValueError, "shorter than the lease"):
            self.svc.work(None, print, lease_seconds=30, beat_seconds=30)

    def test_a_misspelt_filter_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "no 'typ'. Did you mean 'type'?"):
            self.svc.work({"typ": "order.*"}, print)

    def test_says_in_a_line_each_what_it_does(self) -> None:
        first, second = self.deliver(n=1), self.deliver(n=2)
        lines: Any = []

        def handler(event: Any, ctx: Any) -> None:
            if event["payload"]["n"] == 2:
                raise Permanent("No such\norder \x1b[31m.")

        with self.assertLogs("svc_agents", "WARNING"):
            self.drain(handler, log=lines.append)
        self.assertEqual(
            lines,
            [
                f"Waiting for events from {self.source} …",
                f"{first} claimed: webhook.received from {self.source}",
                f"{first} done",
                f"{second} claimed: webhook.received from {self.source}",
                f"{second} dead: svc_agents.errors.Permanent: No such order \ufffd[31m.",
            ],
        )

    def test_handlers_run_side_by_side(self) -> None:
        for number in range(3):
            self.deliver(n=number)
        meeting = threading.Barrier(3, timeout=20)
        finished = self.drain(lambda event, ctx: meeting.wait() is None, concurrency=3)
        self.assertEqual([one.outcome for one in finished], ["acked"] * 3)

    def test_ctrl_c_stops_after_the_running_handler(self) -> None:
        first, second = self.deliver(n=1), self.deliver(n=2)
        handler = lambda event, ctx: os.kill(os.getpid(), signal.SIGINT)
        self.svc.work({"source": self.source}, handler)
        self.assertEqual((self.status(first), self.status(second)), ("done", "pending"))

    def test_ctrl_c_ends_a_wait_for_events(self) -> None:
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
        self.svc.work({"source": self.source}, print)

    def test_a_second_ctrl_c_gives_the_event_back_uncounted(self) -> None:
        event_id = self.deliver(n=1)

        def handler(event: Any, ctx: Any) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            self.svc.work({"source": self.source}, handler)
        event = self.svc.inbox.get(event_id)
        self.assertEqual((event["status"], event["attempts"]), ("pending", 0))

    def test_a_second_ctrl_c_gives_the_events_of_all_threads_back(self) -> None:
        ids = [self.deliver(n=1), self.deliver(n=2)]
        meeting, end, lines = threading.Barrier(3, timeout=20), threading.Event(), []
        self.addCleanup(end.set)

        def handler(event: Any, ctx: Any) -> None:
            meeting.wait()
            end.wait(60)

        def interrupt() -> None:
            meeting.wait()
            os.kill(os.getpid(), signal.SIGINT)
            while not any("Press Ctrl-C again" in line for line in lines):
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with self.assertRaises(KeyboardInterrupt):
            self.svc.work({"source": self.source}, handler, concurrency=2, log=lines.append)
        self.assertIn("Waiting for 2 running handlers. Press Ctrl-C again to give their events back.", lines)
        for event_id in ids:
            event = self.svc.inbox.get(event_id)
            self.assertEqual((event["status"], event["attempts"]), ("pending", 0))


class AsyncWorking(Live):
    def test_parks_and_goes_on(self) -> None:
        event_id, reviews = self.deliver(number=1), []

        async def review() -> str:
            reviews.append(1)
            return "fine"

        async def bot(event: Any, ctx: Any) -> str:
            await ctx.once("review", review)
            answer = await ctx.ask.approval("pr.merge", "Merge it", bind={"n": 1})
            ctx.spend(answer)
            return "merged"

        self.assertEqual(self.outcomes(bot, max=1), ["parked"])
        self.until_awake(event_id)
        self.assertEqual(self.outcomes(bot, max=1), ["acked"])
        self.assertEqual(self.svc.inbox.get(event_id)["result"], "merged")
        self.assertEqual(len(reviews), 1)

    def outcomes(self, bot: Any, **options: Any) -> Any:
        async def work() -> Any:
            finished: Any = []
            async with AsyncSvc() as svc:
                await svc.work(
                    {"source": self.source}, bot, drain=True, on_finished=finished.append, **options
                )
            return [one.outcome for one in finished]

        return asyncio.run(work())

    def test_handlers_run_side_by_side(self) -> None:
        for number in range(3):
            self.deliver(n=number)
        here = []

        async def handler(event: Any, ctx: Any) -> None:
            here.append(1)
            while len(here) < 3:
                await asyncio.sleep(0.01)

        self.assertEqual(self.outcomes(handler, concurrency=3), ["acked"] * 3)

    def test_a_lost_lease_cancels_the_handler(self) -> None:
        event_id, clock, seen = self.deliver(n=1), Jump(), []

        async def handler(event: Any, ctx: Any) -> None:
            try:
                clock.ahead = 28.0  # Of 30: the lease's own beat finds out within a second.
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                seen.append(ctx.lost.is_set())
                raise

        async def work() -> Any:
            finished: Any = []
            async with AsyncSvc(clock=clock) as svc:
                await svc.work(
                    {"source": self.source},
                    handler,
                    lease_seconds=30,
                    beat_seconds=29,
                    max=1,
                    on_finished=finished.append,
                )
            return finished

        with self.assertLogs("svc_agents", "WARNING"):
            finished = asyncio.run(work())
        self.assertEqual((finished[0].outcome, seen), ("lost", [True]))
        self.assertEqual(self.status(event_id), "claimed")

    def test_cancelled_it_gives_the_event_back_uncounted(self) -> None:
        event_id = self.deliver(n=1)

        async def work() -> None:
            started = asyncio.Event()

            async def handler(event: Any, ctx: Any) -> None:
                started.set()
                await asyncio.sleep(60)

            async with AsyncSvc() as svc:
                working = asyncio.ensure_future(svc.work({"source": self.source}, handler))
                await started.wait()
                working.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await working

        asyncio.run(work())
        event = self.svc.inbox.get(event_id)
        self.assertEqual((event["status"], event["attempts"]), ("pending", 0))


if __name__ == "__main__":
    unittest.main()

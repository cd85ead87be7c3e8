"""Handlers without a server."""

from __future__ import annotations

import asyncio
import logging
import unittest
from typing import Any

from svc_agents import LeaseLostError, NotAnswered, NotApproved, Permanent, SvcError
from svc_agents.testing import FakeSvc


def bot(event: Any, ctx: Any) -> str:
    pr = {"number": event["payload"]["number"]}
    answer = ctx.ask.approval("pr.merge", f"Merge #{pr['number']}", bind=pr)
    ctx.spend(answer)
    return ctx.once("merge", lambda: "merged")


class Fakes(unittest.TestCase):
    def setUp(self) -> None:
        self.fake = FakeSvc()

    def parked(self) -> str:
        event_id = self.fake.deliver("github", "pull_request.opened", {"number": 7})
        self.assertEqual([one.outcome for one in self.fake.run(bot)], ["parked"])
        self.assertEqual(self.fake.event(event_id)["status"], "waiting")
        return event_id

    def test_a_decision_wakes_the_event(self) -> None:
        event_id = self.parked()
        request_id = self.fake.decide("approved")
        self.assertEqual([one.result for one in self.fake.run(bot)], ["merged"])
        self.assertEqual(self.fake.event(event_id)["status"], "done")
        self.assertEqual(self.fake.requests[0]["spent_by"], event_id)
        self.assertEqual(self.fake.requests[0]["request_id"], request_id)

    def test_a_denial_does_too(self) -> None:
        self.parked()
        self.fake.decide("denied")
        self.assertEqual([one.result for one in self.fake.run(bot)], [{"status": "denied", "comment": None}])

    def test_nobody_decides_for_a_day(self) -> None:
        self.parked()
        self.assertEqual(self.fake.run(bot), [])
        self.fake.advance(24 * 3600)
        self.assertEqual([one.result for one in self.fake.run(bot)], [{"status": "expired", "comment": None}])

    def test_a_policy_decides_at_once(self) -> None:
        self.fake = FakeSvc(policy=lambda request: "approved" if request["bind"]["number"] < 10 else None)
        self.fake.deliver("github", "pull_request.opened", {"number": 7})
        self.fake.deliver("github", "pull_request.opened", {"number": 70})
        self.assertEqual([one.outcome for one in self.fake.run(bot)], ["acked", "parked"])

    def test_a_failed_event_comes_again_when_its_time_has_come(self) -> None:
        self.fake.deliver("shop", "order.paid")
        runs = []

        def fails(event: Any, ctx: Any) -> None:
            runs.append(1)
            raise ValueError("no")

        with self.assertLogs("svc_agents", "WARNING"):
            for _ in range(5):
                self.fake.run(fails)
                self.fake.run(fails)
                self.fake.advance(240)
        self.assertEqual((len(runs), self.fake.svc.inbox.list().all()[0]["status"]), (5, "dead"))

    def test_permanent_makes_it_dead(self) -> None:
        event_id = self.fake.deliver("shop", "order.paid")

        def gives_up(event: Any, ctx: Any) -> None:
            raise Permanent("no such order")

        with self.assertLogs("svc_agents", "WARNING"):
            self.fake.run(gives_up)
        self.assertEqual(self.fake.event(event_id)["status"], "dead")

    def test_a_payload_that_does_not_fit_is_dead_at_once_and_says_why(self) -> None:
        class Misfit(ValueError):
            # As pydantic tells it.
            def errors(self) -> Any:
                return [{"loc": ("pull", 0, "sha"), "msg": "Field required", "input": "secret"}]

        def placed(payload: Any) -> None:
            raise Misfit("secret")

        parsers = [placed, lambda payload: payload["sha"], lambda payload: payload["number"]]
        reasons, results = [], []
        for parse in parsers:
            event_id = self.fake.deliver("github", "pull_request.opened", {"number": 7})
            with self.assertLogs("svc_agents") as logs:
                logging.getLogger("svc_agents").info("began")
                finished = self.fake.run(lambda event, ctx: results.append(event["payload"]), payload=parse)[0]
            self.assertNotIn("secret", "".join(logs.output))
            reasons.append((finished.outcome, self.fake.event(event_id).get("reason")))
        self.assertEqual(
            reasons,
            [
                ("dead", "The payload doesn't fit.\npayload.pull.0.sha: Field required"),
                ("dead", "The payload doesn't fit.\nKeyError: 'sha'"),
                ("acked", None),
            ],
        )
        self.assertEqual(results, [7])

    def test_parks_until_a_time_or_another_event(self) -> None:
        first = self.fake.deliver("shop", "order.paid")
        other = self.fake.deliver("shop", "invoice.paid")
        handle = lambda event, ctx: None if ctx.resumed else ctx.park("+2h", state={"step": 2})
        self.fake.run(handle, max=1)
        self.fake.advance(3600)
        self.fake.run(lambda event, ctx: ctx.park(first), max=1)
        self.assertEqual([self.fake.event(one)["status"] for one in (first, other)], ["waiting"] * 2)
        self.fake.advance(3600)
        finished = self.fake.run(handle)
        self.assertEqual([one.outcome for one in finished], ["acked", "acked"])
        self.assertEqual(finished[0].event["resumed"]["state"], {"step": 2})

    def test_a_state_left_with_now_comes_back(self) -> None:
        event_id = self.fake.deliver("shop", "order.paid")
        inbox = self.fake.svc.inbox
        inbox.claim(event_id)
        inbox.nack(event_id, until=["now"], state={"step": 1})
        resumed = inbox.claim(event_id)["resumed"]
        self.assertEqual((resumed["state"], resumed["because"], resumed["parks"]), ({"step": 1}, "now", 0))
        inbox.nack(event_id, until=["now"])
        self.assertEqual(inbox.claim(event_id)["resumed"]["state"], {"step": 1})

    def test_asking_again_finds_the_question_of_a_parked_event(self) -> None:
        event_id = self.fake.deliver("shop", "order.paid")
        self.fake.svc.inbox.claim(event_id)
        ask = {"event_id": event_id, "bind": {"n": 1}, "park": True}
        asked = []
        for _ in range(2):
            with self.assertRaises(NotApproved) as pending:
                self.fake.svc.ask.approval("order.ship", "Ship it", **ask)
            asked.append(pending.exception.answer)
        self.assertEqual((asked[0].request_id, asked[0].status), (asked[1].request_id, "pending"))
        self.assertEqual(self.fake.event(event_id)["status"], "waiting")
        with self.assertRaises(SvcError) as raised:
            self.fake.svc.ask.approval("order.ship", "Ship it", **{**ask, "bind": {"n": 2}})
        self.assertEqual(raised.exception.code, "EVENT_NOT_CLAIMABLE")

    def test_a_handler_that_sleeps_too_long_loses_its_lease(self) -> None:
        event_id = self.fake.deliver("shop", "order.paid")
        lost = []

        def sleeps(event: Any, ctx: Any) -> None:
            lost.append(ctx.lost.is_set())
            self.fake.advance(400)
            lost.append(ctx.lost.is_set())
            with self.assertRaises(LeaseLostError):
                ctx.once("charge", lambda: self.fail("ran"))

        with self.assertLogs("svc_agents", "WARNING"):
            self.assertEqual(self.fake.run(sleeps, max=1)[0].outcome, "lost")
        self.assertEqual(lost, [False, True])
        self.assertEqual(self.fake.event(event_id)["status"], "pending")

    def test_sits_out_a_server_that_is_away(self) -> None:
        self.fake.deliver("shop", "order.paid")
        self.fake.go_away(10)
        with self.assertLogs("svc_agents", "WARNING"):
            self.assertEqual(self.fake.run(lambda event, ctx: None)[0].outcome, "acked")

    def test_keeps_what_a_step_returned_through_an_outage_as_long_as_half_the_lease(self) -> None:
        event_id = self.fake.deliver("shop", "order.paid")
        handler = lambda event, ctx: ctx.once("charge", lambda: self.fake.go_away(9))
        with self.assertLogs("svc_agents", "WARNING"):
            finished = self.fake.run(handler, lease_seconds=30)
        self.assertEqual(finished[0].outcome, "acked")
        self.assertIsNotNone(self.fake.svc.kv.get(f"once/{event_id}/charge"))

    def test_counts(self) -> None:
        for _ in range(3):
            self.fake.svc.kv.incr("count", by=2)
        self.assertEqual(self.fake.svc.kv.get("count")["value"], 6)

    def test_says_what_it_does_not_play(self) -> None:
        with self.assertRaisesRegex(SvcError, "doesn't play GET /v1/ledger"):
            self.fake.svc.ledger.query().page()

    def test_coroutines_too(self) -> None:
        event_id = self.fake.deliver("github", "pull_request.opened", {"number": 7})

        async def handler(event: Any, ctx: Any) -> str:
            answer = await ctx.ask.human("Which branch?", options=["main", "next"])
            return await ctx.once("merge", lambda: f"merged to {answer.decision}")

        asyncio.run(self.fake.run_async(handler))
        self.fake.decide("answered", decision="next")
        asyncio.run(self.fake.run_async(handler))
        self.assertEqual(self.fake.event(event_id)["result"], "merged to next")

    def test_nobody_answers_a_coroutine(self) -> None:
        event_id, seen = self.fake.deliver("github", "pull_request.opened"), []

        async def handler(event: Any, ctx: Any) -> None:
            try:
                await ctx.ask.human("Which branch?")
            except NotAnswered as no:
                seen.append(no.answer.status)
                raise

        asyncio.run(self.fake.run_async(handler))
        self.fake.advance(24 * 3600)
        finished = asyncio.run(self.fake.run_async(handler, payload=lambda payload: payload))
        self.assertEqual((seen, finished[0].outcome, finished[0].error), (["expired"], "acked", None))
        self.assertEqual(self.fake.event(event_id)["result"], {"status": "expired", "comment": None})


if __name__ == "__main__":
    unittest.main()

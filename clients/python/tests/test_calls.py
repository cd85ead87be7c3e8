"""Calls against a real daemon."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import unittest
import uuid

from live import Live
from svc_agents import (
    AsyncSvc,
    AuthenticationError,
    LockBusyError,
    LostAnswerError,
    NotFoundError,
    NotApproved,
    Pending,
    PreconditionFailedError,
    Svc,
    UnreachableError,
    ValidationError,
)


class Calls(Live):
    def test_finds_the_key_and_the_socket_by_itself(self) -> None:
        self.assertEqual(Svc().whoami()["project"]["slug"], "local")

    def test_an_absent_key_is_none(self) -> None:
        self.assertIsNone(self.svc.kv.get("no-such-key"))
        self.assertIsNone(self.svc.state.load("no-such-task"))
        self.assertIsNone(self.svc.file.read("no-such-file"))
        self.assertIsNone(self.svc.file.get("no-such-file"))

    def test_stores_any_json_and_any_key(self) -> None:
        key = f"{uuid.uuid4()}/a b/ü?&#%"
        for value in [None, True, 0, 1.5, "ü", [1, {"a": None}], {"x": 12345678901234567890}]:
            self.svc.kv.set(key, value)
            self.assertEqual(self.svc.kv.get(key)["value"], value)

    def test_a_write_with_an_old_version_is_refused(self) -> None:
        key = str(uuid.uuid4())
        version = self.svc.kv.set(key, 1, if_version=0)["version"]
        self.svc.kv.set(key, 2, if_version=version)
        with self.assertRaises(PreconditionFailedError) as caught:
            self.svc.kv.set(key, 3, if_version=version)
        self.assertEqual(caught.exception.code, "PRECONDITION_FAILED")

    def test_an_error_says_what_to_do_and_what_to_quote(self) -> None:
        with self.assertRaises(NotFoundError) as caught:
            self.svc.inbox.get("evt_01j9z3k4m5n6p7q8r9s0t1v2w3")
        error = caught.exception
        self.assertEqual((error.code, error.status), ("NOT_FOUND", 404))
        self.assertIn("No event", error.hint)
        self.assertTrue(error.request_id)
        with self.assertRaises(ValidationError) as caught:
            self.svc.inbox.get("evt")
        self.assertEqual(caught.exception.details["fields"][0]["path"], "event_id")

    def test_goes_through_all_pages_of_a_list(self) -> None:
        prefix = f"{uuid.uuid4()}/"
        for number in range(5):
            self.svc.kv.set(f"{prefix}{number}", number)
        pages = self.svc.kv.list(prefix, limit=2)
        self.assertEqual([one["key"] for one in pages], [f"{prefix}{n}" for n in range(5)])
        self.assertEqual(len(pages.page()["items"]), 2)
        self.assertEqual(len(pages.all()), 5)

    def test_a_wait_that_is_over_is_none(self) -> None:
        self.assertIsNone(self.svc.inbox.wait(source=self.source, timeout_seconds=1))

    def test_a_wait_without_a_ceiling_gets_what_comes_later(self) -> None:
        threading.Timer(0.3, lambda: self.deliver(n=1)).start()
        self.assertEqual(self.svc.inbox.wait(source=self.source)["source"], self.source)

    def test_an_answer_that_was_waited_for_is_no_event_any_more(self) -> None:
        answer = self.svc.ask.approval("deploy", "Deploy v5")
        done = self.svc.inbox.list(type="request.resolved", status="done", newest=True, limit=100)
        closed = [one["payload"]["request_id"] for one in done.page()["items"]]
        self.assertIn(answer.request_id, closed)

    def test_asks_and_waits_for_the_answer(self) -> None:
        answer = self.svc.ask.approval("deploy", "Deploy v2", bind={"v": 2}, wait_seconds=30)
        self.assertTrue(answer)
        self.assertEqual((answer.status, answer.bind), ("approved", {"v": 2}))
        with self.assertRaises(NotApproved) as denied:
            self.svc.ask.approval("deploy", "Deploy v3 (deny this)")
        self.assertEqual(denied.exception.answer.status, "denied")

    def test_a_question_that_nobody_answers_in_time_is_pending(self) -> None:
        with self.assertRaises(NotApproved) as asked:
            self.svc.ask.approval("deploy", "Deploy v4 (leave open)", wait_seconds=1)
        self.assertIsInstance(asked.exception.answer, Pending)
        request_id = asked.exception.answer.request_id
        with self.assertRaises(NotApproved) as waited:
            self.svc.request.wait(request_id, timeout_seconds=1)
        self.assertIsInstance(waited.exception.answer, Pending)
        self.svc.request.withdraw(request_id)
        with self.assertRaises(NotApproved) as withdrawn:
            self.svc.request.wait(request_id)
        self.assertEqual(withdrawn.exception.answer.status, "expired")

    def test_files_of_any_size_come_back_as_they_were(self) -> None:
        for size in (0, 1000, 3_000_000):
            data = os.urandom(size)
            self.svc.file.write("some/file.bin", data)
            self.assertEqual(self.svc.file.read("some/file.bin"), data)

    def test_only_one_holds_a_lock(self) -> None:
        name = str(uuid.uuid4())
        with self.svc.lock(name) as lock:
            self.assertFalse(lock.lost.is_set())
            with self.assertRaises(LockBusyError):
                Svc().lock(name, wait_seconds=0).__enter__()
        with self.svc.lock(name, wait_seconds=0):
            pass

    def test_updates_from_several_threads_all_count(self) -> None:
        key = str(uuid.uuid4())
        add = lambda: [self.svc.kv.update(key, lambda n: (n or 0) + 1) for _ in range(5)]
        threads = [threading.Thread(target=add) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.svc.kv.get(key)["value"], 20)

    def test_a_step_runs_once_per_scope(self) -> None:
        scope, runs = str(uuid.uuid4()), []
        for _ in range(3):
            self.assertEqual(self.svc.once(scope, "charge", lambda: runs.append(1) or {"n": 1}), {"n": 1})
        self.assertEqual(len(runs), 1)

    def test_calls_a_gateway_over_tcp(self) -> None:
        there = self.svc.whoami()["urls"]["api"]
        with Svc(gateway=there) as svc:
            self.assertEqual(svc.whoami()["project"]["slug"], "local")

    def test_a_wrong_key_is_an_error_of_its_own(self) -> None:
        with self.assertRaises(AuthenticationError):
            Svc(api_key="svc_live_nonsense").whoami()

    def test_says_that_nothing_answers(self) -> None:
        env = {"SVC_HOME": "/tmp/svc-nobody-here", "SVC_API_KEY": "svc_live_nonsense"}
        with self.assertRaises(UnreachableError) as caught:
            Svc(env=env, max_retries=0).whoami()
        self.assertIn("svc up", caught.exception.hint)

    def test_does_not_wait_for_a_key(self) -> None:
        svc = Svc(env={"SVC_HOME": "/tmp/svc-nobody-here"})
        with self.assertRaises(AuthenticationError) as caught:
            svc.work({"source": "github"}, lambda event, ctx: None)
        self.assertIn("svc up", caught.exception.hint)


class Tries(Live):
    """A proxy between client and daemon that loses answers."""

    def setUp(self) -> None:
        super().setUp()
        self.losing, self.requests = 0, 0
        self.proxy = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.proxy.close)
        threading.Thread(target=self._serve, daemon=True).start()
        address = f"http://127.0.0.1:{self.proxy.getsockname()[1]}"
        key = self.svc._core.connection.api_key
        self.through = Svc(gateway=address, api_key=key, max_retries=3)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.proxy.accept()
            except OSError:
                return
            with client, socket.socket(socket.AF_UNIX) as server:
                server.connect(self.svc._core.connection.socket_path)
                server.sendall(client.recv(65536))
                self.requests += 1
                answer = server.recv(65536)
                if self.losing > 0:
                    self.losing -= 1
                else:
                    client.sendall(answer)

    def test_a_write_whose_answer_is_lost_has_one_effect(self) -> None:
        key = str(uuid.uuid4())
        self.losing = 2
        version = self.through.kv.set(key, "once", if_version=0)["version"]
        self.assertEqual(self.svc.kv.get(key)["version"], version)
        self.assertEqual(self.requests, 3)

    def test_without_retries_a_lost_answer_is_an_error(self) -> None:
        self.losing = 1
        with self.assertRaises(LostAnswerError):
            self.through.kv.set(str(uuid.uuid4()), 1, max_retries=0)


class AsyncCalls(Live):
    def test_the_same_as_coroutines(self) -> None:
        asyncio.run(self.calls())

    async def calls(self) -> None:
        key = str(uuid.uuid4())
        async with AsyncSvc() as svc:
            self.assertIsNone(await svc.kv.get(key))
            await asyncio.gather(*(svc.kv.update(key, lambda n: (n or 0) + 1) for _ in range(5)))
            self.assertEqual((await svc.kv.get(key))["value"], 5)
            self.assertEqual([one["key"] async for one in svc.kv.list(key, limit=1)], [key])
            data = os.urandom(2_000_000)
            await svc.file.write("async.bin", data)
            self.assertEqual(await svc.file.read("async.bin"), data)
            async with svc.lock(key) as lock:
                self.assertFalse(lock.lost.is_set())
            self.assertTrue(await svc.ask.approval("deploy", "Deploy from a coroutine"))
            with self.assertRaises(NotFoundError):
                await svc.inbox.get("evt_01j9z3k4m5n6p7q8r9s0t1v2w3")

    def test_a_cancelled_wait_ends_at_once(self) -> None:
        async def wait() -> None:
            async with AsyncSvc() as svc:
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(svc.inbox.wait(source=self.source), 0.3)

        asyncio.run(wait())


if __name__ == "__main__":
    unittest.main()

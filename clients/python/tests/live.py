"""A real daemon: `SVC_HOME` names it. Somebody decides each request: denies those that say so, and leaves open those that say so."""

from __future__ import annotations

import json
import os
import unittest
import urllib.request
import uuid
from typing import Any, List

from svc_agents import Svc


@unittest.skipUnless(os.environ.get("SVC_HOME"), "needs a daemon: set SVC_HOME")
class Live(unittest.TestCase):
    def setUp(self) -> None:
        self.svc = Svc()
        self.addCleanup(self.svc.close)
        self.source = f"s{uuid.uuid4().hex[:12]}"
        self.hook = self.svc.source.add(self.source, type="webhook", verification="none")["url"]

    def deliver(self, **payload: Any) -> str:
        """Delivers an event, and returns its id."""
        request = urllib.request.Request(
            self.hook,
            json.dumps({"type": "order.paid", **payload}).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["event_id"]

    def status(self, event_id: str) -> str:
        return self.svc.inbox.get(event_id)["status"]

    def drain(self, handler: Any, **options: Any) -> List[Any]:
        """Works until nothing is pending; what became of each event."""
        finished: List[Any] = []
        options = {"drain": True, "on_finished": finished.append, **options}
        self.svc.work({"source": self.source}, handler, **options)
        return finished

    def work_on_one(self, handler: Any) -> Any:
        """What became of the next event."""
        return self.drain(handler, max=1)[0]

    def until_awake(self, event_id: str) -> None:
        """Waits until the event's question is decided."""
        found = self.svc.inbox.wait(source=self.source, timeout_seconds=60)
        self.assertIsNotNone(found, "nobody decided")
        self.assertEqual(found["id"], event_id)

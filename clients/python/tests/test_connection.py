"""Which key goes where."""

import json
import os
import tempfile
import unittest
from typing import Any

from svc_agents import SvcError
from svc_agents._connection import Connection, resolve_connection


class Finding(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name

    def stored(self, current: str = "default", **profiles: Any) -> None:
        with open(os.path.join(self.home, "credentials.json"), "w") as file:
            json.dump({"profiles": profiles, "current": current}, file)

    def runs(self, project: str) -> None:
        with open(os.path.join(self.home, "daemon.json"), "w") as file:
            json.dump({"pid": os.getpid(), "instance": "i", "project": project}, file)

    def find(self, env: Any = None, **given: Any) -> Connection:
        return resolve_connection({"SVC_HOME": self.home, **(env or {})}, **given)

    def test_the_environment_comes_before_the_profile(self) -> None:
        self.stored(default={"gateway": None, "api_key": "k1", "project": "p1"})
        found = self.find({"SVC_API_KEY": "k2", "SVC_GATEWAY": "https://gw.example/base"})
        self.assertEqual((found.api_key, found.base_path, found.address), ("k2", "/base", ("gw.example", 443)))
        self.assertEqual(self.find().api_key, "k1")
        self.assertIsNone(self.find().gateway)
        self.assertEqual(self.find(api_key="k3").api_key, "k3")

    def test_a_team_s_calls_go_to_the_daemon_that_has_the_project(self) -> None:
        team = {"gateway": "https://gw.example", "api_key": "k", "project": "p9"}
        self.stored(current="team", team=team)
        self.assertEqual(self.find().host, "gw.example")
        self.runs("p9")
        self.assertIsNone(self.find().gateway)
        self.runs("p1")
        self.assertEqual(self.find().host, "gw.example")

    def test_the_daemon_of_another_project_gets_no_key(self) -> None:
        self.stored(default={"gateway": None, "api_key": "k1", "project": "p1"})
        self.runs("p2")
        with self.assertRaises(SvcError) as caught:
            self.find()
        self.assertEqual(caught.exception.code, "OTHER_PROJECT")

    def test_a_stored_key_only_goes_where_it_came_from(self) -> None:
        self.stored(
            current="team",
            team={"gateway": "https://gw.example", "api_key": "k", "project": "p"},
            default={"gateway": None, "api_key": "local", "project": "q"},
        )
        self.assertEqual(self.find({"SVC_GATEWAY": "https://gw.example:443/"}).api_key, "k")
        self.assertEqual(self.find({"SVC_GATEWAY": "https://evil.example"}).api_key, "")
        self.assertEqual(self.find({"SVC_GATEWAY": "http://127.0.0.1:9"}, profile="default").api_key, "local")
        self.assertEqual(self.find({"SVC_GATEWAY": "https://gw.example"}, profile="default").api_key, "")
        with self.assertRaisesRegex(SvcError, "unencrypted"):
            self.find({"SVC_GATEWAY": "http://gw.example"})

    def test_a_folder_that_others_can_write_to_gets_no_key(self) -> None:
        for mode in (0o777, 0o1777, 0o702):
            os.chmod(self.home, mode)
            with self.assertRaisesRegex(SvcError, "Others can put files into"):
                self.find({"SVC_API_KEY": "k"})
        os.chmod(self.home, 0o755)
        self.assertIsNone(self.find({"SVC_API_KEY": "k"}).gateway)

    @unittest.skipUnless(os.getuid() == 0, "only root gives files to others")
    def test_a_socket_of_another_user_gets_no_key(self) -> None:
        for name in ("svc.sock", "credentials.json", "daemon.json"):
            path = os.path.join(self.home, name)
            with open(path, "w") as file:
                file.write("{}")
            os.chown(path, 54321, 54321)
            with self.assertRaisesRegex(SvcError, "belongs to another user"):
                self.find({"SVC_API_KEY": "k"})
            os.remove(path)

    def test_a_key_in_the_clear_is_warned_about(self) -> None:
        self.assertIn("unencrypted", self.find({"SVC_API_KEY": "k", "SVC_GATEWAY": "http://gw.example"}).warning)
        self.assertIsNone(self.find({"SVC_API_KEY": "k", "SVC_GATEWAY": "http://localhost:1"}).warning)

    def test_an_unknown_profile_and_a_broken_file_are_errors(self) -> None:
        self.stored(default={"gateway": None, "api_key": "k1", "project": "p1"})
        with self.assertRaisesRegex(SvcError, "Stored profiles: default"):
            self.find(profile="nope")
        with open(os.path.join(self.home, "credentials.json"), "w") as file:
            file.write("no json")
        with self.assertRaises(SvcError) as caught:
            self.find()
        self.assertEqual(caught.exception.code, "CREDENTIALS_INVALID")


if __name__ == "__main__":
    unittest.main()

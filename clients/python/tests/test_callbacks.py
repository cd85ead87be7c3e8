"""The signature of a callback."""

import base64
import hashlib
import hmac
import unittest

from svc_agents import CallbackInvalid, verify_callback

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
BODY = b'{"type":"request.resolved","data":{"status":"approved"}}'
NOW = 1_780_000_000


def headers(body: bytes = BODY, key: bytes = b"k" * 32, event: str = "evt_1", at: int = NOW) -> dict:
    digest = hmac.new(key, f"{event}.{at}.".encode() + body, hashlib.sha256).digest()
    signature = "v1," + base64.b64encode(digest).decode()
    return {"Webhook-Id": event, "Webhook-Timestamp": str(at), "Webhook-Signature": signature}


class Callbacks(unittest.TestCase):
    def test_returns_what_was_signed(self) -> None:
        self.assertEqual(verify_callback(BODY, headers(), SECRET, now=NOW)["type"], "request.resolved")
        self.assertEqual(verify_callback(BODY, headers(), ["whsec_b3RoZXI=", SECRET], now=NOW + 300)["data"]["status"], "approved")

    def test_refuses_anything_else(self) -> None:
        wrong = [
            (BODY + b" ", headers(), NOW),
            (BODY, headers(key=b"x" * 32), NOW),
            (BODY, headers(), NOW + 301),
            (BODY, headers(event="evt.1"), NOW),
            (BODY, {}, NOW),
            (BODY, {**headers(), "Webhook-Signature": "v1,ü"}, NOW),
        ]
        for body, given, now in wrong:
            with self.assertRaises(CallbackInvalid):
                verify_callback(body, given, SECRET, now=now)
        with self.assertRaises(ValueError):
            verify_callback(BODY, headers(), "", now=NOW)


if __name__ == "__main__":
    unittest.main()

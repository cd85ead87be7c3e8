"""Reading HTTP answers, in pieces of any size."""

import ssl
import unittest
from urllib.parse import urlsplit

from svc_agents._connection import Connection
from svc_agents._http import BadHttp, Request, Response, read_response
from svc_agents._transport import connect_error


def read(text: bytes, step: int, method: str = "GET") -> Response:
    reader = read_response(method)
    next(reader)
    pieces = [text[at : at + step] for at in range(0, len(text), step)]
    try:
        for piece in [*pieces, b""]:
            reader.send(piece)
    except StopIteration as end:
        return end.value
    raise AssertionError("not at its end")


class Answers(unittest.TestCase):
    def test_reads_each_kind_of_body(self) -> None:
        kinds = {
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello": True,
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=1\r\nllo\r\n0\r\nA: b\r\n\r\n": True,
            b"HTTP/1.1 200 OK\r\n\r\nhello": False,
            b"HTTP/1.0 200 OK\r\ncontent-length:5\r\n\r\nhello": False,
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello": False,
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello": True,
        }
        for text, keeps in kinds.items():
            for step in (1, 7, 4096):
                answer = read(text, step)
                self.assertEqual((answer.status, answer.body, answer.keeps), (200, b"hello", keeps))

    def test_some_answers_have_no_body(self) -> None:
        self.assertEqual(read(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 9).body, b"")
        self.assertEqual(read(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 9, "HEAD").body, b"")

    def test_an_answer_that_ends_early_is_an_error(self) -> None:
        whole = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        for length in range(len(whole)):
            with self.assertRaises(BadHttp):
                read(whole[:length], 9)
        for text in (b"SSH-2.0 hello\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"):
            with self.assertRaises(BadHttp):
                read(text, 9)

    def test_a_header_with_a_line_end_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            Request("GET", "/", {"x-service-agent": "a\r\nauthorization: b"}).encode()


class Refusals(unittest.TestCase):
    def test_a_certificate_for_another_name_is_no_matter_of_authorities(self) -> None:
        place = Connection("", urlsplit("https://svc.example.com"), "")
        words = {62: "for another name", 64: "for another name", 10: "has expired", 20: "NODE_EXTRA_CA_CERTS"}
        for code, expected in words.items():
            error = ssl.SSLCertVerificationError(1, "refused")
            error.verify_code = code
            error.verify_message = "refused"
            self.assertIn(expected, connect_error(place, error).hint or "")


if __name__ == "__main__":
    unittest.main()
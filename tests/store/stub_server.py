#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
#
# stub_server.py PORT DIRECTORY [PEM]: a server that takes requests of tests/programs/deliver, and misbehaves. With PEM, a
# file with a certificate and its key, it speaks TLS.
#
# POST /?id=ID is kept as a line in DIRECTORY/arrived; GET /?check=ID answers how often it is there, and GET /?lifetime=ID
# that the server keeps it for 14 days. DIRECTORY/mode says
# what happens to requests, and DIRECTORY/requests gets a line for each: its method, target, mode, length, and headers
# that tests look at. Modes are below; `random` is one of several for each request.

import http.server
import os
import random
import socketserver
import ssl
import sys
import threading
import time
import urllib.parse

port, directory = int(sys.argv[1]), sys.argv[2]
lock = threading.Lock()
arrived = {}


def path_of(name):
    return os.path.join(directory, name)


def keep(key):
    with lock:
        arrived[key] = arrived.get(key, 0) + 1
        with open(path_of("arrived"), "a") as file:
            file.write(key + "\n")


def load():
    try:
        with open(path_of("arrived")) as file:
            for line in file:
                arrived[line.strip()] = arrived.get(line.strip(), 0) + 1
    except FileNotFoundError:
        pass


def mode():
    try:
        with open(path_of("mode")) as file:
            return file.read().strip() or "ok"
    except FileNotFoundError:
        return "ok"


# Is it kept, and what happens then: a status with headers and text, or None: the connection is closed; seconds to wait
# before that. Beside these, `fail` is an error for requests but not for checks, and `poison` for those whose id ends in
# 3; `poison_parts`, `poison_busy` and `poison_soon` are "parts", "busy" and "soon" for these. `poison_check` and
# `poison_check_kept` are "cut" and "cut_kept" for these, and "busy" for their checks.
MODES = {
    "ok": (True, (200, {}, ""), 0),
    "slow": (True, (200, {}, ""), 0.3),
    # As long as clients wait, and longer; checks are answered at once.
    "slower": (True, (200, {}, ""), 1),
    "too_slow": (True, (200, {}, ""), 3),
    # A check says that the server has run for a second, and otherwise for a thousand; or 0, as to an older version.
    "restarted": (True, (200, {}, ""), 0),
    # POSTs are taken; the answer to all other requests is no number, or none.
    "mute": (True, (200, {}, ""), 0),
    "deaf": (True, (200, {}, ""), 0),
    "older_check": (True, (200, {}, ""), 0),
    "full": (False, (507, {}, "disk full\n"), 0),
    "too_large": (False, (413, {}, "\x1b[31mtoo large\nsecond line"), 0),
    "error": (False, (500, {}, "Code: 49. broken"), 0),
    "error_kept": (True, (500, {}, "Code: 49. broken after all"), 0),
    "busy": (False, (503, {}, "busy"), 0),
    # As ClickHouse says it: a current server, and 18.16, which has no header.
    "parts": (False, (500, {"X-ClickHouse-Exception-Code": "252"}, "Code: 252. DB::Exception: Too many parts (3000). (TOO_MANY_PARTS)"), 0),
    "memory": (False, (500, {"X-ClickHouse-Exception-Code": "241"}, "Code: 241. DB::Exception: Memory limit (total) exceeded"), 0),
    "queries": (False, (500, {}, "Code: 202, e.displayText() = DB::Exception: Too many simultaneous queries. Maximum: 100"), 0),
    "space": (False, (500, {}, "Code: 243, e.displayText() = DB::Exception: Cannot reserve 1.00 MiB, not enough space"), 0),
    "no_table": (False, (404, {"X-ClickHouse-Exception-Code": "60"}, "Code: 60. DB::Exception: Table x does not exist"), 0),
    "no_column": (False, (500, {}, "Code: 16, e.displayText() = DB::Exception: No such column y in table x"), 0),
    "denied": (False, (403, {"X-ClickHouse-Exception-Code": "516"}, "Code: 516. DB::Exception: default: Authentication failed"), 0),
    "readonly": (False, (400, {"X-ClickHouse-Exception-Code": "164"}, "Code: 164. DB::Exception: Cannot execute query in readonly mode"), 0),
    "data": (False, (400, {"X-ClickHouse-Exception-Code": "33"}, "Code: 33. DB::Exception: Cannot read all data"), 0),
    "proxy": (False, (400, {}, "<html>Bad Request</html>"), 0),
    # ExportProfilesServiceResponse { partial_success { rejected_profiles: 1, error_message: "too old" } }
    "partial": (True, (200, {}, "\x0a\x0b\x08\x01\x12\x07too old"), 0),
    "later": (False, (429, {"Retry-After": "60"}, "later"), 0),
    "soon": (False, (429, {"Retry-After": "3"}, "soon"), 0),
    "silent": (False, None, 30),
    "silent_kept": (True, None, 30),
    "cut": (False, None, 0),
    "cut_kept": (True, None, 0),
    "garbage": (False, "\x00\x01 garbage\r\n\r\n", 0),
    "page": (False, (200, {}, "<html>Log in</html>"), 0),
    "moved": (False, (302, {"Location": "http://127.0.0.1:1/"}, ""), 0),
}
# All is well but the clock: so many seconds ahead, or what the server says instead of a date.
CLOCKS = {
    "ahead": 20 * 86400,
    "minutes_ahead": 1000,
    "minutes_behind": -1000,
    "seconds_ahead": 30,
    "year_1970": "Thu, 01 Jan 1970 00:00:01 GMT",
    "no_date": "\x1b[31m" + "9" * 5000,
}
MODES.update({clock: MODES["ok"] for clock in CLOCKS})
RANDOM = ["ok", "ok", "ok", "slow", "error", "error_kept", "busy", "cut", "cut_kept", "garbage"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *arguments):
        pass

    def answer(self, what, seconds):
        time.sleep(seconds)
        if what is None or isinstance(what, str):
            if what:
                self.connection.sendall(what.encode("latin-1"))
            self.close_connection = True
            return
        status, headers, text = what
        body = text.encode("latin-1")
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def date_time_string(self, timestamp=None):
        clock = CLOCKS.get(mode(), 0)
        return clock if isinstance(clock, str) else super().date_time_string(time.time() + clock)

    def note(self, now, length):
        seen = ("Content-Type", "Content-Encoding", "X-Scope-OrgID", "Authorization")
        headers = " ".join(f"{name}={self.headers[name]}" for name in seen if self.headers[name])
        with lock, open(path_of("requests"), "a") as file:
            file.write(f"{self.command} {self.path} {now} {length} {headers}\n")

    def key(self, name):
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get(name, [""])[0]

    def do_GET(self):
        now = mode()
        # What is broken is so for checks, too, but does not keep anything.
        self.note(now, 0)
        if now.startswith("poison_check") and self.key("check").endswith("3"):
            now = "busy"
        now = "ok" if now.startswith("poison") or now == "fail" else now
        is_kept, what, seconds = MODES[random.choice(RANDOM) if now == "random" else now]
        seconds = 0 if now == "too_slow" else seconds
        if now == "mute":
            return self.answer((200, {}, "?"), 0)
        if now == "deaf":
            return self.answer(None, 0)
        if isinstance(what, tuple) and what[0] == 200:
            with lock:
                up = {"restarted": 1, "older_check": 0}.get(now, 1000)
                what = (200, {}, "14\n" if self.key("lifetime") else f"{arrived.get(self.key('check'), 0)}\t1\t{up}\n")
        elif now == "silent_kept" or now == "cut_kept":
            what, seconds = (503, {}, "busy"), 0
        self.answer(what, seconds)

    def do_POST(self):
        now = mode()
        length = int(self.headers["Content-Length"])
        left = length
        while left > 0:
            piece = self.rfile.read(min(left, 1 << 20))
            if not piece:
                return
            left -= len(piece)
        self.note(now, length)
        if now == "fail":
            now = "error"
        if now.startswith("poison"):
            bad = {"poison_parts": "parts", "poison_busy": "busy", "poison_soon": "soon", "poison_check": "cut", "poison_check_kept": "cut_kept"}.get(now, "error")
            now = bad if self.key("id").endswith("3") else "ok"
        is_kept, what, seconds = MODES[random.choice(RANDOM) if now == "random" else now]
        if is_kept:
            keep(self.key("id"))
        self.answer(what, seconds)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, *arguments):
        pass


load()
server = Server(("127.0.0.1", port), Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()

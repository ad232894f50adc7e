#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
#
# slow_proxy.py PORT TARGET FILE [TEXT]: pass requests on to the HTTP server at port TARGET of this host, and hold each
# answer for as many seconds as FILE says. Requests with TEXT are refused, as a query that takes too much memory.

import http.client
import http.server
import socketserver
import sys
import time

port, target, delay = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
refused = sys.argv[4].encode() if len(sys.argv) > 4 else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if refused and refused in body:
            said = b"Code: 241. DB::Exception: Memory limit (for query) exceeded"
            self.send_response(500)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)
            return
        headers = {name: value for name, value in self.headers.items() if name not in ("Host", "Connection")}
        server = http.client.HTTPConnection("127.0.0.1", target)
        server.request(self.command, self.path, body, headers)
        answer = server.getresponse()
        said = answer.read()
        with open(delay) as file:
            time.sleep(float(file.read()))
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.startswith("X-ClickHouse"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = pass_on


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True


Server(("127.0.0.1", port), Handler).serve_forever()

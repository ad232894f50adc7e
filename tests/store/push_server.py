#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
#
# push_server.py PORT DIRECTORY: takes what an agent pushes, for any number of sinks.
#
# A POST to /SINK/TARGET becomes DIRECTORY/SINK/N.body, and N.json with its headers, as tests/programs/push_bodies writes
# them. While DIRECTORY/down exists, the answer is 503 and
# DIRECTORY/refused is made.

import http.server
import json
import os
import socketserver
import sys
import threading

port, directory = int(sys.argv[1]), sys.argv[2]
lock = threading.Lock()
counts = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        _, sink, target = self.path.split("/", 2)
        is_down = os.path.exists(os.path.join(directory, "down"))
        if is_down:
            open(os.path.join(directory, "refused"), "w").close()
        else:
            with lock:
                number = counts[sink] = counts.get(sink, -1) + 1
            path = os.path.join(directory, sink, str(number))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            tenant = self.headers.get("X-Scope-OrgID")
            with open(path + ".json", "w") as file:
                json.dump({"target": "/" + target, "type": self.headers["Content-Type"],
                           "encoding": self.headers.get("Content-Encoding"),
                           "header": tenant and f"X-Scope-OrgID: {tenant}"}, file)
            with open(path + ".part", "wb") as file:
                file.write(body)
            os.rename(path + ".part", path + ".body")
        self.send_response(503 if is_down else 200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True


Server(("127.0.0.1", port), Handler).serve_forever()

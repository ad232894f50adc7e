#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""push_profiles.py KIND: a made-up profile, as ctprof writes profiles in JSON.

plain     programs, threads, classes and inlined functions
hostile   names with anything in them
stacks    100,000 stacks
programs  3,000 programs
"""

import json
import random
import sys

CLASSES = ["on-cpu", "runnable", "interruptible", "uninterruptible", "io-wait"]
rng = random.Random(1)


class Profile:
    def __init__(self):
        self.images, self.threads, self.frames = [], [], []
        self.nodes = {"parent": [], "frame": []}
        self.samples = {"thread": [], "node": [], "class": [], "ns": [], "count": []}
        self.frame_numbers, self.node_numbers = {}, {}

    def thread(self, exe, process, name, cgroup, **more):
        thread = {"tid": 1000 + len(self.threads), "tgid": 1000 + len(self.threads) // 3 * 3, "name": name,
                  "process": process, **more}
        if cgroup:
            thread["cgroup"] = cgroup
        if exe:
            self.images.append({"pid": thread["tgid"], "exe": exe})
            thread["image"] = len(self.images)
        self.threads.append(thread)
        return len(self.threads) - 1

    def node(self, *frames):
        """Frames from the outermost on: (name, members...)."""
        node = None
        for name, more in frames:
            key = (name, tuple(sorted(more.items())))
            if key not in self.frame_numbers:
                self.frame_numbers[key] = len(self.frames)
                self.frames.append({"name": name, **more})
            key = (node, self.frame_numbers[key])
            if key not in self.node_numbers:
                self.node_numbers[key] = len(self.nodes["frame"])
                self.nodes["parent"].append(node)
                self.nodes["frame"].append(key[1])
            node = self.node_numbers[key]
        return node

    def sample(self, thread, node, kind, ns):
        for column, value in zip(("thread", "node", "class", "ns", "count"), (thread, node, CLASSES.index(kind), ns, 1)):
            self.samples[column].append(value)

    def write(self):
        json.dump({"ctprof_profile": 1,
                   "meta": {"host": "made", "mode": "both", "captured_at_unix_ns": 1790000000123456789,
                            "duration_ns": 10**10, "on_cpu_period_ns": 10101010, "cpus": 2},
                   "classes": CLASSES, "images": self.images, "threads": self.threads, "frames": self.frames,
                   "nodes": self.nodes, "samples": self.samples}, sys.stdout)


def user(name, **more):
    return name, {"module": "/usr/bin/app", **more}


def kernel(name, **more):
    return name, {"kind": "kernel", **more}


def plain(p):
    stacks = [
        p.node(user("main"), user("serve", source="serve.c", line=10)),
        p.node(user("main"), user("serve", source="serve.c", line=11)),
        p.node(user("main"), user("serve"), user("parse", inlined=True), user("next", inlined=True, line=3)),
        p.node(user("main"), user("parse", inlined=True), user("next", inlined=True, line=3)),
        p.node(user("main"), user("read"), kernel("vfs_read"), kernel("ext4_read", module="ext4"), kernel("schedule")),
        p.node(("[truncated]", {"kind": "note"}), user("leaf")),
        None,
    ]
    threads = [
        p.thread("/usr/bin/app", "app", "app", "/system.slice/app.service"),
        p.thread("/usr/bin/app", "app", "worker-1", "/system.slice/app.service"),
        p.thread("/usr/bin/app", "app", "worker-2", "/system.slice/app.service"),
        p.thread("/opt/app (deleted)", "app", "app", "/docker/" + "0a" * 32),
        p.thread("/usr/bin/python3.11", "gunicorn", "io-thread", None),
        p.thread(None, "kworker/0:1-events", "kworker/0:1-events", "/", kernel=True),
        p.thread(None, "kworker/1:3-events", "kworker/1:3-events", "/", kernel=True),
    ]
    for thread in threads:
        for stack in stacks:
            for kind in CLASSES:
                if rng.random() < 0.7:
                    p.sample(thread, stack, kind, rng.randrange(1, 10**10))
    p.sample(threads[0], stacks[0], "runnable", 0)


def hostile(p):
    names = ["'; DROP TABLE x; --", "\"}\n{a=\"b", "\\", "a\tb\x01\x7f", "", " ", "ü€𝄞", "𝄞" * 2000, "__name__", "=", ",",
             "x" * 100000, "\r\n\r\nGET / HTTP/1.1", "%s%n%x", "<script>", "\u2028\ufffd"]
    for name in names:
        thread = p.thread("/x/" + name.replace("/", "_"), name[:15], name[:15], "/" + name)
        p.sample(thread, p.node(user(name or "f", source=name)), "on-cpu", rng.randrange(1, 10**9))
        p.sample(thread, p.node((name or "f", {"module": name}), kernel(name or "f", module=name)), "io-wait",
                 rng.randrange(1, 10**9))


def stacks(p):
    threads = [p.thread("/usr/bin/app", "app", f"worker-{i}", "/app") for i in range(50)]
    for i in range(100000):
        frames = [user(f"function_{rng.randrange(3000)}_of_a_program_with_long_names") for _ in range(20)]
        p.sample(threads[i % 50], p.node(user("main"), *frames, kernel("schedule")), rng.choice(CLASSES),
                 rng.randrange(1, 10**6))


def programs(p):
    for i in range(3000):
        # Names that no pattern makes equal.
        word = "".join(chr(ord("g") + int(d)) for d in str(i))
        thread = p.thread(f"/bin/program{word}", f"p{word}"[:15], f"t{word}"[:15], f"/{word}")
        p.sample(thread, p.node(user("main")), rng.choice(CLASSES), rng.randrange(1, 10**9))


profile = Profile()
{"plain": plain, "hostile": hostile, "stacks": stacks, "programs": programs}[sys.argv[1]](profile)
profile.write()

# SPDX-License-Identifier: BSD-2-Clause
"""A program of Python with nothing to do but a little every BEAT ms: `python.py idle BEAT`. `python.py
block BEAT` has threads that really block as well, and says which: "block TID WHAT". The thread of its
event loop says "loop TID"."""

import asyncio
import concurrent.futures
import os
import sys
import threading
import time


def say(what):
    os.write(1, b"block %d %s\n" % (threading.get_native_id(), what.encode()))


def read_pipe():
    say("pipe")
    os.read(os.pipe()[0], 1)


def sleep_shortly():
    say("sleep")
    while True:
        time.sleep(0.1)


lock = threading.Lock()


def take_lock():
    say("lock")
    with lock:
        pass


async def main():
    loop = asyncio.get_running_loop()
    said_ready = False
    pool = concurrent.futures.ThreadPoolExecutor(4)
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    if sys.argv[1] == "block":
        blocking = concurrent.futures.ThreadPoolExecutor(4)
        lock.acquire()
        for block in read_pipe, sleep_shortly, take_lock:
            blocking.submit(block)
    os.write(1, b"loop %d\n" % threading.get_native_id())
    while True:
        await asyncio.gather(*[loop.run_in_executor(pool, time.sleep, 0.001) for i in range(4)])
        if not said_ready:
            await asyncio.sleep(0.3)
            os.write(1, b"ready\n")
            said_ready = True
        await asyncio.sleep(int(sys.argv[2]) / 1000)


asyncio.run(main())

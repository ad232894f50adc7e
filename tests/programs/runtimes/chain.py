# SPDX-License-Identifier: BSD-2-Clause
#
# `chain.py spin` and `chain.py nap` do so below five functions that call each other.

import sys
import time


def spin():
    sum(range(1000000))


def nap():
    time.sleep(0.02)


act = {"spin": spin, "nap": nap}[sys.argv[1]]


def five():
    act()


def four():
    five()


def three():
    four()


def two():
    three()


def one():
    two()


print("ready", flush=True)
while True:
    one()

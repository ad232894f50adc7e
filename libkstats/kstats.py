# SPDX-License-Identifier: BSD-2-Clause
"""libkstats for Python: record histograms, read them, and read files of ctprof kstats.

    import kstats

    times = kstats.Metric("request_times", times=True)
    with times.span():
        answer()
    print(times.quantile(0.99), "ns")

While the program runs, `ctprof kstats show PID:request_times` shows it. Files that `ctprof kstats save`
or KSTATS_SAVE=DIR wrote:

    for metric in kstats.load("server-4711.kstats.json"):
        print(metric.name, metric.count, metric.quantile(0.5), metric.unit)

One file, which needs nothing but libkstats.so (found by the dynamic linker, or named by
KSTATS_LIBRARY), and only to record; files packed with zstd also need the program zstd. A record
from Python takes as long as a call of ctypes, some hundred nanoseconds.
"""

import ctypes
import json
import math
import os
import subprocess

__all__ = ["Histogram", "Metric", "load"]

_U64 = ctypes.c_uint64


class _Span(ctypes.Structure):
    _fields_ = [("key", ctypes.c_void_p), ("start_ns", _U64)]


# name: (returned type, types of arguments)
_FUNCTIONS = {
    "kstats_new": (ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_uint]),
    "kstats_new_time": (ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_uint]),
    "kstats_describe": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]),
    "kstats_record": (None, [ctypes.c_void_p, _U64]),
    "kstats_delete": (None, [ctypes.c_void_p]),
    "kstats_start": (None, [ctypes.c_void_p]),
    "kstats_stop": (None, [ctypes.c_void_p]),
    "kstats_reset": (ctypes.c_int, [ctypes.c_void_p]),
    "kstats_span_start": (_Span, [ctypes.c_void_p]),
    "kstats_span_stop": (_U64, [_Span]),
    "kstats_snapshot_take": (ctypes.c_void_p, [ctypes.c_void_p]),
    "kstats_snapshot_free": (None, [ctypes.c_void_p]),
    "kstats_snapshot_count": (_U64, [ctypes.c_void_p]),
    "kstats_snapshot_mean": (ctypes.c_double, [ctypes.c_void_p]),
    "kstats_snapshot_quantile": (_U64, [ctypes.c_void_p, ctypes.c_double, ctypes.POINTER(_U64)]),
}
_library = None


def _functions():
    global _library
    if _library is None:
        library = ctypes.CDLL(os.environ.get("KSTATS_LIBRARY", "libkstats.so.0"), use_errno=True)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        _library = library
    return _library


def _failed(what):
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


# --- recording ---


class _Timer:
    """Records the time of a with statement, in nanoseconds; `ns` has it afterwards."""

    def __init__(self, key):
        self._key = key
        self.ns = None

    def __enter__(self):
        self._span = _functions().kstats_span_start(self._key)
        return self

    def __exit__(self, *_):
        self.ns = _functions().kstats_span_stop(self._span)


class Metric:
    """A metric of this process, from its creation until close() or the end of a with statement.

    `frac_bits`: each power of two has 2^frac_bits buckets. `times`: values are nanoseconds.
    OSError if it cannot be made, for example because the process has one of that name."""

    def __init__(self, name, frac_bits=3, times=False, unit=None, labels=None):
        library = _functions()
        make = library.kstats_new_time if times else library.kstats_new
        self._key = make(name.encode(), frac_bits)
        if not self._key:
            raise _failed(f"metric {name}")
        labels = ",".join(f"{key}={value}" for key, value in (labels or {}).items())
        if (unit or labels) and library.kstats_describe(
            self._key, unit.encode() if unit else None, labels.encode() if labels else None
        ):
            error = _failed(f"unit or labels of metric {name}")
            self.close()
            raise error

    def record(self, value):
        """Count a value, an integer from 0 to 2^64 - 1."""
        _functions().kstats_record(self._key, value)

    def span(self):
        """A context that records how long it lasts."""
        return _Timer(self._key)

    def start(self):
        _functions().kstats_start(self._key)

    def stop(self):
        _functions().kstats_stop(self._key)

    def reset(self):
        if _functions().kstats_reset(self._key):
            raise _failed("reset")

    def _read(self, function, *arguments):
        library = _functions()
        snapshot = library.kstats_snapshot_take(self._key)
        if not snapshot:
            raise _failed("snapshot")
        try:
            return getattr(library, function)(snapshot, *arguments)
        finally:
            library.kstats_snapshot_free(snapshot)

    @property
    def count(self):
        return self._read("kstats_snapshot_count")

    @property
    def mean(self):
        return self._read("kstats_snapshot_mean")

    def quantile(self, fraction):
        """The upper bound of the bucket with that quantile; 0 without values."""
        return self._read("kstats_snapshot_quantile", fraction, None)

    def bounds(self, fraction):
        """Both bounds of that bucket: the true value is one of these or between them."""
        low = _U64()
        high = self._read("kstats_snapshot_quantile", fraction, ctypes.byref(low))
        return low.value, high

    def close(self):
        """Delete the metric and its values."""
        if self._key:
            _functions().kstats_delete(self._key)
            self._key = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# --- files ---


def _low(slot, bits):
    bucket, rest = slot >> bits, slot & ((1 << bits) - 1)
    return rest if bucket == 0 else ((1 << bits) | rest) << (bucket - 1)


class Histogram:
    """A metric of a file. `members` has all that the file says of it (doc/format.md of ctprof)."""

    def __init__(self, members):
        self.members = members
        self.name, self.unit = members["name"], members.get("unit", "")
        self.bits = members["bits"]
        self._slots = {}
        for row in members["rows"]:
            for slot, count, total in row["slots"]:
                before = self._slots.get(slot, (0, 0))
                self._slots[slot] = (before[0] + count, before[1] + total)
        self.count = sum(count for count, _ in self._slots.values())

    def buckets(self):
        """(low, high, count) of each bucket that is not empty, ascending."""
        return [
            (_low(slot, self.bits), _low(slot + 1, self.bits) - 1, self._slots[slot][0])
            for slot in sorted(self._slots)
        ]

    @property
    def mean(self):
        """0 without values."""
        total = 0
        for slot, (count, scaled) in self._slots.items():
            value = scaled << max(0, (slot >> self.bits) - 20)
            total += min(max(value, count * _low(slot, self.bits)), count * (_low(slot + 1, self.bits) - 1))
        return total / self.count if self.count else 0

    def bounds(self, fraction):
        """Both bounds of the bucket with that quantile; 0 and 0 without values."""
        rank = max(1, math.ceil(fraction * self.count * (1 - 2**-51)))
        for low, high, count in self.buckets():
            rank -= count
            if rank <= 0:
                return low, high
        return 0, 0

    def quantile(self, fraction):
        return self.bounds(fraction)[1]


def load(path):
    """The metrics of a file of `ctprof kstats save`, packed or not. ValueError if it is none."""
    with open(path, "rb") as file:
        content = file.read()
    if content[:4] == b"\x28\xb5\x2f\xfd":
        content = subprocess.run(["zstd", "-dcq"], input=content, stdout=subprocess.PIPE, check=True).stdout
    document = json.loads(content)
    if not isinstance(document, dict) or document.get("format") != "ctprof-kstats" or document.get("version") != 1:
        raise ValueError(f"{path}: not a kstats file")
    return [Histogram(members) for members in document["metrics"]]

#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""push_decode.py PROTO SINK PROFILE DIRECTORY [OPTIONS]: compares what an agent sent with a profile.

PROTO has what protoc made of tests/store/proto, PROFILE is JSON as ctprof writes it, or a folder of such files that are
packed by zstd, DIRECTORY has the requests as
tests/programs/push_bodies writes them. Bodies are decoded by Google's protobuf. The sums by type and stack must be
those of the profile, to the nanosecond, and so must those by program and by thread; and what servers require must hold.
"""

import argparse
import base64
import collections
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import zlib

parser = argparse.ArgumentParser()
for name in ("proto", "sink", "profile", "directory"):
    parser.add_argument(name)
parser.add_argument("--host", default="host-a")
parser.add_argument("--bounded", type=int, help="series that there may be; programs and names may then be 'other'")
parser.add_argument("--requests", type=int, default=1, help="requests that there must be at least")
parser.add_argument("--label", action="append", default=[], help="NAME=VALUE that each series must have")
options = parser.parse_args()
sys.path.insert(0, options.proto)

from google.protobuf import json_format  # noqa: E402
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2 as otlp  # noqa: E402
from parca import profilestore_pb2 as parca  # noqa: E402
from pprof import profile_pb2 as pprof  # noqa: E402
from pyroscope import push_pb2 as pyroscope  # noqa: E402

MIB = 1 << 20
LABEL_MOST = 1024
STRING_MOST = 4096  # of OTLP


def require(condition, *what):
    if not condition:
        sys.exit("failed: " + " ".join(str(w)[:600] for w in what))


# --- the profile ---

def pattern(name):
    """base/pattern.h for names as these tests have them: no UUIDs and no pods."""
    def replace(token):
        if re.fullmatch(r"[0-9]+", token):
            return "{N}"
        if re.fullmatch(r"[0-9a-f]{2,}", token) and re.search("[0-9]", token):
            return "{H}"
        if match := re.fullmatch(r"([A-Za-z]+)[0-9]+", token):
            return match[1] + "{N}"
        if match := re.fullmatch(r"[0-9]+([A-Za-z]+)", token):
            return "{N}" + match[1]
        return token
    return "".join(replace(t) if i % 2 == 0 else t
                   for i, t in enumerate(re.split(r"([-._/:@+\[\]\s])", name)))


def shortened(text, most=LABEL_MOST):
    return text.encode()[:most].decode(errors="ignore")


def stacks_of(profile):
    """For each node its stack: frames as (name, source, line, mapping), the innermost first."""
    frames = []
    for frame in profile.get("frames", []):
        module = frame.get("module", "")
        if frame.get("kind") == "kernel":
            module = "[kernel]" if not module else module if module[0] == "[" else f"[{module}]"
        name, source = frame.get("name", ""), frame.get("source", "")
        if options.sink == "otlp":
            name, source, module = (shortened(text, STRING_MOST) for text in (name, source, module))
        frames.append((name, source, frame.get("line", 0), module, frame.get("inlined", False)))
    stacks = []
    nodes = profile.get("nodes", {"parent": [], "frame": []})
    for parent, frame in zip(nodes["parent"], nodes["frame"]):
        name, source, line, module, inlined = frames[frame]
        below = stacks[parent] if parent is not None else ()
        if inlined and below:
            module = below[0][3]
        stacks.append(((name, source, line, module),) + below)
    # Of a location the file is that of the frame into which the others are inlined.
    return stacks


class Sums:
    def __init__(self):
        self.stacks, self.programs, self.names, self.threads = (collections.Counter() for _ in range(4))

    def equal(self, other, which):
        mine, theirs = getattr(self, which), getattr(other, which)
        for key in set(mine) | set(theirs):
            require(mine[key] == theirs[key], f"{which}: sent {mine[key]} ns, not {theirs[key]}:", repr(key)[:600])


def load(path):
    """The profiles, one after the other."""
    if not os.path.isdir(path):
        with open(path) as file:
            yield json.load(file)
        return
    for name in sorted(os.listdir(path)):
        yield json.loads(subprocess.check_output(["zstd", "-dcq", os.path.join(path, name)]))


def add_sums(sums, profile):
    stacks = stacks_of(profile)
    samples = profile["samples"]
    classes = profile["classes"]
    for thread, node, kind, ns in zip(*(samples[c] for c in ("thread", "node", "class", "ns"))):
        if not ns or classes[kind] == "event":
            continue
        type_ = "cpu" if classes[kind] == "on-cpu" else "off_cpu"
        t = profile["threads"][thread]
        stack = stacks[node] if node is not None else ()
        exe = profile["images"][t["image"] - 1].get("exe", "") if t.get("image") else ""
        exe = exe.removesuffix(" (deleted)")
        process = shortened(pattern(t["process"]))
        service = shortened(exe.rsplit("/", 1)[-1]) or process or "other"
        cgroup = shortened(t.get("cgroup", ""))
        if t.get("kernel"):
            service = process = "kernel"
            cgroup = ""
        sums.stacks[type_, stack] += ns
        sums.programs[type_, service, process, cgroup] += ns
        sums.names[type_, service, process, cgroup, shortened(pattern(t["name"]))] += ns
        sums.threads[type_, t.get("tgid", 0), t.get("tid", 0), t["name"], stack] += ns


# --- requests ---

def requests():
    paths = sorted(glob.glob(os.path.join(options.directory, "*.body")), key=lambda p: int(os.path.basename(p)[:-5]))
    require(len(paths) >= options.requests, "requests:", len(paths))
    for path in paths:
        with open(path, "rb") as body, open(path[:-5] + ".json") as meta:
            body, meta = body.read(), json.load(meta)
        if meta["encoding"] == "gzip":
            require(len(body) < 20 * MIB)
            body = gzip.decompress(body)
        else:
            require(not meta["encoding"], "encoding", meta["encoding"])
        require(len(body) < 20 * MIB, "a body of", len(body))
        yield meta, body


# --- pprof, with labels ---

def labels_of(pairs):
    labels = {}
    for name, value in pairs:
        require(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name), "a label's name:", repr(name))
        require(name not in labels, "two labels", name)
        require(value and len(value.encode()) <= 2048, "a label's value:", name, len(value))
        labels[name] = value
    require(len(labels) < 30, "labels:", len(labels))
    for name in ("__name__", "service_name", "host"):
        require(name in labels, "no label", name)
    require(labels["host"] == options.host, "host", labels["host"])
    for label in options.label:
        name, _, value = label.partition("=")
        require(labels.get(name) == value, f"label {name}: {labels.get(name)!r}, not {value!r}")
    return labels


def add_pprof(sums, series, labels, packed):
    raw = zlib.decompress(packed, 31)
    require(len(raw) <= 4 * MIB, "a profile of", len(raw))
    p = pprof.Profile.FromString(raw)
    s = p.string_table
    require(s[0] == "" and len(set(s)) == len(s), "strings")
    types = [(s[t.type], s[t.unit]) for t in p.sample_type]
    require(types in ([("cpu", "nanoseconds"), ("off_cpu", "nanoseconds"), ("wall", "nanoseconds")],
                      [("cpu", "nanoseconds")], [("off_cpu", "nanoseconds")]), types)
    require(s[p.default_sample_type] == types[0][0], "default type")
    require((s[p.period_type.type], s[p.period_type.unit]) == ("cpu", "nanoseconds") and p.period > 0, "period")
    require(p.time_nanos > 0 and p.duration_nanos > 0, "time")
    require(0 < len(p.sample) <= 16000, "samples:", len(p.sample))
    # Parca requires ids in their order.
    for table in (p.mapping, p.function, p.location):
        require([item.id for item in table] == list(range(1, len(table) + 1)), "ids")
    seen = set()
    for sample in p.sample:
        require(len(sample.value) == len(types), "values")
        comm = ""
        for label in sample.label:
            require(s[label.key] == "comm" and s[label.str], "label", s[label.key])
            comm = s[label.str]
        key = (tuple(sample.location_id), comm)
        require(key not in seen, "a sample twice")
        seen.add(key)
        series.add((tuple(sorted(labels.items())), comm))
        stack = []
        for number in sample.location_id:
            location = p.location[number - 1]
            module = s[p.mapping[location.mapping_id - 1].filename] if location.mapping_id else ""
            require(location.line, "a location without a line")
            for line in location.line:
                function = p.function[line.function_id - 1]
                stack.append((s[function.name], s[function.filename], line.line, module))
        values = dict(zip((t for t, _ in types), sample.value))
        require("wall" not in values or values["wall"] == values["cpu"] + values["off_cpu"], "wall")
        program = labels["service_name"], labels.get("process", ""), labels.get("cgroup", "")
        for type_ in ("cpu", "off_cpu"):
            if values.get(type_):
                sums.stacks[type_, tuple(stack)] += values[type_]
                sums.programs[(type_,) + program] += values[type_]
                sums.names[(type_,) + program + (comm,)] += values[type_]


def decode_pyroscope(sums):
    series = set()
    for meta, body in requests():
        require(meta["target"] == "/push.v1.PusherService/Push" and meta["type"] == "application/proto", meta)
        message = pyroscope.PushRequest.FromString(body)
        require(meta.get("count") in (None, len(message.series)), "profiles")
        for one in message.series:
            require(len(one.samples) == 1)
            add_pprof(sums, series, labels_of((l.name, l.value) for l in one.labels), one.samples[0].raw_profile)
    return len(series)


def decode_parca(sums):
    series = set()
    for meta, body in requests():
        require(meta["target"] == "/api/profiles/writeraw" and meta["type"] == "application/json", meta)
        message = json_format.Parse(body, parca.WriteRawRequest())
        require(meta.get("count") in (None, len(message.series)), "profiles")
        for one in message.series:
            require(len(one.samples) == 1)
            labels = labels_of((l.name, l.value) for l in one.labels.labels)
            add_pprof(sums, series, labels, one.samples[0].raw_profile)
    return len(series)


# --- OTLP ---

def attributes_of(pairs):
    attributes = {}
    for key, value in pairs:
        require(key and key not in attributes, "an attribute twice:", key)
        attributes[key] = getattr(value, value.WhichOneof("value"))
    return attributes


def check_dictionary(d):
    zero = {"mapping_table": {}, "location_table": {}, "function_table": {}, "attribute_table": {}, "stack_table": {}}
    for table in zero:
        require(getattr(d, table)[0].ByteSize() == 0, "the first of", table)
        items = [i.SerializeToString(deterministic=True) for i in getattr(d, table)]
        require(len(set(items)) == len(items), "duplicates in", table)
    require(d.string_table[0] == "" and len(set(d.string_table)) == len(d.string_table), "strings")
    require(len(d.link_table) == 1 and d.link_table[0].trace_id == bytes(16) and d.link_table[0].span_id == bytes(8))
    used = {i for s in d.stack_table for i in s.location_indices}
    require(used == set(range(1, len(d.location_table))), "locations that are not used")


def decode_otlp(sums):
    resources, ids = set(), set()
    for meta, body in requests():
        require(meta["target"] == "/v1development/profiles" and meta["type"] == "application/x-protobuf", meta)
        require(meta["encoding"] == "gzip", "not packed")
        message = otlp.ExportProfilesServiceRequest.FromString(body)
        require(not unknown_fields(message), "unknown fields")
        d = message.dictionary
        check_dictionary(d)
        s = d.string_table
        table = [None] + [(s[a.key_strindex], a.value) for a in d.attribute_table[1:]]
        count, used_stacks = 0, set()
        for resource in message.resource_profiles:
            a = attributes_of((p.key, p.value) for p in resource.resource.attributes)
            require(a["host.name"] == options.host, "host.name", a)
            require(a["service.name"], "service.name")
            for label in options.label:
                name, _, value = label.partition("=")
                require(a.get(name) == value, f"attribute {name}: {a.get(name)!r}")
            resources.add(tuple(sorted(a.items())))
            path = a.get("process.executable.path", "")
            require(len(path) > 255 or path.endswith(a.get("process.executable.name", "")), a)
            require(len(resource.scope_profiles) == 1)
            scope = resource.scope_profiles[0]
            require(scope.scope.name == "ctprof" and scope.scope.version)
            for profile in scope.profiles:
                count += 1
                type_ = s[profile.sample_type.type_strindex]
                require(type_ in ("cpu", "off_cpu") and s[profile.sample_type.unit_strindex] == "nanoseconds", type_)
                require(profile.time_unix_nano and profile.duration_nano, "time")
                require((profile.period > 0) == (type_ == "cpu"), "period")
                require(len(profile.profile_id) == 16 and profile.profile_id not in ids, "id")
                ids.add(profile.profile_id)
                require(0 < len(profile.samples) <= 16000, "samples")
                program = type_, a["service.name"], a.get("process.command", ""), a.get("process.linux.cgroup", "")
                for sample in profile.samples:
                    require(len(sample.values) == 1 and not sample.timestamps_unix_nano, "values")
                    used_stacks.add(sample.stack_index)
                    t = attributes_of(table[i] for i in sample.attribute_indices)
                    stack = []
                    for i in d.stack_table[sample.stack_index].location_indices:
                        location = d.location_table[i]
                        module = s[d.mapping_table[location.mapping_index].filename_strindex]
                        for line in location.lines:
                            f = d.function_table[line.function_index]
                            stack.append((s[f.name_strindex], s[f.filename_strindex], line.line, module))
                    ns = sample.values[0]
                    sums.stacks[type_, tuple(stack)] += ns
                    sums.programs[program] += ns
                    sums.threads[type_, t["process.pid"], t["thread.id"], t["thread.name"], tuple(stack)] += ns
        require(meta.get("count") in (None, count), "profiles", count)
        require(used_stacks | {0} == set(range(len(d.stack_table))), "stacks that are not used")
    return len(resources)


def unknown_fields(message):
    """Whether any part has a field that the published files do not have."""
    if len(message.UnknownFields()) if hasattr(message, "UnknownFields") else 0:
        return True
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for item in value if field.label == field.LABEL_REPEATED else [value]:
                if unknown_fields(item):
                    return True
    return False


wanted, sent = Sums(), Sums()
for one in load(options.profile):
    add_sums(wanted, one)
series = {"pyroscope": decode_pyroscope, "parca": decode_parca, "otlp": decode_otlp}[options.sink](sent)
sent.equal(wanted, "stacks")
if options.bounded is None:
    sent.equal(wanted, "programs")
if options.sink == "otlp":
    sent.equal(wanted, "threads")
elif options.bounded is None:
    sent.equal(wanted, "names")
else:
    require(series <= options.bounded, "series:", series)
print(f"{len(wanted.stacks)} stacks, {sum(wanted.stacks.values())} ns, {series} series")

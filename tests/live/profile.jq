# SPDX-License-Identifier: BSD-2-Clause
#
# Profiles (doc/profile-format.md) as the tests read them, and what `waits` says beside them.

def sum: add // 0;

# Time off the CPU, exact.
def off: [.ns | to_entries[] | select(.key != "on-cpu").value] | sum;

# Names of functions, from the outermost on, numbers of nodes to arrays.
def stacks:
	. as $p |
	reduce range(.nodes.frame | length) as $i ([];
		. + [(if $p.nodes.parent[$i] == null then [] else .[$p.nodes.parent[$i]] end) +
			[$p.frames[$p.nodes.frame[$i]].name // "?"]]);

# An object for each sample.
def samples:
	. as $p | stacks as $stacks | .samples as $s |
	range($s.ns // [] | length) |
	{ thread: $p.threads[$s.thread[.]], class: $p.classes[$s.class[.]],
		state: $p.states[$s.state[.]? // 0], ns: $s.ns[.], count: $s.count[.],
		cpu: $s.cpu[.]?, waker: $p.wakers[($s.waker[.]? // 0) - 1], stack: (if $s.node[.] == null then [] else $stacks[$s.node[.]] end) };

def of($name): select(.thread.name == $name);

def passes($function): any(.stack[]; test($function));

# A text when two times are further apart than `part` of what is wanted, and `more` ns.
def apart($what; $got; $wanted; $part; $more):
	(($got - $wanted) | fabs) as $by |
	if $by <= $wanted * $part + $more then empty
	else "\($what): \($got), not \($wanted): \($by * 10000 / ([$wanted, 1] | max) | round / 100) %" end;

# The lines that `waits` prints.
def said($text):
	[$text | split("\n")[] | select(. != "") | split(" ") | (.[1:] | map(tonumber)) as $n |
		{ kind: .[0], tid: $n[0], known: $n[1], cpu: $n[2], delay: $n[3], inner: $n[4], outer: $n[5] }];

# The class that a kind of waits is.
def class_of($kind):
	{ vfork: "uninterruptible", stop: "stopped", trace: "traced", disk: "io-wait" }[$kind] // "interruptible";

# The record of what a line is about: that with its number, and its name.
def thread_of($line):
	[.threads[] | select(.tid == $line.tid and .name == $line.kind)] |
	if length == 1 then .[0] else error("\(length) records of \($line.kind)") end;

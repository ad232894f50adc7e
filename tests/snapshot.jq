# SPDX-License-Identifier: BSD-2-Clause
#
# Reading a snapshot's JSON without ctprof: jq -L tests 'include "snapshot"; ...'.

# Digit k of a text of measured bits holds fields 4k to 4k+3, the lowest in its lowest bit.
def bits:
	[explode[] | if . > 96 then . - 87 else . - 48 end
	| (., (. / 2 | floor), (. / 4 | floor), (. / 8 | floor)) % 2 == 1];

# Names of the fields that these bits say were measured.
def measured($fields):
	if . == null then [] else [bits | to_entries[] | select(.value) | $fields[.key]] end;

# The threads, each with the names of what was measured as .has.
def threads:
	.ctprof.fields.threads as $fields | .threads[] | .has = (.measured | measured($fields));

# The one of that number; an error when there is none.
def thread($tid):
	[threads | select(.tid == $tid)]
	| if length == 1 then .[0] else error("\(length) threads \($tid)") end;

# The cgroups, each with its path and the names of what was measured as .has.
def cgroups:
	.ctprof.fields.cgroup_stats as $fields | .cgroup_stats | to_entries[]
	| .value + {path: .key, has: (.value.measured | measured($fields))};

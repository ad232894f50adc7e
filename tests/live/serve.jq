# SPDX-License-Identifier: BSD-2-Clause
#
# The ticks of /api/live (an array of their data), as the times of threads that /api/threads has: [{tid, ns: {state: ns}}].
# It follows doc/serve.md and shares nothing with the program.

def rows(columns): [columns | to_entries | map(.key as $key | .value | map({($key): .})) | transpose[] | add];

def add_time(thread; state; ns): if ns > 0 then .sums[thread | tostring][state] += ns else . end;

def pass($tick; $states; $on_cpu):
	.tids += $tick.threads.tid
	| reduce $tick.lasting.end[] as $thread (.; del(.lasting[$thread | tostring]))
	| reduce rows($tick.lasting.begin)[] as $row (.; .lasting[$row.thread | tostring] = $states[$row.state])
	| reduce (.lasting | to_entries)[] as $wait (.; add_time($wait.key; $wait.value; $tick.ns))
	| reduce (rows($tick.samples)[] | select(.class != $on_cpu)) as $row (.;
		add_time($row.thread; $states[$row.state]; $row.ns))
	| reduce rows($tick.cpu)[] as $row (.; add_time($row.thread; "exec"; $row.ns));

.about as $about
| reduce .ticks[] as $tick ({ tids: [], lasting: {}, sums: {} };
	pass($tick; $about.states.name; ($about.classes.name | index("on-cpu"))))
| .tids as $tids
| [.sums | to_entries[] | { tid: $tids[.key | tonumber], ns: .value }]

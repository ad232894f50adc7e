# SPDX-License-Identifier: BSD-2-Clause
#
# Commands read queries where they read files.

ctprof=build/ctprof
driver=build/tests/programs/store_driver

# In the middle of an hour, so that sums by hour, by minute and rows are all read.
end_s=$(($(date +%s) / 3600 * 3600 - 3600 + 1234))

# fill KIND: three hosts, web-1 to web-3, with two programs for 90 minutes up to end_s.
fill() {
	start_store "$1"
	query=ch://127.0.0.1:$store_port/fleet
	$driver schema "$store_url/" fleet
	insert "loads (host, t, ms, threads) SELECT concat('web-', toString(1 + number % 3)),
		toDateTime($end_s - 10 * intDiv(number, 3) - 10), 10000, 200 FROM numbers(1620)"
	insert "hosts (host, seen, boot, kernel, cpus, memory_bytes, label_names, label_values)
		SELECT concat('web-', toString(1 + number)), toDateTime($end_s), 'b', '6.1.0', 4, 8000000000,
		['version', 'owner'], [if(number > 0, '1.2', '1.1'), 'it''s \\\\ 100%'] FROM numbers(3)"
	insert "stacks (hash, seen, functions, modules, sources, lines, kinds)
		SELECT number + 1, toDateTime($end_s), ['main', 'run', if(number = 0, 'read', 'do_syscall_64')],
		['/bin/a', '/bin/a', if(number = 0, '/lib/libc.so', '')], ['', '', ''], [0, 0, 0],
		[0, 0, if(number = 0, 0, 1)] FROM numbers(2)"
	insert "samples (host, t, process, comm, cgroup, class, state, stack, ns, count, longest_ns)
		SELECT concat('web-', toString(1 + number % 3)), toDateTime($end_s - 10 * intDiv(number, 12) - 10),
		if(number % 4 < 2, 'nginx', 'it''s \\\\'), 'worker', '/a.slice', if(number % 2 = 1, 'on-cpu',
		'interruptible'), if(number % 2 = 1, 'exec_user', 'idle_poll'), 1 + number % 2, 1000 * number + 7, 1,
		1000 * number FROM numbers(6480)"
	insert "threads (host, t, ms, process, comm, cgroup, tgid, tid, uid, started, measured0, measured1, run_time_ns,
		timeslices, nice, policy, state_exec_ns, state_exec_user_ns, state_idle_ns, state_watched_ns)
		SELECT concat('web-', toString(1 + number % 3)), toDateTime($end_s - 10 * intDiv(number, 15) - 10), 10000,
		'nginx', concat('worker-', toString(intDiv(number, 3) % 5)), '/a.slice', 100, 100 + intDiv(number, 3) % 5,
		33, 12345, toUInt64(-1), toUInt64(-1), 1000 * number, 2, 5, 'SCHED_OTHER', 1000 * number, 1000 * number,
		10000000000 - 1000 * number, 10000000000 FROM numbers(8100)"
}

insert() {
	sql "INSERT INTO fleet.$1"
}

# folded SELECTION...: the stacks of a query, by ctprof.
folded() {
	$ctprof flame -q --format folded -o - "$query?to=$end_s$1" | sort
}

# The same by the server, of all rows.
folded_by_server() {
	sql "SELECT if(stack = 1, 'main;run;read', 'main;run;do_syscall_64_[k]') AS name, sum(ns) FROM fleet.samples
		WHERE t < toDateTime($end_s) AND $1 GROUP BY name ORDER BY name" | tr '\t' ' ' | sort
}

# time_of_end BEGIN: end_s as it is written after BEGIN, with its day if that is another one.
time_of_end() {
	if (($1 / 86400 == end_s / 86400)); then date -u -d "@$end_s" +%T; else date -u -d "@$end_s" '+%F %T'; fi
}

# heading SELECTION SELECTION: how a comparison names both sides.
heading() {
	LC_ALL=C.UTF-8 $ctprof compare "$query?to=$end_s&$1" "$query?to=$end_s&$2" 2> "$scratch/notes" | sed -n '1s/: .*//p'
}

# Each nanosecond of the rows is in the picture, of rows and of sums, for each selection.
reads_profiles() {
	fill "$1"
	equal "an hour" "$(folded '')" "$(folded_by_server "t >= toDateTime($end_s - 3600)")"
	equal "all" "$(folded '&from=-3d')" "$(folded_by_server 1)"
	equal "a host" "$(folded '&host=web-2&from=-3d')" "$(folded_by_server "host = 'web-2'")"
	equal "hosts" "$(folded '&host=*[23]')" "$(folded_by_server "host != 'web-1' AND t >= toDateTime($end_s - 3600)")"
	equal "a label" "$(folded '&label.version=1.[23]&from=-3d')" "$(folded_by_server "host != 'web-1'")"
	equal "other names" "$(folded "&process=it's%20%5c%5c&from=-3d")" "$(folded_by_server "process != 'nginx'")"
	equal "a hostile label" "$(folded "&label.owner=it's%20%5c%5c%20100%25&host=web-3&from=-3d")" \
		"$(folded_by_server "host = 'web-3'")"
	has "hosts apart" "$($ctprof flame -q "$query?to=$end_s&by=host")" "web-3/nginx"
	has_not "threads, which samples do not tell" "$($ctprof flame -q "$query?to=$end_s")" threads
	has "hosts in words" "$($ctprof flame -q "$query?to=$end_s")" "3 hosts, Linux 6.1.0, 3600.000s on 12 CPUs"
	has "the time of the rows, not of the query" "$($ctprof flame -q "$query?to=$((end_s + 600))&from=-3d")" \
		", $(date -u -d "@$((end_s - 5400))" '+%F %T') to $(time_of_end $((end_s - 5400))) UTC"
	$ctprof flame -q --diff "$query?to=$end_s&host=web-1" "$query?to=$end_s&host=web-2" -o "$scratch/diff.svg"
	grep -q do_syscall_64 "$scratch/diff.svg"
}

# Each kind of losses is told as what it is; those of other sinks and other hosts are not.
tells_losses() {
	local said

	fill "$1"
	insert "losses (host, t, sink, what, why, count) VALUES
		('web-1', $((end_s - 60)), '', 'events of profiles', 'no room', 20),
		('web-2', $((end_s - 60)), '', 'events of profiles', 'no room', 1),
		('web-1', $((end_s - 60)), '', 'threads of profiles', 'no room', 3),
		('web-1', $((end_s - 60)), '', 'unwind tables', 'no room', 4),
		('web-1', $((end_s - 60)), '', 'requests for memory', '--memory', 5),
		('web-1', $((end_s - 60)), 'clickhouse', 'rows of samples', 'spool full', 600),
		('web-1', $((end_s - 60)), 'clickhouse', 'rows of samples', 'refused', 7),
		('web-1', $((end_s - 60)), 'clickhouse-2', 'rows of samples', 'refused', 2),
		('web-1', $((end_s - 60)), 'clickhouse', 'rows of threads', 'refused', 1000),
		('web-1', $((end_s - 60)), 'otlp', 'rows of samples', 'refused', 2000),
		('web-1', $((end_s - 9000)), '', 'events of profiles', 'no room', 4000)"
	said=$($ctprof flame -q "$query?to=$end_s&host=web-1")
	has "events" "$said" "lost      20 events"$'\n'
	has "threads" "$said" "threads   3 came when there was no room for them (--memory)"
	has "tables" "$said" "no room for 4, nor"
	has "memory" "$said" "memory    was refused 5 times"
	has "rows" "$said" "rows      609 rows of samples did not reach the store"
	has "all hosts" "$($ctprof flame -q "$query?to=$end_s")" "lost      21 events"$'\n'
	said=$($ctprof flame -q "$query?to=$end_s&host=web-3")
	has "a host without" "$said" "lost      nothing"
	has_not "a host without" "$said" "did not reach"
}

# Rows of a second agent with the same name are of the same times as those of the first.
tells_shared_names() {
	local said note="its rows add up to more time than passed; it seems that two agents use this name"

	fill "$1"
	# Times are in whole seconds.
	insert "loads (host, t, ms, threads) SELECT 'rounded', toDateTime($end_s - 400 + 11 * number), 11450, 1 FROM numbers(18)"
	has_not "one agent each" "$($ctprof fleet hosts "$query?to=$end_s" 2>&1)" "two agents"
	insert "loads (host, t, ms, threads) SELECT 'web-2', toDateTime($end_s - 10 * number - 15), 10000, 100 FROM numbers(540)"
	equal "two agents" "$($ctprof fleet hosts "$query?to=$end_s" 2>&1 | grep "two agents")" "ctprof: host web-2: $note"
	has_not "other hosts" "$($ctprof fleet hosts "$query?to=$end_s&host=web-[13]" 2>&1)" "two agents"
	has "show" "$($ctprof show "$query?to=$end_s" 2>&1)" "ctprof: host web-2: $note"
	has "flame" "$($ctprof flame "$query?to=$end_s" 2>&1)" "ctprof: host web-2: $note"
	# Its time is not twice that of the others, and so these are not left out.
	said=$($ctprof fleet outliers "$query?to=$end_s" 2>&1 || :)
	has "outliers" "$said" "ctprof: host web-2: $note"
	has_not "outliers" "$said" "of the time: web"
	# Another agent with the name, but before this one.
	insert "loads (host, t, ms, threads) SELECT 'web-1', toDateTime($end_s - 9000 + 10 * number), 10000, 100 FROM numbers(350)"
	has_not "one after the other" "$($ctprof fleet hosts "$query?to=$end_s&from=-3d&host=web-1" 2>&1)" "two agents"
	insert "loads (host, t, ms, threads) SELECT concat('two-', toString(number % 20)), toDateTime($end_s - 50 + number % 40), 2000, 1
		FROM numbers(800)"
	insert "hosts (host, seen, boot) SELECT concat('two-', toString(number)), toDateTime($end_s), 'b' FROM numbers(20)"
	equal "many" "$($ctprof fleet hosts "$query?to=$end_s&host=two-*" 2>&1 | grep -c "^ctprof: ")" 9
}

value() {
	$ctprof show "$1" --format json --metrics "$2" --group-by all |
		sed -n 's/.*"value": *\([0-9]*\).*/\1/p' | head -n 1
}

sum_by_server() {
	sql "SELECT $1 FROM fleet.threads WHERE t < toDateTime($end_s) AND $2"
}

# Totals are those of the time, of rows and of sums.
reads_snapshots() {
	fill "$1"
	equal "an hour" "$(value "$query?to=$end_s" run_time_ns)" \
		"$(sum_by_server 'sum(run_time_ns)' "t >= toDateTime($end_s - 3600)")"
	equal "threads" "$(value "$query?to=$end_s" thread_count)" 15
	has_not "a second number of threads" "$($ctprof show "$query?to=$end_s" --metrics thread_count | tr -s ' ')" " threads "
	has "a program" "$($ctprof show "$query?to=$end_s&comm=worker-1")" "s, 1 program"$'\n'
	equal "threads of a host" "$(value "$query?to=$end_s&host=web-2" thread_count)" 5
	equal "all" "$(value "$query?to=$end_s&from=-3d" run_time_ns)" "$(sum_by_server 'sum(run_time_ns)' 1)"
	equal "states" "$(value "$query?to=$end_s&from=-3d&host=web-3" state_exec_ns)" \
		"$(sum_by_server 'sum(state_exec_ns)' "host = 'web-3'")"
	equal "a rate" "$($ctprof show "$query?to=$end_s&host=web-3&comm=worker-1" --format csv --metrics run_time_ns --normalize age --group-by all |
		awk -F, '$3 == "run_time_ns" { printf "%.3f\n", $5 }')" \
		"$(sum_by_server 'sum(run_time_ns) / 3600' "t >= toDateTime($end_s - 3600) AND host = 'web-3' AND comm = 'worker-1'" | awk '{ printf "%.3f\n", $1 }')"
	has "an uptime that is not stored" "$($ctprof show-host "$query?to=$end_s")" "uptime_clock_ticks: (unknown)"
	has "a setting" "$($ctprof show "$query?to=$end_s" --format csv --metrics nice --group-by all)" ,nice,,5..5,
	has "what is not stored" "$($ctprof show "$query?to=$end_s" --metrics nice,cpu_affinity)" "not measured: cpu_affinity (it is not stored)"
	has "what no agent measured" "$($ctprof show "$query?to=$end_s" --metrics nice,state)" "not measured: state (no agent measured it)"
	has "what sums lack" "$($ctprof show "$query?to=$end_s&from=-3d" --metrics nice,thread_count,run_time_ns,cpu_affinity)" \
		"not measured: thread_count, nice (queries of more than two hours read sums, which have totals only)"
	has_not "the kernel of this host" "$($ctprof show "$query?to=$end_s")" doctor
	has "a host" "$($ctprof show-host "$query?to=$end_s")" "kernel_release: 6.1.0"
	has_not "pressure that was not measured" "$($ctprof show "$query?to=$end_s")" pressure
	insert "loads (host, t, ms, cpu_some_ns, measured) SELECT 'web-1', toDateTime($end_s - 5), 0, 500000000000, 4"
	has "pressure" "$($ctprof show "$query?to=$end_s")" "pressure  CPU"
	has_not "other pressure" "$($ctprof show "$query?to=$end_s" | grep pressure)" memory
	insert "threads (host, t, ms, process, tgid, tid, uid, run_time_ns, measured0, measured1) SELECT 'web-9', toDateTime($end_s - 5),
		10000, 'gone', 7, 7, toUInt32(-1), 1, toUInt64(-1), toUInt64(-1)"
	has "a group" "$($ctprof show "$query?to=$end_s" nginx)" ", 5 of 6 programs"$'\n'
	has_not "an unknown user" "$($ctprof show "$query?to=$end_s" --group-by user)" 4294967295
	insert "cgroups (host, t, ms, cgroup, memory_max_bytes, measured) SELECT 'web-1', toDateTime($end_s - 5 - number), 10000,
		'/a.slice', 4096 * number, 16 FROM numbers(2)"
	has "no limit" "$($ctprof show "$query?to=$end_s" --sections cgroup-limits --group-by cgroup | grep memory.max)" max
}

change() {
	$ctprof compare "$1" "$2" --format csv --metrics run_time_ns --group-by all 2> "$scratch/notes"
}

# Times of equal lengths are subtracted; of others, the longer is scaled.
compares() {
	local before after at=$end_s from output

	fill "$1"
	before="$query?from=$((at - 1200))&to=$((at - 600))" after="$query?from=$((at - 600))&to=$at"
	has "two times" "$(change "$before" "$after")" \
		"$(sum_by_server 'sum(run_time_ns)' "t >= toDateTime($at - 600)")"
	equal "notes" "$(cat "$scratch/notes")" ""
	equal "what differs" "$(heading "host=web-1&from=$((at - 600))" "host=web-2&from=$((at - 600))")" "host=web-1 -> host=web-2"
	equal "what differs" "$(heading "from=$((at - 600))&host=web-1" 'host=web-1')" "from=$((at - 600))&host=web-1 -> host=web-1"
	equal "the end of a long name" "$(heading 'host=web-1&host=not-the-host-of-another-zone-1' 'host=web-1&host=not-the-host-of-another-zone-2')" \
		"…ot-the-host-of-another-zone-1 -> …ot-the-host-of-another-zone-2"
	before="$query?from=$((at - 1800))&to=$((at - 600))"
	change "$before" "$after" > "$scratch/change"
	has "notes" "$(cat "$scratch/notes")" "are scaled to"
	fails 1 $ctprof compare --window "$before" "$after"
	has "a window" "$output" "--window has no effect on queries"
	for from in 3600 3000; do
		$ctprof compare --rate "$query?from=$((at - from))&to=$((at - 2400))" "$after" --format csv --metrics run_time_ns --group-by pcomm \
			2> "$scratch/notes" > "$scratch/rates"
		equal "changes per second of $from s" "$(awk -F, '$1 == "primary" { printf "%.0f\n", $7 }' "$scratch/rates")" \
			"$(sum_by_server "round(sum(if(t >= toDateTime($at - 600), 1, -600 / ($from - 2400)) * run_time_ns) / 600)" \
				"t >= toDateTime($at - $from) AND (t < toDateTime($at - 2400) OR t >= toDateTime($at - 600))")"
	done
	$ctprof compare "$before" "$after" --flame "$scratch/flame.svg" > "$scratch/report"
	grep -q do_syscall_64 "$scratch/flame.svg"
}

# Threads of a host have their own numbers and sums, and are compared with themselves in the same boot.
compares_threads() {
	local at=$end_s host output

	fill "$1"
	host="$query?host=web-2"
	$ctprof show "$host&from=$((at - 7000))&to=$at" --group-by thread --metrics run_time_ns --format csv > "$scratch/shown"
	equal "threads" "$(awk -F, '$3 == "run_time_ns" { print $2 ":" $5 }' "$scratch/shown" | sort)" "$(sql "SELECT
		concat(comm, '[', toString(tid), ']:', toString(sum(run_time_ns))) AS line FROM fleet.threads
		WHERE host = 'web-2' AND t >= toDateTime($at - 7000) GROUP BY comm, tid ORDER BY line" | sort)"
	$ctprof compare "$host&from=$((at - 1200))&to=$((at - 600))" "$host&from=$((at - 600))&to=$at" --group-by thread --metrics run_time_ns \
		--format csv > "$scratch/compared"
	equal "changes" "$(awk -F, '$3 == "run_time_ns" { print $2 ":" $5 ":" $6 ":" $7 }' "$scratch/compared" | sort)" "$(sql "SELECT
		concat(comm, '[', toString(tid), ']:', toString(sum(if(t < toDateTime($at - 600), run_time_ns, 0)) AS before), ':',
		toString(sum(if(t < toDateTime($at - 600), 0, run_time_ns)) AS after), ':', toString(after - before)) AS line FROM fleet.threads
		WHERE host = 'web-2' AND t >= toDateTime($at - 1200) GROUP BY comm, tid ORDER BY line" | sort)"
	equal "their number" "$(grep -c run_time_ns "$scratch/compared")" 5
	fails 1 $ctprof show "$query?to=$at" --group-by thread
	has "several hosts" "$output" "--group-by thread is of one host, and this query selects 3: add e.g. host=web-1"
	fails 1 $ctprof show "$host&from=$((at - 86401))&to=$at" --group-by thread
	has "a long time" "$output" "covers at most a day"
	fails 1 $ctprof show "$host&to=$at" --group-by thread --normalize age
	has "ages" "$output" "--normalize age of single threads needs snapshots of files"
	insert "hosts (host, seen, boot, booted, kernel, cpus) SELECT 'web-2', toDateTime($at), 'c', toDateTime($at - 700), '6.1.0', 4"
	fails 1 $ctprof compare "$host&from=$((at - 1800))&to=$((at - 1200))" "$host&from=$((at - 600))&to=$at" --group-by thread
	has "another boot" "$output" "are of different boots, which share no thread and no clock; --group-by pcomm compares them"
	fails 1 $ctprof show "$host&from=$((at - 1800))&to=$at" --group-by thread
	has "a boot within the time" "$output" "the host booted at $(date -u -d "@$((at - 700))" +%FT%T).000Z: choose 'from' after that"
	$ctprof compare "$host&from=$((at - 600))&to=$((at - 300))" "$host&from=$((at - 300))&to=$at" --group-by thread > "$scratch/compared"
	has "the heading" "$(sed -n 1p "$scratch/compared")" ", 5 -> 5 threads"
}

# What is compared with one host is the mean of two: the first runs for 8 s in 10 s, with a pressure of 50 %, and the
# second for 2 s, with 10 %.
compares_unlike_numbers_of_hosts() {
	local query time="from=$((end_s - 300))&to=$end_s"

	start_store "$1"
	query=ch://127.0.0.1:$store_port/fleet
	$driver schema "$store_url/" fleet
	insert "loads (host, t, ms, cpu_some_ns, measured) SELECT concat('p-', toString(1 + number % 2)),
		toDateTime($end_s - 10 * intDiv(number, 2) - 10), 10000, if(number % 2 = 0, 5000000000, 1000000000),
		bitNot(toUInt64(0)) FROM numbers(60)"
	insert "threads (host, t, ms, process, comm, tgid, tid, started, measured0, measured1, run_time_ns)
		SELECT concat('p-', toString(1 + number % 2)), toDateTime($end_s - 10 * intDiv(number, 2) - 10), 10000, 'api', 'api',
		100, 100, 12345, toUInt64(-1), toUInt64(-1), if(number % 2 = 0, 8000000000, 2000000000) FROM numbers(60)"
	$ctprof show "$query?$time" > "$scratch/show"
	grep -E "^ *pressure +CPU 30 %" "$scratch/show"
	$ctprof compare "$query?$time" "$query?host=p-2&$time" > "$scratch/compared"
	grep -E "^ *pressure +CPU 10 % \(30 % before\)" "$scratch/compared"
	grep -F "200 ms/s of CPU (before: 500 ms/s)" "$scratch/compared"
}

# Of five threads that used CPUs, four wait for a lock on another host, with the rest of their time in idle: that leads, of
# rows and of sums.
leads_with_a_new_wait() {
	local query at=$((end_s / 60 * 60 - 60)) from bar

	start_store "$1"
	query=ch://127.0.0.1:$store_port/fleet
	$driver schema "$store_url/" fleet
	insert "loads (host, t, ms) SELECT concat('p-', toString(1 + number % 2)), toDateTime($at - 10 * intDiv(number, 2) - 10), 10000
		FROM numbers(60)"
	insert "threads (host, t, ms, process, comm, tgid, tid, started, measured0, measured1, run_time_ns, wait_time_ns, state_lock_ns, state_watched_ns,
		state_exec_ns, state_runnable_ns)
		SELECT concat('p-', toString(1 + number % 2)), toDateTime($at - 10 * intDiv(number, 10) - 10), 10000, 'api', 'api',
		100, 100 + intDiv(number, 2) % 5, 12345, toUInt64(-1), toUInt64(-1), if(number % 2 = 0, 4000000000, 400000000) AS ran,
		if(number % 2 = 0, 6000000000, 600000000) AS waited, if(number % 2 = 1 AND number % 10 != 1, 9000000000, 0), 10000000000, ran, waited FROM numbers(300)"
	for from in $((at - 300)) $((at - 18000)); do
		$ctprof compare "$query?host=p-1&from=$from&to=$at" "$query?host=p-2&from=$from&to=$at" > "$scratch/compared"
		equal "the first from $from" "$(grep -A 1 '^What changed most' "$scratch/compared" | tail -n 1)" \
			"  api  3.60 s/s waiting for locks (none before), 300 ms/s waiting for a CPU (before: 3.00 s/s)"
		$ctprof report -q "$query?host=p-1&from=$from&to=$at" "$query?host=p-2&from=$from&to=$at" -o "$scratch/page.html"
		for bar in "waiting for locks: 3.60 s/s" "waiting for a CPU: 300 ms/s" "before, running: 2.00 s/s" "before, waiting for a CPU: 3.00 s/s"; do
			has "bars from $from" "$(cat "$scratch/page.html")" "<title>$bar</title>"
		done
	done
}

# Each row of threads is in the window of its interval.
replays() {
	local output from=$((end_s - 600))

	fill "$1"
	$ctprof top --batch --format csv --replay "$query?host=web-2&from=$from&to=$end_s" > "$scratch/windows"
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ sum += $column["exec_ns"]; rows++ } END { printf "%d %d\n", rows, sum }' "$scratch/windows" > "$scratch/sum"
	equal "rows and time" "$(cat "$scratch/sum")" "$(sql "SELECT count(), sum(state_exec_ns) FROM fleet.threads
		WHERE host = 'web-2' AND t >= toDateTime($from) AND t < toDateTime($end_s)" | tr '\t' ' ')"
	fails 1 $ctprof top --batch --replay "$query?host=web-1&from=$((end_s - 100000))&to=$end_s"
	has "a long time" "$output" "at most a day"
	fails 1 $ctprof top --batch --replay "$query?host=web-1&process=ngimx&from=$from&to=$end_s"
	has "no such process" "$output" "process=ngimx"
	has "those that are there" "$output" "no rows of threads match; values of 'process' in this time: nginx"
	fails 1 $ctprof top --batch --count 2 --replay "$query?host=web-1&from=$from&to=$end_s" -f ngimx
	has "no such name" "$output" "no thread matches --filter 'ngimx' in 2 windows"
}

# Windows are as long as their intervals, and the states of each thread add up to them. Rows are as the agent sends them:
# states that others tell are left out, and those of more than a millisecond do not make an interval longer. Intervals
# begin every 5 s, after the fourth the host pauses. Thread 3 begins in the third interval, and sleeps for 60 units of 67 ms.
replays_add_up() {
	local at=$((end_s - 60)) left_out="('state_exec_ns', 'state_runnable_ns', 'state_switches', 'state_watched_ns', 'thread_count')"

	start_store "$1"
	query=ch://127.0.0.1:$store_port/fleet
	$driver schema "$store_url/" fleet
	insert "loads (host, t, ms) SELECT 'web-1', toDateTime($at + 5 * number + if(number > 3, 20, 0)), 4998 + number FROM numbers(6)"
	insert "hosts (host, seen, boot, kernel, cpus) SELECT 'web-1', toDateTime($at), 'b', '6.1.0', 4"
	insert "threads (host, t, ms, process, comm, tgid, tid, started, measured0, measured1, run_time_ns, wait_time_ns,
		state_sleep_ns, state_sleep_timer_ns)
		SELECT 'web-1', toDateTime($at + 5 * n + if(n > 3, 20, 0)), 4998 + n, 'shopd', 'worker', 100, 100 + k, 12345,
		bitXor(toUInt64(-1), (SELECT groupBitOr(bitShiftLeft(toUInt64(1), number)) FROM fleet.metrics WHERE number < 64 AND name IN $left_out)),
		bitXor(toUInt64(-1), (SELECT groupBitOr(bitShiftLeft(toUInt64(1), toUInt8(number - 64))) FROM fleet.metrics WHERE number >= 64 AND name IN $left_out)),
		70000000 + k, (4998 + n) * 1000000 + 999999 - 70000000 - k - 4026531840, 4026531840, 4026531840
		FROM (SELECT intDiv(number, 4) AS n, number % 4 AS k FROM numbers(24)) WHERE k < 3 OR n >= 2"
	$ctprof top --batch --format json --replay "$query?host=web-1&from=$at&to=$end_s" > "$scratch/windows"
	equal "lengths and sums" "$(jq -r '.states as $s | [.window, .tid, .window_ns, $s.exec, $s.sleep,
		$s.exec + $s.runnable + $s.sleep + $s.lock + $s.idle + $s.paging + $s.stopped] | @tsv' "$scratch/windows" | sort)" \
		"$(sql "SELECT intDiv(toUInt32(t) - $at, 5) - if(toUInt32(t) - $at > 20, 4, 0) AS n, tid, ms * 1000000, run_time_ns,
			state_sleep_ns, ms * 1000000 + 999999 FROM fleet.threads ORDER BY n, tid" | sort)"
	$ctprof top --batch --count 1 --replay "$query?host=web-1&from=$at&to=$end_s" | tr -s ' ' > "$scratch/text"
	has "shares" "$(cat "$scratch/text")" " 1.4% "
	has "the time" "$(cat "$scratch/text")" "window of 4.998s until $(date -u -d "@$((at + 4))" +%FT%T).998Z"
	equal "sums of a time" "$(value "$query?from=$at&to=$end_s" state_watched_ns)" \
		"$(sql "SELECT sum(run_time_ns + wait_time_ns + state_sleep_ns) FROM fleet.threads")"
}

# A page has both a snapshot and a profile of each query.
reports() {
	fill "$1"
	$ctprof report -q "$query?from=$((end_s - 1200))&to=$((end_s - 600))" "$query?from=$((end_s - 600))&to=$end_s" \
		-o "$scratch/page.html"
	grep -q do_syscall_64 "$scratch/page.html"
	grep -q run_time_ns "$scratch/page.html"
}

# encode_host: requests of 2 s of this host, of which the files are in $scratch: a profile and two snapshots.
encode_host() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	cp "$(command -v bash)" "$scratch/busy_reader"
	"$scratch/busy_reader" -c 'while :; do :; done' &
	at_end "kill $!"
	sleep 0.2
	$ctprof capture -q --timeout 2min -o "$scratch/before.ctprof.zst"
	$ctprof profile -q --mode both -d 2s -o "$scratch/profile.json"
	$ctprof capture -q --timeout 2min -o "$scratch/after.ctprof.zst"
	mkdir -p "$scratch/requests"
	$driver reencode "$scratch/profile.json" "$scratch/before.ctprof.zst" "$scratch/after.ctprof.zst" \
		"$store_url/fleet" host-1 "$end_s" "$scratch/requests"
}

# delta METRIC: of the process between the two files.
delta() {
	$ctprof compare "$scratch/before.ctprof.zst" "$scratch/after.ctprof.zst" --window --match busy_reader \
		--metrics "$1" --format json | jq ".. | objects | select(.metric? == \"$1\") | .delta" | head -n 1
}

# What a host sent is what its files say: each stack to the nanosecond, and counters.
reads_what_files_say() {
	local metric

	start_store "$1"
	query="ch://127.0.0.1:$store_port/fleet?from=$((end_s - 5))&to=$((end_s + 5))"
	$driver schema "$store_url/" fleet
	encode_host
	post_requests "$scratch/requests"
	$ctprof flame -q "$scratch/profile.json" --format folded -o - | sort > "$scratch/of_file"
	$ctprof flame -q "$query" --format folded -o - | sort > "$scratch/of_store"
	[ "$(wc -l < "$scratch/of_file")" -gt 10 ]
	cmp "$scratch/of_file" "$scratch/of_store" || { diff "$scratch/of_file" "$scratch/of_store" | head -n 20; return 1; }
	for metric in run_time_ns nonvoluntary_csw minflt; do
		delta $metric | grep -qE '^[0-9]+$'
		equal "$metric" "$(value "$query&process=busy_reader" $metric)" "$(delta $metric)"
	done
}

# What is not there is told, with what there is.
tells_what_there_is() {
	local output

	fill "$1"
	fails 1 $ctprof flame "$query?host=db-*&to=$end_s"
	has "hosts" "$output" "the store has web-1, web-2, web-3, from 20"
	fails 1 $ctprof flame "$query?host=db-*&label.version=1.2&to=$end_s"
	has "hosts, beside a label" "$output" "the store has web-1, web-2, web-3, from 20"
	fails 1 $ctprof flame "$query?process=mysqld&to=$end_s"
	has "processes" "$output" "values of 'process' in this time: "
	fails 1 $ctprof show "$query?comm=x';DROP%20TABLE%20samples&to=$end_s"
	has "names" "$output" "values of 'comm' in this time: worker-"
	for command in show "fleet hosts"; do
		fails 1 $ctprof $command "$query?label.verion=1.2&to=$end_s"
		has "labels" "$output" "no host has a label 'verion'; there are: kernel, arch, cpu_model, agent, owner, version"
		fails 1 $ctprof $command "$query?label.version=1.2&label.version=1.1&label.kernel=5*%1b&to=$end_s"
		has "values of a fact" "$output" "no host matches label.kernel; its values are: 6.1.0"
	done
	# Each condition selects something, but not together with those before it.
	for command in flame show "fleet outliers"; do
		fails 1 $ctprof $command "$query?host=web-1&label.owner=it*&label.version=1.2&to=$end_s"
		has "a label of other hosts" "$output" "of the hosts that the other conditions select from 20"
		has "a label of other hosts" "$output" "Z, none matches label.version; their values are: 1.1"
	done
	insert "hosts (host, seen, boot) SELECT 'bare', toDateTime($end_s), 'b'"
	insert "loads (host, t, ms, threads) SELECT 'bare', toDateTime($end_s - 10), 10000, 200"
	fails 1 $ctprof show "$query?host=bare&label.version=1.2&to=$end_s"
	has "a label that other hosts have" "$output" "Z, none has a label 'version'"
	fails 1 $ctprof show "$query?process=nginx&comm=w&to=$end_s"
	has "the second condition" "$output" "values of 'comm' in this time: worker-"
	insert "hosts (host, seen, boot, label_names, label_values) SELECT concat('db-', toString(number)), toDateTime($end_s), 'b',
		['version', concat('l', toString(number))], [concat(toString(number), '$(printf 'x%.0s' {1..200})'), ''] FROM numbers(20)"
	fails 1 $ctprof flame "$query?label.version=2&to=$end_s"
	has "most frequent values" "$output" "its values are: 1.2, 0x"
	has "a bounded list" "$output" "x and 14 more"
	fails 1 $ctprof flame "$query?label.verion=2&to=$end_s"
	has "most frequent labels" "$output" "agent, version, owner, l0, "
	between "bytes of labels" 100 "${#output}" 600
	fails 1 $ctprof fleet flame --by verion "$query?to=$end_s"
	has "labels to divide by" "$output" "no host of this query has a label 'verion'; there are: kernel"
	# Sums of its hour are of other times, and count only if rows of the time are no longer kept.
	for command in flame show; do
		fails 1 $ctprof $command "$query?from=$((end_s + 60))&to=$((end_s + 120))"
		has "the hour of others" "$output" "the store has web-1, web-2, web-3, bare, from 20"
	done
	fails 1 $ctprof flame "ch://127.0.0.1:$store_port/nothing"
	has "a database" "$output" "there is no such database"
	fails 1 $ctprof flame "ch://127.0.0.1:$store_port/default"
	has "tables" "$output" "ctprof agent --create-schema"
	sql "INSERT INTO fleet.schema_version (version, program) SELECT 1000, 'later'"
	fails 1 $ctprof flame "$query"
	has "a version" "$output" "the tables are of version 1000"
}

# serves KIND: a server that is none, on a port of its own.
serves() {
	cat > "$scratch/server.py" <<-'END'
		import http.server, sys
		kind = sys.argv[1]
		versions = b"\x0426.7" + (2).to_bytes(4, "little")
		class Handler(http.server.BaseHTTPRequestHandler):
		    asked = 0
		    def log_message(self, *words): pass
		    def do_POST(self):
		        self.rfile.read(int(self.headers.get("Content-Length") or 0))
		        Handler.asked += 1
		        if kind == "page":
		            return self.send_error(404, "no such page")
		        self.send_response(200)
		        if Handler.asked == 1:
		            self.send_header("Content-Length", str(len(versions)))
		            self.end_headers()
		            return self.wfile.write(versions)
		        if kind == "cut":
		            self.send_header("Content-Length", "1000")
		            self.end_headers()
		            return self.wfile.write(b"\x01a")
		        self.end_headers()
		        if kind == "garbage":
		            return self.wfile.write(b"\xff" * 100000)
		        try:
		            while True:
		                self.wfile.write((b"\x01a" + bytes(80)) * 1000)
		        except OSError:
		            pass
		server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
		print(server.server_port, flush=True)
		server.serve_forever()
	END
	rm -f "$scratch/port"
	python3 "$scratch/server.py" "$1" > "$scratch/port" &
	server=$!
	at_end "kill $server"
	until [ -s "$scratch/port" ]; do sleep 0.05; done
	query=ch://127.0.0.1:$(cat "$scratch/port")/fleet
}

# refuses KIND PIECE: a line says what is wrong, and nothing else happens.
refuses() {
	local output

	serves "$1"
	fails 1 $ctprof flame "$query"
	has "the error" "$output" "$2"
	equal "lines" "$(wc -l <<< "$output")" 1
}

# Passwords are those of netrc(5), and are not in the error. The engine has no users: its HTTP server asks for one.
asks_for_passwords() {
	local output port

	need_chdb
	port=$(free_port)
	node tests/store/chdb_server.mjs --module "$chdb" --data "$scratch/data" --port "$port" --user me --password s3cret \
		> "$scratch/out" 2>&1 &
	at_end "kill $!"
	until grep -q ready "$scratch/out"; do sleep 0.1; done
	fails 1 env HOME=/nonexistent $ctprof flame "ch://me@127.0.0.1:$port/fleet"
	has "no password" "$output" "denies access"
	echo "machine 127.0.0.1 login me password s3cret" > "$scratch/netrc"
	fails 1 env CTPROF_NETRC="$scratch/netrc" $ctprof flame "ch://me@127.0.0.1:$port/fleet"
	has "the right one" "$output" "there is no such database"
	mkdir "$scratch/home"
	sed 's/s3cret/s3cr3t/' "$scratch/netrc" > "$scratch/home/.netrc"
	fails 1 env HOME="$scratch/home" $ctprof flame "ch://me@127.0.0.1:$port/fleet"
	has "a wrong one" "$output" "denies access: ~/.netrc, or the file that CTPROF_NETRC names, needs the line 'machine 127.0.0.1 login me password PASSWORD'"
	has_not "the error" "$output" s3cr3t
	fails 1 $ctprof flame "ch://me:s3cret@127.0.0.1:$port/fleet"
	has "in the URL" "$output" "~/.netrc"
	has_not "the error" "$output" s3cret
}

no_server() {
	local output

	fails 1 $ctprof show ch://127.0.0.1:1/fleet
	has "the error" "$output" "ch://127.0.0.1:1/fleet: "
}

# threads_of PID: how many of its threads there are, and of these how many have a filter and no capability.
threads_of() {
	cat /proc/"$1"/task/*/status | awk '/^CapPrm:/ { threads++; none = $2 ~ /^0+$/ } /^NoNewPrivs:/ { none = none && $2 == 1 }
		/^Seccomp:/ { confined += none && $2 == 2 } END { print threads + 0, confined + 0 }'
}

# waits_confined WORDS: the thread that waits for an answer is confined.
waits_confined() {
	local pid seen tries

	timeout 20 $ctprof "$@" > "$scratch/waits" 2>&1 &
	pid=$!
	for tries in $(seq 100); do
		seen=$(threads_of "$(pgrep -P "$pid" -x ctprof)" 2> /dev/null) || true
		[ "$seen" != "2 1" ] || break
		sleep 0.1
	done
	kill "$pid" 2> /dev/null || true
	wait "$pid" 2> /dev/null || true
	equal "threads and confined ones of $1" "$seen" "2 1"
}

# Answers are read without privileges, and results are written with those of the caller.
reads_without_privileges() {
	local private=$scratch/private port stub

	grep -q '^Seccomp:' /proc/self/status || skip "the kernel has no seccomp filters"
	command -v python3 > /dev/null || skip "no python3"
	port=$(free_port)
	mkdir "$scratch/silent"
	echo silent > "$scratch/silent/mode"
	python3 tests/store/stub_server.py "$port" "$scratch/silent" &
	stub=$!
	at_end "kill $stub"
	until (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do
		kill -0 "$stub"
		sleep 0.05
	done
	waits_confined show "ch://127.0.0.1:$port/d"
	waits_confined flame -o "$scratch/x.svg" "ch://localhost:$port/d"
	waits_confined fleet outliers "ch://127.0.0.1:$port/d"
	waits_confined agent --clickhouse "http://127.0.0.1:$port/d" --create-schema
	fill new
	mkdir -m 700 "$private"
	echo "machine localhost login default" > "$private/netrc"
	chmod 600 "$private/netrc"
	CTPROF_NETRC=$private/netrc $ctprof flame -q --format folded -o "$private/out" \
		"ch://localhost:$store_port/fleet?to=$end_s"
	equal "a result in a private directory" "$(sort "$private/out")" "$(folded '')"
}

for kind in new old; do
	run_case "profiles are those of the rows, $kind" reads_profiles "$kind"
	run_case "losses of profiles are told, $kind" tells_losses "$kind"
	run_case "names that two agents use are told, $kind" tells_shared_names "$kind"
	run_case "snapshots are those of the rows, $kind" reads_snapshots "$kind"
	run_case "queries say what files say, $kind" reads_what_files_say "$kind"
	run_case "times are compared, $kind" compares "$kind"
	run_case "hosts are compared with one of them, $kind" compares_unlike_numbers_of_hosts "$kind"
	run_case "threads are compared each by itself, $kind" compares_threads "$kind"
	run_case "a new wait leads the summary, $kind" leads_with_a_new_wait "$kind"
	run_case "intervals are replayed, $kind" replays "$kind"
	run_case "states of replayed threads add up to the interval, $kind" replays_add_up "$kind"
	run_case "pages are made, $kind" reports "$kind"
	run_case "what is not there is told, $kind" tells_what_there_is "$kind"
done
run_case "a page that is no server is told" refuses page "status 404"
run_case "garbage is told" refuses garbage "row 1 of the answer is longer"
run_case "an answer that is cut off is told" refuses cut ""
run_case "endless rows end" refuses endless "more than 100000 rows"
run_case "passwords are those of netrc" asks_for_passwords
run_case "a server that is down is told" no_server
run_case "answers are read without privileges, new" reads_without_privileges

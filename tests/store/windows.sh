# SPDX-License-Identifier: BSD-2-Clause
#
# Windows of several hosts: top --replay of a query that selects more than one.

ctprof=build/ctprof
driver=build/tests/programs/store_driver

# A whole minute, so that the seconds of intervals are what is written below.
begin_s=$(($(date +%s) / 60 * 60 - 3600))
end_s=$((begin_s + 300))

insert() {
	sql "INSERT INTO fleet.$1"
}

# intervals HOST BEGIN LENGTH COUNT CONDITION: COUNT intervals of LENGTH seconds. Each has two threads of process 17, which
# have the same numbers and start on all hosts; times depend on the host and the interval, and add up to its length.
intervals() {
	local rows="SELECT number AS n, toUInt32($2 + $3 * number + (number % 7 = 3)) AS begun,
		toUInt32($3 * 1000 - 4 + number % 9) AS ms FROM numbers($4) WHERE $5"
	local all="SELECT groupBitOr(bitShiftLeft(toUInt64(1), toUInt8(number - first))) FROM fleet.metrics
		WHERE number >= first AND number < first + 64 AND name IN
			('run_time_ns', 'state_exec_ns', 'state_exec_user_ns', 'state_sleep_ns', 'state_watched_ns', 'thread_count')"

	insert "loads (host, t, ms) SELECT '$1', toDateTime(begun), ms FROM ($rows)"
	insert "threads (host, t, ms, process, comm, cgroup, tgid, tid, uid, started, measured0, measured1, run_time_ns,
		state_exec_ns, state_exec_user_ns, state_sleep_ns, state_watched_ns)
		SELECT '$1', toDateTime(begun), ms, 'shopd', if(k = 0, 'shopd', 'worker'), '/shop.slice', 17, 17 + k, 33, 12345,
		(${all//first/0}), (${all//first/64}), ran, ran, ran, ms * 1000000 - ran, toUInt64(ms) * 1000000
		FROM (SELECT n, begun, ms, k, toUInt64(1000000 * (n + 1) + 1000 * (k + 1) + length('$1') + ${1##*-}) AS ran
			FROM ($rows) ARRAY JOIN [0, 1] AS k)"
}

# Hosts begin their intervals at different seconds, and a second later now and then. The last one has shorter intervals,
# starts later and has a pause.
fill() {
	start_store "$1"
	query="ch://127.0.0.1:$store_port/fleet"
	selected="$query?from=$begin_s&to=$end_s"
	$driver schema "$store_url/" fleet
	insert "hosts (host, seen, boot, kernel, cpus) SELECT concat('web-', toString(1 + number)), toDateTime($begin_s), 'b', '6.1.0',
		1 + number FROM numbers(3)"
	intervals web-1 $((begin_s + 13)) 10 20 1
	intervals web-2 $((begin_s + 8)) 10 20 1
	intervals web-3 $((begin_s + 101)) 5 20 'n < 8 OR n >= 12'
}

# sums COLUMNS FILE: of each host and thread of rows in CSV, over all windows.
sums() {
	awk -F, -v names="$1" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; count = split(names, name, " "); next }
		{ key = $column["host"] " " $column["tid"]; seen[key] = 1
			for (i = 1; i <= count; i++) sum[key, i] += $column[name[i]] }
		END { for (key in seen) { line = key; for (i = 1; i <= count; i++) line = line sprintf(" %.0f", sum[key, i]); print line } }' \
		"$2" | sort
}

# Nothing is counted twice and nothing is lost, also of intervals that are in no usual second.
adds_up() {
	fill "$1"
	$ctprof top --batch --format csv --replay "$selected" > "$scratch/windows"
	equal "sums" "$(sums "window_ns exec_ns exec_user_ns sleep_ns" "$scratch/windows")" \
		"$(sql "SELECT host, tid, sum(state_watched_ns), sum(state_exec_ns), sum(state_exec_user_ns), sum(state_sleep_ns)
			FROM fleet.threads GROUP BY host, tid ORDER BY host, tid" | tr '\t' ' ' | sort)"
	$ctprof top --batch --format json --replay "$selected" > "$scratch/json"
	equal "rows whose states do not add up" "$(jq -c '.states as $s | select(.window_ns !=
		$s.exec + $s.runnable + $s.paging + $s.sleep + $s.lock + $s.idle + $s.stopped)' "$scratch/json")" ""
	equal "hosts and threads" "$(jq -r '"\(.host) \(.tgid) \(.tid)"' "$scratch/json" | sort -u)" \
		"$(printf '%s\n' web-{1,2,3}\ 17\ {17,18})"
	# Each has one interval of 10 s in a window, or two of 5 s, where it has any.
	equal "seconds in a window" "$(jq -r '"\(.host) \(.window_ns / 1e9 | round)"' "$scratch/json" | sort | uniq -c | awk '{ $1 = $1 } 1')" \
		"$(printf '%s\n' "40 web-1 10" "40 web-2 10" "16 web-3 10")"
}

# The same processes and cgroups on two hosts are two rows; those of one host are its alone.
keeps_hosts_apart() {
	local by

	fill "$1"
	for by in process cgroup pool; do
		$ctprof top --batch --format json --by $by --count 1 --replay "$selected" > "$scratch/json"
		equal "rows by $by" "$(jq -r '"\(.host) \(.threads)"' "$scratch/json" | sort | uniq)" \
			"$(if [ $by = pool ]; then printf '%s\n' "web-1 1" "web-2 1"; else printf '%s\n' "web-1 2" "web-2 2"; fi)"
	done
	$ctprof top --batch --format csv --replay "$query?from=$begin_s&to=$end_s&host=web-2" > "$scratch/alone"
	has_not "columns of a single host" "$(sed -n 1p "$scratch/alone")" host
	equal "alone and among others" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
			{ sum += $c["exec_ns"] } END { printf "%.0f\n", sum }' "$scratch/alone")" \
		"$(sql "SELECT sum(state_exec_ns) FROM fleet.threads WHERE host = 'web-2'")"
}

# Hosts that are silent in a window have no rows in it, and their CPUs do not count.
tells_silent_hosts() {
	local output

	fill "$1"
	$ctprof top --batch --replay "$selected" > "$scratch/text"
	equal "hosts of windows" "$(sed -n 's/^window of 10.000s until .*Z, //p' "$scratch/text" | uniq -c | awk '{ $1 = $1 } 1')" \
		"$(printf '%s\n' "9 2 of 3 hosts" "4 3 hosts" "2 2 of 3 hosts" "4 3 hosts" "1 2 of 3 hosts")"
	fails 1 $ctprof top --replay "$selected" --inspect 17
	has "one to inspect" "$output" "--inspect is of one host, and this query selects several: add host=NAME"
	intervals more-1 "$begin_s" 10 1 1
	insert "loads (host, t, ms) SELECT concat('more-', toString(number)), toDateTime($begin_s), 10000 FROM numbers(2, 97)"
	equal "a hundred hosts" "$($ctprof top --batch --count 1 --replay "$query?from=$begin_s&to=$end_s&host=more-*&host=web-1&host=web-2" |
		sed -n 's/.*Z, //p')" "98 of 100 hosts"
	fails 1 $ctprof top --batch --replay "$selected"
	has "too many" "$output" "a replay covers at most 100 hosts, and this query selects 101: choose fewer, e.g. by host=NAME"
}

for kind in new old; do
	run_case "windows of several hosts add up to their rows, $kind" adds_up "$kind"
	run_case "rows of several hosts are kept apart, $kind" keeps_hosts_apart "$kind"
	run_case "silent hosts are told, and too many, $kind" tells_silent_hosts "$kind"
done

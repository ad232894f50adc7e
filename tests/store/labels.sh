# SPDX-License-Identifier: BSD-2-Clause
#
# Labels that change while a host is up: each interval has those of its time.

ctprof=build/ctprof
driver=build/tests/programs/store_driver

# ns_of SELECTION: of all stacks, by ctprof.
ns_of() {
	$ctprof flame -q --format folded -o - "ch://127.0.0.1:$store_port/fleet?$1" | awk '{ ns += $NF } END { printf "%.0f\n", ns }'
}

# A host gets another version within a minute: its agent restarts, and the host does not.
follows_agents() {
	local begun from to

	start_store "$1"
	$driver schema "$store_url/" fleet
	# Ten seconds after the beginning of an hour: the intervals are in one minute and one hour.
	begun=$(($(date +%s) / 3600 * 3600 - 7190))
	mkdir -p "$scratch/before" "$scratch/after"
	rm -f "$scratch"/{before,after}/*
	$driver interval "$store_url/fleet" web-1 $begun "$scratch/before" 2 1.4
	$driver interval "$store_url/fleet" web-1 $((begun + 20)) "$scratch/after" 3 1.5
	post_requests "$scratch/before"
	post_requests "$scratch/after"
	equal "hosts" "$(sql "SELECT uniqExact(boot), uniqExact(facts) FROM fleet.hosts WHERE host = 'web-1'")" $'1\t2'
	equal "facts of all rows" "$(sql "SELECT min(count), max(count) FROM (SELECT t, count() AS count FROM (
			SELECT DISTINCT t, facts FROM fleet.samples UNION ALL SELECT DISTINCT t, facts FROM fleet.states UNION ALL
			SELECT DISTINCT t, facts FROM fleet.threads UNION ALL SELECT DISTINCT t, facts FROM fleet.loads UNION ALL
			SELECT DISTINCT t, facts FROM fleet.cgroups) GROUP BY t, facts)")" $'5\t5'
	# By rows, by sums of minutes, and by those of hours.
	for from in $begun $((begun - 20000)) $((begun - 2000000)); do
		to=$((begun + 50))
		((from == begun)) || to=$((begun + 3590))
		equal "version 1.4 from $from" "$(ns_of "label.version=1.4&from=$from&to=$to")" \
			"$(sql "SELECT sum(ns) FROM fleet.samples WHERE t < toDateTime($begun + 20)")"
		equal "version 1.5 from $from" "$(ns_of "label.version=1.5&from=$from&to=$to")" \
			"$(sql "SELECT sum(ns) FROM fleet.samples WHERE t >= toDateTime($begun + 20)")"
	done
	equal "the host's last" "$($ctprof fleet hosts --format json "ch://127.0.0.1:$store_port/fleet?to=$((begun + 50))" |
		jq -r '.[].labels')" "version=1.5 it's=\\'"
}

# insert TABLE COLUMNS SELECT
insert() {
	sql "INSERT INTO fleet.$1 ($2) SELECT $3"
}

# deploy KIND: twelve hosts for an hour. Six of them get version 1.5 one after the other from the 20th minute on, with
# which shopd waits for locks three times as long.
deploy() {
	local rows facts="7 + (h < 6 AND m >= 20 + h)"

	start_store "$1"
	$driver schema "$store_url/" fleet
	begun=$(($(date +%s) / 3600 * 3600 - 7200))
	insert hosts "host, seen, boot, facts, booted, kernel, version, label_names, label_values" \
		"concat('web-', toString(number % 12)), toDateTime($begun + 3000), 'b', 7 + intDiv(number, 12), toDateTime($begun - 86400),
		'6.1.0', '1.0', ['version'], [if(number < 12, '1.4', '1.5')] FROM numbers(24)"
	# A version from long ago is not there.
	insert hosts "host, seen, boot, facts, label_names, label_values" "'web-1', toDateTime($begun - 900000), 'a', 3, ['version'], ['1.3']"
	rows="(SELECT number % 12 AS h, intDiv(number, 12) AS m, concat('web-', toString(h)) AS name, toDateTime($begun + m * 60) AS at,
		$facts AS of FROM numbers(720))"
	insert loads "host, t, facts, ms" "name, at, of, 60000 FROM $rows"
	insert states "host, t, facts, ms, process, comm, threads, exec_user_ns, lock_futex_ns, idle_poll_ns" \
		"name, at, of, 60000, 'shopd', 'worker', 4, 60000000000, toUInt64(9e9 * if(of = 8, 3, 1) * (0.9 + (h * 7 + m * 3) % 10 / 50)), 1000000000 FROM $rows"
	insert samples "host, t, facts, process, comm, class, state, stack, ns, count" \
		"name, at, of, 'shopd', 'worker', 'on-cpu', 'exec_user', 1, if(of = 8, 20000000000, 60000000000), 10 FROM $rows"
	insert stacks "hash, seen, functions" "1, now(), ['main', 'serve']"
	query="ch://127.0.0.1:$store_port/fleet?from=$begun&to=$((begun + 3600))"
}

# A host counts for each version with the intervals that it had of it.
compares_a_deploy() {
	local output labels is_first="(facts = 7 AND host IN ('web-1', 'web-11', 'web-3', 'web-5', 'web-7', 'web-9'))"

	deploy "$1"
	$ctprof fleet compare --by version=1.4,1.5 --format json "$query" > "$scratch/json"
	jq -e '[.[] | select(.program == "shopd" and .name == "lock")][0] | .hosts == 6 and .peers == 12 and
		.other > 0.1 and .other < 0.16 and .value > 0.25 and .value < 0.35' "$scratch/json" > /dev/null
	has "hosts" "$($ctprof fleet compare --by version "$query")" "version 1.5 (6 hosts) differs from version 1.4 (12 hosts)."
	fails 1 $ctprof fleet compare --by version=1.3,1.4 "$query"
	has "versions of the time" "$output" "there are: 1.4, 1.5"
	$ctprof fleet compare --by version=1.5 --format json "$query" > "$scratch/json"
	jq -e '[.[] | select(.name == "lock")][0] | .hosts == 6 and .peers == 12' "$scratch/json" > /dev/null
	equal "the same by time, and 1.4 alone" "$($ctprof fleet regressions --format json --since $((begun + 1800)) "$query&label.version=1.4" | jq length)" 0
	$ctprof fleet flame --by version=1.4,1.5 --format folded -o - "$query" > "$scratch/folded"
	# The others are those of version 1.4, and a host only until its deploy.
	for labels in '' '&label.version=1.*'; do
		$ctprof fleet flame --by version=1.5 --format folded -o - "$query$labels" > "$scratch/others"
		equal "all others, of '$labels'" "$(cat "$scratch/others")" "$(cat "$scratch/folded")"
	done
	# Every other host by name, with its minutes before a deploy. These are more, and scaled to those after it.
	equal "a flame graph" "$(awk '{ print $2, $3 }' "$scratch/folded")" "$(sql "SELECT
		toUInt64(round(sumIf(ns, is_first) * (SELECT sumIf(ms, facts = 8) / sumIf(ms, $is_first) FROM fleet.loads))), sumIf(ns, facts = 8)
		FROM (SELECT ns, facts, $is_first AS is_first FROM fleet.samples)" | tr '\t' ' ')"
}

# Names of hosts with characters of globs: each stands for itself where a command selects the host.
selects_hosts_of_groups() {
	local url first='a*' second='a[*]\'

	start_store "$1"
	$driver schema "$store_url/" fleet
	begun=$(($(date +%s) - 100))
	insert loads "host, t, ms" "arrayJoin(['a*', 'a[*]\\\\', 'ab', 'a*\\\\']), toDateTime($begun), 10000"
	insert stacks "hash, seen, functions" "1, toDateTime($begun), ['main']"
	insert samples "host, t, process, comm, class, state, stack, ns, count" "h, toDateTime($begun), 'shopd', 'worker', 'on-cpu', 'exec_user', 1,
		length(h) * 1000, 1 FROM (SELECT arrayJoin(['a*', 'a[*]\\\\', 'ab', 'a*\\\\']) AS h)"
	insert hosts "host, seen, boot" "h, toDateTime($begun), 'b' FROM (SELECT DISTINCT host AS h FROM fleet.loads)"
	equal "two hosts" "$($ctprof fleet flame --by "host=$first,$second" --format folded -o - "ch://127.0.0.1:$store_port/fleet")" \
		"main 2000 5000"
}

for kind in new old; do
	run_case "hosts are selected by their names, $kind" selects_hosts_of_groups "$kind"
	run_case "labels are those of the time of an interval, $kind" follows_agents "$kind"
	run_case "a deploy divides hosts, $kind" compares_a_deploy "$kind"
done

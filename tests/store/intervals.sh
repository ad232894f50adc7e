# SPDX-License-Identifier: BSD-2-Clause
#
# Intervals as the agent encodes them: what is inserted reads back the same.

driver=build/tests/programs/store_driver

# HOST begins with what breaks a query that it is pasted into.
host="it's \\' \`; DROP"
time=1795177800

# make_interval [INTERVALS [VERSION [NUMBER]]]: requests in $requests, for the database fleet.
make_interval() {
	requests=$(mktemp -d "$scratch/requests.XXXXXX")
	$driver interval "$store_url/fleet" "$host" "$time" "$requests" "$@"
}

# sent_rows TABLE, stored_rows TABLE: a line of digits for each row, in the order of digits.
sent_rows() {
	local target

	for target in $(grep -l "\.$1%20(" "$requests"/*.target); do
		gzip -dc "${target%.target}.body"
	done | $driver rows "$1" | sort
}

stored_rows() {
	sql "SELECT $($driver columns "$1") FROM fleet.$1 FORMAT RowBinary" | $driver rows "$1" | sort
}

tables="samples stacks states threads hosts loads cgroups cgroup_labels losses"

reads_back() {
	local table

	start_store "$1"
	$driver schema "$store_url/" fleet
	make_interval
	post_requests "$requests"
	for table in $tables; do
		sent_rows "$table" > "$scratch/sent"
		stored_rows "$table" > "$scratch/stored"
		[ -s "$scratch/sent" ] || { echo "$table: no rows"; return 1; }
		cmp "$scratch/sent" "$scratch/stored"
	done
}

# The sums of an interval in nanoseconds: ten threads of 10 s, each 1 s on a CPU, 2 s runnable, 3 s and its number in
# nanoseconds at a futex.
adds_up() {
	start_store "$1"
	$driver schema "$store_url/" fleet
	make_interval 3
	post_requests "$requests"
	equal "samples" "$(sql "SELECT class, state, sum(ns), sum(count), max(longest_ns) FROM fleet.samples GROUP BY class, state ORDER BY class")" \
		$'interruptible\tlock_futex\t90000000135\t150\t1000000000\non-cpu\texec\t30000000000\t150\t1000000000'
	equal "states" "$(sql "SELECT sum(exec_ns), sum(runnable_ns), sum(lock_futex_ns), sum(sleep_ns), sum(threads), count() FROM fleet.states")" \
		$'30000000000\t60000000000\t90000000135\t119999999865\t30\t30'
	equal "by minute" "$(sql "SELECT sum(ns), sum(count), count() > 0 FROM fleet.samples_1m")" $'120000000135\t300\t1'
	equal "by hour" "$(sql "SELECT sum(exec_ns), sum(lock_futex_ns) FROM fleet.states_1h")" $'30000000000\t90000000135'
	equal "counters by hour" "$(sql "SELECT sum(run_time_ns), sum(active_ms) FROM fleet.threads_1h")" \
		"$(sql "SELECT sum(run_time_ns), sum(ms) FROM fleet.threads")"
	# Each metric is measured in some threads, and its bit says in which: bits of run_time_ns and of irq_delay_min_ns.
	equal "bits" "$(sql "SELECT countIf(bitAnd(measured0, bitShiftLeft(toUInt64(1), 10)) != 0), countIf(bitAnd(measured1, bitShiftLeft(toUInt64(1), 93 - 64)) != 0) FROM fleet.threads")" \
		$'27\t27'
	equal "a value that was not measured" "$(sql "SELECT max(run_time_ns) FROM fleet.threads WHERE bitAnd(measured0, bitShiftLeft(toUInt64(1), 10)) = 0")" 0
	equal "stacks" "$(sql "SELECT count(), max(length(functions)) FROM fleet.stacks")" $'10\t10'
	equal "stacks of samples" "$(sql "SELECT count() FROM fleet.samples WHERE stack != 0 AND stack NOT IN (SELECT hash FROM fleet.stacks)")" 0
	equal "labels" "$(sql "SELECT label_values[indexOf(label_names, 'version')] FROM fleet.hosts")" 1.4
	equal "what was not measured of the load" "$(sql "SELECT bitAnd(measured, 2), bitAnd(measured, 1), cpu_ns FROM fleet.loads LIMIT 1")" $'0\t1\t5'
}

# answers_of_checks: each once.
answers_of_checks() {
	local check

	for check in "$requests"/*.check; do
		curl -sS "$store_url/$(cat "$check")" | cut -f 1
	done | sort -u
}

# Checks that come before a request is sent again find its first row, which another agent with the same name of the host
# does not have, and a current server takes no block twice.
counts_once() {
	local table

	start_store "$1"
	$driver schema "$store_url/" fleet
	make_interval 1 1.4 7
	post_requests "$requests"
	make_interval
	equal "before it is sent" "$(answers_of_checks)" 0
	equal "rows of the other agent" "$(curl -sS "$store_url/$(cat "$(grep -l "fleet%60.threads%20" "$requests"/*.check)")" | cut -f 1,2)" $'0\t10'
	for table in samples states threads loads cgroups losses samples_1m; do
		sql "TRUNCATE TABLE fleet.$table"
	done
	post_requests "$requests"
	equal "after it was sent" "$(answers_of_checks)" 1
	for table in samples states threads loads cgroups losses; do
		grep -q "fleet%60.$table%20" "$requests"/*.check
	done
	[ "$1" = new ] || return 0
	post_requests "$requests"
	equal "rows" "$(sql "SELECT count() FROM fleet.threads")" 10
	equal "sums" "$(sql "SELECT sum(ns) FROM fleet.samples_1m")" "$(sql "SELECT sum(ns) FROM fleet.samples")"
	equal "losses" "$(sql "SELECT sum(count) FROM fleet.losses")" 4
}

# A row that comes twice is one of stacks, hosts and labels of cgroups.
replaces() {
	start_store "$1"
	$driver schema "$store_url/" fleet
	make_interval
	post_requests "$requests"
	# Another agent has the same stacks.
	host=other time=$((time + 10)) make_interval
	post_requests "$requests"
	sql "OPTIMIZE TABLE fleet.stacks FINAL"
	equal "stacks" "$(sql "SELECT count(), uniqExact(hash) FROM fleet.stacks")" $'10\t10'
	equal "hosts" "$(sql "SELECT count() FROM fleet.hosts")" 2
}

for kind in new old; do
	run_case "intervals read back the same, $kind" reads_back "$kind"
	run_case "intervals add up, $kind" adds_up "$kind"
	run_case "rows are counted once, $kind" counts_once "$kind"
	run_case "stacks are stored once, $kind" replaces "$kind"
done

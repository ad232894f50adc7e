# SPDX-License-Identifier: BSD-2-Clause
#
# Queries for people: those of doc/fleet.md and of the dashboard for ClickHouse have answers on both servers.

# fill_store: four hosts, for ten minutes; pods run on two of them, and shopd 1.5 spends more time in parse_json than 1.4.
fill_store() {
	build/tests/programs/store_driver schema "$store_url/" fleet
	fill hosts "host, seen, boot, booted, kernel, cpus, version, label_names, label_values" \
		"concat('web-', toString(number)), now(), 'b', now() - 86400, '6.1.0', 2, '1.0', ['version'],
		[if(number < 2, '1.4', '1.5')]" 4
	fill states "host, t, ms, process, comm, cgroup, threads, exec_user_ns, runnable_ns, lock_futex_ns, sleep_disk_ns, sleep_network_ns" \
		"concat('web-', toString(number % 4)), now() - 10 * intDiv(number, 4), 10000, 'shopd', 'worker', '/kubepods/pod/x', 4,
		8000000000, 9000000000, 1000000000, 1000000000, 1000000000" 240
	fill samples "host, t, process, comm, cgroup, class, state, stack, ns, count, longest_ns" \
		"concat('web-', toString(number % 4)), now() - 10 * intDiv(number, 8), 'shopd', 'worker', '/kubepods/pod/x',
		if(number % 8 < 4, 'on-cpu', 'interruptible'), if(number % 8 < 4, 'exec', 'lock_futex'), 1 + (number % 4 > 1),
		8000000000, 7, 1000000" 480
	fill stacks "hash, seen, functions" "number + 1, now(), if(number > 0, ['main', 'parse_json', 'memcpy'], ['main', 'take_order'])" 2
	fill threads "host, t, ms, process, comm, cgroup, tgid, tid, majflt, measured0, measured1" \
		"'web-1', now() - 10 * number, 10000, 'shopd', 'worker', '/kubepods/pod/x', 7, 8, 3, bitNot(toUInt64(0)), bitNot(toUInt64(0))" 60
	fill loads "host, t, ms, cpu_ns, cpu_some_ns, memory_some_ns, io_some_ns, agent_cpu_ns, agent_memory_bytes, bpf_ns" \
		"concat('web-', toString(number % 4)), now() - 10 * intDiv(number, 4), 10000, 1000000000, 2000000000, 0, 1000000, 9, 4096, 5" 240
	fill cgroups "host, t, ms, cgroup, cpu_ns, throttled_ns, throttled, memory_bytes" \
		"'web-2', now() - 10 * number, 10000, '/kubepods/pod/x', 1000000000, 5000000, 2, 4096" 60
	fill cgroup_labels "host, cgroup, seen, container, pod, namespace" \
		"concat('web-', toString(number)), '/kubepods/pod/x', now(), 'shopd', 'shopd-0', 'shop'" 2
	fill losses "host, t, sink, what, why, count" "'web-3', now() - 60, 'clickhouse', 'rows of samples', 'spool full', 17" 1
}

# fill TABLE COLUMNS VALUES ROWS
fill() {
	sql "INSERT INTO fleet.$1 ($2) SELECT $3 FROM system.numbers LIMIT $4"
}

# has_rows QUERY: the answer has some
has_rows() {
	sql "$1 FORMAT TSV" database=fleet > "$scratch/rows" || { echo "$1"; cat "$scratch/rows"; return 1; }
	[ -s "$scratch/rows" ] || { echo "no rows: $1"; return 1; }
}

# sql_of_page: the queries of the page, one a line
sql_of_page() {
	awk '/^```sql/ { inside = 1; query = ""; next } /^```/ && inside { print query; inside = 0 } inside { query = query " " $0 }' \
		doc/fleet.md
}

page_has_answers() {
	local query

	start_store "$1"
	fill_store
	sql_of_page > "$scratch/queries"
	between "queries" 10 "$(wc -l < "$scratch/queries")" 30
	while read -r query; do
		has_rows "$query"
	done < "$scratch/queries"
	has "shares of CPU time in parse_json" "$(sql "$(grep times_the_median "$scratch/queries") FORMAT TSV" database=fleet)" $'web-2\t1\t'
	has "pods" "$(sql "$(grep 'SELECT namespace, pod' "$scratch/queries") FORMAT TSV" database=fleet)" $'shop\tshopd-0\tshopd\t960\t2'
}

# The page describes each column, except states and metrics, which have pages of their own.
page_has_columns() {
	local table column described

	start_store old
	build/tests/programs/store_driver schema "$store_url/" fleet
	while read -r table column; do
		described=$(grep "^| \`$table\` | " doc/fleet-schema.md) || { echo "no table $table"; return 1; }
		[[ $described == *"\`$column\`"* ]] || { echo "no column $table.$column"; return 1; }
	done < <(sql "SELECT table, name FROM system.columns WHERE database = 'fleet'
		AND table IN ('samples', 'stacks', 'hosts', 'loads', 'cgroups', 'cgroup_labels', 'losses')")
}

# Macros of Grafana's plugin, as it replaces them for ten minutes in steps of a minute.
dashboard_has_answers() {
	local query

	start_store "$1"
	fill_store
	jq -r '.panels[].targets[].rawSql, .templating.list[1].query' packaging/grafana/ctprof-clickhouse.json |
		sed -E 's/\$__timeFilter\(t\)/t >= toDateTime(now() - 600) AND t <= toDateTime(now())/g
			s/\$__timeInterval\(t\)/toDateTime(intDiv(toUInt32(t), 60) * 60)/g
			s/\$\{host:singlequote\}/'"'web-0','web-1','web-2','web-3'/g" > "$scratch/queries"
	! grep -F '$' "$scratch/queries"
	between "queries" 12 "$(wc -l < "$scratch/queries")" 30
	while read -r query; do
		has_rows "$query"
	done < "$scratch/queries"
}

run_case "doc/fleet-schema.md describes all columns" page_has_columns
for kind in old new; do
	run_case "queries of doc/fleet.md have answers ($kind)" page_has_answers "$kind"
	run_case "queries of the dashboard have answers ($kind)" dashboard_has_answers "$kind"
done

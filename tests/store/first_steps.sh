# SPDX-License-Identifier: BSD-2-Clause
#
# The first steps of doc/fleet.md: a store and an agent by two commands, and hosts that are compared by a third. Two hosts
# are this one, one after the other; with version 1.5, a program waits for a lock that it did not have before. The others
# are copies of them, whose threads ran a little more. To be compared, a program needs 5 s of busy time, and a quarter of
# what it has on the median host, whatever else this host does.

# runs_host NAME VERSION PROGRAM...: an agent of a host that runs the program
runs_host() {
	local host=$1 version=$2 pid

	shift 2
	"$@" > "$scratch/program" &
	pid=$!
	at_end "kill $pid; wait $pid"
	build/ctprof agent --config "$scratch/agent.conf" --host "$host" --label "version=$version" --spool "$scratch/spool.$host" \
		--interval 1 --duration 24s > "$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
	kill "$pid"
	wait "$pid" || true
}

# copy_host FROM TO PERCENT: more on CPUs
copy_host() {
	local table

	sql "INSERT INTO ctprof.hosts SELECT * REPLACE ('$2' AS host) FROM (SELECT * FROM ctprof.hosts WHERE host = '$1')"
	sql "INSERT INTO ctprof.states SELECT * REPLACE ('$2' AS host, intDiv(exec_user_ns * (100 + $3), 100) AS exec_user_ns)
		FROM (SELECT * FROM ctprof.states WHERE host = '$1')"
	for table in samples loads; do
		sql "INSERT INTO ctprof.$table SELECT * REPLACE ('$2' AS host) FROM (SELECT * FROM ctprof.$table WHERE host = '$1')"
	done
}

compares_hosts() {
	local command percent

	[ "$(id -u)" = 0 ] || skip "needs root"
	make -s build/tests/programs/{lock_waits,busy} > "$scratch/made" 2>&1
	cp build/tests/programs/busy "$scratch/shopd"
	cp build/tests/programs/lock_waits "$scratch/locked"
	start_store new
	# The commands of the page, with the address of this store.
	command=$(sed -n 's|^    \(ctprof agent .*create-schema\)$|build/\1|p' doc/fleet.md)
	${command//http:\/\/store:8123/$store_url}
	echo "clickhouse = $store_url/ctprof" > "$scratch/agent.conf"
	runs_host web-10 1.4 "$scratch/shopd" 5
	mv "$scratch/locked" "$scratch/shopd"
	runs_host web-20 1.5 "$scratch/shopd" mutex
	for percent in 1 2 3 4 5 6; do
		copy_host web-10 "web-1$percent" "$percent"
		copy_host web-20 "web-2$percent" "$percent"
	done
	command=$(sed -n 's|^    \(ctprof fleet compare .*\)$|build/\1|p' doc/fleet.md)
	build/ctprof fleet hosts "ch://${store_url#http://}/ctprof" > "$scratch/hosts"
	has "the hosts" "$(< "$scratch/hosts")" web-24
	${command//store:8123/${store_url#http://}} > "$scratch/compared"
	has "the comparison" "$(< "$scratch/compared")" "version 1.5 (7 hosts) differs from version 1.4 (7 hosts)"
	has "the comparison" "$(< "$scratch/compared")" "version 1.5: shopd waits"
}

run_case "the first steps compare hosts" compares_hosts

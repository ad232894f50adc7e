# SPDX-License-Identifier: BSD-2-Clause
#
# The agent and a server, both of which are killed: rows are there once, and intervals without a gap.

# begin_case new|old: a server with the tables, an empty spool, and the one program that is profiled.
begin_case() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	start_store "$1"
	build/ctprof agent --create-schema --clickhouse "$store_url/fleet"
	spool=$(mktemp -d "$scratch/spool.XXXXXX")
	cp "$BASH" "$scratch/store_busy"
	"$scratch/store_busy" -c 'while :; do for ((i = 0; i < 1000; i++)); do :; done; read -rt 0.01 -u 3; done' 3<> <(:) &
	at_end "kill -KILL $!"
}

# start_agent ARGUMENT...: sends to the database fleet each second; its process is $agent.
start_agent() {
	build/ctprof agent --clickhouse "$store_url/fleet" --spool "$spool" --host "it's" --interval 1 --comm store_busy "$@" \
		> "$scratch/agent.out" 2>&1 &
	agent=$!
	at_end "kill -KILL $agent"
}

end_agent() {
	kill -TERM "$agent"
	wait "$agent" || { cat "$scratch/agent.out"; return 1; }
}

# wait_for NUMBER QUERY: until its answer is at least that, for at most a minute.
wait_for() {
	local tries answer

	for tries in $(seq 240); do
		answer=$(sql "$2") && [ "${answer:-0}" -ge "$1" ] && return
		sleep 0.25
	done
	echo "'$2' is $answer, not $1"
	cat "$scratch/agent.out"
	return 1
}

loads="SELECT count() FROM fleet.loads"

# What to look at when a case fails.
show_stored() {
	local table

	for table in loads samples states; do
		echo "$table: $(sql "SELECT t, count() FROM fleet.$table GROUP BY t ORDER BY t" | cut -c 15- | tr '\t\n' ' ,')"
	done
	echo "stacks: $(sql "SELECT seen, count() FROM fleet.stacks GROUP BY seen ORDER BY seen" | cut -c 15- | tr '\t\n' ' ,')"
	sql "SELECT * FROM fleet.losses"
	ls "$spool"/*
	cat "$scratch/agent.out"
}

# Times of all tables are those of loads, once each. Of the last interval of an agent, some rows may still be in its
# spool.
has_each_once() {
	local table intervals=$(sql "$loads")

	show_stored
	equal "rows of loads" "$intervals" "$(sql "SELECT uniqExact(host, t) FROM fleet.loads")"
	for table in samples states; do
		between "intervals of $table" "$intervals" "$(sql "SELECT uniqExact(t) FROM fleet.$table")" $((intervals + 1))
		equal "rows of $table" "$(sql "SELECT count() FROM fleet.$table")" \
			"$(sql "SELECT count() FROM (SELECT DISTINCT * FROM fleet.$table)")"
	done
	equal "stacks that are missing" \
		"$(sql "SELECT count() FROM fleet.samples WHERE stack != 0 AND stack NOT IN (SELECT hash FROM fleet.stacks)")" 0
}

arrives() {
	begin_case "$1"
	start_agent --label version=1.4
	wait_for 3 "$loads"
	kill -KILL "$store_pid"
	wait "$store_pid" 2> /dev/null || true
	sleep 3
	start_store_again
	wait_for 8 "$loads"
	end_agent
	has_each_once
	# A second without a row would be an interval that was lost.
	equal "gaps" "$(sql "SELECT toUnixTimestamp(max(t)) - toUnixTimestamp(min(t)) - toInt64(count()) <= 1 FROM fleet.loads")" 1
	equal "losses" "$(sql "SELECT count() FROM fleet.losses WHERE sink != ''")" 0
	equal "labels" "$(sql "SELECT DISTINCT host, label_values[indexOf(label_names, 'version')] FROM fleet.hosts")" $'it\\\'s\t1.4'
}

# What waits in the spool of an agent that was killed is sent by the next one.
resumes() {
	local before

	begin_case "$1"
	start_agent
	wait_for 2 "$loads"
	kill -KILL "$store_pid"
	wait "$store_pid" 2> /dev/null || true
	sleep 3
	kill -KILL "$agent"
	wait "$agent" 2> /dev/null || true
	start_store_again
	before=$(sql "$loads")
	start_agent
	wait_for $((before + 4)) "$loads"
	end_agent
	has_each_once
}

for kind in new old; do
	run_case "an agent's intervals arrive once, $kind" arrives "$kind"
	run_case "an agent goes on with its spool, $kind" resumes "$kind"
done

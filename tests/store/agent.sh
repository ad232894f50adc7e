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
	: > "$scratch/agent.out"
	build/ctprof agent --clickhouse "${agent_url-$store_url/fleet}" --spool "$spool" --host "it's" --interval "${interval:-1}" --comm store_busy "$@" \
		> "$scratch/agent.out" 2>&1 &
	agent=$!
	at_end "kill -KILL $agent"
}

# Only an agent that measures ends in order: before that, SIGTERM may reach it without its handler, or still as bash.
end_agent() {
	local tries

	for tries in $(seq 240); do
		! grep -q "measuring host" "$scratch/agent.out" || break
		sleep 0.25
	done
	grep "measuring host" "$scratch/agent.out"
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
	equal "losses" "$(sql "SELECT count() FROM fleet.losses WHERE sink != '' AND why != 'perhaps missing'")" 0
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

requests_that_wait() {
	find "$spool" -name '*.request' | wc -l
}

# While the database is missing, requests wait, and a line says what to do; then all of them arrive.
waits_for_tables() {
	begin_case "$1"
	sql "DROP DATABASE fleet"
	start_agent
	for tries in $(seq 120); do
		! grep -q -- --create-schema "$scratch/agent.out" || break
		sleep 0.25
	done
	has "what the agent says" "$(cat "$scratch/agent.out")" \
		"create or upgrade the tables: ctprof agent --create-schema --clickhouse URL; its requests wait in the spool"
	sleep 2
	build/ctprof agent --create-schema --clickhouse "$store_url/fleet"
	wait_for 5 "$loads"
	end_agent
	has_each_once
	equal "losses" "$(sql "SELECT count() FROM fleet.losses WHERE sink != ''")" 0
}

# Each answer takes two seconds, so requests of intervals of a second wait in the spool. The agent measures on meanwhile,
# and all of them arrive.
is_slow() {
	local proxy_port intervals agent_url

	command -v python3 > /dev/null || skip "no python3"
	begin_case "$1"
	proxy_port=$(free_port)
	echo 2 > "$scratch/delay"
	python3 tests/store/slow_proxy.py "$proxy_port" "$store_port" "$scratch/delay" &
	at_end "kill -KILL $!"
	agent_url=http://127.0.0.1:$proxy_port/fleet
	start_agent
	wait_for 1 "SELECT count() FROM fleet.hosts"
	sleep 8
	intervals=$(sql "$loads")
	echo "$(requests_that_wait) requests wait after $intervals intervals"
	between "requests that wait" 20 "$(requests_that_wait)" 1000
	echo 0 > "$scratch/delay"
	wait_for $((intervals + 8)) "$loads"
	end_agent
	has_each_once
	equal "gaps" "$(sql "SELECT toUnixTimestamp(max(t)) - toUnixTimestamp(min(t)) - toInt64(count()) <= 1 FROM fleet.loads")" 1
	equal "losses" "$(sql "SELECT count() FROM fleet.losses WHERE sink != ''")" 0
}

# A store that is configured in another place of the order gets its own requests.
has_its_own_requests() {
	local waits

	begin_case "$1"
	kill -KILL "$store_pid"
	wait "$store_pid" 2> /dev/null || true
	start_agent --clickhouse http://127.0.0.1:1/other
	for tries in $(seq 120); do
		waits=$(requests_that_wait)
		[ "$waits" -lt 20 ] || break
		sleep 0.25
	done
	end_agent
	equal "folders" "$(find "$spool" -mindepth 1 -maxdepth 1 -name 'clickhouse-*' -type d | wc -l)" 2
	waits=$(find "$spool"/clickhouse-* -name '*.request' -exec grep -alF fleet {} + | xargs -n 1 dirname | sort | uniq | wc -l)
	equal "folders with requests for this store" "$waits" 1
	start_store_again
	build/ctprof agent --clickhouse http://127.0.0.1:1/other --clickhouse "$store_url/fleet" --spool "$spool" --host "it's" \
		--interval 1 --comm store_busy > "$scratch/agent.out" 2>&1 &
	agent=$!
	at_end "kill -KILL $agent"
	wait_for 4 "$loads"
	end_agent
	has_each_once
}

# What is stored of each interval in a table: numbers that differ if a row is missing or there twice.
stored_of() {
	local value

	case $1 in
	samples) value=ns ;;
	states) value=sleep_ns ;;
	threads) value=run_time_ns ;;
	loads) value=agent_cpu_ns ;;
	cgroups) value=cpu_ns ;;
	esac
	sql "SELECT toUnixTimestamp(t), count(), sum($value) FROM fleet.$1 GROUP BY t ORDER BY t"
}

# ask_reference COMMAND...: the other server.
ask_reference() {
	local store_url=$reference_url

	"$@"
}

kill_server() {
	kill -KILL "$store_pid"
	wait "$store_pid" 2> /dev/null || true
	sleep "$((RANDOM % 3)).$((RANDOM % 10))"
	start_store_again
}

kill_agent() {
	kill -KILL "$agent"
	wait "$agent" 2> /dev/null || true
	agent_kills=$((agent_kills + 1))
	start_agent --clickhouse "$reference_url/fleet"
}

# Sums that are not complete are counted as such. An agent sends each interval to a server that is killed at random, and
# then to one that is not. So what the second has is what was produced: the first must have it, too, once. The agent is
# killed at random as well: of the interval in which that happens, the first may have more.
survives_kills() {
	local until tries table span interval=${KILL_INTERVAL:-2} agent_kills=0 server_kills=0 compared=0 lost

	[ "$(id -u)" = 0 ] || skip "needs root"
	start_store old
	reference_url=$store_url reference_pid=$store_pid
	at_end 'kill -TERM $reference_pid'
	build/ctprof agent --create-schema --clickhouse "$reference_url/fleet"
	begin_case "$1"
	start_agent --clickhouse "$reference_url/fleet"
	wait_for 2 "$loads"
	until=$((SECONDS + KILL_SECONDS))
	while ((SECONDS < until)); do
		sleep "$((RANDOM % 3)).$((RANDOM % 10))"
		if ((RANDOM % 3)); then
			kill_server
			server_kills=$((server_kills + 1))
		else
			kill_agent
		fi
	done
	end_agent
	# One that measures nothing meanwhile sends the rest.
	interval=3600 start_agent --clickhouse "$reference_url/fleet"
	for tries in $(seq 480); do
		[ "$(requests_that_wait)" -gt 0 ] || break
		sleep 1
	done
	kill -KILL "$agent"
	wait "$agent" 2> /dev/null || true
	equal "requests that wait" "$(requests_that_wait)" 0
	for table in samples states threads loads cgroups; do
		stored_of "$table" > "$scratch/stored"
		ask_reference stored_of "$table" > "$scratch/produced"
		echo "$table: $(awk '{ n += $2 } END { print n }' "$scratch/produced") rows of $(wc -l < "$scratch/produced") intervals produced," \
			"$(awk '{ n += $2 } END { print n }' "$scratch/stored") of $(wc -l < "$scratch/stored") stored"
		compared=$((compared + $(wc -l < "$scratch/produced")))
		equal "intervals of $table that are not stored as they were produced" \
			"$(comm -23 <(sort "$scratch/produced") <(sort "$scratch/stored"))" ""
		between "intervals of $table that only one server has" 0 \
			"$(comm -13 <(sort "$scratch/produced") <(sort "$scratch/stored") | wc -l)" "$agent_kills"
	done
	lost=$(sql "SELECT 'lost', sum(count), sink, what, why FROM fleet.losses WHERE sink != '' GROUP BY sink, what, why")
	echo "killed: the server $server_kills times, the agent $agent_kills times; losses: $lost"
	[ "$compared" -gt 0 ]
	equal "stacks that are missing" \
		"$(sql "SELECT count() FROM fleet.samples WHERE stack != 0 AND stack NOT IN (SELECT hash FROM fleet.stacks)")" 0
	# Those that the last agent counted are in its spool.
	lost+=$'\n'$(cat "$spool/losses" 2> /dev/null || :)
	for table in samples:ns states:exec_ns threads:run_time_ns; do
		for span in 1m 1h; do
			has_sums "${table%:*}" "$span" "${table#*:}" \
				"$(awk -F '\t' -v what="sums of ${table%:*}" '$1 == "lost" && $4 == what { n += $2 } END { print n + 0 }' <<< "$lost")"
		done
	done
}

# has_sums TABLE SPAN COLUMN COUNTED: sums are never more than the rows. Where they are less, COUNTED rows or fewer of the
# largest of each time are enough to explain it.
has_sums() {
	local start=toStartOfMinute excess missing

	[ "$2" = 1m ] || start=toStartOfHour
	read -r excess missing <<< "$(sql "SELECT countIf(rest < 0), sum(ceil(rest / largest)) FROM (
		SELECT at, sum(raw) - sum(summed) AS rest, greatest(max(most), 1) AS largest FROM (
			SELECT $start(t) AS at, toInt64(sum($3)) AS raw, toInt64(0) AS summed, toInt64(max($3)) AS most FROM fleet.$1 GROUP BY at
			UNION ALL
			SELECT t AS at, toInt64(0) AS raw, toInt64(sum($3)) AS summed, toInt64(0) AS most FROM fleet.$1_$2 GROUP BY at)
		GROUP BY at)")"
	echo "$1_$2: at least $missing rows are missing, $4 are counted"
	equal "times with larger sums than rows" "$excess" 0
	between "rows without sums" 0 "$missing" "$4"
}

run_case "a store gets its own requests wherever it is configured" has_its_own_requests old
KILL_SECONDS=${KILL_SECONDS:-15}
for kind in new old; do
	run_case "requests wait until there are tables, $kind" waits_for_tables "$kind"
	run_case "an agent's intervals arrive once, $kind" arrives "$kind"
	run_case "an agent goes on with its spool, $kind" resumes "$kind"
	run_case "an agent measures on while a server is slow, $kind" is_slow "$kind"
	run_case "kill -9 of server and agent at random, $kind" survives_kills "$kind"
done

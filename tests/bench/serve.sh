# shellcheck shell=bash disable=SC2034,SC2046,SC2086,SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# The CPU time of both processes of ctprof serve: what a client costs that takes the stream of a page, what names cost
# where a compiler runs again and again, and what waits in progress cost.

serve_at=http://127.0.0.1:17072
serve_seconds=$((quick ? 3 : 10))

# start_serve OPTION...: until it answers: $collector and $web.
start_serve() {
	start_tool $ctprof serve -q --listen "${serve_at#http://}" "$@"
	answers $serve_at/metrics || could_not "ctprof serve ($(complaint))"
	collector=$tool
	web=$(pgrep -P "$collector" -x ctprof-web)
}

# Its child ends with it.
end_serve() {
	kill "$collector"
	wait "$collector" 2> /dev/null
	end_tools
}

readings_of_serve() {
	curl -sf $serve_at/metrics | awk '$1 == "ctprof_readings_total" { print $2 }'
}

# The CPU time of process $1 in a second, and for a reading, of which there is one each second unless the host is too busy.
cost_of() {
	local before readings now begun=$EPOCHREALTIME

	before=$(run_time "$1")
	readings=$(readings_of_serve)
	while now=$(readings_of_serve) && ((now < readings + serve_seconds / 2)); do
		sleep 1
	done
	awk -v before="$before" -v after="$(run_time "$1")" -v readings=$((now - readings)) -v begun="$begun" \
		-v ended="$EPOCHREALTIME" 'BEGIN { print (after - before) / (ended - begun), (after - before) / readings }'
}

# 10,000 waits, and a compiler.
measure_serve_client() {
	local round client

	has curl || return
	start_threads 50 200 || return
	mkdir -p "$work/busy"
	start_loop tests/bench/compile "$work/busy" 20
	start_serve
	pkill -USR1 -P "$sleepers"
	sleep $settle_seconds
	while next_round; do
		sample serve_client none $(cost_of "$web")
		curl -sN -o "$work/stream" "$serve_at/api/live?history=0" &
		client=$!
		sample serve_client one $(cost_of "$web")
		kill $client
		wait $client 2> /dev/null
	done
	end_serve
	end_loops
	stop_threads
}

# New addresses of files that are known.
measure_serve_names() {
	local round

	has curl || return
	mkdir -p "$work/busy"
	start_loop tests/bench/compile "$work/busy" 20
	start_serve --comm cc1
	sleep $settle_seconds
	while next_round; do
		sample serve_names ctprof $(cost_of "$collector")
	done
	end_serve
	end_loops
}

# Seconds for each reading of 10,000 threads that wait all the time, for everything that the collector does meanwhile.
measure_serve_waits() {
	local round

	has curl || return
	start_threads 50 200 || return
	start_serve --comm many_threads
	pkill -USR1 -P "$sleepers"
	sleep $settle_seconds
	sample of serve_waits 10000
	while next_round; do
		sample serve_waits ctprof $(cost_of "$collector")
	done
	end_serve
	stop_threads
}

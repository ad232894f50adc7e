# SPDX-License-Identifier: BSD-2-Clause
#
# What ctprof agent stores is what threads did. Part of tests/live/run.

. tests/live/profiles.sh

stored=$scratch/stored

# agent OPTIONS...: runs until its --duration is over, or an error.
agent() {
	rm -rf "$stored"
	"$ctprof" agent --config /dev/null --directory "$stored" --interval 1s "$@" > "$told" 2> "$warned" || { cat "$warned"; return 1; }
}

# Of each stored file, in the order of time, a line of JSON: its profile.
read_stored() {
	local file

	for file in "$stored"/*.raw; do
		"$ctprof" flame "$file" --format json -o "$scratch/one.json" > /dev/null 2>&1
		jq -c '{ meta, threads }' "$scratch/one.json"
	done > "$scratch/all"
}

# The states of each thread add up to the time for which it was watched, and a thread's intervals follow each other
# without a gap: the sums of all files are threads times wall. A switch while a reading is made may put some
# microseconds of one interval into the next.
times_are_conserved() {
	local busy asleep began took_ms

	start "$programs/duty" 5 5
	busy=$pid
	start_sleep
	asleep=$pid
	began=${EPOCHREALTIME/./}
	agent -p "$busy,$asleep" -d 4s
	# Longer than 4 s on a busy host.
	took_ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	read_stored
	between "files" 2 "$(wc -l < "$scratch/all")" $((took_ms / 1000 + 2))
	jq -c '.threads[] | select(.accounted) | select((([.ns[]] | add // 0) - (.ended_ns - .begun_ns) | fabs) > 2e6)' "$scratch/all" > "$scratch/wrong"
	equal "threads whose states do not add up" "$(head -n 3 "$scratch/wrong")" ""
	for pid in "$busy" "$asleep"; do
		jq -cs --argjson tid "$pid" '
			[.[].threads[] | select(.tid == $tid) | { begun_ns, ended_ns, ns: ([.ns[]] | add) }] as $parts |
			range(1; $parts | length) | select($parts[.].begun_ns != $parts[. - 1].ended_ns)' "$scratch/all" > "$scratch/gaps"
		equal "gaps of $pid" "$(cat "$scratch/gaps")" ""
		jq -s --argjson tid "$pid" '
			[.[].threads[] | select(.tid == $tid)] |
			([.[].ns[]] | add) - (.[-1].ended_ns - .[0].begun_ns) | fabs' "$scratch/all" > "$scratch/rest"
		between "ns that are missing of $pid" 0 "$(cat "$scratch/rest")" 2000000
	done
	between "ms in all files" 3900 "$(jq -s '[.[].meta.duration_ns] | add / 1e6 | floor' "$scratch/all")" "$took_ms"
}

# Without a store for losses, lines say what was lost: the first at once, the others at the end.
losses_are_printed() {
	local servers=() path

	for path in a b c d; do
		servers+=(--otlp "http://127.0.0.1:9/$path")
	done
	agent "${servers[@]}" --spool "$scratch/spool.full" --spool-size 64KiB -d 8s
	has "a line" "$(< "$warned")" "profiles: spool "
	grep -q '^ctprof: otlp.*: lost [0-9]* profiles: spool [a-z ]*$' "$warned"
	has_not "losses that were not printed" "$(< "$scratch/spool.full/losses")" profiles
}

# What was counted since the last interval is stored when a signal ends the agent.
end_loses_nothing() {
	local agent

	start_sleep
	rm -rf "$stored"
	"$ctprof" agent --config /dev/null --directory "$stored" --interval 1m -p "$pid" 2> "$warned" &
	agent=$!
	at_end "kill $agent 2> /dev/null; wait $agent"
	until [ "$(grep -c . "/proc/$agent/task/$agent/children" 2> /dev/null)" = 0 ] && grep -q bpf-map "/proc/$agent/maps"; do
		kill -0 "$agent" || { cat "$warned"; return 1; }
		sleep 0.1
	done
	sleep 2
	kill "$agent"
	wait "$agent"
	read_stored
	equal "files" "$(wc -l < "$scratch/all")" 1
	has "what it says" "$(cat "$warned")" "1 profile written"
}

# Profiles in files, and the same answers as of serve.
serves_beside() {
	local agent at

	command -v curl > /dev/null || skip "needs curl"
	start_sleep
	rm -rf "$stored"
	"$ctprof" agent --config /dev/null --directory "$stored" --interval 1s -p "$pid" --listen 127.0.0.1:0 2> "$warned" &
	agent=$!
	at_end "kill $agent 2> /dev/null; wait $agent"
	until at=$(grep -o 'http://[^/]*' "$warned"); do
		kill -0 "$agent" || { cat "$warned"; return 1; }
		sleep 0.05
	done
	sleep 3
	curl -sS --fail --max-time 60 "$at/api/threads?from=0" | jq -c '[.threads[].tid]' > "$scratch/tids"
	equal "threads that are served" "$(cat "$scratch/tids")" "[$pid]"
	kill "$agent"
	wait "$agent"
	[ "$(ls "$stored" | wc -l)" -ge 2 ]
}

# Symbols name functions; debug information only if it is wanted: for frames that are inlined, and lines.
debug_information_is_optional() {
	local file=$scratch/one.json

	start bash -c 'echo ready; exec "$@"' bash "$programs/chain" sleep 10000 20
	agent -p "$pid" -d 2500ms
	read_stored
	equal "functions" "$(jq -c '[.frames[].name | select(IN("chain_middle", "chain_sleep"))] | unique' "$file")" '["chain_middle","chain_sleep"]'
	equal "frames with lines" "$(jq '[.frames[] | select(.inlined or .source or .line)] | length' "$file")" 0
	agent -p "$pid" -d 2500ms --inlined
	read_stored
	equal "inlined functions" "$(jq '[.frames[] | select(.inlined and .name == "chain_inlined" and .source and .line)] | length > 0' "$file")" true
}

# A spool belongs to one agent.
second_agent_ends() {
	local first spool=$scratch/spool

	start_sleep
	"$ctprof" agent --config /dev/null --clickhouse http://127.0.0.1:1/none --spool "$spool" --interval 1s -p "$pid" -q 2> "$warned" &
	first=$!
	at_end "kill $first 2> /dev/null; wait $first"
	until ls "$spool"/* > /dev/null 2>&1; do
		kill -0 "$first" 2> /dev/null || skip "$(cat "$warned")"
		sleep 0.1
	done
	if "$ctprof" agent --config /dev/null --clickhouse http://127.0.0.1:1/none --spool "$spool" -d 1s > "$told" 2>&1; then
		echo "the second one runs"
		return 1
	fi
	cat "$told"
	equal "lines" "$(wc -l < "$told")" 1
	has "what it says" "$(cat "$told")" "$spool"
}

# Nor do two agents write to one directory.
directory_has_one_agent() {
	local first

	start_sleep
	rm -rf "$stored"
	"$ctprof" agent --config /dev/null --directory "$stored" --interval 1s -p "$pid" -q 2> "$warned" &
	first=$!
	at_end "kill $first 2> /dev/null; wait $first"
	until ls "$stored"/*.raw > /dev/null 2>&1; do
		kill -0 "$first" || { cat "$warned"; return 1; }
		sleep 0.1
	done
	if timeout 60 "$ctprof" agent --config /dev/null --directory "$stored" -d 1s > "$told" 2>&1; then
		echo "the second one runs"
		return 1
	fi
	equal "what it says" "$(< "$told")" "ctprof: $stored: another agent writes to this directory"
	kill "$first"
	wait "$first"
	agent -p "$pid" -d 1s
}

mistakes_are_named() {
	local label

	printf 'interval = 5s\n\nlabel = version=1\nlabels = x\n' > "$scratch/agent.conf"
	has "of a wrong key" "$("$ctprof" agent --config "$scratch/agent.conf" --check-config 2>&1)" \
		"ctprof: $scratch/agent.conf:4: unknown key 'labels'; did you mean 'label'?"
	printf 'interval = 5x\n' > "$scratch/agent.conf"
	has "of a wrong value" "$("$ctprof" agent --config "$scratch/agent.conf" --check-config 2>&1)" "agent.conf:1: interval: invalid duration"
	printf 'keep = 1d\nlabel = kernel=5.0\n' > "$scratch/agent.conf"
	has "of a label" "$("$ctprof" agent --config "$scratch/agent.conf" --check-config 2>&1)" \
		"agent.conf:2: label: the agent knows 'kernel' itself: choose another name"
	printf '\nca-file = %s/none\n' "$scratch" > "$scratch/agent.conf"
	has "of a file" "$("$ctprof" agent --config "$scratch/agent.conf" --check-config 2>&1)" \
		"agent.conf:2: ca-file: $scratch/none: No such file or directory"
	for label in host=a image=b version= =1; do
		fails 2 "$ctprof" agent --config /dev/null --directory /tmp/x --check-config --label "$label"
	done
	printf 'check-config = yes\n' > "$scratch/agent.conf"
	has "of the command line" "$("$ctprof" agent --config "$scratch/agent.conf" 2>&1)" "agent.conf:1: 'check-config' is an option of the command line only"
}

# What the agent would refuse at its start, the check refuses.
check_finds() {
	local options

	for options in "--clickhouse http://h:8123" "--clickhouse http://h:8123/a --clickhouse http://h:8123/a" \
		"--clickhouse http://h:8123/a --netrc-file $scratch/none" "--clickhouse http://h:8123/a --ca-file $scratch/none" \
		"--directory /tmp/x --host $(printf 'x%.0s' {1..256})" "--directory $scratch/none/x" "--directory /dev/null" \
		"--clickhouse http://h:8123/a --spool $scratch/none/a/b" "--clickhouse http://h:8123/a --tenant x" \
		"--clickhouse http://h:8123/a --keep-rows raw=5d"; do
		# shellcheck disable=SC2086
		fails 2 "$ctprof" agent --config /dev/null --check-config $options
	done
	equal "plan of tables" "$("$ctprof" agent --config /dev/null --check-config --clickhouse http://h:8123/a --create-schema --keep-rows raw=5d | sed 1d)" \
		"create or upgrade the tables at http://h:8123/a"
	has "control characters" "$("$ctprof" agent --config /dev/null --check-config --directory $'/tmp/\e[1mx' --host $'a\e[31mb')" \
		"host a?[31mb
measure every 10 s
write profiles to /tmp/?[1mx
"
}

# The command line replaces keys, also those that may repeat.
command_line_wins() {
	printf 'host = a\nlabel = version=1\nlabel = rack=2\ndirectory = /tmp/x\nno-children = no\nkeep = 7d\nkeep-rows = raw=5d\notlp = http://h:4318\n' > "$scratch/agent.conf"
	equal "plan" "$("$ctprof" agent --config "$scratch/agent.conf" --check-config --host b --label version=3 -i 5s --keep 1GiB \
		--tenant shop --spool "$scratch/spool" --inlined -d 1h | sed 1d)" \
		"host b, version=3
measure every 5 s
send to otlp at http://h:4318
write profiles to /tmp/x
remove the oldest profiles when all have more than 1.000GiB
send profiles for the tenant shop
keep at most 512.000MiB in $scratch/spool until it is sent
use at most 256.000MiB of memory
read debug information, for inlined functions, source files and lines
stop after 1 h 0 min"
}

run_case "agent: mistakes in the configuration name their line" mistakes_are_named
run_case "agent: a check of the configuration finds what the start would refuse" check_finds
run_case "agent: the command line takes precedence" command_line_wins
run_case "agent: times of stored profiles are conserved" needs_profiles times_are_conserved
run_case "agent: its end loses nothing" needs_profiles end_loses_nothing
run_case "agent: it reads debug information only with --inlined" needs_profiles debug_information_is_optional
run_case "agent: it serves beside" needs_profiles serves_beside
run_case "agent: a second agent with the same spool ends" needs_profiles second_agent_ends
run_case "agent: a second agent with the same directory ends" needs_profiles directory_has_one_agent
run_case "agent: losses are printed where no store has them" needs_profiles losses_are_printed

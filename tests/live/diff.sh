# SPDX-License-Identifier: BSD-2-Clause
#
# Two captures and what lies between them in one command. Part of tests/live/run.

diffed=$scratch/diffed
noise=$scratch/noise

# diff_of OPTIONS...: its JSON in $diffed, what it says beside it in $noise.
diff_of() {
	"$ctprof" diff --format json "$@" > "$diffed" 2> "$noise"
}

it_is() {
	jq -e "$@" "$diffed" > /dev/null || {
		echo "this is not so: $1"
		head -c 300 "$diffed"
		return 1
	}
}

# A program that takes a tenth of a CPU and then six, and one that takes a fifth as ever: the table says how much more
# that is than before.
against_the_rate_before() {
	local name

	for name in rises stays; do
		cp "$programs/duty" "$scratch/$name"
	done
	# They get the CPU however busy the host is.
	start chrt -f 1 "$scratch/stays" 4 4
	start chrt -f 1 "$scratch/rises" 2 12
	sleep 2
	kill -USR1 "$pid"
	"$ctprof" diff 1s --match rises --match stays --metrics run_time_ns > "$diffed" 2> "$noise"
	awk '$3 == "run_time_ns" { sub(/%/, "", $NF); of[$1] = $NF + 0 }
		END {
			if (of["rises"] > 300 && of["rises"] < 600 && of["stays"] > -40 && of["stays"] < 40)
				exit 0
			print "rises " of["rises"] " %, stays " of["stays"] " %"
			exit 1
		}' "$diffed"
}

# --- waiting ---

# A time is at least that time.
waits() {
	start "$programs/busy" 2
	diff_of 300ms
	it_is '.elapsed_s >= 0.3 and .same_boot == true and .ctprof.report == "compare"'
	it_is '.rows[] | select(.section == "primary" and .group == "busy" and .metric == "run_time_ns") | .delta > 0 and .threads == 2'
	equal "what it says" "$(< "$noise")" ""
}

not_a_time() {
	local words

	for words in "" "soon" "-- " "1s 1s" "1s -- true" "-1s"; do
		# shellcheck disable=SC2086
		fails 2 "$ctprof" diff $words
		has "the error of 'diff $words'" "$output" "Try 'ctprof diff --help'."
	done
}

# An option's argument may be what else stands before a command.
dashes_as_an_argument() {
	diff_of --match -- 100ms
	it_is '.report == null and .elapsed_s >= 0.1 and ([.rows[] | select(.section == "primary")] | length == 0)'
}

# A diff that would wait for very long, as $waiting. What a shell starts in the background ignores
# interrupts, and a shell that was started so cannot change that by trap.
starts_waiting() {
	env --default-signal=INT "$ctprof" diff --format json "$@" > "$diffed" 2> "$noise" &
	waiting=$!
	at_end "kill -9 $waiting"
	# Until its first capture is made, it may sleep, too, and an interrupt would end it.
	until grep -q sigtimedwait "/proc/$waiting/wchan"; do
		kill -0 $waiting
		sleep 0.1
	done
	status=0
}

interrupt_reports() {
	starts_waiting 1000s
	kill -INT $waiting
	wait $waiting || status=$?
	equal status $status 0
	it_is '.elapsed_s < 900 and (.rows | length > 10)'
}

# A signal that asks for the end gets it.
terminate_ends() {
	starts_waiting 1000s
	kill -TERM $waiting
	wait $waiting || status=$?
	equal status $status 143
	equal "what it printed" "$(< "$diffed")" ""
}

# Two parts are compared, but nobody takes what came out for all.
has_no_time() {
	local status=0

	diff_of --timeout 1ms 10ms || status=$?
	equal "the status" "$status" 1
	it_is '[.notes[] | select(startswith("the first capture is incomplete"))] | length == 1'
	it_is '[.notes[] | select(startswith("the second is incomplete"))] | length == 1'
	status=0
	diff_of --timeout 1ms -- true || status=$?
	equal "the status with a command" "$status" 125
	status=0
	diff_of --timeout 1ms -- sh -c 'exit 7' || status=$?
	equal "the status of a command that failed" "$status" 7
}

run_case "--timeout: two parts, and status 1" has_no_time
run_case "diff TIME: waits that long" alone waits
run_case "diff TIME: percentages are against the rate before" needs_root against_the_rate_before
run_case "diff: wrong usage" not_a_time
run_case "diff: -- as the argument of an option" dashes_as_an_argument
run_case "diff TIME: an interrupt ends the wait, not the report" interrupt_reports
run_case "diff TIME: SIGTERM ends it" terminate_ends

# --- running ---

passes_status() {
	local status

	for status in 0 1 7 255; do
		fails $status "$ctprof" diff -- bash -c "exit $status"
		has "what it prints" "$output" "ctprof: bash ended with $status after "
		has "what it prints" "$output" "## Primary metrics"
	done
	fails 137 "$ctprof" diff -- bash -c 'kill -9 $$'
	has "what it prints" "$output" "bash ended with 137"
	has "what it prints" "$output" "## Primary metrics"
	fails 143 "$ctprof" diff -- bash -c 'kill -TERM $$'
}

cannot_run() {
	echo true > "$scratch/not-executable"
	fails 127 "$ctprof" diff -- "$scratch/absent"
	has "the error" "$output" "$scratch/absent: No such file"
	equal "lines of it" "$(wc -l <<< "$output")" 1
	fails 127 "$ctprof" diff -- no-such-command-in-path
	fails 126 "$ctprof" diff -- "$scratch/not-executable"
	has "the error" "$output" "Permission denied"
	fails 126 "$ctprof" diff -- "$scratch"
}

# Our own failures are told from the command's, which then never ran or ran in vain.
fails_itself() {
	local absent

	absent=$(($(< /proc/sys/kernel/pid_max) - 1))
	while [ -d "/proc/$absent" ]; do
		absent=$((absent - 1))
	done
	fails 125 "$ctprof" diff -p "$absent" -- touch "$scratch/ran"
	[ ! -e "$scratch/ran" ]
	fails 1 "$ctprof" diff -p "$absent" 1s
	fails 125 "$ctprof" diff -o "$scratch/no/such/place" -- touch "$scratch/ran"
	[ ! -e "$scratch/ran" ]
	fails 2 "$ctprof" diff --metrics no_such_metric -- touch "$scratch/ran"
	[ ! -e "$scratch/ran" ]
}

full_output() {
	local status=0

	"$ctprof" diff -- true > /dev/full 2> "$noise" || status=$?
	equal status $status 125
	has "the error" "$(< "$noise")" "ctprof: "
}

# The keyboard's interrupt goes to all; the command ends by it, and the report is printed.
keyboard() {
	env --default-signal=INT setsid bash -c '"$@"; echo "status $?" >&2' bash \
		"$ctprof" diff --format json -- sleep 1000 > "$diffed" 2> "$noise" &
	waiting=$!
	at_end "kill -9 -- -$waiting"
	until pgrep -g $waiting -x sleep > "$scratch/sleeper"; do
		kill -0 $waiting
		sleep 0.01
	done
	# As a terminal would, but without the shell, which has its own opinion. ctprof ignores it until the
	# command has ended.
	kill -INT "$(pgrep -g $waiting -x ctprof)" "$(< "$scratch/sleeper")"
	wait $waiting || true
	has "what it says" "$(< "$noise")" "sleep ended with 130"
	has "what it says" "$(< "$noise")" "status 130"
	it_is '.rows | length > 10'
}

# --fail-if decides where the command has nothing to say.
judges() {
	start "$programs/busy" 1
	fails 3 diff_of --fail-if 'busy:run_time_ns > 0' -- sleep 0.1
	fails 0 diff_of --fail-if 'busy:run_time_ns > 1000s' -- sleep 0.1
	fails 4 diff_of --fail-if 'nobody:run_time_ns > 1000s' -- true
	fails 7 diff_of --fail-if 'busy:run_time_ns > 0' -- bash -c 'exit 7'
	fails 3 diff_of --fail-if 'busy:run_time_ns > 0' 100ms
}

keeps_streams() {
	local out

	out=$(echo in | "$ctprof" diff -q -- cat 2> "$noise")
	equal "first line of output" "${out%%$'\n'*}" in
	has "output" "$out" "## Primary metrics"
	equal "what it says" "$(< "$noise")" ""
	"$ctprof" diff -q -- bash -c 'echo err >&2' > /dev/null 2> "$noise"
	equal "what the command says" "$(< "$noise")" err
	# The last one is that of ls itself.
	"$ctprof" diff -q -- ls /proc/self/fd > "$scratch/descriptors"
	equal descriptors "$(grep -x '[0-9]*' "$scratch/descriptors" | xargs)" "$(ls /proc/self/fd | xargs)"
}

# Blocked and ignored signals are as without us: a command in the background ignores interrupts.
inherits_signals() {
	local wrapper signals='^Sig(Blk|Ign)'

	for wrapper in 'exec "$@"' 'trap "" INT; exec "$@"' 'trap "" QUIT PIPE HUP; exec "$@"'; do
		bash -c "$wrapper" bash "$ctprof" diff -q -- grep -E "$signals" /proc/self/status > "$scratch/signals"
		equal "signals after '$wrapper'" "$(grep -E "$signals" "$scratch/signals")" \
			"$(bash -c "$wrapper" bash grep -E "$signals" /proc/self/status)"
	done
}

run_case "diff -- COMMAND: its status is passed on" passes_status
run_case "diff -- COMMAND: 127 and 126 when it cannot run" cannot_run
run_case "diff -- COMMAND: 125 when we fail" fails_itself
run_case "diff -- COMMAND: 125 if the report cannot be written" full_output
run_case "diff -- COMMAND: the keyboard interrupts the command alone" keyboard
run_case "diff --fail-if: after the command's own failure" judges
run_case "diff -- COMMAND: has our streams and nothing else" keeps_streams
run_case "diff -- COMMAND: ignores the signals that we were to ignore" inherits_signals

# --- what it did ---

# Three processes do known work between the captures, when the command tells them to.
known_work() {
	local burner writer napper

	mkfifo "$scratch/tell"
	start bash -c 'exec "$0" <> "$1"' "$programs/workload" "$scratch/tell"
	read -r burner writer napper <<< "$ready"
	diff_of --window --group-by thread --all-rows --sections primary -- \
		bash -c 'echo work > "$0"; until grep -qx done "$1"; do sleep 0.01; done' "$scratch/tell" "$said"
	grown() {
		jq --arg tail "[$1]" --arg metric "$2" '.rows[]
			| select(.section == "primary" and .metric == $metric and (.group | endswith($tail))).delta' "$diffed"
	}
	between "run time of burner" 1000000000 "$(grown "$burner" run_time_ns)" 1005000000
	equal "bytes of writer" "$(grown "$writer" wchar)" $((64 << 20))
	equal "naps of napper" "$(grown "$napper" voluntary_csw)" 20
	between "run time of napper" 1 "$(grown "$napper" run_time_ns)" 20000000
	equal "bytes of burner" "$(grown "$burner" wchar)" 0
}

# The line about the command, against what the command knows of itself.
usage_line() {
	local user system own

	"$ctprof" diff -- bash -c 'while times > "$0"; read -r user _ < "$0"; [[ $user == 0m0.[01]* ]]; do
			for ((n = 0; n < 20000; n++)); do :; done
		done; times >&2' "$scratch/times" > "$diffed" 2> "$noise"
	# "0m0.312s 0m0.004s", of itself; its children stand in the next line.
	own=$(awk -F '[ms ]+' '/^0m/ { print int(($2 + $4) * 1000); exit }' "$noise")
	read -r user system < <(sed -n 's/^ctprof: bash ended with 0 after [0-9.]* s: \([0-9.]*\) s user, \([0-9.]*\) s system, at most .* resident.*, [0-9]* minor and [0-9]* major faults, [0-9]* voluntary and [0-9]* involuntary switches$/\1 \2/p' "$noise")
	between "milliseconds of CPU" "$own" "$(awk "BEGIN { print int(($user + $system) * 1000 + 1) }")" $((own + 2000))
	between "milliseconds of CPU by itself" 190 "$own" 10000
	# And before all else that changed.
	equal "what is named first" "$(grep -A 1 '^What changed most\|^No group' "$diffed" | sed -n '2s/  *[0-9].*//p')" \
		"  bash (the command)"
}

keeps_files() {
	local side

	mkdir "$scratch/kept"
	diff_of -o "$scratch/kept/x" --all-rows -- true
	equal "files" "$(ls -A "$scratch/kept" | xargs)" "x.baseline.ctprof.zst x.candidate.ctprof.zst"
	for side in baseline candidate; do
		zstd -qdc "$scratch/kept/x.$side.ctprof.zst" | jq -e '.threads | length > 2' > /dev/null
		"$ctprof" show "$scratch/kept/x.$side.ctprof.zst" > /dev/null
	done
	"$ctprof" compare --window --all-rows --format json "$scratch/kept/x.baseline.ctprof.zst" "$scratch/kept/x.candidate.ctprof.zst" > "$scratch/compared"
	equal "rows of compare" "$(jq -c .rows "$scratch/compared" | cksum)" "$(jq -c .rows "$diffed" | cksum)"
	equal "their threads" "$(jq .candidate[0].threads "$diffed")" "$(zstd -qdc "$scratch/kept/x.candidate.ctprof.zst" | jq '.threads | length')"
}

# Until it is nobody's any more: a zombie is one that is there.
ends_in_between() {
	local other end=(bash -c 'kill -9 "$0"; while [ -d "/proc/$0" ]; do sleep 0.01; done')

	start "$programs/busy" 1
	other=$pid
	start_sleep
	diff_of -p "$pid,$other" -- "${end[@]}" "$pid"
	it_is '[.rows[] | select(.section == "only-baseline" and .group == "sleep" and .metric == "run_time_ns")] | length == 1'
	it_is '[.rows[] | select(.section == "primary" and .group == "busy" and .metric == "run_time_ns")] | length == 1'
	start_sleep
	diff_of -p "$pid" -- "${end[@]}" "$pid"
	it_is '.candidate[0].threads == 0 and .baseline[0].threads == 1'
}

targets() {
	start "$programs/busy" 3
	diff_of -p "$pid" 50ms
	it_is '.baseline[0].threads == 3 and ([.rows[] | select(.section == "primary").group] | unique == ["busy"])'
	start_in "$cgroup"
	diff_of --cgroup "$cgroup" --group-by cgroup 50ms
	it_is '.candidate[0].threads == 1'
}

run_case "diff -- COMMAND: known work is in it, to the byte" known_work
run_case "diff -- COMMAND: the resources that the command used" usage_line
run_case "diff -o: two files with the same content" keeps_files
run_case "diff -p: of a process that ends in between" ends_in_between
run_case "diff -p, --cgroup: of these alone" with_cgroup targets

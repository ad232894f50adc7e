# SPDX-License-Identifier: BSD-2-Clause
#
# The command `ctprof kstats`: the session of the posting, by BPF on a kernel as Debian has it, and by kstats.ko;
# and both of them beside each other.
#
# modules
# kernels: 6.1 7.2
# seconds: 400

. tests/kernels/guest/kstats_command.sh

# The function that is measured, and nothing but our calls calls.
function=__x64_sys_getpgid

# The columns that scripts take. "slot 55  CPU  0    count      589 avg      480 p 0.027613", and CPUS for all.
lines_are_for_awk() {
	local lines=$scratch/v3

	kstats show $function --format kstats > "$lines"
	equal "other lines" "$(sed -E '/^slot [0-9 ]{3} CPU[ S] [0-9 ]{4} count [0-9 ]{8} avg [0-9 ]{8,} p [01]\.[0-9]{6}$/d' "$lines")" ""
	equal "values of each CPU" "$(awk '$3 == "CPU" { n += $6 } END { print n }' "$lines")" 1000
	equal "values of all CPUs" "$(awk '$3 == "CPUS" { n += $6 } END { print n }' "$lines")" 1000
	equal "the last share" "$(awk '$3 == "CPUS" { last = $10 } END { print last }' "$lines")" 1.000000
	equal "how many CPUs" "$(awk '$3 == "CPUS" { print $4 }' "$lines" | sort -u)" "$(nproc)"
	between "their time" 1000 "$(awk '$3 == "CPUS" { ns += $6 * $8 } END { printf "%.0f\n", ns }' "$lines")" "$most"
}

# HEADING: what is shown to people says what it is, and where the values are.
text_is_for_people() {
	kstats show $function > "$scratch/text"
	equal "its heading" "$(head -n 1 "$scratch/text")" "$1"
	grep -qE '^ *count 1000, mean ' "$scratch/text"
	grep -qE '^ *p50 .* bucket mean ' "$scratch/text"
	equal "what was lost" "$(grep -E '^ *(missed|unmatched|replaced|recursive|backwards|full) ' "$scratch/text" || true)" ""
}

# Linux 6.7 tells how often it did not call a kprobe, and so do older ones to which that was brought: by what it has, not
# by its release, which is 2.6.60 and more here.
missed_is_known_by_feature() {
	kstats trace $function start kprobe:$function
	at_end "kstats remove $function"
	kstats show $function --format json | jq -c '.metrics[0].losses | has("missed")' > "$scratch/known"
	equal "whether it tells" "$(< "$scratch/known")" \
		"$(awk -F. '{ print ($1 > 6 || $1 == 6 && $2 >= 7) ? "true" : "false" }' /proc/sys/kernel/osrelease)"
	setarch --uname-2.6 ctprof kstats show $function --format json | jq -c '.metrics[0].losses | has("missed")' |
		diff - "$scratch/known"
}

# VIA HOW WORDS...: as the posting has it: made, read, stopped, emptied, started and removed.
session() {
	local via=$1 how=$2 start=$function before

	shift 2
	before=$(bpf_objects)
	[ $# -eq 0 ] || start=$2
	trace $function bits 3 "$@" --via "$via"
	do_calls getpgid 1000
	equal "the calls" "$(count $function)" 1000
	equal "the times between" "$(count GAP-$function)" 999
	kstats stop $function
	lines_are_for_awk
	text_is_for_people "$function: $start, by $via$how, 3 bits, stopped"
	do_calls getpgid 500
	equal "the calls after stop" "$(count $function)" 1000
	equal "the times between after stop" "$(count GAP-$function)" 999
	kstats list | awk 'NR > 1 { print $1, $2, $3, $4, $NF }' | sort | diff - <(printf '%s\n' \
		"GAP-$function $via stopped 999 $start" "$function $via stopped 1000 $start")
	kstats reset $function
	equal "the lines after reset" "$(kstats show $function GAP-$function --format kstats)" ""
	kstats start $function
	do_calls getpgid 70
	equal "the calls after start" "$(count $function)" 70
	kstats remove $function
	fails 1 kstats show $function
	has "what is said of it" "$output" "no metric '$function'"
	fails 1 kstats show GAP-$function
	equal "what there is" "$(names)" ""
	nothing_is_left "$before"
	log_is_clean
}

# sleeps VIA COUNT MS: by somebody whom it can measure, and nobody else.
sleeps() {
	local i

	[ "$1" = module ] || { do_calls nap "$2" $(($3 * 1000000)); return; }
	for ((i = 0; i < $2; i++)); do
		do_test sleep "$3"
	done
}

# VIA: kept in files, which are added up and compared.
files_agree() {
	local before=$scratch/short.zst after=$scratch/long.zst

	case $1 in
	bpf) trace naps start do_nanosleep --comm kstats_calls ;;
	module) trace naps start kstats_test_sleep --via module ;;
	esac
	sleeps "$1" 10 2
	kstats save -o "$before" naps
	kstats reset naps
	sleeps "$1" 20 40
	kstats stop naps
	kstats save -o "$after" naps
	kstats merge -o "$scratch/both.zst" "$before" "$after"
	equal "values before" "$(count "$before")" 10
	equal "values after" "$(count "$after")" 20
	{ by_slot "$before"; by_slot "$after"; } | awk '{ n[$1] += $2 } END { for (slot in n) print slot, n[slot] }' |
		sort -n | diff - <(by_slot "$scratch/both.zst")
	kstats compare "$before" "$after" | tee "$scratch/shift" | grep -qE '^ *p50 .* larger *$' ||
		{ cat "$scratch/shift"; return 1; }
	kstats compare naps "$after" > "$scratch/same"
	grep -qE '^ *p50 .* same *$' "$scratch/same"
	has_not "the comparison with itself" "$(< "$scratch/same")" "larger"
	kstats remove naps
}

# by_slot FILE: "SLOT COUNT" of all rows.
by_slot() {
	kstats show "$1" --format csv | awk -F, 'NR > 1 { n[$5] += $8 } END { for (slot in n) print slot, n[slot] }' | sort -n
}

# VIA: whatever an interval sees, all of them together are all.
intervals_add_up() {
	local series

	trace calls start $function --via "$1"
	do_calls getpgid 30
	ctprof kstats show calls --interval 200ms > "$scratch/series" &
	series=$!
	at_end "kill $series"
	await_lines 1
	do_calls getpgid 1234
	await_lines $(($(lines) + 2))
	kill $series
	wait $series
	equal "values in all intervals" "$(awk '/^[0-9]/ { n += $2 } END { print n }' "$scratch/series")" 1234
	kstats show calls --interval 100ms --count 2 > "$scratch/series"
	equal "intervals" "$(lines)" 2
	kstats remove calls
}

lines() {
	grep -c '^[0-9]' "$scratch/series" || true
}

await_lines() {
	local i

	for i in {1..500}; do
		[ "$(lines)" -lt "$1" ] || return 0
		sleep 0.1
	done
	cat "$scratch/series"
	return 1
}

# From one tracepoint to another: how long a program lives.
tracepoints_agree() {
	local i

	trace life bits 5 start tracepoint:sched:sched_process_exec end tracepoint:sched:sched_process_exit --comm kstats_calls
	for i in {1..5}; do
		do_calls nap 1 20000000
	done
	has "its heading" "$(kstats show life | head -n 1)" \
		"tracepoint:sched:sched_process_exec to tracepoint:sched:sched_process_exit, by bpf (raw tracepoint), only comm kstats_calls, 5 bits"
	equal "the lives" "$(count life)" 5
	equal "those that are too short" "$(kstats show life --format csv | awk -F, 'NR > 1 && $7 < 20000000')" ""
	fails 1 kstats show GAP-life
}

# With five metrics beside each other each counts its own, and all of them go at once.
several_metrics() {
	local before

	before=$(bpf_objects)
	trace function start do_nanosleep --comm kstats_calls
	trace probe start kprobe:do_nanosleep --comm kstats_calls
	trace call start syscall:clock_nanosleep --comm kstats_calls
	trace pair start kprobe:hrtimer_nanosleep end fexit:do_nanosleep --comm kstats_calls
	trace program start uprobe:/bin/kstats_calls:napping_function
	do_calls nap 10 2000000
	kstats list --format csv | awk -F, 'NR > 1 && $1 !~ /^GAP-/ { print $1, $4 }' | sort | diff - <(printf '%s\n' \
		"call 10" "function 10" "pair 10" "probe 10" "program 10")
	kstats save -o "$scratch/all.zst"
	equal "metrics in the file" "$(metrics_in "$scratch/all.zst")" \
		"GAP-call GAP-function GAP-probe GAP-program call function pair probe program"
	kstats remove function probe call pair program
	equal "what there is" "$(names)" ""
	nothing_is_left "$before"
	log_is_clean
}

# metrics_in FILE: those with values.
metrics_in() {
	kstats show "$1" --format csv | awk -F, 'NR > 1 { print $1 }' | sort -u | xargs
}

# VIA: what users are given to begin with.
example_runs() {
	# For it to read.
	mkdir -p /usr/share/doc
	at_end "rm -rf /usr/share/doc"
	cp tests/kernels/cases/*.sh /usr/share/doc
	bash examples/kstats_session.sh "$1" > "$scratch/out" 2>&1 || { cat "$scratch/out"; return 1; }
	has "its list" "$(tr -s ' ' < "$scratch/out")" "session_read $1 stopped"
	has "its histogram" "$(< "$scratch/out")" p50
	grep -qE '^[0-9]+ took [0-9]+ ns each$' "$scratch/out"
	equal "what there is" "$(names)" ""
}

command_case() {
	local name=$1

	shift
	run_case "ctprof kstats: $name" "$@"
}

command_case "the session, by fentry" session bpf " (fentry, fexit)"
command_case "the session, by kprobe" session bpf " (kprobe, kretprobe)" start kprobe:$function
command_case "files, by BPF" files_agree bpf
command_case "intervals, by BPF" intervals_add_up bpf
command_case "a pair of tracepoints" tracepoints_agree
command_case "several metrics" several_metrics
command_case "the example, by BPF" example_runs bpf

# --- with kstats.ko ---

. tests/kernels/guest/kstats.sh

by_module() {
	load
	"$@" module
	is_clean
}

session_by_module() {
	load
	session module ""
	is_clean
}

# A module of somebody's has functions and tracepoints, too. VIA: "some_function" is one of them.
functions_of_modules() {
	load
	trace some_function bits 3 --via "$1"
	trace pair start tracepoint:kstats_test:kstats_test_begin end tracepoint:kstats_test:kstats_test_finish --via "$1"
	do_test call 100
	do_test events 50
	equal "calls" "$(count some_function)" 100
	equal "times between" "$(count GAP-some_function)" 99
	equal "pairs" "$(count pair)" 50
	kstats remove some_function pair
	is_clean
}

# The command shows byte for byte what the module does.
same_lines() {
	load
	do_test new million 3
	do_test spread million 1000000 4
	kstats show million --format kstats | diff - $kstats/million
	kstats stop million
	fails 1 kstats remove million
	has "what is said" "$output" "its module created it"
	is_clean
}

# is_taken VIA OTHER: a name that one has is nobody else's.
is_taken() {
	trace one start $function --via "$1"
	fails 1 kstats trace one start vfs_read --via "$2"
	has "what is said" "$output" "metric 'one' already exists ($1)"
	fails 1 kstats trace one start vfs_read --via "$1"
	has "what is said" "$output" "metric 'one' already exists ($1)"
	do_calls getpgid 4
	equal "values" "$(count one)" 4
	fails 1 kstats show one --via "$2"
	equal "what there is" "$(kstats list --format csv | awk -F, 'NR > 1 { print $1, $2 }' | sort | xargs)" "GAP-one $1 one $1"
	kstats remove one
}

names_are_unique() {
	load
	is_taken bpf module
	is_taken module bpf
	# What code of the kernel made.
	do_test new api 3
	fails 1 kstats trace api start $function
	has "what is said" "$output" "metric 'api' already exists (module)"
	equal "what there is" "$(names --via bpf)" ""
	is_clean
}

# Both see each call, and each is asked for its own.
both_at_once() {
	load
	trace theirs start $function --via module
	trace ours start $function --via bpf
	trace probed start kprobe:$function --via bpf
	do_calls getpgid 10
	kstats list --format csv | awk -F, 'NR > 1 && $1 !~ /^GAP-/ { print $1, $2, $4 }' | sort | diff - <(printf '%s\n' \
		"ours bpf 10" "probed bpf 10" "theirs module 10")
	kstats stop theirs
	do_calls getpgid 5
	equal "values of the other" "$(count ours)" 15
	equal "values of the stopped one" "$(count theirs)" 10
	kstats save -o "$scratch/both.zst"
	equal "metrics in the file" "$(metrics_in "$scratch/both.zst")" "GAP-ours GAP-probed GAP-theirs ours probed theirs"
	kstats remove theirs ours probed
	is_clean
}

command_case "the session, by kstats.ko" session_by_module
command_case "what a kernel counts, whatever its release says" missed_is_known_by_feature
command_case "files, by kstats.ko" by_module files_agree
command_case "intervals, by kstats.ko" by_module intervals_add_up
command_case "the example, by kstats.ko" by_module example_runs
command_case "a function and tracepoints of a module, by BPF" functions_of_modules bpf
command_case "a function and tracepoints of a module, by kstats.ko" functions_of_modules module
command_case "lines are those of kstats.ko" same_lines
command_case "a name is there once, whoever records" names_are_unique
command_case "both record at once" both_at_once

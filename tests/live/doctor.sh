# SPDX-License-Identifier: BSD-2-Clause
#
# What ctprof doctor says, when something is taken away, turned on, or done as it says. Part of
# tests/live/run.

# examine [COMMAND...]: let doctor look, run by COMMAND.
examine() {
	"$@" "$ctprof" doctor --format json > "$scratch/findings"
}

# finding SOURCE MEMBER
finding() {
	jq -r --arg source "$1" "first(.[] | select(.source == \$source)).$2 // \"\"" "$scratch/findings"
}

# says SOURCE PRESENCE
says() {
	equal "what it says of $1" "$(finding "$1" here)" "$2"
}

# The head counts the sources, and names each that lacks something once; the last line is a command of the table.
summary_adds_up() {
	local head

	head=$(sed '/^$/,$d' "$scratch/text")
	equal "the first line" "$(head -n 1 <<< "$head")" "$(jq -r '
		"\(map(select(.here != "no")) | length) of \(length) sources work here" +
		(map(select(.here == "partly")) | length | if . > 0 then ", \(.) of them in part" else "" end)' \
		"$scratch/findings")"
	equal "the sources that lack something" "$(sed -n 's/^  [^:]*: //p' <<< "$head" | sed 's/, /\n/g' | sort)" \
		"$(jq -r '.[] | select(.here != "yes").source' "$scratch/findings" | sort)"
	if jq -e 'any(.command)' "$scratch/findings" > /dev/null; then
		is_root || return 0
		jq -e --arg last "$(tail -n 1 "$scratch/text" | sed 's/^Enable [0-9]* sources*: //')" 'any(.command == $last)' \
			"$scratch/findings" > /dev/null
	else
		equal "the last line" "$(tail -n 1 "$scratch/text")" "What do threads do now? ctprof top"
	fi
}

says_the_same_to_people() {
	"$ctprof" doctor > "$scratch/text"
	examine
	summary_adds_up
	sed -i '1,/^$/d; /^$/,$d' "$scratch/text"
	equal "the lines for people" "$(awk '!/^ / && NR > 1 { print $1, $2 }' "$scratch/text")" \
		"$(jq -r '.[] | "\(.source) \(.here)"' "$scratch/findings")"
	equal "the reasons for people" "$(sed -n "s/^    why  *//p" "$scratch/text" | tr -d 0-9)" \
		"$(jq -r ".[].why // empty" "$scratch/findings" | tr -d 0-9)"
	equal "the commands for people" "$(sed -n 's/^    run  *//p' "$scratch/text" | grep -v '^the command of [a-z_-]*, above$')" \
		"$(jq -r '.[].command // empty' "$scratch/findings" | awk '!seen[$0]++')"
}

has_a_reason_for_all_that_is_missing() {
	examine
	equal "sources that lack a reason, or need none" "$(jq -r '.[]
		| select((.here == "yes") != (.why == null) or (.command == null and .boot_parameter == null) != (.covers == null))
		| .source' "$scratch/findings")" ""
}

agrees_with_capture() {
	is_root
	examine
	start_sleep
	capture
	# For every source that stands for files of threads: one that was born just now has it, or not.
	for pair in in-progress:wait_in_progress_ns schedstats:nr_wakeups delays:blkio_delay_count taskstats:cpu_delay_count \
		delay-peaks:cpu_delay_max_ns core-scheduling:core_forceidle_sum io:rchar \
		time-slice:fair_slice_ns; do
		seen=$(query "thread($pid).has | index(\"${pair#*:}\") != null")
		[ "$(finding "${pair%:*}" here)" = no ] && present=false || present=true
		equal "whether ${pair#*:} is measured" "$seen" "$present"
	done
}

# The switch as it was, at the end.
with_delay_accounting() {
	local switch=/proc/sys/kernel/task_delayacct

	is_root
	[ -e $switch ] || skip "delay accounting is no sysctl here"
	at_end "echo $(< $switch) > $switch"
	echo "$1" > $switch
}

delays_are_turned_on() {
	with_delay_accounting 0
	examine
	says delays no
	says taskstats yes
	eval "$(finding delays command)" > "$scratch/output"
	examine
	if grep -qw delayacct /proc/cmdline; then
		says delays yes
	else
		says delays partly
	fi
}

# The program, given what doctor says; run by somebody else.
privileges_are_given() {
	is_root
	start_sleep
	examine "${as_nobody[@]}"
	for source in io exe smaps_rollup; do
		says $source partly
	done
	says taskstats no
	says delays no
	at_end "setcap -r $ctprof"
	eval "$(finding io command)" || skip "no capabilities can be given to a file here"
	examine "${as_nobody[@]}"
	says taskstats yes
	# What even root is refused is another matter.
	for source in io exe smaps_rollup; do
		equal "what is to be done for $source" "$(finding $source command)" ""
	done
}

required_sources_decide() {
	"$ctprof" doctor --require stat,host-counters > "$scratch/text"
	equal "the lines" "$(awk 'NR > 1 { print $1 }' "$scratch/text")" "stat
host-counters"
	fails 1 "${as_nobody[@]}" "$ctprof" doctor --require stat --require taskstats
	has "what it says" "$output" CAP_NET_ADMIN
	fails 2 "$ctprof" doctor --require stat,nothing
	has "what it says" "$output" "unknown source 'nothing'"
}

foreign_proc_is_an_error() {
	is_root
	unshare -f -p true 2> /dev/null || skip "no PID namespace can be made"
	fails 1 unshare -f -p "$ctprof" doctor
	has "what it says" "$output" "another PID namespace"
}

# Which way a capture takes, and why.
names_the_way() {
	is_root
	examine
	capture
	equal "whether it is by BPF" "$(finding bpf here)" \
		"$([ "$(query .capture.source)" = bpf ] && echo yes || echo no)"
	examine "${as_nobody[@]}"
	says bpf no
	says in-progress no
	"${as_nobody[@]}" "$ctprof" capture -q -o - > "$scratch/snapshot.zst"
	zstd -qdcf "$scratch/snapshot.zst" > "$json"
	equal "the reason" "$(finding bpf why)" "captures read /proc instead: $(query .capture.source_reason)"
	has "the command" "$(finding bpf command)" ",cap_syslog,cap_perfmon,cap_bpf+ep "
}

# What kstats can do here, by having it done.
histograms_are_told() {
	local way ways=0 answers=(no partly yes)

	is_root
	examine "${inside[@]}"
	for way in fentry kprobe; do
		"${inside[@]}" "$ctprof" kstats trace tried start $way:kernel_restart > "$scratch/output" 2>&1 || continue
		ways=$((ways + 1))
		"${inside[@]}" "$ctprof" kstats remove tried
	done
	says kernel-functions ${answers[ways]}
	"${inside[@]}" "$ctprof" kstats trace tried start syscall:getppid
	"${inside[@]}" "$ctprof" kstats remove tried
	says kstats-bpf yes
	says kstats-module "$(grep -q '^kstats ' /proc/modules && echo yes || echo no)"
	examine "${as_nobody[@]}"
	says kernel-functions no
	says kstats-bpf no
	# Without a directory of metrics, capabilities are what is missing first.
	[[ $(finding kstats-bpf why) == *root* ]] || has "the reason" "$(finding kstats-bpf why)" CAP_BPF
}

run_case "doctor reports the source of a capture, and why" needs_bpf names_the_way
run_case "doctor reports what kstats can measure" has_own_place histograms_are_told
run_case "doctor prints the same as text and as JSON" says_the_same_to_people
run_case "doctor has a reason for all that is missing, and for nothing else" \
	has_a_reason_for_all_that_is_missing
run_case "doctor agrees with a capture" agrees_with_capture
run_case "delay accounting works after doctor's command" alone delays_are_turned_on
run_case "privileges by doctor's command show everything to any user" privileges_are_given
run_case "--require decides the status" required_sources_decide
run_case "doctor with the /proc of another PID namespace is an error" foreign_proc_is_an_error

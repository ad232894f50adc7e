# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# Exact thread states beside programs that do nothing, for each switch and wake-up; watching many threads
# beside the tools that do; and answering keys meanwhile.

# beside WORKLOAD COMMAND...: run COMMAND while WORKLOAD runs in a loop.
beside() {
	local workload=$1

	wants "states:$workload" || return 0
	shift
	start_loop "$@"
	sleep 0.5
	measure "$programs/states_cost" "$workload" "$rounds"
	end_loops
}

measure_states() {
	has perf || return
	count_programs
	beside pipe_on_one_CPU taskset -c 1 perf bench sched pipe -l 100000
	beside pipe_on_two_CPUs perf bench sched pipe -l 100000
	beside messaging perf bench sched messaging -g 4 -l 500
	give_back_stats
}

# A configuration of htop that shows all threads.
write_htoprc() {
	cat > "$work/htoprc" <<- EOF
		fields=0 48 17 18 38 39 40 2 46 47 49 1
		hide_kernel_threads=0
		hide_userland_threads=0
		show_thread_names=1
		delay=10
	EOF
}

# The number of windows of one second, each with every thread.
windows=8

watch_by() {
	case $1 in
	counters) timed watch counters $ctprof top --batch -e counters -n $windows -i 1s --format csv ;;
	exact) timed watch exact $ctprof top --batch -e exact -n $windows -i 1s --format csv ;;
	atop) timed watch atop atop -y -a 1 $((windows + 1)) ;;
	htop) ! has htop || watch_by_htop ;;
	esac
}

# The tool needs a terminal whose input stays open for as long as it runs; otherwise it ends at once.
watch_by_htop() {
	local keys

	mkfifo "$work/keys.$round"
	sleep $((windows * 10)) > "$work/keys.$round" &
	keys=$!
	timed watch htop env HTOPRC="$work/htoprc" TERM=xterm \
		timeout -k 5 $((windows + 5)) script -qec \
		"stty rows 50 cols 150; timeout --foreground -s INT $windows htop -d 10; true" "$work/seen" < "$work/keys.$round"
	kill $keys
	wait $keys 2> /dev/null
	check_htop
}

# Check that the tool ran for all of the time and showed all threads.
check_htop() {
	local wall cpu seen

	read -r _ _ wall cpu _ < <(tail -n 1 "$samples")
	seen=$(sed -E 's/\x1b(\[[0-9;?]*[A-Za-z]|\(B)//g' "$work/seen" | grep -aoE '[0-9]+ thr' | sort -n | tail -n 1)
	awk -v wall="$wall" -v cpu="$cpu" -v seen="${seen% thr}" -v windows=$windows -v threads="$threads" \
		'BEGIN { exit !(wall > windows - 0.5 && wall < windows + 2 && cpu > 0.1 && seen >= threads * 0.95) }' ||
		could_not "htop: ran for $wall s, used $cpu s of CPU, saw ${seen:-nothing}"
}

measure_watch() {
	local round tool

	start_threads 200 $((threads / 200)) || return
	write_htoprc
	for ((round = 0; round < (rounds + 1) / 2; round++)); do
		for tool in counters exact atop htop; do
			watch_by $tool
		done
	done
	stop_threads
}

# How long the screen takes to answer a key while all CPUs are busy; and what the terminal and the host take.
answer_by() {
	local name=$1

	shift
	build/tests/programs/key_answer 0 $keys "$@" > "$work/answers" 2> "$work/errors" ||
		could_not "keys of $name: $(tail -n 1 "$work/errors")"
	awk -v name="$name" '$1 == "answers" { print "keys", name, $3 / 1e6, $4 / 1e6, $2 }' "$work/answers" >> "$samples"
}

keys=200

measure_keys() {
	local cpu busy=()

	start_threads 200 $((threads / 200)) || return
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		sh -c 'while :; do :; done' &
		busy+=($!)
	done
	answer_by echo build/tests/programs/key_answer echo
	answer_by exact $ctprof top -e exact
	answer_by counters $ctprof top -e counters
	kill "${busy[@]}"
	wait "${busy[@]}" 2> /dev/null
	stop_threads
}

# SPDX-License-Identifier: BSD-2-Clause
#
# ctprof compare of two captures: what it says changed, against what the kernel's files said each time.
#
# kernels: 6.1 7.2

. tests/kernels/guest/cgroups.sh

# reading ACTOR METRIC: from files of threads at rest.
reading() {
	local pid=${tid[$1]}

	case $2 in
	run_time_ns) schedstat_column "$pid" 1 ;;
	wait_time_ns) schedstat_column "$pid" 2 ;;
	timeslices) schedstat_column "$pid" 3 ;;
	voluntary_csw) key_of "$pid" status voluntary_ctxt_switches ;;
	minflt) stat_column "$pid" 10 ;;
	utime_clock_ticks) stat_column "$pid" 14 ;;
	rchar) key_of "$pid" io rchar ;;
	syscw) key_of "$pid" io syscw ;;
	esac
}

metrics='run_time_ns wait_time_ns timeslices voluntary_csw minflt utime_clock_ticks rchar syscw'
declare -A old new

# read_all SNAPSHOT ARRAY: a snapshot, and the readings with it.
read_all() {
	local -n readings=$2
	local name metric

	snap "$1"
	for name in "${!tid[@]}"; do
		for metric in $metrics; do
			readings[$name $metric]=$(reading "$name" "$metric")
		done
	done
}

# changes ARGUMENTS...: all values are in CSV.
changes() {
	ctprof compare --sections primary "$@" "$scratch"/{before,after}.ctprof.zst
}

work() {
	tell worker burn 50
	tell worker sleep 5 1000
	tell worker map 1
}

# --- cases ---

digits_are_right() {
	local name metric was is

	actor worker
	actor idler
	read_all before old
	work
	read_all after new
	changes --all-rows --format csv --metrics "${metrics// /,}" | sed 1d | cut -d , -f 2,3,5-7 |
		sort > "$scratch/got"
	for name in worker idler; do
		for metric in $metrics; do
			was=${old[$name $metric]} is=${new[$name $metric]}
			echo "$name,$metric,$was,$is,$((is - was))"
		done
	done | sort > "$scratch/wanted"
	diff "$scratch/wanted" "$scratch/got"
	[ $((new[worker run_time_ns] - old[worker run_time_ns])) -ge 50000000 ]
	[ $((new[worker minflt] - old[worker minflt])) -gt 0 ]
	# Asleep it has slept for longer, but nothing of that is booked.
	changes --changed --completed-only > "$scratch/text"
	grep -q '^ worker .* run_time_ns ' "$scratch/text"
	! grep '^ idler ' "$scratch/text"
}

# text_is <<- END: after what says which captures these are.
text_is() {
	diff <(sed 's/ *$//') <(sed '1,/^$/d; s/ *$//' "$scratch/text")
}

words_are_right() {
	actor worker
	tell worker pin 0
	snap before
	tell worker pin 1
	tell worker policy 3 5 0 0
	snap after
	changes --changed --metrics policy,nice,processor,cpu_affinity > "$scratch/text"
	cat "$scratch/text"
	text_is <<- 'END'
		## Primary metrics
		 process  threads  metric           baseline    candidate    delta  vs before
		 worker         1  nice                    0            5       +5          -

		 worker         1  policy        SCHED_OTHER  SCHED_BATCH  differs          -
		 worker         1  cpu_affinity   1 cpus (0)   1 cpus (1)  differs          -
		 worker         1  processor               0            1  differs          -
	END
	ctprof compare --sections primary --changed "$scratch"/{after,after}.ctprof.zst > "$scratch/text"
	sed -i '/^not measured/d' "$scratch/text"
	text_is <<- 'END'
		## Primary metrics
		 nothing changed
	END
}

those_that_ended_are_apart() {
	actor stayer
	actor leaver
	read_all before old
	kill -KILL "${tid[leaver]}"
	wait "${tid[leaver]}" || :
	unset 'tid[leaver]'
	actor comer
	tell stayer burn 20
	read_all after new
	changes --window --format csv --metrics run_time_ns | grep run_time_ns |
		cut -d , -f 1-3,5-7 > "$scratch/got"
	diff - "$scratch/got" <<- END
		primary,stayer,run_time_ns,${old[stayer run_time_ns]},${new[stayer run_time_ns]},$((
			new[stayer run_time_ns] - old[stayer run_time_ns]))
		only-baseline,leaver,run_time_ns,${old[leaver run_time_ns]},,
		only-candidate,comer,run_time_ns,,${new[comer run_time_ns]},
	END
}

# verdict STATUS CONDITION
verdict() {
	local status=0

	changes --fail-if "$2" > "$scratch/text" || status=$?
	grep fail-if "$scratch/text"
	equal "the status of '$2'" "$status" "$1"
}

conditions_are_met_to_the_digit() {
	local took

	actor worker
	actor idler
	read_all before old
	work
	read_all after new
	took=$((new[worker run_time_ns] - old[worker run_time_ns]))
	verdict 3 "worker:run_time_ns >= ${took}ns"
	verdict 0 "worker:run_time_ns > ${took}ns"
	verdict 0 "idler:run_time_ns > 0ns"
	verdict 4 "worker:allocated_bytes > 0B"
}

limits_are_right() {
	group tight memory.max=8M pids.max=7
	actor member inside tight
	snap before
	echo 16M > "$cgroups/tight/memory.max"
	echo max > "$cgroups/tight/pids.max"
	snap after
	ctprof compare --group-by cgroup --sections cgroup-limits --changed \
		"$scratch"/{before,after}.ctprof.zst > "$scratch/text"
	cat "$scratch/text"
	text_is <<- 'END'
		## Cgroup limits
		 cgroup  metric      baseline  candidate      delta  vs before
		 /tight  memory.max  8.000MiB  16.000MiB  +8.000MiB    +100.0%

		 /tight  pids.max           7        max    differs          -
	END
}

run_case "compare is right to the digit, and omits idle threads" digits_are_right
run_case "compare reports changed words, and no change between a capture and itself" words_are_right
run_case "compare of a window separates threads that ended or began" those_that_ended_are_apart
run_case "conditions of compare hold to the nanosecond" conditions_are_met_to_the_digit
run_case "compare shows limits that were changed" limits_are_right

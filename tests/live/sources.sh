# SPDX-License-Identifier: BSD-2-Clause
#
# What BPF and /proc say of the same threads. Part of tests/live/run.

actor=$scratch/actor
make -s build/tests/kernels/programs/actor >&2 || exit 1
cp build/tests/kernels/programs/actor "$actor"

# lines NAME OPTIONS...: a snapshot as lines "TID NAME VALUE" in $scratch/NAME. Of memory by kind, what
# is shared with others changes with those others. jq holds numbers as doubles.
lines() {
	local name=$1

	shift
	capture "$@" || return
	jq -r '.capture | "\(.source) \(.source_reason)"' "$json" > "$scratch/$name.source"
	sed -i 's/:\([0-9]\{16,\}\)\b/:"\1"/g' "$json"
	jq -r "$(cat tests/recorded/facts.jq)"'
		threads, (names | sub(" "; " named ")), (processes | sub(" "; " process "))' "$json" |
		grep -v ' smaps_rollup_kib' | LC_ALL=C sort > "$scratch/$name"
}

# --- threads that stand still ---

# Those that are looked at: of `crowd` all threads, of `newborn` those with a record of delays.
crowd=() newborn=()

# join COMMAND...: start it and take its threads into the crowd.
join() {
	start "$@"
	joined
}

joined() {
	local tids

	tids=$(cd "/proc/$pid/task" && echo *)
	crowd+=($tids)
	[ "$(< $sysctl)" = 0 ] || newborn+=($tids)
}

# lead_a_life LINE...: an actor (tests/kernels/programs) does these things, one after the other.
lead_a_life() {
	local to

	said=$(mktemp -p "$scratch")
	mkfifo "$said.in"
	exec {to}<> "$said.in"
	"$actor" 'busy life' < "$said.in" > "$said" &
	pid=$!
	at_end "kill -9 $pid; wait $pid"
	printf '%s\n' "$@" >&"$to"
	until [ "$(wc -l < "$said")" -gt $# ]; do
		kill -0 "$pid" || return 1
		sleep 0.01
	done
	joined
}

# 4 MiB on a disk that are not in memory.
cold_file() {
	dd if=/dev/urandom of="$scratch/cold" bs=1M count=4 conv=fsync
	dd of="$scratch/cold" oflag=nocache conv=notrunc,fdatasync count=0
} 2> /dev/null

policies_and_users() {
	local way

	for way in "chrt -b 0" "chrt -i 0" "chrt -f 7" "chrt -r 3" "nice -n 7" "taskset -c 1" \
		"chrt -d --sched-runtime 100000 --sched-period 100000000 0"; do
		# Deadlines may not be had.
		! $way true 2> /dev/null || join $way "$programs/busy" 1
	done
	join "${as_nobody[@]}" "$programs/busy" 2
	join "$programs/named" 'a) R 1 (b' ' two  spaces ' $'new\nline' $'bad\xff\xc3byte' 'cut:é234567é'
	for pid in $ready; do
		joined
	done
	join "$programs/zombie_leader"
}

lives() {
	cold_file
	lead_a_life "compute 60" "call 60" "sleep 20 1000" "hop 3" "vfork 2000" "zeroes 1" \
		"read $scratch/cold 20 65536" "dirty $scratch/cold 5 4096" "fault $scratch/cold 3" "threads 2"
	joined
	# Who truncates is who cancels.
	join bash -c 'head -c 1M /dev/zero > "$1"; : > "$1"; echo ready; exec sleep 1000' bash "$scratch/cut"
}

# One that is dead, in a cgroup that is gone; one that lives, in one that is there.
dead_and_alive() {
	local dead

	join bash -c 'sleep 1000 & echo ready $!; exec sleep 1000'
	dead=$ready
	echo "$dead" > "$mount$cgroup/below/cgroup.procs"
	kill -9 "$dead"
	until rmdir "$mount$cgroup/below" 2> /dev/null; do
		sleep 0.01
	done
	pid=$dead
	joined
	start_in "$cgroup"
	joined
}

states_of_crowd() {
	LC_ALL=C sed -sn '$s/.*) \(.\).*/\1/p' $(printf "/proc/%s/stat " "${crowd[@]}") | sort -u | xargs
}

stop_crowd() {
	local tries=0

	kill -STOP "${crowd[@]}"
	until [ "$(states_of_crowd)" = "T Z" ]; do
		((++tries < 500)) || { echo "not all stop: $(states_of_crowd)"; return 1; }
		sleep 0.01
	done
}

gather() {
	echo 0 > $sysctl
	join "$programs/busy" 5
	echo 1 > $sysctl
	join "$programs/busy" 20
	policies_and_users
	lives
	dead_and_alive
	printf '%s\n' "${crowd[@]}" | sort -u > "$scratch/crowd"
	printf '%s\n' "${newborn[@]}" | sort -u > "$scratch/newborn"
	stop_crowd
}

# of_crowd FILE: its lines of these threads.
of_crowd() {
	awk 'NR == FNR { crowd[$1]; next } $1 in crowd' "$scratch/crowd" "$1"
}

# Rows of which no thread of the crowd has more than nothing, each for a reason.
idle_rows() {
	# No swap, no memory that is short; interrupts are not accounted; proved by tests/kernels.
	printf '%s\n' {swapin,freepages,thrashing,compact,irq}_delay_{count,total_ns,max_ns,min_ns}
	# It is stopped, and waits for nothing.
	printf '%s\n' {wait,wait_sum,block,iowait,blkio}_in_progress_ns
	# Nobody of it is scheduled by sched_ext, or keeps a heap with counters.
	printf '%s\n' ext_enabled allocated_bytes deallocated_bytes
	# The load balancer decides.
	printf '%s\n' nr_{forced_migrations,failed_migrations_{affine,running,hot}} nr_wakeups_remote
	# Needs core scheduling.
	echo core_forceidle_sum
}

# rows_that_moved FILE: of the crowd.
rows_that_moved() {
	of_crowd "$1" | awk '$3 !~ /^(0|false|-)?$/ { print $2 }' | sort -u
}

# Every row of the registry is compared, and is more than nothing; but for those above, and for what
# this kernel does not have at all.
every_row_counts() {
	local lacking

	# The file names the fields of a thread: the rows, and what both ways is of /proc.
	jq -r '.ctprof.fields.threads[] | select(. != "smaps_rollup_kib")' "$json" | sort > "$scratch/registry"
	awk '{ print $2 }' "$scratch/first" "$scratch/second" | sort -u > "$scratch/measured"
	lacking=$(comm -23 "$scratch/registry" <(rows_that_moved "$scratch/first") |
		grep -xF -f "$scratch/measured" | grep -vxF -f <(idle_rows) || true)
	equal "rows that are 0 for all of the crowd" "$lacking" ""
	between "rows that moved" 35 "$(rows_that_moved "$scratch/first" | grep -cxF -f "$scratch/registry")" 1000
}

# What only BPF measures of them: waits in progress, and of those born since the switch was turned the
# delays that they did not have.
only_bpf() {
	LC_ALL=C comm -13 "$scratch/first" "$scratch/second" > "$scratch/more"
	of_crowd "$scratch/more" | awk '
		NR == FNR { newborn[$1]; next }
		$2 ~ /_in_progress_ns$/ { next }
		$1 in newborn && $2 ~ /^(blkio|swapin|freepages|thrashing|compact|wpcopy)_delay_/ && $3 == 0 { next }
		1' "$scratch/newborn" -
}

delays_by_record() {
	local measured

	measured=$(awk '$2 == "blkio_delay_count" { print $1 }' "$scratch/second" | sort)
	equal "threads of the crowd with a record of delays" \
		"$(sort "$scratch/crowd" | comm -12 - <(echo "$measured") | xargs)" "$(xargs < "$scratch/newborn")"
}

# three_readings OF: by /proc, by BPF, by /proc again; fails when one of them is no more.
three_readings() {
	lines first --source proc -p "$1" && lines second --source bpf -p "$1" &&
		lines third --source proc -p "$1"
}

same_both_ways() {
	local tries=0

	gather
	# Workers of the kernel come and go.
	until three_readings "$(cat "$scratch/crowd" <(pgrep -P 2) | paste -sd,)"; do
		((++tries < 10)) || { cat "$scratch/summary"; return 1; }
	done
	equal "the sources" "$(head -qn 1 "$scratch"/{first,second,third}.source | xargs)" "proc null bpf null proc null"
	equal "what moves of the crowd" \
		"$(diff <(of_crowd "$scratch/first") <(of_crowd "$scratch/third"))" ""
	# The crowd, and the kernel's threads that did nothing meanwhile.
	LC_ALL=C comm -3 "$scratch/first" "$scratch/third" | awk '
		NR == FNR { moved[$1]; next } !($1 in moved)' - "$scratch/first" > "$scratch/still"
	equal "what BPF says otherwise" "$(LC_ALL=C comm -23 "$scratch/still" "$scratch/second" | head -n 20)" ""
	equal "what only BPF says" "$(only_bpf | head -n 20)" ""
	between "threads compared" 60 "$(grep -c ' named ' "$scratch/still")" 1000000
	between "threads of the kernel" 5 "$(grep -c ' process ppid 2$' "$scratch/still")" 1000000
	every_row_counts
	delays_by_record
}

run_case "stopped threads are the same by BPF and by /proc, in every row" needs_bpf alone with_delayacct \
	with_cgroup same_both_ways

# --- threads that run ---

# What may fall: what is sampled, the shortest, and memory that is counted by CPU. Times in ticks are
# scaled to the run time anew each time that /proc shows them: see their sum.
sampled='^(policy|nice|priority|rt_priority|cpu_affinity|processor|state|ext_enabled|nr_threads|fair_slice_ns|hiwater_rss_bytes|.*_in_progress_ns|.*_min_ns|[us]time_clock_ticks)$'

# frames LOW VALUE HIGH: each number of VALUE is between those of the others.
frames() {
	awk -v sampled="$sampled" '
		$2 ~ /_clock_ticks$/ && $2 != "start_time_clock_ticks" { sum[FILENAME, $1] += $3 }
		$2 ~ sampled || $3 !~ /^[0-9]+$/ { next }
		FILENAME == ARGV[1] { low[$1, $2] = $3; next }
		FILENAME == ARGV[2] { value[$1, $2] = $3; next }
		!(($1, $2) in value) || !(($1, $2) in low) { next }
		value[$1, $2] < low[$1, $2] || value[$1, $2] > $3 {
			print $1, $2, "is", value[$1, $2], "not from", low[$1, $2], "to", $3 }
		{ checked++; grown += $3 > low[$1, $2] }
		END {
			# Each of the two is cut to whole ticks.
			for (key in sum) {
				split(key, part, SUBSEP)
				if (part[1] == ARGV[2] && (sum[key] + 1 < sum[ARGV[1], part[2]] ||
						sum[key] > sum[ARGV[3], part[2]] + 1))
					print part[2], "ran", sum[key], "ticks"
			}
			if (checked < 100 || grown < 20)
				print "only", checked + 0, "values,", grown + 0, "of them grew"
		}' "$scratch/$1" "$scratch/$2" "$scratch/$3"
}

between_readings() {
	local all

	echo 1 > $sysctl
	start "$programs/busy" 8
	all=$pid
	start chrt -b 0 "$programs/busy" 2
	all=$all,$pid
	start "${as_nobody[@]}" "$programs/busy" 2
	all=$all,$pid
	lines first --source proc -p "$all"
	lines second --source bpf -p "$all"
	lines third --source proc -p "$all"
	lines fourth --source bpf -p "$all"
	equal "what BPF says that is not between readings of /proc" "$(frames first second third)" ""
	equal "what /proc says that is not between readings by BPF" "$(frames second third fourth)" ""
}

run_case "counters of running threads are between two readings by other means" needs_bpf alone with_delayacct \
	between_readings

# --- namespaces, privileges ---

in_a_namespace() {
	local inside=("$ctprof" capture -q -o)

	unshare -p -f --mount-proc true || skip "no PID namespaces"
	start unshare -p -f --mount-proc --kill-child bash -c '"$1" 3 > "$2/inner" & echo ready; exec sleep 1000' \
		bash "$programs/busy" "$scratch"
	until grep -q ready "$scratch/inner"; do
		sleep 0.01
	done
	for source in proc bpf; do
		nsenter -t "$(pgrep -P "$pid")" -p -m "$ctprof" capture -q --source $source -o - \
			> "$scratch/snapshot.zst" 2> "$scratch/summary"
		load
		equal "source" "$(query .capture.source)" $source
		query '.threads[] | select(.comm != "ctprof") | "\(.tid) \(.tgid) \(.comm) \(.pcomm) \(.start_time_clock_ticks)"' \
			> "$scratch/$source"
		query '.processes[] | select((.exe // "") | endswith("ctprof") | not) | "\(.tgid) \(.ppid) \(.exe)"' \
			>> "$scratch/$source"
	done
	equal "threads and processes" "$(wc -l < "$scratch/proc")" 6
	diff "$scratch/proc" "$scratch/bpf"
}

without_privilege() {
	start_sleep
	fails 1 "${as_nobody[@]}" "$ctprof" capture -q --source bpf -o /dev/null
	equal "the refusal" "$output" "ctprof: --source bpf: denied: needs CAP_BPF, CAP_PERFMON and CAP_SYSLOG"
	for source in auto proc; do
		"${as_nobody[@]}" "$ctprof" capture -v --source $source -p "$pid" -o - \
			> "$scratch/snapshot.zst" 2> "$scratch/summary"
		load
		equal "source" "$(query .capture.source)" proc
		equal "times it is said" "$(awk -F "needs CAP_BPF" '{ print NF - 1 }' <<< "$summary")" \
			"$([ $source = proc ] && echo 0 || echo 1)"
		query "thread($pid)" > "$scratch/$source"
	done
	diff "$scratch/proc" "$scratch/auto"
	# Root of a user namespace has all capabilities there, and none that counts.
	if unshare -Ur true 2> /dev/null; then
		fails 1 unshare -Ur "$ctprof" capture -q --source bpf -o /dev/null
		equal "the refusal of a user namespace" "$output" \
			"ctprof: --source bpf: denied: capabilities of a user namespace, as those of a container, do not count"
	fi
	# What would have given BPF gives what files deny, too.
	"${as_nobody[@]}" --inh-caps=+bpf,+perfmon,+syslog --ambient-caps=+bpf,+perfmon,+syslog \
		"$ctprof" capture -q --source bpf -p "$pid" -o - > "$scratch/snapshot.zst" || skip "no such capabilities"
	load
	is_measured "$pid" rchar syscr cpu_delay_count hiwater_rss_bytes wait_in_progress_ns
}

run_case "in a PID namespace threads have the numbers they have there" needs_bpf in_a_namespace
run_case "without the privilege --source bpf fails, and auto reads /proc with one message" needs_bpf \
	without_privilege

# --- waits in progress ---

last_run() {
	od -An -t u8 "$scratch/clock" | tr -d ' '
}

# By its own clock a starved thread has waited since it last wrote the time, at the start of a capture
# and at its end. One that takes less than two milliseconds says it to the millisecond.
starved_is_seen() {
	local before tries=0 waited longest booked seen=0

	[ "$(nproc)" -gt 1 ] || skip "one CPU alone"
	start "$programs/starved" "$scratch/clock"
	while ((++tries <= 60)); do
		before=$(last_run)
		booked=$(cut -d ' ' -f 2 "/proc/$ready/schedstat")
		capture -q --source bpf --without smaps,exe,cmdline,cgroups,counters,heap -p "$pid"
		waited=$(($(query .captured_at_unix_ns) - before))
		longest=$((waited + $(query .capture.duration_ns)))
		[ "$before" = "$(last_run)" ] && [ $waited -gt 20000000 ] || continue
		between "its wait" $((waited - 50000)) "$(field "$ready" wait_in_progress_ns)" $((longest + 50000))
		equal "what is booked" "$(field "$ready" wait_time_ns)" "$booked"
		((++seen < 3 || longest - waited > 2000000)) || return 0
	done
	skip "of $seen captures while it waited none was fast enough"
}

# What it waits is booked when it ends, and no more is.
wait_is_booked() {
	local tries=0 progress=0 booked

	start "$programs/starved" "$scratch/clock"
	until ((progress >= 100000000)); do
		((++tries <= 100)) || { echo "it never waits"; return 1; }
		capture -q --source bpf -p "$pid"
		progress=$(field "$ready" wait_in_progress_ns)
	done
	booked=$(field "$ready" wait_time_ns)
	kill -STOP "$pid"
	until [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$ready/stat")" = T ]; do
		sleep 0.01
	done
	capture -q --source bpf -p "$pid"
	equal "its wait in progress" "$(field "$ready" wait_in_progress_ns)" 0
	between "what is booked since" "$progress" "$(($(field "$ready" wait_time_ns) - booked))" 10000000000
}

run_case "a starved thread is seen while it waits, to the millisecond" slow needs_bpf alone starved_is_seen
run_case "a wait in progress is booked when it ends" needs_bpf alone wait_is_booked

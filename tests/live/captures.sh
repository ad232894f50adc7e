# SPDX-License-Identifier: BSD-2-Clause
#
# Captures, against what the host says by other means. Part of tests/live/run.

# --- values between two readings ---

# "TID METRIC VALUE" of every thread of these processes, from /proc.
read_proc() {
	local pid dir tid

	for pid; do
		for dir in /proc/"$pid"/task/*; do
			tid=${dir##*/}
			awk -v tid="$tid" '{
				print tid, "run_time_ns", $1; print tid, "wait_time_ns", $2
				print tid, "timeslices", $3 }' "$dir/schedstat"
			sed 's/.*) //' "$dir/stat" | awk -v tid="$tid" '{
				print tid, "minflt", $8; print tid, "majflt", $10
				print tid, "utime_clock_ticks", $12; print tid, "stime_clock_ticks", $13 }'
			awk -v tid="$tid" '/voluntary_ctxt/ {
				sub(/_ctxt_switches:/, "_csw"); print tid, $1, $2 }' "$dir/status"
			[ ! -r "$dir/io" ] || sed -n "s/^\([a-z_]*\): /$tid \1 /p" "$dir/io" 2> /dev/null || true
		done
	done
}

# stays_between BEFORE AFTER: each value of these files frames that of the snapshot.
stays_between() {
	local broken

	query 'threads | .tid as $tid | . as $thread | .has[]
		| select($thread[.] | type == "number") | "\($tid) \(.) \($thread[.])"' > "$scratch/values"
	broken=$(awk '
		FILENAME == ARGV[1] { low[$1, $2] = $3; next }
		FILENAME == ARGV[2] { value[$1, $2] = $3; next }
		!(($1, $2) in low) { next }
		!(($1, $2) in value) { print $1, $2, "is not measured"; next }
		# Times in ticks are scaled to the run time anew, and /proc remembers what it showed.
		{ slack = $2 ~ /^[us]time_clock_ticks$/ }
		value[$1, $2] < low[$1, $2] - slack || value[$1, $2] > $3 + slack {
			print $1, $2, "is", value[$1, $2], "not from", low[$1, $2], "to", $3 }
		{ checked++ }
		END { if (checked < 10) print "only", checked + 0, "values to check" }' \
		"$1" "$scratch/values" "$2")
	equal "what is not between its readings" "$broken" ""
}

counters_agree() {
	local pids

	start "$programs/busy" 3
	pids=$pid
	start "$programs/busy" 1
	pids="$pids $pid 1 $$"
	start_sleep
	pids="$pids $pid"
	read_proc $pids > "$scratch/before"
	capture
	read_proc $pids > "$scratch/after"
	grep -q ' rchar ' "$scratch/before"
	stays_between "$scratch/before" "$scratch/after"
}

delays_agree() {
	is_root
	start "$programs/busy" 3
	"$programs/delays" $ready > "$scratch/all.before" || skip "taskstats does not answer"
	# The categories that a switch must be on for are of the next cases.
	grep -E ' (cpu_delay|hiwater)' "$scratch/all.before" > "$scratch/before"
	capture
	"$programs/delays" $ready > "$scratch/after"
	stays_between "$scratch/before" "$scratch/after"
}

demo_is_exact() {
	local burner writer napper word

	coproc WORKLOAD { exec "$programs/workload"; }
	at_end "kill $WORKLOAD_PID"
	read -r -u "${WORKLOAD[0]}" word burner writer napper
	equal "what the workload says" "$word" ready
	capture
	cp "$json" "$scratch/first"
	echo work >&"${WORKLOAD[1]}"
	read -r -u "${WORKLOAD[0]}" word
	equal "what the workload says" "$word" done
	capture
	grown() {
		echo $(($(field "$1" "$2") - $(jq ".threads[] | select(.tid == $1).$2" "$scratch/first")))
	}
	between "run time of burner" 980000000 "$(grown "$burner" run_time_ns)" 1020000000
	equal "bytes of writer" "$(grown "$writer" wchar)" $((64 << 20))
	equal "naps of napper" "$(grown "$napper" voluntary_csw)" 20
	between "run time of napper" 0 "$(grown "$napper" run_time_ns)" 20000000
	for word in burner writer napper; do
		equal "name of $word" "$(field "${!word}" comm)" "$word"
	done
}

# What ./demo prints last. "group metric": the column of deltas.
demo_shows_it() {
	local shown delta tries=0

	# Those of the case before may still be dying.
	while grep -qsxE 'burner|writer|napper' /proc/[0-9]*/comm; do
		((++tries < 500)) || skip "somebody else has a burner, a writer or a napper"
		sleep 0.01
	done
	shown=$(./demo 2>&1)
	# Other tables may follow the first one.
	delta() {
		awk -v group="$1" -v metric="$2" '$1 == group && $3 == metric { print $6; exit }' <<< "$shown"
	}
	echo "$shown"
	[[ $(delta burner run_time_ns) =~ ^\+1\.0[0-9]{2}s$ ]]
	equal "bytes of writer" "$(delta writer wchar)" +64.000MiB
	equal "naps of napper" "$(delta napper voluntary_csw)" +20
	delta=$(delta napper voluntary_sleep_ns)
	if grep -q sum_block_runtime /proc/self/sched; then
		[[ $delta =~ ^\+[0-9.]+m?s$ ]]
		return
	fi
	equal "sleep of napper" "$delta" -
	has "the reason" "$(grep '^not measured: ' <<< "$shown")" \
		"voluntary_sleep_ns (needs a kernel built with CONFIG_SCHEDSTATS"
}

counters_between() {
	local broken

	jq -r '.host_counters | to_entries[] | .key as $kind | .value | to_entries[]
		| .key as $name | .value | to_entries[] | "\($kind):\($name) \(.key) \(.value)"' \
		"$json" > "$scratch/values"
	broken=$(awk '
		FILENAME == ARGV[1] { low[$1, $2] = $3; next }
		FILENAME == ARGV[2] { value[$1, $2] = $3; next }
		!(($1, $2) in low) { next }
		!(($1, $2) in value) { print $1, $2, "is not there"; next }
		value[$1, $2] < low[$1, $2] || value[$1, $2] > $3 {
			print $1, $2, "is", value[$1, $2], "not from", low[$1, $2], "to", $3 }
		{ checked++ }
		END { if (checked < 6) print "only", checked + 0, "values to check" }' \
		"$1" "$scratch/values" "$2")
	equal "what is not between its readings" "$broken" ""
}

host_counters_agree() {
	start "$programs/busy" 2
	read_host_counters > "$scratch/before"
	capture -p "$pid"
	read_host_counters > "$scratch/after"
	grep -q '^vmstat: pgfault ' "$scratch/before"
	counters_between "$scratch/before" "$scratch/after"
	equal "CPUs" "$(query '.host_counters.cpu | keys_unsorted | join(" ")')" \
		"$(grep -o '^cpu[0-9]*' /proc/stat | sed 1d | xargs)"
}

# What is done between two captures is in the difference of their counters.
host_counters_grow() {
	local first last

	count() {
		query '.host_counters | "\(.kernel[""].forks) \(.vmstat[""].pgfault) \([.cpu[].busy_ticks] | add)"'
	}
	capture -p $$
	first=($(count))
	for ((i = 0; i < 50; i++)); do
		/bin/true
	done
	# Seconds of work, in ticks: the CPU of one process alone is in it.
	timeout 10 bash -c 'start=$(awk "{ print \$14 }" /proc/$$/stat)
		until [ $(($(awk "{ print \$14 }" /proc/$$/stat) - start)) -ge 20 ]; do
			for ((n = 0; n < 20000; n++)); do :; done
		done'
	capture -p $$
	last=($(count))
	between "forks between them" 50 $((last[0] - first[0])) 100000000
	between "faults between them" 50 $((last[1] - first[1])) 1000000000000
	between "busy ticks between them" 20 $((last[2] - first[2])) 1000000000
}

# Up for as long as /proc/uptime says, at the moment of the capture: no thread is younger than that.
uptime_agrees() {
	local before after moment

	ticks() {
		sed 's/ .*//; s/\.//' /proc/uptime
	}
	before=$(ticks)
	moment=$(date +%s%N)
	capture -p $$
	after=$(ticks)
	between uptime "$before" "$(query .host.uptime_clock_ticks)" "$after"
	between "moment of the capture" "${moment%???}" "$(query '.captured_at_unix_ns / 1000 | floor')" "$(date +%s%N | sed 's/...$//')"
	equal "ticks a second" "$(query .host.clock_ticks_per_s)" "$(getconf CLK_TCK)"
	between "start of this shell" 1 "$(field $$ start_time_clock_ticks)" "$(query .host.uptime_clock_ticks)"
}

users_have_names() {
	local uid name

	is_root
	start_sleep "${as_nobody[@]}"
	capture
	equal "uid of the process" "$(query ".processes[] | select(.tgid == $pid).uid")" 65534
	while IFS=: read -r name _ uid _; do
		equal "name of $uid" "$(query ".users[\"$uid\"] // \"$name\"")" "$name"
	done < <(awk -F: '!seen[$3]++' /etc/passwd)
	equal "names of uid 65534" "$(query '.users["65534"]')" "$(awk -F: '$3 == 65534 { print $1; exit }' /etc/passwd)"
	equal "users that no process has" \
		"$(query '[.processes[].uid | tostring] as $seen | .users | keys - $seen | join(" ")')" ""
}

affinity_agrees() {
	local cpu

	cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
	start_sleep taskset -c "$cpu"
	capture -p "$pid,$$"
	equal "CPUs of one on CPU $cpu" "$(field "$pid" 'cpu_affinity | tostring')" "[$cpu]"
	equal "mask of this shell" \
		"$(field $$ 'cpu_affinity | map(pow(2; .)) | add')" \
		"$((0x$(taskset -p $$ | sed 's/.*: //')))"
}

# policy_agrees COMMAND POLICY NICE RT_PRIORITY: started that way; NICE is on top of our own.
policy_agrees() {
	local said nice

	nice=$(($(nice) + $3))
	start_sleep $1
	said=$(chrt -p "$pid" | sed -n 's/.*policy: //p')
	[ "$said" = "$2" ] || skip "chrt does not give $2, but $said"
	capture -p "$pid"
	equal policy "$(field "$pid" policy)" "$2"
	equal nice "$(field "$pid" nice)" $((nice > 19 ? 19 : nice))
	equal rt_priority "$(field "$pid" rt_priority)" "$4"
}

run_case "counters of /proc lie between two readings" counters_agree
run_case "delays lie between two readings by other means" delays_agree
run_case "the demo reports the work of its three processes" alone demo_is_exact
run_case "./demo shows it" alone demo_shows_it
run_case "counters of the host lie between two readings" host_counters_agree
run_case "counters of the host grow by the work done" host_counters_grow
run_case "uptime lies between two readings" uptime_agrees
run_case "users have the names of /etc/passwd" users_have_names
run_case "affinity is that of sched_getaffinity" affinity_agrees
run_case "policy of an ordinary thread" policy_agrees "nice -n 0" SCHED_OTHER 0 0
run_case "policy of a nice thread" policy_agrees "nice -n 5" SCHED_OTHER 5 0
run_case "policy of a batch thread" policy_agrees "chrt -b 0" SCHED_BATCH 0 0
run_case "policy of an idle thread" policy_agrees "chrt -i 0" SCHED_IDLE 0 0
run_case "policy of a first-in first-out thread" needs_root policy_agrees "chrt -f 7" SCHED_FIFO 0 7
run_case "policy of a round-robin thread" needs_root policy_agrees "chrt -r 3" SCHED_RR 0 3
run_case "policy of a deadline thread" needs_root policy_agrees \
	"chrt -d --sched-runtime 100000 --sched-period 100000000 0" SCHED_DEADLINE 0 0

# --- who is in it ---

# half_read TGID ANSWERS: threads of it of which something is missing; ANSWERS when taskstats does.
# Not io, which kernels deny of a thread that is about to end, as they do of other users' threads.
half_read() {
	query "threads | select(.tgid == $1)
		| ([\"start_time_clock_ticks\", \"minflt\", \"run_time_ns\", \"voluntary_csw\",
			\"nr_migrations\", \"policy\", \"cpu_affinity\",
			if $2 then \"cpu_delay_count\" else empty end] - .has) as \$missing
		| select(.comm != \"churn\" or .pcomm != \"churn\" or (\$missing | length > 0))
		| [.tid, .comm, .pcomm, \$missing] | tostring"
}

# survives_churn SOURCE LEAST: threads come and go faster than files of each can be read, and some are
# lost. The kernel decides which are caught at it, so one capture may lose none; BPF loses none at all.
survives_churn() {
	local source=$1 least=$2 tgid kept=0 lost=0 all_lost=0 answers=false tries

	! "$programs/delays" $$ > /dev/null 2>&1 || answers=true
	start "$programs/churn" 2000 100
	tgid=$pid
	for ((tries = 0; tries < 20 && (tries < 3 || all_lost < least || kept == 0); tries++)); do
		capture --source "$source"
		equal "half-read threads" "$(half_read "$tgid" $answers)" ""
		equal "threads that stand twice" "$(query '[.threads[].tid] | group_by(.)[] | select(length > 1)[0]')" ""
		equal "processes without a thread, threads without a process" "$(query '
			[.threads[].tgid] as $of | [.processes[].tgid] as $there
			| ($there - $of), ($of - $there) | unique[]')" ""
		lost=$(query .capture.threads_lost)
		# Of processes that were gone before their threads were listed, one is lost.
		between "threads that were looked at" "$(query '.threads | length')" \
			"$(query .parse_summary.tids_walked)" $(($(query '.threads | length') + lost))
		has "the summary" "$summary" "; $lost lost"
		all_lost=$((all_lost + lost))
		kept=$((kept + $(query "[.threads[] | select(.tgid == $tgid)] | length")))
	done
	between "threads kept of the churn" 10 "$kept" 1000000
	between "threads lost" "$least" "$all_lost" 1000000
}

names_come_through() {
	local pids wanted

	start "$programs/named" 'a) R 1 (b' ' two  spaces ' $'new\nline' $'bad\xff\xc3byte' 'cut:é234567é'
	pids=($ready)
	# The kernel cuts after 15 bytes, here through the last letter.
	wanted=('a) R 1 (b' ' two  spaces ' $'new\nline' $'bad\xef\xbf\xbd\xef\xbf\xbdbyte' $'cut:é234567é')
	capture -p "$(IFS=,; echo "${pids[*]}")"
	for i in "${!pids[@]}"; do
		equal "name $i" "$(field "${pids[i]}" 'comm | @json')" "$(jq -cn --arg s "${wanted[i]}" '$s')"
		equal "parent of name $i" "$(query ".processes[] | select(.tgid == ${pids[i]}).ppid")" "$pid"
		is_measured "${pids[i]}" minflt run_time_ns
	done
	has "what show prints" "$("$ctprof" show --metrics state "$scratch/snapshot.zst")" 'a) R 1 (b'
}

cut_name_comes_through() {
	start "$programs/named" '0123456789abcdé'
	capture -p "$ready"
	equal name "$(field "$ready" comm)" $'0123456789abcd\xef\xbf\xbd'
}

zombie_leader_is_kept() {
	start "$programs/zombie_leader"
	set -- $ready
	capture
	has_thread "$1"
	has_thread "$2"
	equal "state of the leader" "$(field "$1" state)" Z
	equal "state of the other" "$(field "$2" state)" S
	equal "process of the other" "$(field "$2" tgid) $(field "$2" pcomm)" "$1 zombie_leader"
}

kernel_threads_are_in() {
	[ "$(cat /proc/2/comm 2> /dev/null)" = kthreadd ] || skip "no kernel threads in this PID namespace"
	capture
	equal "name of thread 2" "$(field 2 comm)" kthreadd
	equal "programs of kernel threads" "$(query '[.processes[] | select(.ppid == 2 and has("exe"))] | length')" 0
	is_measured 2 run_time_ns voluntary_csw
}

ctprof_is_in() {
	capture
	equal "threads named ctprof" "$(query '[.threads[] | select(.comm == "ctprof")] | length > 0')" true
	equal "its program" "$(query '[.processes[] | select(.exe == "'"$ctprof"'")] | length')" 1
	has "its command line" "$(query '.processes[] | select(.exe == "'"$ctprof"'").cmdline')" "capture -v -o"
}

one_process() {
	start "$programs/busy" 3
	capture -p "$pid"
	equal threads "$(query '[.threads[].tid] | sort | join(" ")')" "$(tr ' ' '\n' <<< "$ready" | sort -n | xargs)"
	equal processes "$(query '[.processes[].tgid] | join(" ")')" "$pid"
	has "the summary" "$summary" "3 threads, 1 process,"
}

several_processes() {
	local first

	start "$programs/busy" 2
	first=$pid
	start "$programs/busy" 1
	capture -p "$first,$$" --pid "$pid" -p "$first"
	equal processes "$(query '[.processes[].tgid] | join(" ")')" "$(printf '%s\n' "$first" $$ "$pid" | sort -n | xargs)"
	equal "threads of the first" "$(query "[.threads[] | select(.tgid == $first)] | length")" 2
}

thread_stands_for_group() {
	start "$programs/busy" 3
	capture -p "${ready##* }"
	equal threads "$(query '[.threads[].tid] | sort | join(" ")')" "$(tr ' ' '\n' <<< "$ready" | sort -n | xargs)"
	equal processes "$(query '[.processes[].tgid] | join(" ")')" "$pid"
	equal "their process" "$(query '[.threads[].tgid] | unique | join(" ")')" "$pid"
}

absent_process() {
	local absent

	absent=$(($(< /proc/sys/kernel/pid_max) - 1))
	while [ -d "/proc/$absent" ]; do
		absent=$((absent - 1))
	done
	fails 1 "$ctprof" capture -o "$scratch/absent.zst" -p "$$,$absent"
	equal "lines of the error" "$(wc -l <<< "$output")" 1
	has "the error" "$output" "$absent"
	[ ! -e "$scratch/absent.zst" ]
}

run_case "2,000 threads that come and go" slow alone survives_churn proc 1
run_case "2,000 threads that come and go, by BPF" needs_bpf alone survives_churn bpf 0
run_case "names of any bytes come through" names_come_through
run_case "a name cut within a letter comes through" cut_name_comes_through
run_case "a dead leader with live threads is kept" zombie_leader_is_kept
run_case "kernel threads are in it" kernel_threads_are_in
run_case "ctprof itself is in it" ctprof_is_in
run_case "--pid: one process" one_process
run_case "--pid: several" several_processes
run_case "--pid: a thread selects its process" thread_stands_for_group
run_case "--pid: one that is not there" absent_process

# --- cgroups ---

cgroup_subtree() {
	local outer

	start_in "$cgroup"
	outer=$pid
	start_in "$cgroup/below"
	capture --cgroup "$cgroup"
	equal processes "$(query '[.processes[].tgid] | sort | join(" ")')" "$outer $pid"
	equal paths "$(query '[.threads[].cgroup] | sort | join(" ")')" "$cgroup $cgroup/below"
	equal cgroups "$(query '.cgroup_stats | keys | join(" ")')" "$cgroup $cgroup/below"
	capture --cgroup "$cgroup/below/"
	equal "processes below" "$(query '[.processes[].tgid] | join(" ")')" "$pid"
	capture --cgroup "$mount$cgroup"
	equal "processes by directory" "$(query '[.processes[].tgid] | length')" 2
	capture --cgroup "${cgroup#/}/"
	equal "processes by a relative path" "$(query '[.processes[].tgid] | length')" 2
	for way in "$mount$cgroup/" "$mount$cgroup" "${cgroup#/}" "$cgroup"; do
		equal "threads of $way" "$("$ctprof" top --batch -n 1 -i 50ms --cgroup "$way" --format json |
			jq -s '[.[].tid] | unique | length')" 2
	done
	fails 1 "$ctprof" offcpu -d 0.1 --cgroup "${mount}X$cgroup"
	has "the error" "$output" "no cgroup ${mount}X$cgroup"
	fails 1 "$ctprof" capture -o "$scratch/absent.zst" --cgroup "$cgroup/absent"
	has "the error" "$output" "$cgroup/absent"
}

usage() {
	sed -n 's/^usage_usec //p' "$mount$cgroup/cpu.stat"
}

pressure() {
	sed -n 's/^some.*total=//p' "$mount$cgroup/cpu.pressure"
}

cgroup_statistics() {
	local before after squeezed

	start bash -c 'echo $$ > "$1/cgroup.procs" && echo ready && exec "$2" 2' bash "$mount$cgroup" "$programs/busy"
	before=$(usage)
	squeezed=$(pressure 2> /dev/null || true)
	capture --cgroup "$cgroup"
	after=$(usage)
	between "CPU time" "$before" "$(query ".cgroup_stats[\"$cgroup\"].cpu.usage_usec")" "$after"
	has "what is measured" "$(query "cgroups | select(.path == \"$cgroup\").has | join(\" \")")" cpu.usage_usec
	[ -n "$squeezed" ] || return 0
	between pressure "$squeezed" "$(query ".cgroup_stats[\"$cgroup\"].psi.cpu.some.total_usec")" "$(pressure)"
	has "what is measured" "$(query "cgroups | select(.path == \"$cgroup\").has | join(\" \")")" psi.cpu.some.total_usec
}

# Only the dead can be in a cgroup that is no more.
deleted_cgroup() {
	local dead

	start bash -c 'sleep 1000 & echo ready $!; exec sleep 1000'
	dead=$ready
	until [ "$(< "/proc/$pid/comm")" = sleep ]; do
		sleep 0.01
	done
	echo "$dead" > "$mount$cgroup/below/cgroup.procs"
	kill -9 "$dead"
	until rmdir "$mount$cgroup/below" 2> /dev/null; do
		sleep 0.01
	done
	grep -q '(deleted)$' "/proc/$dead/cgroup" || skip "the kernel does not mark deleted cgroups"
	capture -p "$dead"
	equal "its cgroup" "$(field "$dead" cgroup)" "$cgroup/below (deleted)"
	equal "what is measured of it" \
		"$(query 'cgroups | select(.path | endswith("(deleted)")).has | join(" ")')" ""
}

run_case "--cgroup: the subtree" with_cgroup cgroup_subtree
run_case "cgroups: CPU time and pressure" with_cgroup cgroup_statistics
run_case "cgroups: a deleted one keeps its path" with_cgroup deleted_cgroup

# --- privileges and namespaces ---

unprivileged() {
	local own other

	is_root
	start "${as_nobody[@]}" bash -c 'echo ready; exec sleep 1000'
	own=$pid
	start_sleep
	other=$pid
	"${as_nobody[@]}" "$ctprof" capture -v -o - > "$scratch/snapshot.zst" 2> "$scratch/summary"
	load
	has_thread "$other"
	is_measured "$other" run_time_ns voluntary_csw minflt
	is_unmeasured "$other" rchar wchar syscr cpu_delay_count hiwater_rss_bytes
	is_measured "$own" rchar wchar
	equal "program of the other" "$(query ".processes[] | select(.tgid == $other).exe")" null
	has "program of its own" "$(query ".processes[] | select(.tgid == $own).exe")" /sleep
	between "threads whose taskstats were denied" 2 "$(query .taskstats_summary.eperm_count)" 1000000
	equal "threads whose taskstats were read" "$(query .taskstats_summary.ok_count)" 0
	equal "lines of the summary" "$(wc -l <<< "$summary")" 1
	for piece in '; io denied ' '; exe denied ' CAP_SYS_PTRACE '; taskstats denied ' CAP_NET_ADMIN; do
		has "the summary" "$summary" "$piece"
	done
}

blocked=()
for category in blkio swapin freepages thrashing compact wpcopy; do
	blocked+=("${category}_delay_count" "${category}_delay_total_ns")
done

delays_off() {
	echo 0 > $sysctl
	start "$programs/busy" 1
	capture -p "$pid"
	is_measured "$pid" cpu_delay_count cpu_delay_total_ns hiwater_rss_bytes
	is_unmeasured "$pid" "${blocked[@]}" irq_delay_count irq_delay_total_ns
	equal "delay accounting" "$(query .capture.delay_accounting)" off
	has "what show says" "$("$ctprof" show --metrics blkio_delay_count "$scratch/snapshot.zst" 2>&1)" task_delayacct
}

delays_on() {
	local early late

	echo 0 > $sysctl
	start "$programs/busy" 1
	early=$pid
	echo 1 > $sysctl
	start "$programs/busy" 2
	late=$ready
	"$programs/delays" $late > "$scratch/before"
	capture -p "$early,$pid"
	"$programs/delays" $late > "$scratch/after"
	is_measured "$pid" "${blocked[@]}" cpu_delay_count
	is_unmeasured "$early" "${blocked[@]}"
	is_measured "$early" cpu_delay_count cpu_delay_total_ns
	equal "delay accounting" "$(query .capture.delay_accounting)" runtime
	between "copied pages" 1 "$(field "$pid" wpcopy_delay_count)" 1000000000000
	stays_between "$scratch/before" "$scratch/after"
}

pid_namespace() {
	is_root
	unshare -p -f --mount-proc true || skip "no PID namespaces"
	unshare -p -f --mount-proc bash -c '
		sleep 1000 &
		until [ "$(< /proc/$!/comm)" = sleep ]; do :; done
		"$@"
		kill %1' bash "$ctprof" capture -v -o "$scratch/snapshot.zst" 2> "$scratch/summary"
	load
	equal "names" "$(query '[.threads[] | select(.tid == .tgid).comm] | sort | join(" ")')" "bash ctprof sleep"
	equal "number of the first" "$(query '[.threads[] | select(.comm == "bash").tid][0]')" 1
	is_measured 1 run_time_ns voluntary_csw minflt
}

# without_taskstats UNSHARE-OPTIONS...: where the kernel does not answer us.
without_taskstats() {
	is_root
	unshare "$@" true || skip "unshare $* is refused"
	! unshare "$@" "$programs/delays" $$ > /dev/null 2>&1 || skip "taskstats answers there"
	unshare "$@" "$ctprof" capture -v -o - > "$scratch/snapshot.zst" 2> "$scratch/summary"
	load
	equal "threads with taskstats" "$(query '[threads | select(.has | index("cpu_delay_count"))] | length')" 0
	between "threads with run time" 2 "$(query '[threads | select(.has | index("run_time_ns"))] | length')" 1000000
	has "the summary" "$summary" taskstats
	has "what show says" "$("$ctprof" show --metrics cpu_delay_count "$scratch/snapshot.zst" 2>&1)" CAP_NET_ADMIN
}

# The family is of every network namespace.
network_namespace() {
	is_root
	unshare -n true || skip "unshare -n is refused"
	start_sleep
	unshare -n "$ctprof" capture -v -o - > "$scratch/snapshot.zst" 2> "$scratch/summary"
	load
	is_measured "$pid" cpu_delay_count hiwater_vm_bytes
}

# hidden HIDEPID: a capture by nobody where /proc is mounted so.
hidden() {
	is_root
	start_sleep
	unshare -m bash -c 'mount -t proc -o "hidepid=$1" proc /proc' bash "$1" || skip "no hidepid=$1"
	unshare -m bash -c 'mount -t proc -o "hidepid=$1" proc /proc && shift && "$@"' bash "$1" \
		"${as_nobody[@]}" "$ctprof" capture -v -o - > "$scratch/snapshot.zst" 2> "$scratch/summary"
	load
	has_no_thread "$pid"
	equal "threads named ctprof" "$(query '[.threads[] | select(.comm == "ctprof")] | length > 0')" true
}

hidepid_1() {
	hidden 1
	between "processes denied" 2 "$(query .capture.processes_denied)" 1000000
	has "the summary" "$summary" "hidepid"
}

hidepid_2() {
	hidden 2
}

run_case "without root it captures what it may, and names the rest" unprivileged
run_case "delays: kernel.task_delayacct=0" alone with_delayacct delays_off
run_case "delays: kernel.task_delayacct=1" alone with_delayacct delays_on
run_case "in another PID namespace" pid_namespace
run_case "in another network namespace taskstats answer as well" network_namespace
run_case "in another user namespace" without_taskstats -Ur
run_case "with hidepid=1" hidepid_1
run_case "with hidepid=2" hidepid_2

# --- the file ---

to_a_pipe() {
	"$ctprof" capture -q -o - | zstd -qdc | jq -e '.threads | length > 0'
}

default_name() {
	mkdir "$scratch/here"
	(cd "$scratch/here" && "$ctprof" capture -q)
	[[ $(ls -A "$scratch/here") =~ ^"$(hostname)"-[0-9]{8}T[0-9]{6}Z\.ctprof\.zst$ ]]
}

is_private() {
	(umask 022 && "$ctprof" capture -q -o "$scratch/private.zst")
	equal mode "$(stat -c %a "$scratch/private.zst")" 600
}

keeps_note() {
	capture --note 'before "the" Änderung'
	equal note "$(query '.. | .note? // empty')" 'before "the" Änderung'
}

is_quiet() {
	equal output "$("$ctprof" capture -q -o "$scratch/quiet.zst" 2>&1)" ""
}

says_what_it_took() {
	capture
	equal lines "$(wc -l <<< "$summary")" 1
	has "the summary" "$summary" "$(query '"\(.threads | length) threads, \(.processes | length) processes, \(.cgroup_stats | length) cgroup"')"
	between "time of the capture" "$(($(date +%s%N) - 60000000000))" "$(query '.captured_at_unix_ns / 1000 | floor')000" "$(date +%s%N)"
}

# Every text of a redacted snapshot is a hash, a path of hashes, or one of the format's own words.
redacts() {
	local left secret

	start "$programs/named" ctprof-secret
	start bash -c 'echo ready; exec -a secret-argument sleep 1000'
	capture
	cp "$json" "$scratch/plain"
	capture --redact
	cp "$json" "$scratch/redacted"
	grep -q ctprof-secret "$scratch/plain"
	grep -q secret-argument "$scratch/plain"
	for secret in ctprof-secret secret-argument "$(hostname)" "$(uname -r)" "$(< /proc/sys/kernel/random/boot_id)" "$scratch"; do
		! grep -qwF -- "$secret" "$scratch/redacted" ||
			{ echo "'$secret' is still there"; return 1; }
	done
	left=$(jq -r '
		del(.ctprof, .threads[].policy, .threads[].state, .threads[].measured,
			.psi.measured, .cgroup_stats[].measured, .parse_summary, .probe_summary, .capture.delay_accounting,
			.capture.source, .sched_ext) | [.. | strings] + (.cgroup_stats | keys) | unique[]
		| select(test("^((/?[0-9a-f]{16})*|/)$") | not)' "$scratch/redacted")
	equal "what is no hash" "$left" ""
	left=$(jq -r '.host_counters | .block, .net | select(.) | keys[]
		| select(test("^[0-9a-f]{16}$") | not)' "$scratch/redacted")
	equal "devices that have a name" "$left" ""
	equal "devices" "$(jq '.host_counters.net | length' "$scratch/redacted")" \
		"$(jq '.host_counters.net | length' "$scratch/plain")"
	capture --redact
	for secret in "$pid" 2 $$; do
		equal "names of thread $secret" "$(query "thread($secret) | [.comm, .pcomm, .cgroup] | @json")" \
			"$(jq -r ".threads[] | select(.tid == $secret) | [.comm, .pcomm, .cgroup] | @json" "$scratch/redacted")"
	done
	equal "the host" "$(query '.host | del(.hugepages_free) | @json')" "$(jq '.host | del(.hugepages_free) | @json' -r "$scratch/redacted")"
}

# A capture that lasts long enough is ended by a signal at several moments. The latest may come when
# the file has its name already, and then it is whole.
ended_by() {
	local signal=$1 died=0 delay left

	start "$programs/churn" 4000 1000000
	mkdir "$scratch/ended.$signal"
	for delay in 0.01 0.03 0.06 0.1 0.15 0.2; do
		timeout -s "$signal" "$delay" "$ctprof" capture -q -o "$scratch/ended.$signal/file.zst" || true
		left=$(ls -A "$scratch/ended.$signal")
		case $left in
		"") died=$((died + 1)) ;;
		file.zst) "$ctprof" show "$scratch/ended.$signal/file.zst" > /dev/null ;;
		*) echo "ended after $delay s it leaves $left"; return 1 ;;
		esac
		rm -f "$scratch/ended.$signal/file.zst"
	done
	between "captures that were ended" 1 "$died" 6
}

# A capture without what it had no descriptors for would look as if that could not be measured.
few_descriptors() {
	mkdir "$scratch/few"
	fails 1 bash -c 'ulimit -n 9 && exec "$@"' bash "$ctprof" capture -o "$scratch/few/file.zst"
	equal "lines of the error" "$(wc -l <<< "$output")" 1
	has "the error" "$output" "Too many open files"
	equal "what it leaves" "$(ls -A "$scratch/few")" ""
}

# What there was time for is a snapshot, and it is known to be a part.
has_no_time() {
	local source=$1

	fails 1 "$ctprof" capture --source "$source" --timeout 1ms -o "$scratch/part.zst"
	has "the last line" "$output" "; incomplete: timed out"
	has_not "the last line" "$output" "failed:"
	zstd -qdc "$scratch/part.zst" > "$json"
	equal "cut_short, failed" "$(query '.capture | "\(.cut_short) \(.failed)"')" "true {}"
	has "the report" "$("$ctprof" show "$scratch/part.zst" --limit 1)" \
		"part.zst is incomplete: timed out"
	"$ctprof" capture -q --source "$source" --timeout 1h -o "$scratch/all.zst"
	zstd -qdc "$scratch/all.zst" > "$json"
	equal cut_short "$(query .capture.cut_short)" false
}

# One whose process would have been found later is no error.
has_no_time_for_it() {
	start_sleep
	fails 1 "$ctprof" capture --source proc --timeout 1ns -p "$pid" -o "$scratch/part.zst"
	has "the last line" "$output" "0 threads"
}

run_case "--timeout with BPF: an incomplete capture is marked" needs_bpf has_no_time bpf
run_case "--timeout with /proc: an incomplete capture is marked" has_no_time proc
run_case "--timeout before a process was found" has_no_time_for_it
run_case "-o -: to a pipe" to_a_pipe
run_case "the default name" default_name
run_case "the file is private" is_private
run_case "--note" keeps_note
run_case "--quiet" is_quiet
run_case "the last line has the counts of the file" says_what_it_took
run_case "--redact leaves no name" redacts
run_case "ulimit -n 9: it fails and leaves no file" few_descriptors
run_case "ended by SIGINT it leaves no file" ended_by INT
run_case "ended by SIGTERM it leaves no file" ended_by TERM

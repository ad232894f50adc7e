# SPDX-License-Identifier: BSD-2-Clause
#
# Captures in namespaces: a number is that of the thread that it stands by, or unmeasured.
#
# kernels: 6.1 7.2

. tests/kernels/guest/cgroups.sh

# indoors ACTOR [OPTION...]: an actor that is process 1 of a PID namespace, as `tid` knows it outside.
indoors() {
	local name=$1

	shift
	actor "$name" unshare --fork --pid --kill-child "$@"
	tid[$name]=$(tr -d ' ' < "/proc/${tid[$name]}/task/${tid[$name]}/children")
}

# capture_by COMMAND...: as `inner`.
capture_by() {
	"$@" ctprof capture -v -o - > "$scratch/inner.ctprof.zst" 2> "$scratch/summary"
	facts_of "$scratch/inner.ctprof.zst" > "$scratch/inner.facts"
	cat "$scratch/summary"
}

# facts_as OLD NEW FILE: what it has of a thread or group, by its name in another namespace. A part of a page
# that others have, too, is more or less as they come and go.
facts_as() {
	sed -n "s,^$1 ,$2 ,p" "$scratch/$3" | grep -v ' smaps_rollup_kib\.Pss' | but_waits | sort
}

but_taskstats() {
	grep -vE '^[0-9]+ ([a-z]+_delay_|hiwater_)'
}

inside_is_seen_from_inside() {
	indoors first --mount-proc
	tell first sleep 5 1000
	tell first map 3
	capture_by nsenter -t "${tid[first]}" -p -m
	snap after
	# Beside it there is ctprof.
	equal "processes" "$(processes_in "$scratch/inner.ctprof.zst")" 2
	diff <(facts_as "${tid[first]}" 1 after.facts) <(facts_as 1 1 inner.facts)
	has "what is seen" "$(< "$scratch/inner.facts")" "
1 cpu_delay_count $(schedstat_column "${tid[first]}" 3)"
}

inside_is_seen_from_outside() {
	indoors first --mount-proc
	tell first sleep 5 1000
	snap after
	equals timeslices first "$(schedstat_column "${tid[first]}" 3)" "/proc/<tid>/schedstat has"
	equals cpu_delay_count first "$(schedstat_column "${tid[first]}" 3)" "/proc/<tid>/schedstat has"
	ctprof capture -q --proc-root "/proc/${tid[first]}/root/proc" -o "$scratch/inner.ctprof.zst"
	facts_of "$scratch/inner.ctprof.zst" > "$scratch/inner.facts"
	diff <(facts_as "${tid[first]}" 1 after.facts | but_taskstats) <(facts_as 1 1 inner.facts)
}

# A /proc of another namespace has numbers that mean other threads to system calls.
foreign_proc_has_no_taskstats() {
	indoors first
	snap after
	capture_by nsenter -t "${tid[first]}" -p
	diff <(facts_as "${tid[first]}" 1 after.facts | but_taskstats) \
		<(facts_as "${tid[first]}" 1 inner.facts)
	has "show" "$(ctprof show --unmeasured "$scratch/inner.ctprof.zst")" "taskstats did not answer"
}

# ctprof has the same number in both namespaces.
foreign_proc_is_foreign_whatever_its_numbers() {
	local number

	indoors first
	snap after
	number=$((tid[first] + 500))
	bash -c "nsenter -t ${tid[first]} -p bash -c 'echo $((number - 1)) > /proc/sys/kernel/ns_last_pid'
		echo $((number - 1)) > /proc/sys/kernel/ns_last_pid
		exec nsenter -t ${tid[first]} -p ctprof capture -q -o $scratch/inner.ctprof.zst"
	facts_of "$scratch/inner.ctprof.zst" > "$scratch/inner.facts"
	has "what is seen" "$(< "$scratch/inner.facts")" "
$number run_time_ns "
	grep -E '^1 (hiwater_vm_bytes|cpu_delay_count)' "$scratch/inner.facts" || :
	equal "delays of process 1" "$(sed -nE '/^1 ([a-z]+_delay_|hiwater_)/p' "$scratch/inner.facts")" ""
}

networks_make_no_difference() {
	actor idle
	tell idle sleep 5 1000
	snap after
	capture_by unshare --net
	diff <(facts_as "${tid[idle]}" 1 after.facts) <(facts_as "${tid[idle]}" 1 inner.facts)
}

root_of_a_namespace_is_not_root() {
	actor idle
	snap after
	capture_by unshare --user --map-root-user
	diff <(facts_as "${tid[idle]}" 1 after.facts | but_taskstats |
		grep -vE ' (rchar|wchar|syscr|syscw|[a-z_]*_bytes|smaps_rollup_kib)') \
		<(facts_as "${tid[idle]}" 1 inner.facts | grep -v smaps_rollup_kib)
	has "summary" "$(< "$scratch/summary")" "(needs CAP_NET_ADMIN)"
}

# Of a cgroup namespace: what a capture in it has of all actors' groups: "PATH FIELD VALUE".
groups_seen_by() {
	local pids=${tid[*]} name

	"$@" ctprof capture -q -p "${pids// /,}" -o "$scratch/inner.ctprof.zst"
	for name in inner after; do
		# The kernel counts pages per CPU and adds them up later: memory changes while nothing happens.
		outer_facts $name | sed '/^\//!d; /\.avg/d; /memory\.stat\./d; /memory\.current/d' > "$scratch/$name.groups"
	done
}

start_two_groups() {
	group top
	group top/inner memory.max=44M
	group beside memory.max=33M
	actor out inside beside
	actor indoor inside top/inner unshare --cgroup --mount
	snap_at_rest after top/inner beside
}

# The mount of the namespace above shows paths that have no name here.
cgroups_of_another_namespace_are_unmeasured() {
	start_two_groups
	groups_seen_by nsenter -t "${tid[indoor]}" -C -m
	equal "what is seen of groups" "$(< "$scratch/inner.groups")" ""
}

cgroups_of_a_namespace_have_its_paths() {
	start_two_groups
	mkdir "$scratch/cgroups"
	nsenter -t "${tid[indoor]}" -C -m mount -t cgroup2 cgroup2 "$scratch/cgroups"
	groups_seen_by nsenter -t "${tid[indoor]}" -C -m
	diff <(facts_as /top/inner / after.groups) <(sort "$scratch/inner.groups")
	has "what is seen" "$(< "$scratch/inner.groups")" "/ memory.max 46137344"
}

# /beside is not the `beside` of the group that is mounted over all of them.
covered_mounts_are_not_read() {
	group top
	group top/beside memory.max=44M
	group beside memory.max=33M
	actor out inside beside
	actor indoor inside top/beside
	snap_at_rest after top/beside beside
	groups_seen_by unshare --mount bash -c 'mount --bind /sys/fs/cgroup/top /sys/fs/cgroup; exec "$@"' -
	! grep -vxFf "$scratch/after.groups" "$scratch/inner.groups"
}

run_case "inside a PID namespace a capture finds its threads, with their delays" inside_is_seen_from_inside
run_case "threads in a PID namespace are seen from outside, too" inside_is_seen_from_outside
run_case "with the /proc of another PID namespace there are no delays" foreign_proc_has_no_taskstats
run_case "that /proc is another's does not hang on one number" foreign_proc_is_foreign_whatever_its_numbers
run_case "in a network namespace a capture finds the same as outside" networks_make_no_difference
run_case "root of a user namespace is denied what needs the initial one" root_of_a_namespace_is_not_root
run_case "cgroups mounted in another cgroup namespace are unmeasured" cgroups_of_another_namespace_are_unmeasured
run_case "cgroups mounted in their namespace have paths and numbers of it" cgroups_of_a_namespace_have_its_paths
run_case "a mount that covers the cgroups gives no numbers of others" covered_mounts_are_not_read

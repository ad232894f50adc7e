# SPDX-License-Identifier: BSD-2-Clause
#
# ctprof doctor where everything was turned on at boot; and what it says when something is taken away.

. tests/kernels/guest/doctor.sh

# A source that only some kernels have: is it here, by what the kernel itself shows?
here_if() {
	local source=$1

	shift
	if "$@"; then
		says "$source" yes
	else
		says "$source" no
		equal "what would mend $source" "$(finding "$source" run)$(finding "$source" boot)" ""
	fi
}

all_is_there() {
	examine
	for source in threads bpf in-progress stat status schedstat sched schedstats io smaps_rollup exe taskstats delays \
		cgroups cgroup-cpu cgroup-memory cgroup-pids cgroup-pressure pressure host-counters; do
		says $source yes
	done
	here_if time-slice grep -qE '^(se\.)?slice ' /proc/self/sched
	here_if core-scheduling grep -q '^core_forceidle_sum ' /proc/self/sched
	here_if irq-delays test -e /proc/pressure/irq
	here_if sched_ext test -e /sys/kernel/sched_ext/state
}

schedstats_are_taken_away() {
	at_end 'sysctl -w kernel.sched_schedstats=1'
	sysctl -w kernel.sched_schedstats=0
	examine
	says schedstats no
	says in-progress partly
	mended schedstats
	says in-progress yes
}

delays_are_taken_away() {
	at_end 'sysctl -w kernel.task_delayacct=1'
	sysctl -w kernel.task_delayacct=0
	examine
	says delays no
	mended delays
}

controllers_are_handed_on() {
	local groups=/sys/fs/cgroup controller

	mkdir -p $groups/upper/lower
	sleep 100 &
	at_end "kill $!; sleep 0.1; rmdir $groups/upper/lower $groups/upper"
	echo $! > $groups/upper/lower/cgroup.procs
	for controller in cpu memory pids; do
		at_end "echo +$controller > $groups/cgroup.subtree_control"
		echo "-$controller" > $groups/cgroup.subtree_control
		examine
		says cgroup-$controller no
		has "the first command" "$(finding cgroup-$controller run)" "/sys/fs/cgroup/cgroup.subtree_control"
		eval "$(finding cgroup-$controller run)"
		examine
		has "the next" "$(finding cgroup-$controller run)" "/upper/cgroup.subtree_control"
		mended cgroup-$controller
	done
}

pressure_of_a_cgroup_is_turned_off() {
	local group=/sys/fs/cgroup/quiet

	mkdir $group
	[ -e $group/cgroup.pressure ] || skip "pressure of one cgroup cannot be turned off here"
	sleep 100 &
	at_end "kill $!; sleep 0.1; rmdir $group"
	echo $! > $group/cgroup.procs
	echo 0 > $group/cgroup.pressure
	examine
	says cgroup-pressure no
	mended cgroup-pressure
}

cgroups_are_unmounted() {
	at_end 'umount /run/cgroup2; mount -t cgroup2 cgroup2 /sys/fs/cgroup'
	umount /sys/fs/cgroup
	examine
	says cgroups no
	mended cgroups
}

processes_are_hidden() {
	at_end 'mount -o remount,hidepid=0 /proc'
	for hide in 1 2; do
		mount -o remount,hidepid=$hide /proc
		examine "${as_somebody[@]}"
		says threads partly
		examine
		says threads yes
		examine "${as_somebody[@]}"
		eval "$(finding threads run)"
		examine "${as_somebody[@]}"
		says threads yes
	done
}

privileges_are_missing() {
	examine "${as_somebody[@]}"
	for source in bpf taskstats delays delay-peaks; do
		says $source no
		has "the command" "$(finding $source run)" "chown root:adm "
		has "the command" "$(finding $source run)" "setcap cap_dac_read_search,cap_net_admin,cap_sys_ptrace,cap_syslog,cap_perfmon,cap_bpf+ep"
	done
	for source in io smaps_rollup exe; do
		says $source partly
	done
	for source in stat status sched schedstats; do
		says $source yes
	done
	equal "the reason" "$(finding bpf why)" \
		"captures read /proc instead: denied: needs CAP_BPF, CAP_PERFMON and CAP_SYSLOG"
	says in-progress no
}

inside_of_a_container() {
	examine unshare -f -p --mount-proc
	says threads partly
	has "the reason" "$(finding threads why)" "in a PID namespace"
	examine unshare -C
	says cgroups partly
}

run_case "doctor finds everything that this kernel has" all_is_there
run_case "doctor turns scheduler statistics on again" schedstats_are_taken_away
run_case "doctor turns delay accounting on again" delays_are_taken_away
run_case "doctor has controllers handed on, from the top down" controllers_are_handed_on
run_case "doctor turns the pressure of a cgroup on again" pressure_of_a_cgroup_is_turned_off
run_case "doctor mounts cgroups" cgroups_are_unmounted
run_case "doctor shows hidden processes again" processes_are_hidden
run_case "doctor names the privileges that are missing" privileges_are_missing
run_case "doctor knows a container" inside_of_a_container

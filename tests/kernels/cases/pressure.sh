# SPDX-License-Identifier: BSD-2-Clause
#
# Pressure of cgroups and of the host, against what the actors waited by their own clocks. In a cgroup
# whose threads are all on one CPU the kernel's average over CPUs is that CPU's.
#
# kernels: 6.1 7.2

. tests/kernels/guest/cgroups.sh

# us NS PERCENT: that part of it, in µs.
us() {
	echo $(($1 * $2 / 100000))
}

# snap_host NAME: with what the host's files say before and after: "before cpu some 12".
snap_host() {
	local name=$1

	shift
	host_says before > "$scratch/$name.host"
	snap_at_rest "$name" "$@"
	host_says after >> "$scratch/$name.host"
}

host_says() {
	local file half

	for file in cpu memory io; do
		for half in some full; do
			echo "$1 $file $half $(pressure_says /proc/pressure/$file $half)"
		done
	done
}

# host_is_read SNAPSHOT FILE HALF: between the two readings around it.
host_is_read() {
	within "psi.$2.$3.total_usec" "$(group_value "$1" host "psi.$2.$3.total_usec")" \
		"$(awk -v what="before $2 $3" 'index($0, what) == 1 { print $4 }' "$scratch/$1.host")" \
		"$(awk -v what="after $2 $3" 'index($0, what) == 1 { print $4 }' "$scratch/$1.host")" \
		"the file had around it"
}

# kernel_waited ACTOR...: for a CPU all their lives, as /proc has it: also before and after their spin.
kernel_waited() {
	local name sum=0

	for name; do
		sum=$((sum + $(schedstat_column "${tid[$name]}" 2)))
	done
	echo $sum
}

hogs_press_on_a_cpu() {
	local waited most

	group crowd
	actor hog inside crowd
	actor rival inside crowd
	tell hog pin 1
	tell rival pin 1
	snap_host before crowd
	most=$(kernel_waited hog rival)
	order rival spin 1000
	tell hog spin 1000
	waited=$(($(said wall) - $(said cpu)))
	hear rival
	waited=$((waited + $(said wall) - $(said cpu)))
	most=$(($(kernel_waited hog rival) - most))
	snap_host after crowd
	# One of the two waits at any time, and the other runs.
	group_moved crowd psi.cpu.some.total_usec "$(us $waited 85)" "$(us $most 110)" "both waited"
	group_moved crowd psi.cpu.full.total_usec 0 "$(us $waited 20)" "one of them ran,"
	# Of the host, the other CPU counts as well, as far as it is not idle.
	group_moved host psi.cpu.some.total_usec "$(us "$waited" 40)" 100000000 "both waited"
	host_is_read before cpu some
	host_is_read after cpu some
	group_lacks host psi.cpu.full.total_usec
	group_lacks host psi.cpu.full.avg10
	group_is_read_exactly crowd
}

rivals_outside_stop_all() {
	local waited most half

	group inner
	actor hog inside inner
	actor rival
	tell hog pin 1
	tell rival pin 1
	snap_at_rest before inner
	most=$(kernel_waited hog)
	order rival spin 1000
	tell hog spin 1000
	waited=$(($(said wall) - $(said cpu)))
	hear rival
	most=$(($(kernel_waited hog) - most))
	snap_at_rest after inner
	for half in some full; do
		group_moved inner psi.cpu.$half.total_usec "$(us $waited 85)" "$(us $most 110)" "it waited"
	done
	group_is_read_exactly inner
}

# Over memory.high without anything to give back, the kernel makes it sleep, the longer the further
# it is over.
allow_too_little() {
	echo $(($(group_says "$1" memory.current) + 32 * 1048576 + 262144)) > "$cgroups/$1/memory.high"
}

# grow ACTOR: sets `slept` and `wall`.
grow() {
	local before

	before=$(schedstat_column "${tid[$1]}" 1)
	tell "$1" map 33
	wall=$(said wall)
	slept=$((wall - $(schedstat_column "${tid[$1]}" 1) + before))
}

growth_is_pressure() {
	local slept wall half

	group tight
	actor grower inside tight
	tell grower pin 1
	allow_too_little tight
	snap_host before tight
	grow grower
	snap_host after tight
	between "what it slept" 20000000 "$slept" "$wall"
	for half in some full; do
		group_moved tight psi.memory.$half.total_usec "$(us "$slept" 60)" "$(us "$wall" 105)"
		group_moved host psi.memory.$half.total_usec "$(us "$slept" 20)" "$(us "$wall" 110)"
		host_is_read before memory $half
		host_is_read after memory $half
	done
	group_is_read_exactly tight
}

# The same, while somebody else of the cgroup gets on with it on that CPU: some, but not full.
work_beside_is_not_full() {
	local slept wall some

	group mixed
	actor worker inside mixed
	actor grower inside mixed
	tell worker pin 1
	tell grower pin 1
	allow_too_little mixed
	snap before
	order worker spin 100000
	grow grower
	kill -KILL "${tid[worker]}"
	unset 'tid[worker]'
	snap_at_rest after mixed
	some=$(group_change mixed psi.memory.some.total_usec)
	group_moved mixed psi.memory.some.total_usec 20000 "$(us "$wall" 105)" "it grew for"
	group_moved mixed psi.memory.full.total_usec 0 $((some / 3)) "the other worked,"
	group_is_read_exactly mixed
}

reads_are_pressure() {
	local before blocked=0 waited=0 rounds=0

	group reading
	actor reader inside reading
	tell reader pin 1
	snap_host before reading
	before=$(sched_ns "${tid[reader]}" iowait_sum)
	# Some reads are done before it could go to sleep.
	until [ "$blocked" -ge 20000000 ]; do
		((++rounds < 40))
		tell reader read /dev/vda 40 1048576
		waited=$((waited + $(said wall)))
		blocked=$(($(sched_ns "${tid[reader]}" iowait_sum) - before))
	done
	snap_host after reading
	for half in some full; do
		group_moved reading psi.io.$half.total_usec "$(us $blocked 60)" "$(us $waited 105)"
		group_moved host psi.io.$half.total_usec "$(us $blocked 20)" 10000000
		host_is_read before io $half
		host_is_read after io $half
	done
	group_is_read_exactly reading
}

# averages FILE HALF: in hundredths of a percent.
averages() {
	sed -n "s/^$2 //p" "$1" | tr ' ' '\n' | sed -n 's/^avg[0-9]*=//p' | tr -d . | sed 's/^0*\(.\)/\1/'
}

# They change every two seconds, one way while nothing happens.
averages_are_read() {
	local was=() are=() got i keys=(avg10 avg60 avg300)

	group averaged
	actor hog inside averaged
	actor rival inside averaged
	tell hog pin 1
	tell rival pin 1
	order rival spin 3000
	tell hog spin 3000
	hear rival
	# From when on they fall.
	until are=(${was[@]}) was=($(averages $cgroups/averaged/cpu.pressure some)) &&
		((${are[0]-0} > was[0])); do
		sleep 0.5
	done
	snap after
	are=($(averages $cgroups/averaged/cpu.pressure some))
	for i in 0 1 2; do
		got=$(group_value after averaged "psi.cpu.some.${keys[i]}")
		between "some pressure" 1 "$got" 10000
		within "cgroup.psi.cpu.some.${keys[i]}" "$got" \
			$((was[i] < are[i] ? was[i] : are[i])) $((was[i] > are[i] ? was[i] : are[i])) "the file has"
	done
}

interrupts_are_pressure_where_the_kernel_says() {
	group some
	actor sleeper inside some
	snap_at_rest after some
	if cat /proc/pressure/irq > "$scratch/irq"; then
		between "of the host" 1 "$(group_value after host psi.irq.full.total_usec)" \
			"$(pressure_says /proc/pressure/irq full)"
		proves psi.irq.full.total_usec
	else
		group_lacks host psi.irq.full.total_usec
		group_lacks some psi.irq.full.total_usec
	fi
	group_lacks host psi.irq.some.total_usec
	group_is_read_exactly some
}

run_case "two hogs on one CPU press on it while both want it" hogs_press_on_a_cpu
run_case "a cgroup whose only hog waits for one outside has full pressure" rivals_outside_stop_all
run_case "growth over memory.high is pressure, for as long as it is made to sleep" growth_is_pressure
run_case "beside work, waiting for memory is not full pressure" work_beside_is_not_full
run_case "reads past the cache are pressure, for as long as they wait" reads_are_pressure
run_case "averages are hundredths of a percent" averages_are_read
run_case "pressure of interrupts is there where the kernel accounts them" interrupts_are_pressure_where_the_kernel_says

# SPDX-License-Identifier: BSD-2-Clause
#
# For cases about delays, beside lib.sh and cgroups.sh.

. tests/kernels/guest/cgroups.sh

# The kernel shows pressure of interrupts only where it accounts their time.
irqs_are_accounted() {
	cat /proc/pressure/irq > /dev/null 2>&1
}

# --- readings ---

# vm_says KEY...: events of the whole system, added up, with what CPUs have not handed in yet. A key
# that this kernel does not have adds nothing.
vm_says() {
	echo 1 > /proc/sys/vm/stat_refresh
	awk -v keys=" $* " 'index(keys, " " $1 " ") { sum += $2 } END { print sum + 0 }' /proc/vmstat
}

# stalled_ns GROUP FILE HALF: as its pressure files have it, once they are up to date, which takes two
# seconds. They weigh the CPUs: pin what is in the group to one.
stalled_ns() {
	local file=$cgroups/$1/$2

	sleep 2.2
	echo $(($(pressure_says "$file" "$3") * 1000))
}

# swap_in_memory MIB: a disk in memory to swap to.
swap_in_memory() {
	echo lzo-rle > /sys/block/zram0/comp_algorithm 2> /dev/null || true
	echo "$1M" > /sys/block/zram0/disksize
	at_end "echo 1 > /sys/block/zram0/reset"
	mkswap /dev/zram0 > /dev/null
	swapon /dev/zram0
	at_end "swapoff /dev/zram0"
}

# switch FILE VALUE: until the case ends; nothing where there is no such file.
switch() {
	local old

	[ -e "$1" ] || return 0
	# Of several words the one in force is in brackets.
	old=$(sed 's/.*\[\(.*\)\].*/\1/' "$1")
	at_end "echo $old > $1"
	echo "$2" > "$1"
}


# needs_steady_clock: when the kernel has given up the TSC, as it does when an emulated machine is under
# load, the clock of delays and of the scheduler stands still at times, and what takes no time is no
# delay (kernel/delayacct.c). That lasts: ask after what is to be measured.
needs_steady_clock() {
	[[ $(< /sys/devices/system/clocksource/clocksource0/current_clocksource) == @(tsc*|arch_sys_counter) ]] ||
		skip "the kernel of the guest has given up the TSC"
}

# --- checks, after `snap after` ---

# taskstats_agrees ACTOR: each field of its struct taskstats, got past ctprof, is what ctprof has; what
# this kernel's struct does not hold is not measured. What is 0 is right, but no proof.
taskstats_agrees() {
	delays "${tid[$1]}" > "$scratch/asked"
	irqs_are_accounted || sed -i '/^irq_.* 0$/d' "$scratch/asked"
	awk -v tid="${tid[$1]}" '$1 == tid && $2 ~ /_delay_|^hiwater_/ { print $2, $3 }' \
		"$scratch/after.facts" > "$scratch/measured"
	diff <(sort "$scratch/asked") <(sort "$scratch/measured")
	proves $(awk '$2 { print $1 }' "$scratch/asked")
}

# peaks_fit CATEGORY ACTOR: the longest and the shortest delay go with all of them, if there are such
# fields (`taskstats_agrees` has seen to that).
peaks_fit() {
	local count total max min

	count=$(value after "$2" "$1_delay_count") total=$(value after "$2" "$1_delay_total_ns")
	max=$(value after "$2" "$1_delay_max_ns") min=$(value after "$2" "$1_delay_min_ns")
	echo "$1 of $2: $count delays of $total ns, from $min to $max"
	[ "$count" -gt 0 ]
	if [ "$max" = - ]; then
		equal "the shortest" "$min" -
		return
	fi
	[ "$min" -gt 0 ]
	between "the longest" "$(((total + count - 1) / count))" "$max" "$total"
	between "the shortest" 1 "$min" $((total / count))
	proves "$1_delay_max_ns" "$1_delay_min_ns"
}

# SPDX-License-Identifier: BSD-2-Clause
#
# What limits and weights say: numbers, and that there is no limit.
#
# kernels: 6.1 7.2

. tests/kernels/guest/cgroups.sh

# The table of `ctprof show`, and of `compare`, without its blanks.
limits() {
	ctprof "$@" --group-by cgroup --sections cgroup-limits | tr -s ' '
}

limits_are_read() {
	group limited "cpu.max=40000 80000" cpu.weight=50 memory.max=64M memory.high=32M \
		memory.low=4M memory.min=2M pids.max=77
	actor idle inside limited
	snap_at_rest after limited
	group_equals limited cpu.max_quota_us 40000 "it was set to"
	group_equals limited cpu.max_period_us 80000 "it was set to"
	group_equals limited cpu.weight 50 "it was set to"
	group_equals limited cpu.weight_nice "$(group_says limited cpu.weight.nice)" "its file has"
	group_equals limited memory.max 67108864 "it was set to"
	group_equals limited memory.high 33554432 "it was set to"
	group_equals limited memory.low 4194304 "it was set to"
	group_equals limited memory.min 2097152 "it was set to"
	group_equals limited pids.max 77 "it was set to"
	group_is_read_exactly limited
	limits show "$scratch/after.ctprof.zst" > "$scratch/shown"
	for row in "cpu.max.quota 40.000ms" "cpu.max.period 80.000ms" "cpu.weight 50" \
		"cpu.weight.nice $(group_says limited cpu.weight.nice)" "memory.max 64.000MiB" \
		"memory.high 32.000MiB" "memory.low 4.000MiB" "memory.min 2.000MiB" "pids.max 77"; do
		has "show" "$(< "$scratch/shown")" " /limited $row "
	done
}

no_limits_are_read() {
	group free cpu.weight.nice=-5 memory.low=max memory.min=max
	actor idle inside free
	snap_at_rest after free
	group_equals free cpu.max_quota_us null "no limit is"
	group_equals free cpu.weight_nice -5 "it was set to"
	group_equals free cpu.weight "$(group_says free cpu.weight)" "its file has"
	group_equals free memory.max null "no limit is"
	group_equals free memory.high null "no limit is"
	group_equals free memory.low 18446744073709551615 "all is"
	group_equals free memory.min 18446744073709551615 "all is"
	group_equals free pids.max null "no limit is"
	group_is_read_exactly free
	limits show "$scratch/after.ctprof.zst" > "$scratch/shown"
	for row in "cpu.max.quota max" "cpu.weight.nice -5" "memory.max max" "memory.high max" \
		"memory.low max" "memory.min max" "pids.max max"; do
		has "show" "$(< "$scratch/shown")" " /free $row "
	done
}

changes_are_compared() {
	group changed memory.max=64M "cpu.max=max 100000" pids.max=10
	actor idle inside changed
	snap before
	echo 32M > $cgroups/changed/memory.max
	echo 50000 100000 > $cgroups/changed/cpu.max
	echo max > $cgroups/changed/pids.max
	snap after
	limits compare "$scratch/before.ctprof.zst" "$scratch/after.ctprof.zst" > "$scratch/shown"
	has "compare" "$(< "$scratch/shown")" " memory.max 64.000MiB 32.000MiB -32.000MiB -50.0% "
	has "compare" "$(< "$scratch/shown")" " cpu.max.quota max 50.000ms "
	has "compare" "$(< "$scratch/shown")" " pids.max 10 max "
	has_not "compare" "$(< "$scratch/shown")" " cpu.weight 100 100 0 "
}

run_case "limits that were set are read and shown" limits_are_read
run_case "that there is no limit is read and shown" no_limits_are_read
run_case "changed limits are compared" changes_are_compared

# SPDX-License-Identifier: BSD-2-Clause
#
# cpu.weight: shares of one CPU.

. tests/kernels/guest/cgroups.sh

weights_share_a_cpu() {
	local light heavy

	group light cpu.weight=100
	group heavy cpu.weight=400
	actor feather inside light
	actor stone inside heavy
	tell feather pin 1
	tell stone pin 1
	snap before
	order feather spin 1500
	tell stone spin 1500
	heavy=$(($(said cpu) / 1000))
	hear feather
	light=$(($(said cpu) / 1000))
	snap_at_rest after light heavy
	between "a hundred times heavy to light" 280 $((100 * heavy / light)) 550
	group_equals light cpu.weight 100 "it was set to"
	group_equals heavy cpu.weight 400 "it was set to"
	group_moved light cpu.usage_usec $light $((light + 100000))
	group_moved heavy cpu.usage_usec $heavy $((heavy + 100000))
	moved run_time_ns feather $((light * 1000)) $((light * 1000 + 100000000))
	moved run_time_ns stone $((heavy * 1000)) $((heavy * 1000 + 100000000))
}

run_case "weights of 1 and 4 share a CPU as 1 and 4" weights_share_a_cpu

# SPDX-License-Identifier: BSD-2-Clause
#
# The most memory a process ever had.

. tests/kernels/guest/delays.sh

kib_of() {
	echo $(($(key_of "${tid[$1]}" status "$2") * 1024))
}

watermarks_stay() {
	local slack=$((1024 * 1024)) resident

	actor grower
	snap before
	tell grower map 24
	tell grower unmap
	snap after
	resident=$(kib_of grower VmHWM)
	between "what is left" 1 "$(kib_of grower VmRSS)" $((resident - 24 * 1024 * 1024 + slack))
	equals hiwater_vm_bytes grower "$(kib_of grower VmPeak)" "VmPeak is"
	moved hiwater_vm_bytes grower $((24 * 1024 * 1024)) $((24 * 1024 * 1024 + slack)) "it mapped"
	within hiwater_rss_bytes "$(value after grower hiwater_rss_bytes)" $((resident - slack)) "$resident" "VmHWM less some"
	moved hiwater_rss_bytes grower $((24 * 1024 * 1024 - slack)) $((24 * 1024 * 1024 + slack)) "it touched"
	taskstats_agrees grower
}

run_case "watermarks are the most there ever was, after it is gone" watermarks_stay

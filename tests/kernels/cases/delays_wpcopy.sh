# SPDX-License-Identifier: BSD-2-Clause
#
# Delays by copying pages at the first write.

. tests/kernels/guest/delays.sh

pages_of_zeroes_are_copied() {
	local wall

	actor writer
	# What it copies of itself, the first time.
	tell writer zeroes 1
	snap before
	tell writer zeroes 4
	wall=$(said wall)
	snap after
	taskstats_agrees writer
	needs_steady_clock
	moved wpcopy_delay_count writer "$(said pages)" "$(said pages)"
	moved wpcopy_delay_total_ns writer "$(percent "$wall" 10)" "$wall"
	peaks_fit wpcopy writer
}

run_case "a copy at the first write is a delay, page by page" pages_of_zeroes_are_copied

pages_of_a_child_are_copied() {
	local pages

	actor parent
	tell parent map 4
	snap before
	tell parent copy
	pages=$(said pages)
	snap after
	taskstats_agrees parent
	needs_steady_clock
	# Its stack and variables are copied, too, by whoever of the two comes first.
	moved wpcopy_delay_count parent "$pages" $((pages + 16))
	moved wpcopy_delay_total_ns parent "$(percent "$(said wall)" 10)" "$(said since)"
}

run_case "pages shared with a child are copied for the parent that writes" pages_of_a_child_are_copied

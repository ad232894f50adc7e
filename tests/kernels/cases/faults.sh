# SPDX-License-Identifier: BSD-2-Clause
#
# Page faults, with and without I/O.

memory_is_touched() {
	actor toucher
	snap before
	# Each is read and then written to.
	tell toucher zeroes 8
	snap after
	moved minflt toucher $((2 * $(said pages))) $((2 * $(said pages) + 20))
	moved majflt toucher 0 0
	tell toucher usage
	within minflt "$(value after toucher minflt)" $(($(said minflt) - 10)) "$(said minflt)" "getrusage has"
}

files_are_touched() {
	actor reader
	echo 3 > /proc/sys/vm/drop_caches
	snap before
	tell reader fault /dev/vda 30
	snap after
	moved majflt reader 30 30 "pages:"
	moved read_bytes reader $((30 * 4096)) $((30 * 4096)) "of pages:"
	tell reader usage
	equals majflt reader "$(said majflt)" "getrusage has"
}

run_case "each page of new memory is a fault when it is read, and when it is written" memory_is_touched
run_case "each page of a file that is not cached is a fault with I/O" files_are_touched

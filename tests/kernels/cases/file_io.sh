# SPDX-License-Identifier: BSD-2-Clause
#
# What is read and written.
#
# kernels: 6.1 7.2

# did ACTOR READ WRITTEN CALLS_TO_READ CALLS_TO_WRITE FETCHED DIRTIED CANCELLED: what moved of the actor, with
# the order that it read and the answer that it wrote.
did() {
	moved rchar "$1" "$2" "$2" "bytes it read:"
	moved wchar "$1" "$3" "$3" "bytes it wrote:"
	moved syscr "$1" "$4" "$4" "calls:"
	moved syscw "$1" "$5" "$5" "calls:"
	moved read_bytes "$1" "$6" "$6" "bytes from the disk:"
	moved write_bytes "$1" "$7" "$7" "bytes for the disk:"
	moved cancelled_write_bytes "$1" "$8" "$8" "bytes that never got there:"
}

# asked ORDER: its length, as the actor reads it; answered: that of the answer.
asked() {
	echo $((${#1} + 1))
}

answered() {
	echo $((${#said} + 1))
}

reads_are_counted() {
	local words="read /dev/vda 20 12288"

	actor reader
	snap before
	tell reader $words
	snap after
	did reader $((20 * 12288 + $(asked "$words"))) "$(answered)" 21 1 $((20 * 12288)) 0 0
}

writes_are_counted() {
	local words="write /dev/vda 30 8192"

	actor writer
	snap before
	tell writer $words
	snap after
	did writer "$(asked "$words")" $((30 * 8192 + $(answered))) 1 31 0 $((30 * 8192)) 0
}

# While somebody has the disk open, the cache keeps what was written to it.
writes_are_taken_back() {
	local order="discard /dev/vda 1048576" disk

	actor writer
	actor eraser
	exec {disk}< /dev/vda
	snap before
	tell writer dirty /dev/vda 4 16384
	tell eraser $order
	snap after
	moved write_bytes writer 65536 65536 "bytes for the disk:"
	moved cancelled_write_bytes writer 0 0 "it took nothing back:"
	did eraser "$(asked "$order")" "$(answered)" 1 1 0 0 65536
}

run_case "reads past the cache come from the disk, byte for byte" reads_are_counted
run_case "writes go to the disk, byte for byte" writes_are_counted
run_case "cancelled writes count for the thread that discards dirty pages, not for the writer" writes_are_taken_back

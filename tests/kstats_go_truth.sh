# SPDX-License-Identifier: BSD-2-Clause
#
# Calls of a program of Go, measured by the BPF recorder of kstats, beside what the program says of itself
# (tests/programs/runtimes/calls.go). Who sources this sets `driver` and `calls`, as for kstats_truth.sh.

. tests/kstats_truth.sh

method_agrees() {
	trace here start "uprobe:$calls:main.(*S).$1"
	do_calls "${@:2}"
	agrees here
}

# Its frames are larger than a stack is at first, so each goroutine's is moved many times on the way down. All calls
# of it last as long as the sleep at the bottom.
deep_calls_are_told_apart() {
	trace deep start "uprobe:$calls:main.(*S).Deep"
	do_calls deep 40 200
	look deep
	equal "the calls" "$(fact count)" $((40 * 201))
	nothing_is_lost
	awk '$1 == "slot" && $3 < 148 { print; bad = 1 } END { exit bad }' <<< "$table"
	between "the time of all" $((40 * 201 * 2000000)) "$(total)" $((201 * $(did most)))
}

# sum_said KEY: of all programs.
sum_said() {
	local number all=0

	for number in $(cat "$scratch"/said.? | grep -o "$1=[0-9]*"); do
		((all += ${number#*=}))
	done
	echo "$all"
}

# Goroutines of different programs are at the same addresses.
programs_are_told_apart() {
	local i all=()

	trace here start "uprobe:$calls:main.(*S).Nap"
	for i in 1 2 3; do
		"$calls" nap 10 20 > "$scratch/said.$i" &
		all+=($!)
	done
	wait "${all[@]}"
	look here
	equal "the calls" "$(fact count)" 600
	nothing_is_lost
	between "the time" "$(sum_said least)" "$(total)" "$(sum_said most)"
}

# From one function to the call of another: the goroutine sleeps between, and may wake up in another thread.
pair_is_of_one_goroutine() {
	trace pair start "uprobe:$calls:main.(*S).Recover" end "uprobe:$calls:main.(*S).Panic"
	do_calls panic 300
	look pair
	equal "the calls" "$(fact count)" 300
	between "the time" $((300 * 1000000)) "$(total)" "$(did most)"
	equal "where threads are different" "$(loss unmatched)" 0
}

# A function that recovers returns by a RET, too. One that a panic leaves does not.
panics_are_no_returns() {
	trace recovered start "uprobe:$calls:main.(*S).Recover"
	trace left start "uprobe:$calls:main.(*S).Panic"
	do_calls panic 200
	agrees recovered
	look left
	equal "returns of who panics" "$(fact count)" 0
	# The next call of the same goroutine takes the place of the one before.
	equal "starts without an end" "$(loss replaced)" 199
}

ended_goroutines_have_no_return() {
	trace ended start "uprobe:$calls:main.(*S).Exit"
	do_calls exit 50
	look ended
	equal "returns" "$(fact count)" 0
	equal "ends without a start" "$(loss unmatched)" 0
}

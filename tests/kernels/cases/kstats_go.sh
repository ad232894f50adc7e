# SPDX-License-Identifier: BSD-2-Clause
#
# Calls of functions of Go, by probes at their RET instructions: the programs are verified, and R14 is the goroutine.
#
# kernels: 6.1 7.2

. tests/cases.sh
. tests/kstats_go_truth.sh
driver=/bin/kstats_driver
calls=/bin/calls_go

has_go() {
	[ -x "$calls" ] || skip "the host that built this guest has no Go"
	"$@"
}

go_case() {
	local name=$1

	shift
	run_case "kstats of Go: $name" has_go "$@"
}

go_case "calls of a function that sleeps and moves its stack" method_agrees Nap nap 10 10
go_case "calls within calls, on stacks that grow" deep_calls_are_told_apart
go_case "a pair of two functions" pair_is_of_one_goroutine
go_case "panics" panics_are_no_returns

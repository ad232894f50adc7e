# SPDX-License-Identifier: BSD-2-Clause
#
# What ctprof asks of kstats.ko, and reads of it: with debugfs mounted, and without.
#
# modules

. tests/kernels/guest/kstats.sh

ask() {
	kstats_recorder "$@"
}

tracing_by_the_recorder() {
	load
	equal "metrics" "$(ask list)" ""
	ask trace calls bits 4 start some_function
	ask trace pair start kstats_test_begin_pair end tracepoint:kstats_test:kstats_test_finish
	do_test call 100
	ask list | sort > "$scratch/list"
	diff - "$scratch/list" <<- 'END'
		GAP-calls start some_function end - active count 99
		calls start some_function end - active count 100
		pair start kstats_test_begin_pair end tracepoint:kstats_test:kstats_test_finish active count 0
	END
	grep '^slot' $kstats/_raw/calls > "$scratch/raw"
	ask read calls | diff "$scratch/raw" -
	ask v3 calls | diff $kstats/calls -
	ask stop calls
	ask list | grep -x "calls start some_function end - stopped count 100"
	do_test call
	ask start calls
	do_test call
	ask list | grep -x "calls start some_function end - active count 101"
	ask reset calls
	equal "values" "$(ask read calls)" ""
	ask remove calls
	ask remove pair
	equal "metrics" "$(ask list)" ""
	is_clean
}

# says ERRNO PROSE WORDS...
says() {
	local errno=$1 prose=$2

	shift 2
	fails 1 ask "$@"
	has "what is said to '$*'" "$output" "error $errno: "
	has "what is said to '$*'" "$output" "$prose"
}

errors_say_why() {
	local ENOENT=2 EPERM=1 EEXIST=17 EINVAL=22 EOPNOTSUPP=95

	equal "metrics without a module" "$(ask list)" ""
	says $ENOENT "not loaded" read calls
	says $ENOENT "not loaded" trace calls start vfs_read
	load
	ask trace calls start some_function
	says $EEXIST "the metric already exists" trace calls start some_function
	says $ENOENT "no such kernel function" trace other start no_such_function
	says $EPERM "does not allow probing" trace other start kstats_record
	says $EOPNOTSUPP "--via bpf" trace other start syscall:read
	says $EINVAL "a start and an end" trace other start tracepoint:sched:sched_switch
	says $ENOENT "no metric 'other'" reset other
	says $ENOENT "no metric 'other'" remove other
	says $EPERM "is removed with 'calls'" remove GAP-calls
	do_test new api 3
	says $EPERM "its module created it" remove api
	fails 1 "${as_somebody[@]}" /bin/kstats_recorder read calls
	has "what is said to somebody" "$output" "error 13: "
	is_clean_but calls
}

# is_clean_but NAME: which is traced still.
is_clean_but() {
	equal "what is traced" "$(cat $kstats/_control)" "$1"
	control remove "$1"
	is_clean
}

# ctprof mounts it for itself, where nobody sees it.
without_a_mounted_debugfs() {
	load
	ask trace calls start some_function
	do_test call 5
	umount $debug
	at_end "mount -t debugfs debugfs $debug"
	ask list | grep -x "calls start some_function end - active count 5"
	ask reset calls
	ask list | grep -x "calls start some_function end - active count 0"
	ask remove calls
	equal "metrics" "$(ask list)" ""
	! is_mounted
}

run_case "kstats.ko and ctprof: traced, listed, read, commanded and removed" tracing_by_the_recorder
run_case "kstats.ko and ctprof: errors have reasons" errors_say_why
run_case "kstats.ko and ctprof: without a mounted debugfs" without_a_mounted_debugfs

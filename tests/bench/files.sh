# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# Reading /proc, beside a program that only reads the files; and loading and comparing snapshots.

# Each open, read and readlink that a side makes below one process, with its count.
files_of() {
	strace -f -qq -y -e trace=openat,open,read,pread64,readlinkat,readlink,getdents64 \
		-o "$work/strace" "$programs/capture_ratio" "$1" || return 1
	sed -E 's/^[0-9]+ +//' "$work/strace" | grep -oE "^[a-z0-9]+\([0-9]+</proc/$2/?[^>]*>(, \"[^\"/]*\", (O_|0x))?" |
		sed -E 's/\([0-9]+</ /; s/, (O_|0x)$//' | sort | uniq -c
}

calls_in() {
	awk '{ n += $1 } END { print n }' "$1"
}

# A capture from /proc does to files what bare reading does, or more; otherwise their ratio means nothing.
check_same_files() {
	local process

	has strace && start_threads 1 3 || return
	process=$(pgrep -P $sleepers)
	files_of ours "$process" > "$work/ours"
	files_of reference "$process" > "$work/reference"
	stop_threads
	diff "$work/ours" "$work/reference" > "$work/differ"
	if [ ! -s "$work/ours" ] || grep -q '^>' "$work/differ"; then
		could_not "a fair comparison: capture (<) and bare reading (>) differ in files"
		cat "$work/differ"
		return
	fi
	echo "Bare reading makes $(calls_in "$work/reference") calls on the files of a process of 3 threads, and capture from" \
		"/proc $(calls_in "$work/ours")."
}

# capture_larger NAME LARGER: a snapshot of this host, one ten times as large, and the text of both.
capture_larger() {
	$ctprof capture -q -o "$work/$1.zst" &&
		"$programs/replicate" "$work/$1.zst" $larger "$work/$2.zst" &&
		zstd -dqf "$work/$1.zst" -o "$work/$1" &&
		zstd -dqf "$work/$2.zst" -o "$work/$2"
}

# Snapshots of one process and of all; and, after every thread woke, of all once more. Once is enough.
make_snapshots() {
	[ ! -s "$work/later_larger" ] || return 0
	if ! $ctprof capture -q -p $$ -o "$work/one.zst" || ! capture_larger all larger || ! pkill -USR1 -P $sleepers ||
		! sleep 1 || ! capture_larger later later_larger; then
		could_not "snapshots to read"
		return 1
	fi
	captured=$("$programs/load" "$work/all.zst")
}

# scan NAME SIDE FILE
scan() {
	wants "$1" "$2" || return 0
	measure "$programs/timed" "$1" "$2" "$programs/bare_yajl" < "$3"
}

measure_loading() {
	local name=$1 file=$2

	timed "$name" ours "$programs/load" "$file.zst"
	timed "$name" zstd zstd -dcq "$file.zst"
	scan "$name" scan "$file"
}

measure_files() {
	local round

	check_same_files
	start_threads 500 $((threads / 500)) || return
	measure "$programs/capture_ratio" "$rounds" "$work/round.zst"
	# shellcheck disable=SC2046
	measure "$programs/taskstats_ratio" "$rounds" $(pgrep -P $sleepers)
	make_snapshots || return
	sample of capture_memory "$captured"
	sample of load_memory "$captured"
	sample of larger_memory $larger
	while next_round; do
		timed capture_memory few $ctprof capture -q -p $$ -o "$work/round.zst"
		timed capture_memory many $ctprof capture -q -o "$work/round.zst"
		timed load_memory few "$programs/load" "$work/one.zst"
		timed load_memory many "$programs/load" "$work/all.zst"
		timed larger_memory few "$programs/load" "$work/one.zst"
		timed larger_memory many "$programs/load" "$work/larger.zst"
		measure_loading load "$work/all"
		measure_loading larger "$work/larger"
	done
	stop_threads
}

# Compare two snapshots of the larger host: in the usual way, and by the most expensive axis.
measure_compare() {
	local pair=("$work/larger.zst" "$work/later_larger.zst") round

	start_threads 500 $((threads / 500)) || return
	make_snapshots
	stop_threads
	[ -s "$work/later_larger" ] || return
	sample of compare_memory $((2 * larger))
	sample of all_memory $((2 * larger))
	while next_round; do
		timed compare ctprof $ctprof compare "${pair[@]}"
		timed compare zstd1 zstd -dcq "${pair[0]}"
		scan compare scan1 "$work/larger"
		timed compare zstd2 zstd -dcq "${pair[1]}"
		scan compare scan2 "$work/later_larger"
		timed by_all ours $ctprof compare --group-by all "${pair[@]}"
		timed by_all by_pcomm $ctprof compare "${pair[@]}"
		timed compare_memory few $ctprof compare "$work/one.zst" "$work/one.zst"
		timed compare_memory many $ctprof compare "${pair[@]}"
		timed all_memory few $ctprof compare --group-by all "$work/one.zst" "$work/one.zst"
		timed all_memory many $ctprof compare --group-by all "${pair[@]}"
	done
}

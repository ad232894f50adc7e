# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of kstats.sh.

# "kstats hot|cold THREADS SIDE NS", a round after the other
$1 == "kstats" {
	record_ns[$2, $3, $4, ++record_rounds[$2, $3, $4]] = $5
}

# One side with so many threads, divided by another.
function print_record(way, side, threads, other, others, limit, text,   i, n)
{
	n = record_rounds[way, threads, side]
	if (!n || record_rounds[way, others, other] < n) {
		printf "%-8s%-52s  %7s  could not run\n", "-", text, "<= " limit
		return
	}
	for (i = 1; i <= n; i++)
		values[i] = record_ns[way, threads, side, i] / record_ns[way, others, other, i]
	sort(n)
	printf "%-8s%-52s  %7s  %s\n", verdict(median(n) <= limit), text, "<= " limit, spread(n)
}

function record_median(way, threads, side,   i, n)
{
	n = record_rounds[way, threads, side]
	for (i = 1; i <= n; i++)
		values[i] = record_ns[way, threads, side, i]
	sort(n)
	return n ? median(n) : "-"
}

function print_records(way,   threads)
{
	for (threads = 1; threads <= 8; threads *= 2)
		print_record(way, "library", threads, "local", threads, 1.3,
			"a thread-local histogram, " way ", " threads " threads")
	for (threads = 1; threads <= 8; threads *= 2)
		print_record(way, "library", threads, "atomic", threads, 0.25,
			"a shared one, atomics, " way ", " threads " threads")
	print_record(way, "library", 8, "library", 1, 1.2, "8 threads / 1 thread, " way)
}

END {
	printf "        %-52s  %7s  %s\n", "a record of libkstats, beside the same into", "bound", "ratio"
	print_records("hot")
	print_records("cold")
	printf "\n        %-20s  %9s  %12s  %9s  %14s  %12s\n", "ns a record", "nothing", "thread-local", "libkstats",
		"without rseq", "atomics"
	for (way = 1; way <= 2; way++)
		for (count = 1; count <= 8; count *= 2) {
			name = way == 1 ? "hot" : "cold"
			printf "        %-20s  %9.1f  %12.1f  %9.1f  %14.1f  %12.1f\n", name ", " count " threads",
				record_median(name, count, "nothing"), record_median(name, count, "local"),
				record_median(name, count, "library"), record_median(name, count, "fallback"),
				record_median(name, count, "atomic")
		}
}

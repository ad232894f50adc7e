# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of files.sh. In those of memory each "many" is compared with the "few" before it.

$2 == "few" {
	few[$1] = $5
}

$2 == "many" {
	most[$1, ++turns[$1]] = $5 - few[$1]
}

function print_memory(name, limit, divisor, text,   i, n)
{
	n = turns[name]
	if (!n) {
		printf "%-8s%-50s  %5.3g  could not run\n", "-", text, limit
		return
	}
	for (i = 1; i <= n; i++)
		values[i] = most[name, i] / divisor
	sort(n)
	printf "%-8s%-50s  %5.3g  %s\n", verdict(median(n) <= limit), text, limit, spread(n)
}

END {
	printf "%-8s%-50s  %5s  %-25s  %s\n", "", "ratio of times", "bound", "CPU", "wall"
	#           name        bound  what
	print_ratio("capture",   1.25, "capture from /proc / reading the same files bare")
	print_ratio("taskstats", 0.80, "taskstats in batches / one thread at a time")
	print_ratio("write",     0.08, "writing the snapshot / capturing it from /proc")
	print_ratio("load",      1.50, "loading / zstd -dc and a bare yajl scan")
	print_ratio("larger",    1.50, "the same, " larger " threads")
	print_ratio("compare",   1.50, "comparing two of them / zstd -dc, yajl of both")
	print_ratio("by_all",    1.50, "comparing by all / by pcomm")
	printf "\n%-8s%-50s  %5s  %s\n", "", "memory, KiB per thread", "bound", "resident"
	print_memory("capture_memory", 3.0, threads, "peak of ctprof capture")
	print_memory("load_memory",    3.0, threads, "peak of loading")
	print_memory("larger_memory",  3.0, larger,  "the same, " larger " threads")
	print_memory("compare_memory", 2.5, 2 * larger, "peak of comparing two of them")
	print_memory("all_memory",     2.5, 2 * larger, "the same, by all")
}

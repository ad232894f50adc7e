# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of the bench out of its samples, "NAME SIDE WALL CPU [PEAK]" a line.
#
# Sides by turns make a round: each "ours" is divided by the sum of the "reference" lines after it;
# each "many" is compared with the "few" before it. A bound is held against the CPU time: nothing
# here waits, so wall time says the same on an idle host, and on a busy one it says who else ran.

BEGIN {
	#     name            bound  what
	ratio("capture",       1.25, "capture from /proc / reading the same files bare")
	ratio("taskstats",     0.80, "taskstats in batches / one thread at a time")
	ratio("write",         0.08, "writing the snapshot / capturing it from /proc")
	ratio("load",          1.50, "loading / zstd -dc and a bare yajl scan")
	ratio("larger",        1.50, "the same, " larger " threads")
	ratio("compare",       1.50, "comparing two of them / zstd -dc, yajl of both")
	ratio("by_all",        1.50, "comparing by all / by pcomm")
	memory("capture_memory", 3.0, threads, "peak of ctprof capture")
	memory("load_memory",    3.0, threads, "peak of loading")
	memory("larger_memory",  3.0, larger,  "the same, " larger " threads")
	memory("compare_memory", 2.5, 2 * larger, "peak of comparing two of them")
	memory("all_memory",     2.5, 2 * larger, "the same, by all")
}

function ratio(name, limit, text)
{
	ratios[++ratio_count] = name
	bound[name] = limit
	what[name] = text
}

function memory(name, limit, divisor, text)
{
	memories[++memory_count] = name
	bound[name] = limit
	per[name] = divisor
	what[name] = text
}

# --- samples ---

$2 == "ours" {
	round[$1]++
}

$2 == "ours" || $2 == "reference" {
	wall[$1, $2, round[$1]] += $3
	cpu[$1, $2, round[$1]] += $4
}

$2 == "few" {
	few[$1] = $5
}

$2 == "many" {
	kib[$1, ++round[$1]] = ($5 - few[$1]) / per[$1]
}

$1 == "peer" {
	if (!($2 in turns))
		peers[++peer_count] = $2
	turns[$2]++
	peer_wall[$2, turns[$2]] = $3
	peer_cpu[$2, turns[$2]] = $4
}

$1 == "files" {
	for (i = 3; i <= NF; i++)
		files[$2] = files[$2] " " $i
}

# --- values[1..n] in order ---

function sort(n,   i, j, value)
{
	for (i = 2; i <= n; i++) {
		value = values[i]
		for (j = i - 1; j >= 1 && values[j] > value; j--)
			values[j + 1] = values[j]
		values[j + 1] = value
	}
}

function median(n)
{
	return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}

function spread(n)
{
	return sprintf("%.3f (%.3f to %.3f)", median(n), values[1], values[n])
}

# --- tables ---

function print_ratio(name,   i, n, walls)
{
	n = round[name]
	if (!n || !((name, "reference", n) in wall)) {
		printf "%-8s%-50s  %5.2f  could not run\n", "-", what[name], bound[name]
		return
	}
	for (i = 1; i <= n; i++)
		values[i] = wall[name, "ours", i] / wall[name, "reference", i]
	sort(n)
	walls = spread(n)
	for (i = 1; i <= n; i++)
		values[i] = cpu[name, "ours", i] / cpu[name, "reference", i]
	sort(n)
	printf "%-8s%-50s  %5.2f  %-25s  %s\n", median(n) <= bound[name] ? "ok" : "MISSED",
		what[name], bound[name], spread(n), walls
}

function print_memory(name,   i, n)
{
	n = round[name]
	if (!n) {
		printf "%-8s%-50s  %5.2f  could not run\n", "-", what[name], bound[name]
		return
	}
	for (i = 1; i <= n; i++)
		values[i] = kib[name, i]
	sort(n)
	printf "%-8s%-50s  %5.2f  %s\n", median(n) <= bound[name] ? "ok" : "MISSED", what[name],
		bound[name], spread(n)
}

function print_peer(name, first_wall, first_cpu,   i, n, title, seconds)
{
	n = turns[name]
	for (i = 1; i <= n; i++)
		values[i] = peer_wall[name, i]
	sort(n)
	seconds = median(n)
	for (i = 1; i <= n; i++)
		values[i] = peer_cpu[name, i]
	sort(n)
	title = name
	gsub("_", " ", title)
	printf "%-26s  %7.3f  %7.3f  %7.2f  %7.2f  %s\n", title, seconds, median(n),
		first_wall ? seconds / first_wall : 1, first_cpu ? median(n) / first_cpu : 1,
		files[name]
	last_wall = seconds
	last_cpu = median(n)
}

END {
	printf "%-8s%-50s  %5s  %-25s  %s\n", "", "ratio of times", "bound", "CPU", "wall"
	for (i = 1; i <= ratio_count; i++)
		print_ratio(ratios[i])
	printf "\n%-8s%-50s  %5s  %s\n", "", "memory, KiB per thread", "bound", "resident"
	for (i = 1; i <= memory_count; i++)
		print_memory(memories[i])
	printf "\n%-26s  %7s  %7s  %7s  %7s   %s\n", "seconds", "wall", "CPU", "x wall", "x CPU",
		"files of each thread"
	print_peer(peers[1])
	ours_wall = last_wall
	ours_cpu = last_cpu
	for (i = 2; i <= peer_count; i++)
		print_peer(peers[i], ours_wall, ours_cpu)
	print "(ctprof asks for the taskstats and the affinity of each thread as well)"
}

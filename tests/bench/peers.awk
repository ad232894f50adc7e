# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of peers.sh: what each peer costs on each host, and whether our bounds are met.

# "host 50x200 THREADS ROUNDS"
$1 == "host" {
	hosts[++host_count] = $2
	threads_of[$2] = $3
	rounds_on[$2] = $4
}

$1 ~ /:peer$/ {
	host = $1
	sub(/:.*/, "", host)
	if (!($2 in known)) {
		known[$2] = 1
		peers[++peer_count] = $2
	}
	n = ++turns[host, $2]
	peer_wall[host, $2, n] = $3
	peer_cpu[host, $2, n] = $4
	peer_peak[host, $2, n] = $5
}

$1 == "endless" {
	endless[$2, $3] = 1
}

$1 == "files" {
	for (i = 3; i <= NF; i++)
		files[$2] = files[$2] " " $i
}

# "kernel SIDE RUNS SECONDS"
$1 == "kernel" {
	runs[$2]++
	ns_per_run[$2, runs[$2]] = $4 / $3 * 1e9
}

# --- values of one peer on one host ---

function fill(host, name, cost,   i)
{
	for (i = 1; i <= turns[host, name]; i++)
		values[i] = cost[host, name, i]
	sort(turns[host, name])
	return turns[host, name]
}

function middle(host, name, cost)
{
	return median(fill(host, name, cost))
}

# --- tables ---

function print_host(host,   i, name, title, first_wall, first_cpu, seconds, used)
{
	printf "%-24s  %7s  %7s  %7s  %7s  %7s\n",
		threads_of[host] " threads, " host, "wall ms", "CPU ms", "x wall", "x CPU", "peak MiB"
	first_wall = middle(host, "ctprof", peer_wall)
	first_cpu = middle(host, "ctprof", peer_cpu)
	for (i = 1; i <= peer_count; i++) {
		name = peers[i]
		title = name
		gsub("_", " ", title)
		if ((host, name) in endless)
			printf "%-24s  more than a minute of CPU time\n", title
		if (!turns[host, name])
			continue
		seconds = middle(host, name, peer_wall)
		used = middle(host, name, peer_cpu)
		printf "%-24s  %7.1f  %7.1f  %7.2f  %7.2f  %7.1f\n", title, seconds * 1e3, used * 1e3,
			seconds / first_wall, used / first_cpu, middle(host, name, peer_peak) / 1024
	}
	print ""
}

# How often `ours` goes into the peer's cost, at least.
function print_against(host, ours, name, cost, kind, least, text,   i, n)
{
	text = name " / " text ", " kind
	n = turns[host, ours]
	if (!n || turns[host, name] != n) {
		printf "%-8s%-58s  %7s  could not run\n", "-", text, ">= " least
		return
	}
	for (i = 1; i <= n; i++)
		values[i] = cost[host, name, i] / cost[host, ours, i]
	sort(n)
	printf "%-8s%-58s  %7s  %s\n", verdict(median(n) >= least), text, ">= " least, spread(n)
}

function print_bounds_on(host)
{
	printf "%-8s%-58s  %7s\n", "", "on " host, "bound"
	print_against(host, "ctprof", "atop", peer_wall, "wall", 10, "capture and file")
	print_against(host, "ctprof", "atop", peer_cpu, "CPU", 8, "capture and file")
	print_against(host, "ctprof", "ps_-eLo", peer_wall, "wall", 15, "capture and file")
	print_against(host, "ctprof_without_a_file", "atop", peer_wall, "wall", 25,
		"collecting alone")
	print_against(host, "ctprof_without_a_file", "atop", peer_cpu, "CPU", 25,
		"collecting alone")
	print ""
}

# At most so much of the reference, by both kinds of time.
function print_at_most(name, limit, text)
{
	print_kind(name, limit, text ", CPU", cpu)
	print_kind(name, limit, text ", wall", wall)
}

function print_kind(name, limit, text, cost)
{
	if (!has_ratio(name)) {
		printf "%-8s%-58s  %7s  could not run\n", "-", text, "<= " limit
		return
	}
	fill_ratios(name, cost)
	printf "%-8s%-58s  %7s  %s\n", verdict(median(round[name]) <= limit), text, "<= " limit,
		spread(round[name])
}

# 3 KiB a thread and 8 MiB, as a part of which the peak is given.
function print_peak(host,   i, n)
{
	n = turns[host, "ctprof"]
	for (i = 1; i <= n; i++)
		values[i] = peer_peak[host, "ctprof", i] / (3 * threads_of[host] + 8192)
	sort(n)
	printf "%-8s%-58s  %7s  %s\n", verdict(median(n) <= 1),
		"peak / (3 KiB a thread and 8 MiB), " host, "<= 1", spread(n)
}

# CPU time of one thread on the larger host, as a multiple of that on the smaller.
function print_growth(small, large, name,   ratio)
{
	ratio = middle(large, name, peer_cpu) / middle(small, name, peer_cpu)
	ratio *= threads_of[small] / threads_of[large]
	printf "%-8s%-58s  %7s  %.3f\n", name ~ /^ctprof/ ? verdict(ratio <= 1.25) : "",
		name ", CPU per thread, " large " / " small,
		name ~ /^ctprof/ ? "<= 1.25" : "", ratio
}

function print_growths(small, large)
{
	print_growth(small, large, "ctprof")
	print_growth(small, large, "ctprof_without_a_file")
	print_growth(small, large, "atop")
}

function print_kernel(side, text,   i)
{
	for (i = 1; i <= runs[side]; i++)
		values[i] = ns_per_run[side, i]
	sort(runs[side])
	printf "%-8s%-58s  %7s  %.0f ns a thread (%.0f to %.0f)\n", "", text, "", median(runs[side]),
		values[1], values[runs[side]]
}

function print_per_thread(name, side, text,   i, n)
{
	n = round[name]
	for (i = 1; i <= n; i++)
		values[i] = cpu[name, side, i] / threads_of[main] * 1e9
	sort(n)
	printf "%-8s%-58s  %7s  %.0f ns a thread (%.0f to %.0f)\n", "", text, "", median(n),
		values[1], values[n]
}

END {
	for (h = 1; h <= host_count; h++)
		print_host(hosts[h])
	print "files of a thread that leads no process, of each:"
	for (i = 1; i <= peer_count; i++) {
		title = peers[i]
		gsub("_", " ", title)
		printf "%-24s %s\n", title, files[peers[i]] ? files[peers[i]] : " none"
	}
	print ""
	print_bounds_on(main)
	print_bounds_on(other)
	print_at_most("walk", 3, "iterator / an empty iterator")
	print_at_most("written", 3, "JSON and zstd / iterator")
	print_at_most("start", 0.3, "start to first record / libbpf loading the object")
	print_kind("recorder", 0.015, "recording every " interval " s, part of one core", cpu)
	for (h = 1; h <= host_count; h++)
		print_peak(hosts[h])
	for (h = 1; h <= host_count; h++)
		if (threads_of[hosts[h]] > 5 * threads_of[main])
			print_growths(main, hosts[h])
	print ""
	print_per_thread("walk", "reference", "an empty walk")
	print_per_thread("walk", "ours", "the walk")
	print_per_thread("records", "ours", "the walk, and threads into a snapshot")
	print_per_thread("json", "ours", "JSON")
	print_per_thread("written", "ours", "JSON and zstd")
	print_kernel("reference", "an empty program, by the kernel's count")
	print_kernel("ours", "the program, by the kernel's count")
}

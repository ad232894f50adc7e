# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of profile.sh.

# "slow TOOL SECONDS", by turns: each round begins with "nothing".
$1 == "slow" {
	if (!($2 in slow_turns))
		slow_tools[++slow_count] = $2
	slow[$2, ++slow_turns[$2]] = $3
}

$1 == "stacks" {
	stacks[$2] = $3
}

# "begin TOOL MICROSECONDS"
$1 == "begin" {
	begin[++begins] = $3
}

# "memory TOOL RESIDENT MAPS", KiB
$1 == "memory" {
	memory_tools[++memory_count] = $2
	resident[$2] = $3
	maps[$2] = $4
}

# --- what a switch costs ---

function nanoseconds(name, side,   i)
{
	for (i = 1; i <= round[name]; i++)
		values[i] = wall[name, side, i]
	sort(round[name])
	return median(round[name])
}

function print_cost(name, limit, text,   ours, theirs)
{
	if (!has_ratio(name)) {
		printf "%-8s%-52s  %7s  could not run\n", "-", text, limit ? "<= " limit : ""
		return
	}
	ours = nanoseconds(name, "ours")
	theirs = nanoseconds(name, "reference")
	fill_ratios(name, wall)
	printf "%-8s%-52s  %7s  %-23s  %5.0f / %.0f\n",
		limit ? verdict(median(round[name]) <= limit) : "", text,
		limit ? "<= " limit : "", spread(round[name]), ours, theirs
}

# --- how much slower ---

function fill_factors(tool,   i, n)
{
	for (i = 1; i <= slow_turns[tool]; i++)
		if (slow[tool, i] > 0 && slow["nothing", i] > 0)
			values[++n] = slow[tool, i] / slow["nothing", i]
	sort(n)
	return n
}

function print_slow(tool, best,   n, title, middle)
{
	title = tool
	gsub("_", " ", title)
	n = fill_factors(tool)
	if (!n) {
		printf "%-8s%-52s  %7s  could not run\n", "-", title, ""
		return
	}
	middle = median(n)
	printf "%-8s%-52s  %7s  %-23s\n", tool ~ /^ctprof/ ? verdict(middle <= best) : "", title,
		tool ~ /^ctprof/ ? "least" : "", spread(n)
}

function print_slowness(   i, n, best)
{
	printf "%-8s%-52s  %7s  %-23s\n", "", "how often as long the pipe takes beside", "bound", "ratio"
	best = 1e9
	for (i = 1; i <= slow_count; i++)
		if (slow_tools[i] !~ /^(ctprof|nothing)/ && (n = fill_factors(slow_tools[i])) &&
		    median(n) < best)
			best = median(n)
	for (i = 1; i <= slow_count; i++)
		if (slow_tools[i] != "nothing")
			print_slow(slow_tools[i], best)
}

# --- the rest ---

function print_names(name, limit, text, kind, cost)
{
	if (!has_ratio(name)) {
		printf "%-8s%-52s  %7s  could not run\n", "-", text, "<= " limit
		return
	}
	fill_ratios(name, cost)
	printf "%-8s%-52s  %7s  %-23s\n", verdict(median(round[name]) <= limit), text ", " kind,
		"<= " limit, spread(round[name])
}

function print_begin(   i)
{
	if (!begins)
		return
	for (i = 1; i <= begins; i++)
		values[i] = begin[i] / 1000
	sort(begins)
	printf "%-8s%-52s  %7s  %.0f ms (%.0f to %.0f)\n", "", "ctprof offcpu, from start to the command's first",
		"", median(begins), values[1], values[begins]
}

END {
	printf "%-8s%-52s  %7s  %-23s  %s\n", "", "BPF programs, for each switch: ctprof / offcputime",
		"bound", "ratio", "ns"
	print_cost("pipe:same",        0.5,  "pipe, both stacks, all waits")
	print_cost("pipe:period",      0.15, "pipe, --off-cpu-period 10ms")
	print_cost("pipe:times",       0.09, "pipe, --no-stacks")
	print_cost("messaging:same",   0,    "messaging, both stacks, all waits")
	print_cost("messaging:period", 0,    "messaging, --off-cpu-period 10ms")
	print_cost("messaging:times",  0,    "messaging, --no-stacks")
	print_cost("compile:same",     0,    "compiling, both stacks, all waits")
	print_cost("compile:period",   0,    "compiling, --off-cpu-period 10ms")
	print_cost("compile:times",    0,    "compiling, --no-stacks")
	print ""
	print_slowness()
	print ""
	printf "%-8s%-52s  %7s  %-23s\n", "", "names of " stacks["ours"] " stacks, of " \
		stacks["reference"] " samples", "bound", "ratio"
	print_names("names", 1, "ctprof flame / perf script", "CPU", cpu)
	print_names("names", 1, "ctprof flame / perf script", "wall", wall)
	print ""
	print_begin()
	for (i = 1; i <= memory_count; i++)
		printf "%-8s%-52s  %7s  %.1f MiB resident, %.1f MiB of maps\n", "",
			memory_tools[i] ", after many threads", "", resident[memory_tools[i]] / 1024,
			maps[memory_tools[i]] / 1024
}

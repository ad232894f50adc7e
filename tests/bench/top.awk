# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of top.sh.

# "states WORKLOAD WAY SWITCH_NS WAKEUP_NS"
$1 == "states" {
	if (!seen_workload[$2]++)
		workload[++workloads] = $2
	n = ++state_rounds[$2, $3]
	state_ns["switch", $2, $3, n] = $4
	state_ns["wake-up", $2, $3, n] = $5
}

# "watch TOOL WALL CPU PEAK"
$1 == "watch" {
	watched[$2, ++watch_rounds[$2]] = $4
}

# "keys NAME COUNT MEDIAN WORST"
$1 == "keys" {
	keys[$2] = $3
	answer_median[$2] = $4 / 1000
	answer_worst[$2] = $5 / 1000
}

function print_keys(name, text, limit) {
	if (!keys[name]) {
		printf "%-8s%-30s  could not run\n", "-", text
		return
	}
	printf "%-8s%-30s  %-8s%.3f ms, worst of %d %.3f ms\n", limit ? verdict(answer_worst[name] <= limit) : "",
		text, limit ? "<= " limit : "", answer_median[name], keys[name], answer_worst[name]
}

function print_cost(what, name, limit,   i, n) {
	n = state_rounds[name, "exact"]
	for (i = 1; i <= n; i++)
		values[i] = state_ns[what, name, "exact", i] - state_ns[what, name, "nothing", i]
	sort(n)
	printf "%-8s%-30s  %-8s  <= %-4d  %s ns\n", verdict(median(n) <= limit), name, what, limit, spread(n)
}

function print_watch(tool, limit,   i, n) {
	n = watch_rounds[tool]
	if (!n || watch_rounds["counters"] < n) {
		printf "%-8s%-30s  could not run\n", "-", tool
		return
	}
	for (i = 1; i <= n; i++)
		values[i] = watched["counters", i] / watched[tool, i]
	sort(n)
	printf "%-8s%-30s  <= %-4s  %s\n", verdict(median(n) <= limit), "counters / " tool, limit, spread(n)
}

END {
	print "Exact thread states, net of programs that do nothing (gross less gross)"
	for (w = 1; w <= workloads; w++) {
		print_cost("switch", workload[w], 170)
		print_cost("wake-up", workload[w], 130)
	}
	print ""
	print "Until a key is answered, with " threads " threads and all CPUs busy; the bound is for the worst"
	print_keys("exact", "exact", 50)
	print_keys("counters", "counters", 50)
	print_keys("echo", "what does nothing but answer", 0)
	print ""
	print "CPU time of watching " threads " threads, windows of a second"
	print_watch("atop", 0.2)
	print_watch("htop", 0.2)
	for (tool in watch_rounds) {
		for (i = 1; i <= watch_rounds[tool]; i++)
			values[i] = watched[tool, i]
		sort(watch_rounds[tool])
		printf "        %-30s  %s s of CPU\n", tool, spread(watch_rounds[tool])
	}
}

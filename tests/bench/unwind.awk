# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of unwind.sh.

# "walk PROGRAM WAY NS", a round after the other
$1 == "walk" {
	walks[$2, $3, ++walk_rounds[$2, $3]] = $4
}

# Without what a program costs that does nothing.
function net(program, way, i)
{
	return walks[program, way, i] - walks[program, "nothing", i]
}

function print_walk(program, way, limit, text,   i, n)
{
	n = walk_rounds[program, way]
	if (!n || walk_rounds["deep_pointers", "by_kernel"] < n) {
		printf "%-8s%-52s  %7s  could not run\n", "-", text, limit ? "<= " limit : ""
		return
	}
	for (i = 1; i <= n; i++)
		values[i] = net(program, way, i) / net("deep_pointers", "by_kernel", i)
	sort(n)
	printf "%-8s%-52s  %7s  %-23s", limit ? verdict(median(n) <= limit) : "", text,
		limit ? "<= " limit : "", spread(n)
	for (i = 1; i <= n; i++)
		values[i] = walks[program, way, i]
	sort(n)
	printf "  %5.0f\n", median(n)
}

END {
	printf "        %-52s  %7s  %-23s  %5s\n", "22 frames, beside the kernel's walk by pointers", "bound",
		"ratio", "ns"
	print_walk("deep", "walked", 1.2, "by tables, code without frame pointers")
	print_walk("deep", "recognised", 0.6, "known again")
	print_walk("deep_pointers", "walked", 0, "by tables, code with frame pointers")
	print_walk("deep_pointers", "recognised", 0, "known again")
	print_walk("deep_pointers", "by_kernel", 0, "by the kernel")
	print_walk("deep_pointers", "nothing", 0, "a program that does nothing")
}

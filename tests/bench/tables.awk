# SPDX-License-Identifier: BSD-2-Clause
#
# What the tables of the bench share: its samples, "NAME SIDE WALL CPU [PEAK]" a line, and numbers
# out of them.
#
# Sides by turns make a round: each "ours" is divided by the sum of the "reference" lines after it.

$2 == "ours" {
	round[$1]++
}

$2 == "ours" || $2 == "reference" {
	wall[$1, $2, round[$1]] += $3
	cpu[$1, $2, round[$1]] += $4
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

# --- ratios of sides ---

function fill_ratios(name, cost,   i)
{
	for (i = 1; i <= round[name]; i++)
		values[i] = cost[name, "ours", i] / cost[name, "reference", i]
	sort(round[name])
}

function has_ratio(name)
{
	return round[name] && (name, "reference", round[name]) in wall
}

function verdict(is_met)
{
	return is_met ? "ok" : "MISSED"
}

# One that says what it is of, its bound, and both kinds of time; the bound is held against the CPU
# time: nothing here waits, so wall time says the same on an idle host, and on a busy one it says who
# else ran.
function print_ratio(name, limit, text,   n, walls)
{
	n = round[name]
	if (!has_ratio(name)) {
		printf "%-8s%-50s  %5.3g  could not run\n", "-", text, limit
		return
	}
	fill_ratios(name, wall)
	walls = spread(n)
	fill_ratios(name, cpu)
	printf "%-8s%-50s  %5.3g  %-25s  %s\n", verdict(median(n) <= limit), text, limit, spread(n),
		walls
}

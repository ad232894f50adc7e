# SPDX-License-Identifier: BSD-2-Clause
#
# What people read in a table, turned back into numbers: which cells say something else than JSON.
# A line has METRIC BASELINE CANDIDATE DELTA PERCENT of the table, and METRIC UNIT BASELINE CANDIDATE
# DELTA PERCENT of JSON.

BEGIN {
	scales("ns", 1, 1000, "ns µs ms s"); scales("us", 1000, 1000, "µs ms s")
	scales("ms", 1000000, 1000, "ms s"); scales("ticks", 100, 1000, "s"); base["ticks"] = 1
	scales("bytes", 1, 1024, "B KiB MiB GiB TiB"); scales("KiB", 1024, 1024, "KiB MiB GiB TiB")
	base["count"] = base[""] = base["ratio"] = base["percent"] = 1
	scale["count", ""] = scale["", ""] = scale["ratio", ""] = scale["percent", "%"] = 1
	scale["count", "K"] = 1e3; scale["count", "M"] = 1e6; scale["count", "G"] = 1e9
}
function scales(unit, first, step, rungs,   n, i, names) {
	base[unit] = first
	n = split(rungs, names, " ")
	for (i = 1; i <= n; i++)
		scale[unit, names[i]] = first * step ^ (i - 1)
}
function abs(x) { return x < 0 ? -x : x }
# What the last digit of a number stands for.
function place(digits) { return match(digits, /[.]/) ? 10 ^ (RSTART - length(digits)) : 1 }
function check(cell, number, unit,   digits, suffix, value, slack) {
	if (number !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ || cell == "same" && number == 0)
		return
	sub(/ [(].*/, "", cell)
	match(cell, /^[-+]?[0-9.]+/)
	digits = substr(cell, 1, RLENGTH)
	suffix = substr(cell, RLENGTH + 1)
	if (RLENGTH < 1 || !((unit, suffix) in scale)) {
		print $1 ": \"" cell "\" for " number " " unit
		return
	}
	value = digits * scale[unit, suffix] / base[unit]
	slack = place(digits) / 2 * scale[unit, suffix] / base[unit]
	if (digits !~ /[.]/ && number !~ /[.e]/)
		slack = 0
	if (abs(value - number) > slack * 1.000001 + 1e-12 * abs(number))
		print $1 ": \"" cell "\" for " number " " unit
	checked[unit]++
}
$1 != $6 { print $1 " stands where " $6 " is"; exit }
$8 == "null" && $2 != "-" && $2 != "no events" { print $1 ": \"" $2 "\" for nothing" }
{ check($2, $8, $7); check($3, $9, $7); check($4, $10, $7) }
$5 ~ /^>1000x/ && $11 <= 100000 { print $1 ": \"" $5 "\" for " $11 " %" }
$11 ~ /^-?[0-9]/ && $5 !~ /^>/ && abs($5 - $11) > 0.05 * 1.000001 { print $1 ": \"" $5 "\" for " $11 " %" }
$5 == "new" && ($8 != 0 || $10 <= 0) { print $1 ": new, from " $8 }
$11 == "null" && $5 != "-" && $5 != "new" { print $1 ": \"" $5 "\" for no percentage" }
END { if (checked["ns"] < 50 || checked["count"] < 50 || checked["bytes"] < 20)
	print "too few cells to check" }

# SPDX-License-Identifier: BSD-2-Clause
#
# rows.awk ROWS SAMPLES: print rows of the bench. Set `names` to the names of rows, and `form` to one of
#
#	text     the table for a terminal, and the median of each side
#	line     what was met and missed, on one line
#	kinds    with page.awk: the table of the kinds of work, as Markdown
#	rows     with page.awk: the table of all rows
#	picture  with page.awk: how much of its bound each row takes, as SVG
#
# ROWS is tests/bench/rows, which says what the fields are. A sample is "SAMPLE SIDE NUMBER...", and "of SAMPLE N" says
# how many threads its numbers are of.

BEGIN {
	wanted_count = split(names, wanted, " ")
	column["wall"] = 1
	column["cpu"] = 2
	column["peak"] = 3
	# Of seconds, KiB, fractions; and as they are.
	factor["ms"] = 1e3
	factor["%"] = 100
	factor["x"] = factor["s"] = factor["ns"] = factor["MB/s"] = factor["KiB/thread"] = 1
	factor["ns/thread"] = 1e9
	factor["MiB"] = 1 / 1024
}

# --- what was read ---

FNR == NR {
	if ($1 == "kind:")
		last_kind = substr($0, length("kind: ") + 1)
	else if ($1 == "more:")
		last_kind = ""
	else if (NF >= 9 && $1 !~ /^#/)
		read_row()
	next
}

$1 == "of" {
	threads_of[$2] = $3
	next
}

NF >= 3 {
	side = $1 SUBSEP $2
	if (!rounds[side]++)
		sides[++side_count] = side
	for (i = 3; i <= NF; i++)
		number[side, i - 2, rounds[side]] = $i
	numbers_of[side] = NF - 2
}

function read_row(   i, text, at)
{
	sample[$1] = $3
	which[$1] = $4 in column ? column[$4] : $4
	value[$1] = $5
	bound[$1] = $6
	floor_value[$1] = $7
	is_whole[$1] = sub(/^whole:/, "", floor_value[$1])
	kind[$1] = last_kind
	unit[$1] = $8
	text = $9
	for (i = 10; i <= NF; i++)
		text = text " " $i
	at = index(text, ": ")
	work[$1] = substr(text, 1, at - 1)
	part[$1] = substr(text, at + 2)
}

# --- values[1..n] in order ---

function sort(n,   i, j, one)
{
	for (i = 2; i <= n; i++) {
		one = values[i]
		for (j = i - 1; j >= 1 && values[j] > one; j--)
			values[j + 1] = values[j]
		values[j + 1] = one
	}
}

function median(n)
{
	return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}

function side_median(side, which,   i)
{
	for (i = 1; i <= rounds[side]; i++)
		values[i] = number[side, which, i]
	sort(rounds[side])
	return median(rounds[side])
}

# --- VALUE of a row ---

# The side that a term means, "" if none was measured.
function side_of(name, term,   all, n, i, side, best, least, middle)
{
	n = split(term, all, "|")
	for (i = 1; i <= n; i++) {
		side = index(all[i], "@") ? all[i] : sample[name] "@" all[i]
		sub(/@/, SUBSEP, side)
		if (!(side in rounds))
			continue
		middle = side_median(side, which[name])
		if (best == "" || middle < least) {
			best = side
			least = middle
		}
	}
	return best
}

# A sum of sides in terms_of[key, 1..]; the number of rounds that all have.
function read_sum(name, key, sum,   n, least, term)
{
	terms[key] = 0
	least = 1e9
	while (match(sum, /[-+]?[^-+]+/)) {
		term = substr(sum, 1, RLENGTH)
		sum = substr(sum, RLENGTH + 1)
		n = ++terms[key]
		sign[key, n] = term ~ /^-/ ? -1 : 1
		sub(/^[-+]/, "", term)
		term_side[key, n] = side_of(name, term)
		if (rounds[term_side[key, n]] + 0 < least)
			least = rounds[term_side[key, n]] + 0
	}
	return least
}

function sum_of(name, key, round,   i, sum)
{
	for (i = 1; i <= terms[key]; i++)
		sum += sign[key, i] * number[term_side[key, i], which[name], round]
	return sum
}

# Fills values[] with the row's numbers of each round, in order, and returns how many there are.
function evaluate(name, expression,   halves, n, i, k, m, below)
{
	n = split(expression, halves, "/")
	k = read_sum(name, 1, halves[1])
	if (n > 1 && (i = read_sum(name, 2, halves[2])) < k)
		k = i
	above = 0
	for (i = 1; i <= k; i++) {
		below = n > 1 ? sum_of(name, 2, i) : threads_of[sample[name]] && unit[name] ~ /thread/ ? threads_of[sample[name]] : 1
		if (!below)
			continue
		values[++m] = sum_of(name, 1, i) / below * factor[unit[name]]
		above += values[m] > 1
	}
	sort(m)
	return m
}

# --- verdicts ---

# The chance of so many or more of n when both are as likely.
function chance(n, many,   i, j, ways, sum)
{
	for (i = many; i <= n; i++) {
		ways = 1
		for (j = 1; j <= i; j++)
			ways *= (n - i + j) / j
		sum += ways
	}
	return sum / 2 ^ n
}

# Fills now, least, most, floor_now, limit and verdict; of a row without samples, now is "".
function judge(name,   n, wanted, is_least)
{
	now = floor_now = limit = verdict = ""
	if (floor_value[name] != "-" && (n = evaluate(name, floor_value[name])))
		floor_now = median(n)
	n = evaluate(name, value[name])
	if (!n) {
		verdict = "-"
		return
	}
	now = median(n)
	least = values[1]
	most = values[n]
	wanted = bound[name]
	if (wanted == "-")
		return
	if (wanted == "=1") {
		limit = 1
		verdict = now > 1 && chance(n, above) < 0.05 ? "MISSED" : "ok"
		return
	}
	is_least = wanted ~ /^>=/
	sub(/^[<>]=/, "", wanted)
	limit = wanted + 0
	if (wanted ~ /\*floor$/) {
		if (floor_now == "") {
			limit = ""
			return
		}
		limit *= floor_now
	}
	if (is_least ? now >= limit : now <= limit)
		verdict = "ok"
	else if (is_whole[name] && floor_now != "" && (is_least ? now * 1.25 >= floor_now : now <= floor_now * 1.25))
		verdict = "floor"
	else
		verdict = "MISSED"
}

function short(x)
{
	return x == "" ? "-" : sprintf(x >= 1000 || x == int(x) ? "%.0f" : x >= 100 ? "%.0f" : "%.3g", x)
}

function bound_text(name)
{
	if (bound[name] == "-")
		return ""
	if (bound[name] ~ /floor/)
		return limit == "" ? "floor" : "<= " short(limit)
	return substr(bound[name], 1, 2) == "=1" ? "= 1" : substr(bound[name], 1, 2) " " substr(bound[name], 3)
}

function unit_text(name)
{
	return unit[name] == "x" ? "" : " " unit[name]
}

# --- for a terminal ---

function print_text(   i, name, title)
{
	printf "%-7s %-16s %-80s %8s  %-28s %7s\n", "", "row", "work", "bound", "median (smallest to largest)", "floor"
	for (i = 1; i <= wanted_count; i++) {
		name = wanted[i]
		judge(name)
		title = work[name] ": " part[name]
		printf "%-7s %-16s %-80s %8s  %-28s %7s\n", verdict, name, title, bound_text(name),
			now == "" ? "not measured" : short(now) unit_text(name) " (" short(least) " to " short(most) ")",
			floor_value[name] == "-" ? "" : short(floor_now)
	}
}

function print_sides(   i, j, key, line)
{
	printf "\n%-28s %-28s %6s  %s\n", "sample", "side", "rounds", "medians: wall s, CPU s, peak KiB; or as tests/bench/rows says"
	for (i = 1; i <= side_count; i++) {
		split(sides[i], key, SUBSEP)
		line = ""
		for (j = 1; j <= numbers_of[sides[i]]; j++)
			line = line sprintf(" %10.5g", side_median(sides[i], j))
		printf "%-18s %-24s %6d %s\n", key[1], key[2], rounds[sides[i]], line
	}
}

# --- on one line ---

function listed(title, list)
{
	return list == "" ? "" : "; " title ": " substr(list, 3)
}

function print_line(   i, missed, without, at_floor, met, all)
{
	for (i = 1; i <= wanted_count; i++) {
		judge(wanted[i])
		all += verdict != ""
		met += verdict == "ok"
		if (verdict == "MISSED")
			missed = missed ", " wanted[i] " " short(now) unit_text(wanted[i])
		if (verdict == "floor")
			at_floor = at_floor ", " wanted[i] " " short(now) unit_text(wanted[i])
		if (verdict == "-")
			without = without ", " wanted[i]
	}
	print met " of " all " ok" listed("at the floor", at_floor) listed("missed", missed) listed("not measured", without)
}

END {
	if (form == "text") {
		print_text()
		print_sides()
	} else if (form == "line") {
		print_line()
	} else {
		print_for_page(form)
	}
}

# SPDX-License-Identifier: BSD-2-Clause
#
# The forms of rows.awk for doc/performance.md. Set `runs` to a file with the lines of earlier runs, newest first, as the
# form "line" prints them.

function markdown(text)
{
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	return text
}

# How much of its bound a row takes: up to 1 it is met. After judge(); "" without a bound.
function part_of_bound(name)
{
	if (now == "" || limit == "")
		return ""
	if (now <= 0)
		return bound[name] ~ /^>/ ? 1e9 : 0
	return bound[name] ~ /^>/ ? limit / now : now / limit
}

# A row that misses its bound is worse than any that does not.
function badness(name,   part)
{
	part = part_of_bound(name)
	return part == "" ? -1 : (verdict == "MISSED") * 2e9 + (verdict == "floor") * 1e9 + part
}

# --- a line for each kind of work ---

function print_kind_line(title, name)
{
	judge(name)
	printf "| %s | %s | %s | %s | %s | %s |\n", title, markdown(work[name] ": " part[name]),
		now == "" ? "-" : "**" short(now) unit_text(name) "**", markdown(bound_text(name)), short(floor_now), verdict
}

function print_kinds(   i, count, order, worst, most, title, bad)
{
	print "| | the worst row | now | bound | floor | |"
	print "|---|---|---|---|---|---|"
	for (i = 1; i <= wanted_count; i++) {
		title = kind[wanted[i]]
		if (title == "")
			continue
		judge(wanted[i])
		bad = badness(wanted[i])
		if (!(title in worst))
			order[++count] = title
		if (!(title in worst) || bad > most[title]) {
			worst[title] = wanted[i]
			most[title] = bad
		}
	}
	for (i = 1; i <= count; i++)
		print_kind_line(order[i], worst[order[i]])
}

# --- all rows ---

# Rows of a run, by its line.
function rows_of(line)
{
	sub(/ ok(;.*)?$/, "", line)
	sub(/^.* of /, "", line)
	return line + 0
}

# Is the row named behind a title of the line of a run, as in "; missed: a 1, b 2; not measured: c"?
function is_named(line, name)
{
	sub(/^.* of [0-9]+ ok;?/, "", line)
	gsub(/[:;,]/, " ", line)
	return index(" " line " ", " " name " ") != 0
}

# Runs of fewer rows say nothing about others.
function read_runs(   line, i, bounds)
{
	for (i = 1; i <= wanted_count; i++)
		bounds += bound[wanted[i]] != "-"
	while (runs != "" && (getline line < runs) > 0)
		if (rows_of(line) >= bounds)
			run_lines[++run_count] = line
}

# How many runs in a row, with this one, the row was ok.
function runs_ok(name,   i)
{
	if (verdict != "ok")
		return 0
	for (i = 1; i <= run_count && !is_named(run_lines[i], name); i++)
		;
	return i
}

function print_rows(   i, name)
{
	read_runs()
	print "| row | work | now | bound | floor | | runs ok, to now |"
	print "|---|---|---|---|---|---|---|"
	for (i = 1; i <= wanted_count; i++) {
		name = wanted[i]
		judge(name)
		printf "| %s | %s | %s | %s | %s | %s | %s |\n", name, markdown(work[name] ": " part[name]),
			now == "" ? "-" : short(now) unit_text(name), markdown(bound_text(name)), short(floor_now), verdict,
			(limit == "" ? "" : runs_ok(name))
	}
}

# --- the picture ---

# Columns of the picture: names, bars from 0 to twice the bound, and numbers.
function print_style(width, height)
{
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n",
		width, height, width, height
	print "<style>"
	print "text { fill: #1f2328 } line { stroke: #59636e } .ok { fill: #2da44e } .floor { fill: #bf8700 } .MISSED { fill: #cf222e }"
	print "@media (prefers-color-scheme: dark) {"
	print "text { fill: #f0f6fc } line { stroke: #9198a1 } .ok { fill: #3fb950 } .floor { fill: #d29922 } .MISSED { fill: #f85149 } }"
	print "</style>"
}

function xml(text)
{
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	return text
}

function clipped(part)
{
	return part > 2 ? 2 : part
}

function print_mark(at, top, bottom, width)
{
	printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke-width=\"%d\"/>\n", at, top, at, bottom, width
}

function print_bar(name, y, left, scale,   used, floor_used)
{
	used = part_of_bound(name)
	floor_used = (floor_now == "" || floor_now <= 0) ? "" : (bound[name] ~ /^>/ ? limit / floor_now : floor_now / limit)
	printf "<g><title>%s</title>\n", xml(work[name] ": " part[name])
	printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left - 8, y + 12, name
	printf "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"12\"/>\n", verdict, left, y + 2, scale * clipped(used)
	if (floor_used != "" && floor_used <= 2)
		print_mark(left + scale * floor_used, y, y + 16, 3)
	printf "<text x=\"%d\" y=\"%d\">%s, %s%s</text></g>\n", left + 2 * scale + 8, y + 12,
		xml(short(now) unit_text(name)), xml(bound_text(name)), (used > 2 ? sprintf(": %.1f times", used) : "")
}

function print_picture(   i, count, y, left, scale, step, drawn)
{
	left = 110
	scale = 200
	step = 20
	for (i = 1; i <= wanted_count; i++) {
		judge(wanted[i])
		if (part_of_bound(wanted[i]) != "")
			drawn[++count] = wanted[i]
	}
	print_style(left + 2 * scale + 230, 30 + step * count)
	printf "<text x=\"%d\" y=\"14\" text-anchor=\"middle\">bound</text>\n", left + scale
	printf "<text x=\"%d\" y=\"14\" text-anchor=\"end\">twice the bound</text>\n", left + 2 * scale
	printf "<text x=\"%d\" y=\"14\">floor</text>\n", left + 12
	print_mark(left + 6, 3, 17, 3)
	for (i = 1; i <= count; i++) {
		y = 24 + step * (i - 1)
		judge(drawn[i])
		print_bar(drawn[i], y, left, scale)
	}
	print_mark(left + scale, 20, 24 + step * count, 1)
	print_mark(left + 2 * scale, 20, 24 + step * count, 1)
	print "</svg>"
}

function print_for_page(form)
{
	if (form == "kinds")
		print_kinds()
	else if (form == "rows")
		print_rows()
	else
		print_picture()
}

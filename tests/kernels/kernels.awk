# SPDX-License-Identifier: BSD-2-Clause
#
# doc/kernels.md out of results/*, whose names are those of the kernels. Fails when something is there that nobody measured, but for the kernels in
# some_only, " NAME NAME ", where only some cases run.

BEGIN {
	FS = "\t"
	for (i = 1; i < ARGC; i++) {
		name = ARGV[i]
		sub(/.*\//, "", name)
		kernels[++kernel_count] = name
	}
}

FNR == 1 {
	kernel = FILENAME
	sub(/.*\//, "", kernel)
}

# note(MAP, LIST, KEY): KEY is in the list once, in the order of the first that named it.
function note(seen, list, key) {
	if (!(key in seen)) {
		seen[key] = 1
		list[++list[0]] = key
	}
}

$1 == "boot" { boot = $2 }
$1 == "kernel" { release[kernel] = $2 }
$1 == "machine" { machine[kernel] = $2 }
$1 == "doctor" && boot == "full" {
	note(source_seen, sources, $2)
	gives[$2] = $5
	here[$2, kernel] = $3
	why[$2, kernel] = $4
}
$1 == "doctor" && boot == "bare" && $3 != "yes" { bare[$2, kernel] = $4 }
$1 == "metric" && boot == "full" {
	note(metric_seen, metrics, $2)
	lacks[$2, kernel] = $3
}
$1 == "fact" {
	# All kinds of memory are one metric.
	sub(/^smaps_rollup_kib\..*/, "smaps_rollup_kib", $3)
	if (!($3 in metric_seen))
		note(value_seen, values, $3)
	proved[$3, kernel] = 1
	if (!(($3, $2) in cases_seen)) {
		cases_seen[$3, $2] = 1
		cases[$3] = cases[$3] (cases[$3] == "" ? "" : ", ") $2
	}
}
/^ok - / {
	promise = substr($0, 6)
	note(promise_seen, promises, promise)
	kept[promise, kernel] = 1
	said[++said_count] = promise
}
$1 == "ended" {
	ran[$2, kernel] = 1
	for (; said_count; said_count--)
		case_of[said[said_count]] = $2
}

# --- cells ---

# The number of the note that says this.
function footnote(text) {
	if (!(text in note_of)) {
		notes[++note_count] = text
		note_of[text] = note_count
	}
	return "<sup>" note_of[text] "</sup>"
}

function print_notes(  i) {
	print ""
	for (i = 1; i <= note_count; i++)
		print i ". " notes[i]
	note_count = 0
	split("", note_of)
}

function print_head(first, last,  i, line, rule) {
	line = "| " first " |"
	rule = "|---|"
	for (i = 1; i <= kernel_count; i++) {
		line = line " " kernels[i] " |"
		rule = rule "---|"
	}
	print line (last == "" ? "" : " " last " |")
	print rule (last == "" ? "" : "---|")
}

function source_cell(source, kernel) {
	if (!((source, kernel) in here))
		return nobody(source, kernel)
	if (here[source, kernel] == "yes")
		return "✔"
	return (here[source, kernel] == "no" ? "✖" : "partly") footnote(why[source, kernel])
}

# Only what is there when it was turned on at boot.
function bare_cell(source, kernel) {
	if (here[source, kernel] != "yes" || !((source, kernel) in bare))
		return ""
	return "✖" footnote(bare[source, kernel])
}

function metric_cell(metric, kernel) {
	if ((metric, kernel) in proved)
		return "✔"
	if (lacks[metric, kernel] != "")
		return "–" footnote(lacks[metric, kernel])
	return nobody(metric, kernel)
}

function tick_or_dash(is_so, kernel) {
	return is_so ? "✔" : runs_some_only(kernel) ? "" : "–"
}

# A case that was not run there says nothing.
function promise_cell(promise, kernel) {
	if ((promise, kernel) in kept)
		return "✔"
	return (case_of[promise], kernel) in ran ? "–" : ""
}

function cell(kind, key, kernel) {
	if (kind == "source")
		return source_cell(key, kernel)
	if (kind == "bare")
		return bare_cell(key, kernel)
	if (kind == "metric")
		return metric_cell(key, kernel)
	if (kind == "value")
		return tick_or_dash((key, kernel) in proved, kernel)
	return promise_cell(key, kernel)
}

function runs_some_only(kernel) {
	return index(some_only, " " kernel " ")
}

function nobody(what, kernel) {
	if (runs_some_only(kernel))
		return ""
	print "nobody measured " what " on " kernel > "/dev/stderr"
	failed = 1
	return "?"
}

# --- tables ---

# print_row(HEAD, KIND, KEY, LAST): with a cell for each kernel; one without anything in it is left out.
function print_row(head, kind, key, last,  k, text, line, any) {
	for (k = 1; k <= kernel_count; k++) {
		text = cell(kind, key, kernels[k])
		any = any || text != ""
		line = line " " text " |"
	}
	if (any)
		print "| " head " |" line (last == "" ? "" : " " last " |")
}

function print_sources(  i) {
	print_head("what", "")
	for (i = 1; i <= sources[0]; i++)
		print_row(gives[sources[i]] " (`" sources[i] "`)", "source", sources[i], "")
	print_notes()
}

function print_bare(  i) {
	print_head("what", "")
	for (i = 1; i <= sources[0]; i++)
		print_row("`" sources[i] "`", "bare", sources[i], "")
	print_notes()
}

function print_metrics(  i) {
	print_head("metric", "proved by")
	for (i = 1; i <= metrics[0]; i++)
		print_row("`" metrics[i] "`", "metric", metrics[i],
			cases[metrics[i]] == "" ? "–" : cases[metrics[i]])
	print_notes()
}

function print_values(  i) {
	print_head("value", "proved by")
	for (i = 1; i <= values[0]; i++)
		print_row("`" values[i] "`", "value", values[i], cases[values[i]])
}

function print_promises(  i) {
	print_head("guarantee", "")
	for (i = 1; i <= promises[0]; i++)
		print_row(promises[i], "promise", promises[i], "")
}

function print_kernels(  k) {
	print "| kernel | release | machine |"
	print "|---|---|---|"
	for (k = 1; k <= kernel_count; k++)
		print "| " kernels[k] " | " release[kernels[k]] " | " machine[kernels[k]] " |"
}

END {
	print "# What works on which kernel\n"
	print "This page shows which sources, metrics and guarantees tests have verified on which kernel. `make doc`"
	print "generates it from tests/kernels/results: the results of the last `./check kernels --all`, which boots these"
	print "kernels in QEMU, and of later runs of single cases (`./check kernels --keep`). The cases of"
	print "tests/kernels/cases make the kernel count something, and compare ctprof's numbers with what the kernel says"
	print "by other means.\n"
	print_kernels()
	print "\n## Sources\n"
	print "Results of `ctprof doctor`, run as root, on a kernel booted with `delayacct schedstats=enable psi=1`.\n"
	print_sources()
	print "\nAlso missing on a kernel booted without these parameters and with `psi=0`:\n"
	print_bare()
	print "\n## Metrics of threads\n"
	print "✔: a case changed the metric, or gave it a known value, and ctprof was right. –: no thread has the"
	print "metric, and ctprof says so. Empty: only some cases run on that kernel.\n"
	print_metrics()
	print "\n## Values of cgroups and of the host\n"
	print "✔: the same. –: it was 0 in every case, or the kernel does not have it.\n"
	print_values()
	print "\n## Guarantees\n"
	print "The names of the cases. –: the case was skipped. Empty: it was not run there, because it is slow or newer"
	print "than the last complete run.\n"
	print_promises()
	exit failed
}

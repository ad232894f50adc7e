# SPDX-License-Identifier: BSD-2-Clause
#
# What single cases said, in place of what results have of them, or behind it:
#
#	awk -v cases=" NAME NAME " -f keep_cases.awk NEW KEPT
#
# Both are results of one kernel (run: keep). A case is the lines before its "ended". Of a boot that ran, the
# metrics are those of this ctprof, which may have more of them; what else there is of a kernel as a whole
# (machine, doctor) stays as it is. Fails when the two are of different releases, or when a
# case did not end.

BEGIN { FS = "\t" }

# The lines of a case so far.
function begin_case() {
	block = ""
}

$1 == "boot" { boot = $2; begin_case() }
$1 == "kernel" { release[FILENAME] = $2 }

# What was not tried says nothing against what was.
FILENAME == ARGV[1] && /^skip - / { skipped = 1 }

FILENAME == ARGV[1] {
	if ($1 == "metric")
		known[boot] = known[boot] $0 "\n"
	if ($1 == "ended" && skipped) {
		ended[$2] = 1
		skipped = 0
	} else if ($1 == "ended" && index(cases, " " $2 " ")) {
		said[boot, $2] = block $0 "\n"
		ways[boot, ++count[boot]] = $2
		ended[$2] = 1
	}
	if ($1 == "ended")
		begin_case()
	else if ($1 == "fact" || /^ok - /)
		block = block $0 "\n"
	next
}

# Behind the last case of a boot, those that it did not have.
function put_new(way,  i, name) {
	for (i = 1; i <= count[way]; i++) {
		name = ways[way, i]
		if (!((way, name) in put))
			printf "%s", said[way, name]
	}
	count[way] = 0
}

$1 == "boot" {
	put_new(last)
	last = boot
}
$1 == "fact" || /^ok - / {
	block = block $0 "\n"
	next
}
$1 == "ended" {
	if ((boot, $2) in said) {
		printf "%s", said[boot, $2]
		put[boot, $2] = 1
	} else {
		printf "%s%s\n", block, $0
	}
	begin_case()
	next
}
$1 == "metric" && boot in known {
	printf "%s", known[boot]
	known[boot] = ""
	next
}
{ print }

END {
	put_new(last)
	for (way in count)
		if (count[way]) {
			print "boot\t" way
			put_new(way)
		}
	if (release[ARGV[1]] != release[ARGV[2]]) {
		print "results are of " release[ARGV[2]] ", and not of " release[ARGV[1]] > "/dev/stderr"
		exit 1
	}
	split(cases, names, " ")
	for (i in names)
		if (!(names[i] in ended)) {
			print names[i] " did not end" > "/dev/stderr"
			exit 1
		}
}

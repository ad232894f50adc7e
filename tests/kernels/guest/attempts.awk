# SPDX-License-Identifier: BSD-2-Clause
#
# What the cases of a file said at two attempts, as one:
#
#	awk -f attempts.awk FIRST SECOND
#
# A case that failed both times has failed. One that failed once has passed, and its line says why it failed. In the
# order of the first attempt, then what only the second has.

# The line without its verdict and what an earlier attempt added.
function name_of(line) {
	sub(/^(not ok|ok|skip) - /, "", line)
	sub(/ \(at (the second|one) attempt(;| of two:) .*/, "", line)
	return line
}

# The reason is what a case printed before its first command that failed.
function add_detail(line) {
	details[attempt, name] = details[attempt, name] line "\n"
	sub(/^ +/, "", line)
	if (line ~ /^failed: / && reason[attempt, name] != "")
		has_reason[attempt, name] = 1
	if (line != "" && !has_reason[attempt, name])
		reason[attempt, name] = substr(line, 1, 200)
}

# A file may be empty.
FILENAME == ARGV[2] { attempt = 2 }
FILENAME != ARGV[2] { attempt = 1 }

/^(ok|not ok|skip) - / {
	name = name_of($0)
	# Some cases have the same name.
	name = name SUBSEP (++seen[attempt, name])
	verdict[attempt, name] = $0
	if (!(name in is_known)) {
		is_known[name] = 1
		names[++count] = name
	}
	next
}

/^    / && name != "" { add_detail($0) }

# verdict_is VERDICT of an attempt, which may lack the case.
function verdict_is(word, attempt, name) {
	return (attempt, name) in verdict && index(verdict[attempt, name], word " - ") == 1
}

# Did earlier attempts differ?
function has_remark(attempt, name) {
	return verdict[attempt, name] != "ok - " substr(name, 1, index(name, SUBSEP) - 1)
}

function put_verdict(attempt, name) {
	print verdict[attempt, name]
	printf "%s", details[attempt, name]
}

END {
	for (i = 1; i <= count; i++) {
		name = names[i]
		if (verdict_is("not ok", 1, name) && verdict_is("ok", 2, name))
			print verdict[2, name] " (at the second attempt; the first: " reason[1, name] ")"
		else if (verdict_is("ok", 1, name) && verdict_is("not ok", 2, name) && !has_remark(1, name))
			print verdict[1, name] " (at one attempt of two: " reason[2, name] ")"
		else if (verdict_is("not ok", 2, name) || !((1, name) in verdict))
			put_verdict(2, name)
		else
			put_verdict(1, name)
	}
}

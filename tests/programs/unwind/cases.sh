# SPDX-License-Identifier: BSD-2-Clause
#
# The rows of `cases` for tests that are bash, which have read tests/cases.sh.
#
#	each_chain check              check NAME PROGRAM ARGUMENTS CHAIN, for each of them
#	start_known PROGRAM ARGUMENTS it runs until the case ends, as $pid; "five:nap" are two
#	has_chain FILE CHAIN          a line of folded stacks is that chain

unwind_programs=build/tests/programs/unwind

# The ways that a program is built in.
builds_of() {
	local path

	if [[ $1 != *+ ]]; then
		echo "$1"
		return
	fi
	for path in "$unwind_programs/${1%+}" "$unwind_programs/${1%+}"-*; do
		[ ! -x "$path" ] || basename "$path"
	done
}

each_chain() {
	local program arguments chain build

	while read -r program arguments chain; do
		for build in $(builds_of "$program"); do
			"$1" "$build $arguments" "$build" "$arguments" "$chain"
		done
	done < <(grep -v '^#\|^$' tests/programs/unwind/cases)
}

start_known() {
	local arguments

	[ -x "$unwind_programs/$1" ] || skip "$1 could not be built here"
	IFS=: read -ra arguments <<< "${2#-}"
	start "$unwind_programs/$1" "${arguments[@]}"
	[[ $2 != open:* ]] || open_late
}

# The library comes after everybody has looked.
open_late() {
	kill -USR1 "$pid"
	until grep -q '^open' "$said"; do
		kill -0 "$pid"
		sleep 0.01
	done
}

# As a pattern for lines of which each name ends with ";".
chain_pattern() {
	awk -F';' '{
		pattern = "^([^;]*;){0,4}"
		for (i = 1; i <= NF; i++) {
			name = $i
			if (name == "*") {
				pattern = pattern "([^;]*;)*"
				continue
			}
			times = ""
			if (match(name, /\{[0-9]+\}$/)) {
				times = substr(name, RSTART)
				name = substr(name, 1, RSTART - 1)
			}
			rest = sub(/\*$/, "", name) ? "[^;]*" : ""
			gsub(/[].*+?(){}|^$\\[]/, "\\\\&", name)
			pattern = pattern "(" name rest ";)" times
		}
		print pattern
	}' <<< "$1"
}

has_chain() {
	sed -E 's/ [0-9]+$/;/' "$1" | grep -qE -- "$(chain_pattern "$2")" ||
		{ echo "no stack is $2"; head -n 20 "$1"; return 1; }
}

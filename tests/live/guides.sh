# SPDX-License-Identifier: BSD-2-Clause
#
# The guides (doc/guide-*.md) are true: each problem that they show is planted, their commands run, and the cause is
# on the first screen of one of at most two commands. Part of tests/live/run.

. tests/live/transcripts.sh

services=$scratch/services
install_services || exit 2
place=$PWD/$disks/services
mkdir -p "$place"

# matches WHAT PATTERNS: each is in a line of standard input.
matches() {
	local text pattern rest="$2 & "

	text=$(cat)
	while [ -n "$rest" ]; do
		pattern=${rest%% & *} rest=${rest#* & }
		grep -qE -- "$pattern" <<< "$text" || {
			echo "$1: no line matches '$pattern':"
			echo "$text"
			return 1
		}
	done
}

# finds_the_cause SERVICE PATTERNS COMMANDS
finds_the_cause() {
	local rest="$3 ;; " command count=0

	is_root
	plant "$1" "$place"
	at_end "kill $planted"
	while [ -n "$rest" ]; do
		command=$(of_service "${rest%% ;; *}")
		rest=${rest#* ;; }
		if [ "$command" = ./deploy ]; then
			deploy "$1" "$place"
			at_end "kill $planted"
			continue
		fi
		[[ $command == capture* ]] || count=$((count + 1))
		first_screen "$place" "$command" > "$scratch/screen"
	done
	((count >= 1 && count <= 2)) || { echo "$count commands"; return 1; }
	matches "ctprof $command" "$2" < "$scratch/screen"
}

# the_page_shows_it GUIDE PATTERNS: the lines of its transcript match too.
the_page_shows_it() {
	awk -v patterns="$2" '
		index($0, "found: " patterns " -->") { is_ours = 1; next }
		/^```/ && is_ours { if (is_in) exit; is_in = 1; next }
		is_in' "$1" | matches "$1" "$2"
}

# Each in one or two commands, as the cases below count.
problems_are_twelve() {
	list_transcripts doc/guide-*.md | cut -f 2 | sort -u > "$scratch/problems"
	between "the number of planted problems" 12 "$(wc -l < "$scratch/problems")" 100
}

run_case "guide: twelve problems at least are planted" problems_are_twelve

# A row for each transcript.
while IFS=$'\t' read -r guide service patterns commands; do
	run_case "guide: $service: ctprof $commands" alone finds_the_cause "$service" "$patterns" "$commands"
	run_case "guide: $service: the page shows it" the_page_shows_it "$guide" "$patterns"
done < <(list_transcripts doc/guide-*.md)

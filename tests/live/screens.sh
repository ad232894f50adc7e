# SPDX-License-Identifier: BSD-2-Clause
#
# What commands print about the running host by default: it fits terminals of 80, 100 and 160 columns, the pipe has whole
# cells and the same rows, the answer is on the first screen, and the commands that it names are there. Part of
# tests/live/run.

. tests/screens.sh

PATH=$scratch:$PATH
first_screen=24

# Something to see: threads that wait for a lock, and that run.
begins_work() {
	start "$programs/lock_waits" mutex
	start "$programs/busy" 2
}

# is_faultless WHAT < FAULTS
is_faultless() {
	local found

	found=$(head -20)
	[ -z "$found" ] || { echo "$1: $found"; return 1; }
}

# Each run prints other numbers: only its layout is looked at.
fit_terminals() {
	local command columns name

	begins_work
	for command; do
		name=$(sed -E 's/.*ctprof ([a-z-]+).*/\1/' <<< "$command")
		take_screens "$command"
		[ -s "$scratch/screen.pipe" ]
		misfits "$scratch/screen" | is_faultless "$command"
		for columns in pipe 80 100 160; do
			said_by "$name" < "$scratch/screen.$columns" > "$scratch/said"
			commands_are_taken 0 < "$scratch/said"
			options_are_taken 0 < "$scratch/said"
			! declare -F "answer_of_$name" > "$scratch/page" || "answer_of_$name" "$scratch/screen.$columns"
		done
	done
}

# The overview is on the first screen, and ends with a command.
answer_of_diff() {
	sed '/^$/{ N; /\nbaseline: /Q }' "$1" > "$scratch/first"
	between "lines of the overview" 5 "$(wc -l < "$scratch/first")" $first_screen
	tail -n 1 "$scratch/first" | grep -q '^\(.*?\)\? * ctprof [a-z]'
}

# So are programs by reason, and the first waits; the last lines are commands.
answer_of_offcpu() {
	between "the line of programs" 2 "$(line_of '## Programs' "$1")" 5
	between "the line of waits" 5 "$(line_of '## Waits' "$1")" $((first_screen - 3))
	tail -n 1 "$1" | grep -qE '^As a picture: (ctprof|add) '
}

answer_of_profile() {
	between "the line of programs" 2 "$(line_of '## Programs' "$1")" 5
	between "the line of functions" 5 "$(line_of '## Functions' "$1")" $((first_screen - 3))
	tail -n 1 "$1" | grep -qE '^As a picture: (ctprof|add) '
}

line_of() {
	grep -nm 1 "^$1" "$2" | cut -d : -f 1
}

# What was stored is the same in each run.
stored_ones_fit() {
	begins_work
	"$ctprof" diff -q -o "$scratch/p" 300ms > "$scratch/out"
	"$ctprof" profile -q --mode both -d 300ms -o "$scratch/p.json"
	cd "$scratch"
	fits "ctprof compare p.baseline.ctprof.zst p.candidate.ctprof.zst" \
		"ctprof compare p.baseline.ctprof.zst p.candidate.ctprof.zst --group-by cgroup" \
		"ctprof show p.candidate.ctprof.zst" "ctprof show-host p.candidate.ctprof.zst" \
		"ctprof show p.candidate.ctprof.zst lock_waits" "ctprof flame p.json" | is_faultless "stored"
}

# Metrics of a place of their own.
metrics_fit() {
	in_place=("${inside[@]}" ctprof kstats)
	"${in_place[@]}" trace reads start syscall:read > "$scratch/out"
	at_end '"${in_place[@]}" remove reads'
	begins_work
	fit_terminals "${in_place[*]} list" "${in_place[*]} show reads" "${in_place[*]} run during start syscall:read -- true"
	said_by kstats < "$scratch/out" > "$scratch/said"
	commands_are_taken 1 < "$scratch/said"
}

run_case "screens: what was stored has the same rows on terminals as in a pipe" needs_bpf stored_ones_fit
run_case "screens: reports on this host" needs_bpf fit_terminals "ctprof doctor" "ctprof show-host" \
	"cd $scratch; ctprof capture -o x.zst 2>&1" "ctprof diff 300ms" "ctprof offcpu -d 300ms" "ctprof profile -d 300ms" \
	"ctprof top --batch -n 1 -i 200ms"
run_case "screens: metrics" needs_bpf has_own_place metrics_fit

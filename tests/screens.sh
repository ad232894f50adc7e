# SPDX-License-Identifier: BSD-2-Clause
#
# What commands print into a pipe and on terminals, and what their output tells readers to type: checks that hold for any
# report. For tests/golden/run and parts of tests/live/run.

# Durations, the time and the version.
mask() {
	local version=${version-none}

	sed -E -e 's/ in [0-9]+ ms \([0-9]+ ms CPU\)/ in N ms (N ms CPU)/' \
		-e 's/ in [0-9]+ ms;/ in N ms;/' \
		-e "s/: $(date -u +%Y)-[0-9-]+ [0-9:]+ UTC/: NOW UTC/" \
		-e "s/(ctprof |\"version\":\")${version//./\\.}/\1VERSION/"
}

# --- screens ---

# on_terminal COLUMNS COMMAND: run it on a terminal of that width, and print what stays there: not the progress, which
# busy hosts see, and which is wiped before the output begins.
on_terminal() {
	local size="cols $1 rows 24"

	shift
	env -u COLUMNS TERM="${TERM_OF_CASE-xterm}" script -qec "stty $size; $*" /dev/null < /dev/null |
		sed 's/.*\r\x1b\[K//' | tr -d '\r'
	return "${PIPESTATUS[0]}"
}

# take_screens COMMAND: to $scratch/screen.pipe and $scratch/screen.COLUMNS, the latter without colours.
take_screens() {
	local columns

	bash -c "$1" | mask > "$scratch/screen.pipe"
	for columns in 80 100 160; do
		PAGER= on_terminal $columns "$1" | sed 's/\x1b\[[0-9;]*m//g; s/ *$//' | mask > "$scratch/screen.$columns"
	done
}

number='[-+]?[0-9][0-9.,]*([µmn]?s|[KMGTP]?i?B|[KMGTP]|%)?'

# The numbers in rows of tables, once each. A column "rest" is the sum of what did not fit.
numbers_of() {
	awk '/^## / { has_rest = 0 } /^ .* rest$/ { has_rest = 1 } /^ [^ ]/ { if (has_rest) NF--; print }' "$1" | tr -s ' ' '\n' | grep -xE "$number" | sort -u
}

# Rows of each table, and what a table left out.
rows_of() {
	awk '/^## / { table = $0 } /^ [^ ]/ && !/^ columns that did not fit/ { rows[table]++ } /^ *\.\.\. / { print }
		END { for (table in rows) print table, rows[table] }' "$1" | sort
}

# misfits FILES: lines that are wider than the terminal, numbers of tables that are cut; in the pipe, colours, and names of
# tables that are cut.
misfits() {
	local columns

	sed -nE $'s/\033/colour in a pipe: /p' "$1.pipe"
	sed -nE '/^## /,${ s/^ .*([^ ]…|…[^ ])/cut in a pipe: &/p; }' "$1.pipe"
	for columns in 80 100 160; do
		awk -v columns=$columns '{ line = $0; gsub(/[\200-\277]/, "", line) }
			length(line) > columns { print "wider than " columns ": " $0 }' "$1.$columns"
		sed -nE "s/(^| )$number…/cut number: &/p" "$1.$columns"
	done
}

# print_table FILE HEADING
print_table() {
	awk -v heading="$2" '/^## / { is_in = $0 == heading } is_in' "$1"
}

# faults FILES: these, and what is not the same on terminals as in the pipe: numbers, and rows of tables.
faults() {
	local columns heading

	misfits "$1"
	for columns in 80 100 160; do
		comm -23 <(numbers_of "$1.$columns") <(numbers_of "$1.pipe") | sed 's/^/another number: /'
		comm -13 <(rows_of "$1.pipe") <(rows_of "$1.$columns") | sed -E 's/ [0-9]+$//' | while read -r heading; do
			echo "other rows at $columns:"
			print_table "$1.$columns" "$heading"
		done
	done
}

# fits COMMAND...: only what is wrong. Each command is one word.
fits() {
	local command

	for command; do
		take_screens "$command"
		[[ -s $scratch/screen.pipe ]] || echo "nothing in the pipe"
		faults "$scratch/screen" | sed "s/^/$command: /"
	done
}

# --- hints: of lines of output on standard input, each behind the subcommand that printed it and a tab ---

# said_by COMMAND: the lines of standard input as such lines.
said_by() {
	sed "s/^/$1\t/"
}

# The commands that they name, one a line. They end with the line, or before a mark or a verb of the sentence.
list_commands() {
	local known

	known=$(ctprof --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p' | paste -sd '|')
	grep -vE 'usage: |\[OPTIONS\]|(recordings|engine) of ctprof' |
		sed -nE 's/^[^\t]*\t(.*[ (]|.*sudo )?ctprof ([a-z-]+( [^);]*)?)[);]?.*/\2/p' |
		sed -E 's/ (says|shows|writes|lists) .*|,.*//' | { grep -E "^($known)( [^:]*)?$" || :; } | sort -u
}

# "(--all)", "rows: --sections host": the command that said so, and the option. Sections are of those that print them.
list_options() {
	grep -v 'ctprof [a-z]' | sed -nE 's/^([^\t]*)\t.*(\(|: )(--[a-z][a-z-]*).*/\1 \3/p' |
		sed 's/^metric-list --sections/show --sections/' | sort -u
}

# commands_are_taken LEAST: with --help behind them, their options and values are looked at, and nothing runs. They are
# no fewer than LEAST, or they are not found any more.
commands_are_taken() {
	local command count=0

	cd "$scratch" || return
	while read -r command; do
		(eval "ctprof ${command/ -- / --help -- } --help") > "$scratch/page" || :
		grep -q '^usage: ctprof' "$scratch/page" || { echo "ctprof $command"; return 1; }
		count=$((count + 1))
	done < <(list_commands)
	echo "$count commands"
	((count >= $1))
}

# options_are_taken LEAST: are they in the help of the command?
options_are_taken() {
	local command option count=0

	while read -r command option; do
		ctprof "$command" --help > "$scratch/page"
		grep -qE "^ +(-.,)? *$option( |\$)" "$scratch/page" ||
			{ echo "$option, which ctprof $command names"; return 1; }
		count=$((count + 1))
	done < <(list_options)
	echo "$count options"
	((count >= $1))
}

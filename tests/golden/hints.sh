# SPDX-License-Identifier: BSD-2-Clause
#
# What the transcripts and the guides tell readers to type is taken by the program: commands, and options of the command
# that said so. Part of tests/golden/run.

# list_said FILE...: the standard output of transcripts and guides, each line behind the subcommand that printed it and a
# tab. Options of pages of help, and of other programs, are not meant.
list_said() {
	awk '
		FNR == 1 { command = ""; inside = 0 }
		FILENAME ~ /\.md$/ && /^```/ { inside = !inside; command = ""; next }
		FILENAME ~ /\.md$/ && !inside { next }
		{ line = $0; sub(/^  /, "", line) }
		line ~ /^[$>] / {
			if (line ~ /^\$/)
				command = ""
			if (line ~ /(^|[ (;])help|--help| -h\>|--markdown|--format scdoc/)
				command = "-"
			else if (match(line, /ctprof [a-z-]+/) && command == "")
				command = substr(line, RSTART + 7, RLENGTH - 7)
			next
		}
		command != "" && command != "-" && line !~ /^(!|\[)/ { print command "\t" line }' "$@"
}

# The commands in that output, one a line. They end with the line, or before a mark or a verb of the sentence.
list_commands() {
	grep -vE 'usage: |\[OPTIONS\]|(recordings|engine) of ctprof' |
		sed -nE 's/^[^\t]*\t(.*[ (]|.*sudo )?ctprof ([a-z-]+( [^);]*)?)[);]?.*/\2/p' |
		sed -E 's/ (says|shows|writes|lists) .*|,.*//' | grep -E "^($commands)( [^:]*)?$" | sort -u
}
commands=$(ctprof --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p' | paste -sd '|')

# "(--all)", "rows: --sections host": the command that said so, and the option. Sections are of those that print them.
list_options() {
	grep -v 'ctprof [a-z]' | sed -nE 's/^([^\t]*)\t.*(\(|: )(--[a-z][a-z-]*).*/\1 \3/p' |
		sed 's/^metric-list --sections/show --sections/' | sort -u
}

# With --help behind them, options and their values are looked at, and nothing runs.
commands_are_taken() {
	local command count=0

	cd "$scratch"
	while read -r command; do
		eval "ctprof ${command/ -- / --help -- } --help" > "$scratch/page"
		grep -q '^usage: ctprof' "$scratch/page" || { echo "ctprof $command"; return 1; }
		count=$((count + 1))
	done < <(list_said "$@" | list_commands)
	echo "$count commands"
	# Otherwise, they are not found any more.
	((count >= 15))
}

options_are_taken() {
	local command option count=0

	while read -r command option; do
		ctprof "$command" --help > "$scratch/page"
		grep -qE "^ +(-.,)? *$option( |\$)" "$scratch/page" || { echo "$option, which ctprof $command names"; return 1; }
		count=$((count + 1))
	done < <(list_said "$@" | list_options)
	echo "$count options"
	((count >= 10))
}

said=("$root"/tests/golden/cases/* "$root"/doc/guide-*.md)
run_case "commands that transcripts name" commands_are_taken "${said[@]}"
run_case "options that transcripts name" options_are_taken "${said[@]}"

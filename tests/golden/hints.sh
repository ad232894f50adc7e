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

transcripts=("$root"/tests/golden/cases/* "$root"/doc/guide-*.md)
list_said "${transcripts[@]}" > "$scratch/said"
taken() {
	"$@" < "$scratch/said"
}
run_case "commands that transcripts name" taken commands_are_taken 15
run_case "options that transcripts name" taken options_are_taken 10

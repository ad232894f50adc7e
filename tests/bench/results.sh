# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# Prints the rows, and puts the last run into the part of doc/performance.md between two marks, which is written by
# nothing else: a table of the kinds of work, a picture (doc/performance.svg), a table of all rows, and a line for each
# run, newest first.

mark_begin='<!-- begin: written by the bench -->'
mark_end='<!-- end: written by the bench -->'
kept_runs=10

# print_rows FORM
print_rows() {
	awk -v names="${names[*]}" -v form="$1" -v runs="$work/runs" -f "$work/rows.awk" -f "$work/page.awk" "$rows" "$samples"
}

machine() {
	echo "$(date +%F), $(nproc) CPUs ($(sed -n 's/^model name\t*: //p' /proc/cpuinfo | head -n 1))," \
		"Linux $(uname -r | grep -oE '^[0-9]+\.[0-9]+')"
}

# With a "+" if other files than the page differ from it.
commit() {
	local commit changes

	commit=$(git rev-parse --short HEAD 2> /dev/null) || {
		echo unknown
		return
	}
	changes=$(git status --porcelain --untracked-files=no -- . ":!$page" ":!$picture")
	echo "$commit${changes:+ with changes}"
}

# Lines of earlier runs in the page.
earlier_runs() {
	sed -n "/^$mark_begin\$/,/^$mark_end\$/s/^- /&/p" $page | head -n $((kept_runs - 1))
}

results_section() {
	echo "$mark_begin"
	echo
	echo "$(machine), commit $(commit), $kind:"
	echo
	print_rows kinds
	echo
	echo "![how much of its bound each row takes](${picture##*/})"
	echo
	echo "All rows:"
	echo
	print_rows rows
	echo
	echo "Runs, newest first:"
	echo
	echo "- $(machine), commit $(commit), $kind: $(print_rows line)"
	cat "$work/runs"
	echo
	echo "$mark_end"
}

append_results() {
	if ! grep -qx "$mark_begin" $page || ! grep -qx "$mark_end" $page; then
		echo "$page has no place for results"
		failed=1
		return
	fi
	earlier_runs > "$work/runs"
	results_section > "$work/section"
	print_rows picture > "$picture"
	awk -v begin="$mark_begin" -v end="$mark_end" -v section="$work/section" '
		$0 == begin { while ((getline line < section) > 0) print line; is_old = 1 }
		!is_old { print }
		$0 == end { is_old = 0 }' $page > "$work/page" && cat "$work/page" > $page &&
		echo && echo "The results are in $page."
}

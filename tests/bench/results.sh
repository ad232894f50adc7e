# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# Prints the rows, and puts them into the part of doc/performance.md between two marks, which is written by nothing else:
# the table and the chart of the last run, and below it a line for each run, newest first.

mark_begin='<!-- begin: written by the bench -->'
mark_end='<!-- end: written by the bench -->'
kept_runs=10

# print_rows FORM
print_rows() {
	awk -v names="${names[*]}" -v form="$1" -f "$work/rows.awk" "$rows" "$samples"
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
	changes=$(git status --porcelain --untracked-files=no -- . ":!$page")
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
	print_rows page
	echo
	echo "Runs, newest first:"
	echo
	echo "- $(machine), commit $(commit), $kind: $(print_rows line)"
	earlier_runs
	echo
	echo "$mark_end"
}

append_results() {
	if ! grep -qx "$mark_begin" $page || ! grep -qx "$mark_end" $page; then
		echo "$page has no place for results"
		failed=1
		return
	fi
	results_section > "$work/section"
	awk -v begin="$mark_begin" -v end="$mark_end" -v section="$work/section" '
		$0 == begin { while ((getline line < section) > 0) print line; is_old = 1 }
		!is_old { print }
		$0 == end { is_old = 0 }' $page > "$work/page" && cat "$work/page" > $page &&
		echo && echo "The results are in $page."
}

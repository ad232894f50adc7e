# SPDX-License-Identifier: BSD-2-Clause
#
# Two snapshots of this host, compared and shown in every way there is, against what jq makes of the
# snapshots. Part of tests/live/run.

before=$scratch/before.zst
after=$scratch/after.zst
report=$scratch/report
warnings=$scratch/warnings

# snapshot NAME: this host, and its JSON beside it. What is booked, to the digit: what waits in progress
# add has tests of its own.
snapshot() {
	"$ctprof" capture -q --source proc -o "$scratch/$1.zst"
	zstd -qdcf "$scratch/$1.zst" > "$scratch/$1.json"
}

# The facts of the pair, "NAME=VALUE" a line, for the cases.
note_fact() {
	printf '%s=%q\n' "$1" "$2" >> "$scratch/facts"
}

# The id of the container that a process of the pair is in.
container=$(printf 'c0ffee%058d' 7)

# Between the snapshots one process ends and one begins, some work, one by another user, and one in
# what is called as Docker's cgroups are. The counters of the host are read around them.
take_pair() {
	local here="" dying parent

	is_root
	# A name that others on this host do not have.
	cp "$programs/busy" "$scratch/paired"
	start "$scratch/paired" 3
	note_fact lasting "$pid"
	start_sleep "${as_nobody[@]}"
	start "$programs/named" ends-here
	dying=$ready parent=$pid
	note_fact dying "$dying"
	if [ -n "${cgroup-}" ]; then
		here=$cgroup/docker-$container.scope
		mkdir "$mount$here"
		at_end 'rmdir "$mount$cgroup/docker-$container.scope"'
		start_in "$here"
		note_fact contained "$pid"
	fi
	note_fact container_path "$here"
	read_host_counters > "$scratch/counters.0"
	snapshot before
	read_host_counters > "$scratch/counters.1"
	kill -9 "$parent"
	start "$programs/named" begins-here
	note_fact born "$ready"
	sleep 0.5
	while [ -d "/proc/$dying" ]; do
		sleep 0.01
	done
	read_host_counters > "$scratch/counters.2"
	snapshot after
	read_host_counters > "$scratch/counters.3"
	"$ctprof" compare --format json --all-rows "$before" "$after" > "$scratch/full"
}

# Without cgroups to make, the pair has no container.
pair_is_taken() {
	: > "$scratch/facts"
	if (with_cgroup true) > /dev/null; then
		with_cgroup take_pair
	else
		take_pair
	fi
}

run_case "two snapshots to compare" always pair_is_taken
[ ! -s "$scratch/facts" ] || . "$scratch/facts"

# on_pair COMMAND...: a case that needs the two.
on_pair() {
	[ -s "$scratch/full" ] || skip "there are no two snapshots"
	"$@"
}

# compare OPTIONS...: what JSON says of the pair, in $report.
compare() {
	"$ctprof" compare --format json "$@" "$before" "$after" > "$report" 2> "$warnings"
}

show() {
	"$ctprof" show --format json "$@" "$before" > "$report" 2> "$warnings"
}

# is_so FILTER ARGUMENTS...: true of the report.
is_so() {
	jq -e "$@" "$report" > "$scratch/so" || {
		echo "this is not so: $1"
		head -c 400 "$scratch/so"
		return 1
	}
}

# same_lines WHAT GOT WANTED: two files, in any order, and not empty.
same_lines() {
	[ -s "$3" ] || { echo "$1: nothing to compare with"; return 1; }
	diff <(sort "$2") <(sort "$3") > "$scratch/difference" || {
		echo "$1: wrong (<) and missing (>)"
		head -n 10 "$scratch/difference" | cut -c 1-300
		return 1
	}
}

# The report has those rows of the whole one that FILTER lets through.
rows_are() {
	jq -c ".rows[] | select(.section | startswith(\"only-\") | not) | $2" "$1" > "$scratch/wanted"
	jq -c '.rows[] | select(.section | startswith("only-") | not)' "$report" > "$scratch/got"
	same_lines rows "$scratch/got" "$scratch/wanted"
}

# chooses FILTER OPTIONS...: an option of compare that picks rows.
chooses() {
	compare "${@:2}"
	rows_are "$scratch/full" "$1"
}

show_chooses() {
	show --all-rows
	cp "$report" "$scratch/full-show"
	show "${@:2}"
	rows_are "$scratch/full-show" "$1"
}

# --- axes ---

# What makes the group of a thread, for jq: $processes by number, $users by uid. `compare` adds
# options where names would be made alike.
by_process='.tgid as $t | $processes["\($t)"]'
axis_key() {
	case $1 in
	pcomm) echo '.pcomm' ;;
	cgroup) echo '.cgroup' ;;
	comm | comm-exact) echo '.comm' ;;
	pcomm-comm) echo '"\(.pcomm) > \(.comm)"' ;;
	all) echo '"\(.cgroup) > \(.pcomm) > \(.comm)"' ;;
	exe) echo "$by_process.exe // \"(?)\"" ;;
	cmdline) echo "$by_process.cmdline // \"(?)\"" ;;
	user) echo "$by_process.uid as \$u | \$users[\"\\(\$u)\"] // \"\\(\$u)\"" ;;
	unit) echo '.cgroup / "/" | map(select(. != "")) | (map(test("[.]slice$")) | index(false)) as $n
		| (if $n == null then .[-1] else .[$n] end) // "(?)"
		| if test("^[A-Za-z0-9:_.\\\\-]+(@.*)?[.](service|scope|slice)$") then ltrimstr("_") else "(?)" end' ;;
	container) echo '[.cgroup | scan("[0-9a-f]{64}")] | if length > 0 then .[-1][:12] else "(?)" end' ;;
	thread) echo '"[\(.tid)]"' ;; # it may have changed its name
	esac
}

# label_of AXIS: what is left of a group's name, for jq. What has no name of its own stands in
# parentheses.
label_of() {
	[ "$1" = thread ] && echo 'capture("\\[(?<tid>[0-9]+)\\]$").tid' ||
		echo 'if test("^[(].*[)]$") then "(?)" else . end'
}

# sums_of FILE AXIS: "GROUP THREADS RUN-TIME", by jq alone.
sums_of() {
	jq -r '([.processes[] | {key: "\(.tgid)", value: .}] | from_entries) as $processes
		| (.users // {}) as $users
		| [.threads[] | {time: .run_time_ns, key: ('"$(axis_key "$2")"' | '"$(label_of "$2")"')}]
		| group_by(.key)[] | [.[0].key, length, (map(.time) | add)] | @json' "$scratch/$1.json"
}

# The same out of the report: sums_in_report VALUE THREADS SECTION AXIS, with one side's names of the
# columns, and of the section of its groups that the other has not.
sums_in_report() {
	jq -r --arg side "$1" --arg threads "$2" --arg alone "$3" '
		[.rows[] | select(.metric == "run_time_ns")
			| select((.section | startswith("only-") | not) or .section == $alone)
			| {key: (.group | '"$(label_of "$4")"'), threads: .[$threads], time: .[$side]}
			| select(.time != null)]
		| group_by(.key)[] | [.[0].key, (map(.threads) | add), (map(.time) | add)] | @json' "$report"
}

groups_add_up() {
	local axis=$1 literal=()

	[ "$axis" != comm ] || literal=(--no-thread-normalize)
	[ "$axis" != cgroup ] || literal=(--no-cg-normalize)
	[ "$axis" != all ] || literal=(--no-thread-normalize --no-cg-normalize)
	compare --group-by "$axis" --sections primary --metrics run_time_ns --all-rows "${literal[@]}"
	sums_in_report baseline baseline_threads only-baseline "$axis" > "$scratch/got"
	sums_of before "$axis" > "$scratch/wanted"
	same_lines "groups of the baseline" "$scratch/got" "$scratch/wanted"
	sums_in_report candidate threads only-candidate "$axis" > "$scratch/got"
	sums_of after "$axis" > "$scratch/wanted"
	same_lines "groups of the candidate" "$scratch/got" "$scratch/wanted"
	show --group-by "$axis" --metrics run_time_ns --all-rows "${literal[@]}"
	sums_in_report value threads "" "$axis" > "$scratch/got"
	sums_of before "$axis" > "$scratch/wanted"
	same_lines "groups shown" "$scratch/got" "$scratch/wanted"
	is_so '.group_by == $axis' --arg axis "$axis"
}

# Whatever names are made alike, nobody is lost.
patterns_add_up() {
	local total

	compare --group-by "$1" --sections primary --metrics run_time_ns --all-rows
	for total in before,baseline after,candidate; do
		equal "sum of the ${total#*,}" \
			"$(jq --arg side "${total#*,}" '[.rows[] | select(.section != "only-baseline" or $side == "baseline")
				| select(.section != "only-candidate" or $side == "candidate")
				| select(.metric == "run_time_ns")[$side] // 0] | add' "$report")" \
			"$(jq '[.threads[].run_time_ns] | add' "$scratch/${total%,*}.json")"
	done
}

# names_group AXIS NAME...: groups that have to be there.
names_group() {
	local name

	compare --group-by "$1" --all-rows
	for name in "${@:2}"; do
		is_so '[.rows[] | select(.group == $name)] | length > 0' --arg name "$name"
	done
}

container_is_named() {
	[ -n "$container_path" ] || skip "no cgroup could be made"
	names_group container "${container:0:12}" '(host)'
	equal "threads in it" "$(jq --arg id "${container:0:12}" '[.rows[] | select(.group == $id and .metric == "run_time_ns").threads] | add' "$report")" 1
}

for axis in pcomm cgroup comm comm-exact pcomm-comm all exe cmdline user unit container thread; do
	run_case "--group-by $axis: groups add up to what jq adds up" on_pair groups_add_up "$axis"
done
run_case "--group-by comm: patterns lose no thread" on_pair patterns_add_up comm
run_case "--group-by all: patterns lose no thread" on_pair patterns_add_up all
run_case "--group-by cgroup: patterns lose no thread" on_pair patterns_add_up cgroup
run_case "--group-by user: root and nobody" on_pair names_group user root "$(id -un 65534)"
run_case "--group-by container: the first digits of Docker's id" on_pair container_is_named

# --- sections, metrics and groups ---

section_alone() {
	local section=$1 axis=pcomm

	case $section in
	cgroup-* | memory-* | pressure) axis=cgroup ;;
	esac
	compare --group-by "$axis" --all-rows
	cp "$report" "$scratch/whole"
	compare --group-by "$axis" --all-rows --sections "$section"
	equal warnings "$(< "$warnings")" ""
	equal "other sections" "$(jq -r --arg s "$section" '[.rows[].section | select(startswith("only-") | not)]
		| unique - [$s] | join(" ")' "$report")" ""
	jq -e --arg s "$section" '[.rows[] | select(.section == $s)] | length > 0' "$scratch/whole" > /dev/null ||
		skip "nothing of $section here"
	rows_are "$scratch/whole" "select(.section == \"$section\")"
	"$ctprof" show --group-by "$axis" --all-rows --sections "$section" --format json "$after" > "$report"
	equal "other sections shown" "$(jq -r --arg s "$section" '[.rows[].section] | unique - [$s] | join(" ")' "$report")" ""
}

section_needs_axis() {
	compare --sections cgroup-stats --group-by comm
	has "the warning" "$(< "$warnings")" "cgroup-stats"
	has "the warning" "$(< "$warnings")" "--group-by comm"
	is_so '[.rows[] | select(.section == "cgroup-stats")] == []'
}

# The statistics of the cgroup are those that the snapshots have.
cgroup_time() {
	local usage

	[ -n "$container_path" ] || skip "no cgroup could be made"
	compare --group-by cgroup --no-cg-normalize --sections cgroup-stats --all-rows
	usage() {
		jq --arg path "$container_path" '.cgroup_stats[$path].cpu.usage_usec' "$scratch/$1.json"
	}
	is_so '.rows[] | select(.group == $path and (.metric | contains("usage")))
		| .baseline == $b and .candidate == $c and .delta == $c - $b and .unit == "us"' \
		--arg path "$container_path" --argjson b "$(usage before)" --argjson c "$(usage after)"
}

# smaps_sums: "PROCESS KEY BEFORE AFTER" of processes by name, by jq.
smaps_agree() {
	compare --sections smaps-rollup --all-rows
	is_so '.rows | map(select(.section == "smaps-rollup")) | length > 10'
	equal "Rss of paired" \
		"$(jq -r '.rows[] | select(.section == "smaps-rollup" and .metric == "Rss" and .group == "paired")
			| "\(.baseline) \(.candidate) \(.delta)"' "$report")" \
		"$(jq -n -r --slurpfile b "$scratch/before.json" --slurpfile a "$scratch/after.json" '
			def rss: 1024 * ([.threads[] | select(.pcomm == "paired").smaps_rollup_kib.Rss // 0] | add);
			"\($b[0] | rss) \($a[0] | rss) \(($a[0] | rss) - ($b[0] | rss))"')"
}

unmeasured_is_shown() {
	compare --metrics allocated_bytes
	is_so '[.rows[] | select(.metric == "allocated_bytes")] | length > 10 and all(.delta == null)'
}

glob_of_nothing() {
	compare --match 'no group is called that'
	is_so '.rows == []'
}

for section in primary taskstats-delay derived cgroup-stats cgroup-limits memory-stat memory-events \
	pressure host-pressure smaps-rollup sched-ext host host-counters; do
	run_case "--sections $section: its rows and no others" on_pair section_alone "$section"
done
run_case "--sections: a warning where the axis has it not" on_pair section_needs_axis
run_case "cgroup-stats: CPU time of the container" on_pair cgroup_time
run_case "smaps-rollup: sums over processes of the same name" on_pair smaps_agree
run_case "--metrics: those" on_pair chooses 'select(.metric | IN("run_time_ns", "minflt", "avg_slice_ns"))' \
	--all-rows --sections primary,derived --metrics run_time_ns,minflt,avg_slice_ns
run_case "--metrics: also one that is not measured" on_pair unmeasured_is_shown
run_case "--match: groups of these names" on_pair chooses \
	'select(.group != null and (.section | test("^host") | not) and (.group | test("^(paired|k.*/0)$")))' \
	--all-rows --match paired --match 'k*/0'
run_case "--match: of nothing, nothing" on_pair glob_of_nothing
run_case "--not-match: the others" on_pair chooses \
	'select((.section | test("^(primary|derived)$")) and (.group | test("^k") | not))' \
	--all-rows --sections primary,derived --not-match 'k*'
run_case "show --sections, --metrics and --match" on_pair show_chooses \
	'select(.section == "primary" and .metric == "minflt" and .group == "paired")' \
	--sections primary --metrics minflt --match paired --not-match 'k*'

# --- rows ---

hides_nothing_said() {
	compare
	is_so 'all(.rows[] | select(.section | startswith("only-") | not);
		(.baseline == 0 and .candidate == 0 or .baseline == null and .candidate == null) | not)'
	# Whatever is a number and not zero on both sides is there; of some sections, what differs.
	jq -c '.rows[] | select((.baseline | type) == "number" and .candidate != null and (.baseline != 0 or .candidate != 0))
		| select((.section | IN("host", "smaps-rollup", "memory-stat", "memory-events", "sched-ext") | not) or .delta != 0)' "$scratch/full" > "$scratch/wanted"
	jq -c '.rows[] | select((.baseline | type) == "number" and .candidate != null)' "$report" > "$scratch/got"
	same_lines rows "$scratch/got" "$scratch/wanted"
}

limits_are_named() {
	local left entries

	compare --limit 3
	is_so '.rows | map(select((.section | startswith("only-") | not) and .delta != null and .section == "primary")
		| if .unit | IN("ns", "ticks") then "time" elif .unit == "bytes" then "bytes" else .unit end)
		| group_by(.) | all(length <= 3)'
	left=$(jq .left_out "$report")
	# Rows; and of the lists of groups that one side has, groups.
	entries='[.rows[] | if .section | startswith("only-") then [.section, .group] else . end] | unique | length'
	left=$((left + $(jq "$entries" "$report")))
	compare --limit 0
	equal "what is left out of --limit 0" "$(jq .left_out "$report")" 0
	equal "what is shown and what is left out" "$left" "$(jq "$entries" "$report")"
	"$ctprof" compare --limit 3 "$before" "$after" > "$scratch/table"
	has "the table" "$(< "$scratch/table")" "more rows (--all)"
	"$ctprof" compare --all "$before" "$after" > "$scratch/table"
	! grep -F '(--all)' "$scratch/table"
}

# Within a unit of a section the largest change stands first.
usual_order() {
	compare --sections primary
	is_so '[.rows[] | select(.section == "primary" and .delta != null and .unit == "ns") | .delta | fabs]
		| length > 10 and . == (sort | reverse)'
	compare --sections primary --sort-by delta
	is_so '[.rows[] | select(.section == "primary" and .delta != null and .unit == "count") | .delta | fabs]
		| length > 10 and . == (sort | reverse)'
}

groups_are_ranked() {
	compare --sections primary --sort-by run_time_ns:asc,minflt --all-rows
	is_so '[.rows[] | select(.section == "primary" and .metric == "run_time_ns").delta]
		| length > 10 and . == sort'
	is_so '[.rows[] | select(.section == "primary").group]
		| [range(1; length) as $i | select(.[$i] != .[$i - 1]) | .[$i]] | length == (unique | length)'
	show --sections primary --sort-by run_time_ns
	is_so '[.rows[] | select(.metric == "run_time_ns").value] | length > 10 and . == (sort | reverse)'
}

percent_is_ranked() {
	compare --sections primary --sort-by pct
	is_so '[.rows[] | select(.section == "primary" and .pct != null) | .pct | fabs]
		| length > 10 and . == (sort | reverse)'
	is_so 'all(.rows[] | select(.pct != null and (.baseline | type) == "number" and .baseline != 0);
		(.pct - 100 * .delta / .baseline | fabs) <= (.pct | fabs) * 1e-9)'
}

# A share is of the change of all threads, also of those on one side alone.
share_is_ranked() {
	compare --sections primary --metrics run_time_ns,minflt,voluntary_csw --sort-by share
	is_so '[.rows[] | select(.section == "primary" and .share != null) | .share | fabs]
		| length > 10 and . == (sort | reverse)'
	is_so --slurpfile b "$scratch/before.json" --slurpfile a "$scratch/after.json" '
		def total($m): [.threads[][$m]] | add;
		all(.rows[] | select(.section == "primary" and .share != null); .metric as $m
			| (($a[0] | total($m)) - ($b[0] | total($m))) as $host
			| (.share - 100 * .delta / $host | fabs) <= (.share | fabs) * 1e-9)'
}

columns_are() {
	"$ctprof" compare --sections primary --metrics run_time_ns --match paired --columns "$1" "$before" "$after" > "$scratch/table"
	equal headings "$(sed -n '/^## /{n;p}' "$scratch/table" | xargs)" "$2"
	equal "cells of a row" "$(sed -n '/^## /{n;n;p}' "$scratch/table" | awk '{ print NF }')" "$3"
}

display_formats() {
	local name wanted got

	while IFS=: read -r name wanted; do
		got=$("$ctprof" compare --sections primary --metrics run_time_ns --display-format "$name" "$before" "$after" |
			sed -n '/^## /{n;p}' | xargs)
		equal "headings of $name" "$got" "process threads metric $wanted"
	done <<< 'full:baseline candidate delta vs before
delta-only:delta vs before
no-pct:baseline candidate delta
arrow:arrow delta vs before
pct-only:vs before'
}

wrapped() {
	local command

	for command in compare show; do
		set -- "$before" "$after"
		[ $command = compare ] || shift
		COLUMNS=100 "$ctprof" $command --group-by cmdline --wrap "$@" > "$scratch/table"
		between "widest row of $command" 30 "$(grep '^ ' "$scratch/table" | wc -L)" 100
		"$ctprof" $command --group-by cmdline "$@" > "$scratch/table"
		between "widest row without it" 101 "$(grep '^ ' "$scratch/table" | wc -L)" 1000000
	done
}

run_case "rows: only rows without a change are hidden" on_pair hides_nothing_said
run_case "--all-rows: a row of every metric of every group" on_pair chooses . --all-rows
run_case "--changed: only rows that differ" on_pair chooses 'select(.baseline != .candidate)' --all-rows --changed
run_case "--min-delta 5ms" on_pair chooses \
	'select((.unit == "ns" and .delta != null and (.delta | fabs) < 5000000
		or .unit == "us" and .delta != null and (.delta | fabs) < 5000
		or .unit == "ms" and .delta != null and (.delta | fabs) < 5
		or .unit == "ticks" and .delta == 0) | not)' --all-rows --min-delta 5ms
run_case "--min-delta 10%" on_pair chooses \
	'select((.pct != null and (.pct | fabs) < 10) | not)' --all-rows --min-delta 10%
run_case "--limit: reports the omitted groups" on_pair limits_are_named
run_case "the usual order, and --sort-by delta" on_pair usual_order
run_case "--sort-by METRIC: groups in its order" on_pair groups_are_ranked
run_case "--sort-by pct" on_pair percent_is_ranked
run_case "--sort-by share" on_pair share_is_ranked
run_case "--columns" on_pair columns_are group,delta "process delta" 2
run_case "--columns: in another order, with a share" on_pair columns_are %,metric,share,threads "vs before metric share threads" 4
run_case "--display-format: all of them" on_pair display_formats
run_case "--wrap: as wide as COLUMNS" on_pair wrapped

# --- names of cgroups ---

flattened() {
	local command

	[ -n "$container_path" ] || skip "no cgroup could be made"
	set -- "${cgroup_parent:=${container_path%/*}}/docker-*.scope"
	for command in compare show; do
		$command --group-by cgroup --cgroup-flatten '/no/such/**' --cgroup-flatten "$1" --all-rows
		is_so '[.rows[].group] | index($glob) != null' --arg glob "$1"
		is_so '[.rows[].group] | index($path) == null' --arg path "$container_path"
	done
	fails 2 "$ctprof" compare --cgroup-flatten '/a[' "$before" "$after"
	has "the error" "$output" "--cgroup-flatten"
}

# The same in both stays literal; with and without the rule.
cgroups_are_literal() {
	compare --group-by cgroup --all-rows --sections primary --metrics run_time_ns --no-cg-normalize
	jq -c '[.rows[].group] | unique | .[]' "$report" > "$scratch/got"
	jq -c -s '[.[].threads[].cgroup] | unique | .[]' "$scratch/before.json" "$scratch/after.json" > "$scratch/wanted"
	same_lines groups "$scratch/got" "$scratch/wanted"
}

names_are_patterns() {
	compare --group-by comm --sections primary --metrics run_time_ns --all-rows
	is_so '[.rows[].group] | index("ksoftirqd/{N}") != null and index("ksoftirqd/0") == null'
	show --group-by comm --no-thread-normalize --metrics run_time_ns
	is_so '[.rows[].group] | index("ksoftirqd/{N}") == null and index("ksoftirqd/0") != null'
}

several_cpus() {
	[ -d /proc/sys/kernel ] && grep -qx ksoftirqd/1 /proc/[0-9]*/comm || skip "one CPU, or no kernel threads to see"
	"$@"
}

run_case "--cgroup-flatten: the glob is the name" on_pair flattened
run_case "--no-cg-normalize: paths as they are" on_pair cgroups_are_literal
run_case "--no-thread-normalize: names as they are" on_pair several_cpus names_are_patterns

# --- windows, rates and divisors ---

# "TID METRIC DELTA" of the very same threads.
threads_exact() {
	local metrics=run_time_ns,minflt,voluntary_csw,nonvoluntary_csw,timeslices,wait_time_ns

	compare --group-by thread --window --all-rows --sections primary --metrics $metrics
	jq -r '.rows[] | select(.section == "primary") | "\(.group | capture("\\[(?<tid>[0-9]+)\\]$").tid) \(.metric) \(.delta)"' \
		"$report" > "$scratch/got"
	jq -n -r --arg metrics $metrics --slurpfile b "$scratch/before.json" --slurpfile a "$scratch/after.json" '
		($b[0].threads | map({key: "\(.tid) \(.start_time_clock_ticks)", value: .}) | from_entries) as $old
		| $a[0].threads[] | . as $new | $old["\(.tid) \(.start_time_clock_ticks)"] | select(.) as $was
		| ($metrics / ",")[] | "\($new.tid) \(.) \($new[.] - $was[.])"' > "$scratch/wanted"
	same_lines "deltas of threads" "$scratch/got" "$scratch/wanted"
}

# What a thread that ended took with it, and what one that began brought, is what the snapshots say.
births_and_deaths() {
	local side file tid name

	compare --window "$@"
	while read -r side file tid name; do
		jq -r --arg s "only-$side" --arg side "$side" --arg name "$name" '.rows[]
			| select(.section == $s and .group == $name) | "\(.metric) \(.[$side])"' "$report" > "$scratch/got"
		jq -r --argjson tid "$tid" '.threads[] | select(.tid == $tid) as $t
			| ("run_time_ns", "wait_time_ns", "voluntary_csw", "nonvoluntary_csw", "majflt", "read_bytes",
				"write_bytes", "hiwater_rss_bytes") | "\(.) \($t[.])"' "$scratch/$file.json" > "$scratch/wanted"
		same_lines "what $name did" "$scratch/got" "$scratch/wanted"
	done <<< "baseline before $dying ends-here
candidate after $born begins-here"
}

# Totals only grow: in a window nobody has less of them.
totals_grow() {
	local axis totals

	totals=$(sed -n 's/^METRIC(total_[a-z]*, \([a-z_0-9]*\),.*/\1/p' src/metric/metrics.def | jq -R . | jq -s -c .)
	between "totals there are" 20 "$(jq length <<< "$totals")" 200
	for axis in pcomm comm all thread; do
		compare --window --group-by $axis --all-rows
		equal "totals that fell, by $axis" "$(jq -c --argjson totals "$totals" '[.rows[]
			| select(.section | startswith("only-") | not)
			| select(.delta != null and .delta < 0 and (.metric | IN($totals[]))) | [.group, .metric, .delta]]' "$report")" "[]"
		is_so '.window == true and ([.rows[] | select(.delta != null and .delta > 0)] | length > 5)'
	done
}

# Births, deaths and the window between them are the whole difference.
window_is_the_rest() {
	compare --window --sections primary --metrics run_time_ns --all-rows
	is_so --slurpfile b "$scratch/before.json" --slurpfile a "$scratch/after.json" '
		def total: [.threads[].run_time_ns] | add;
		([.rows[] | select(.metric == "run_time_ns")
			| if .section == "only-baseline" then - .baseline
			  elif .section == "only-candidate" then .candidate else .delta end] | add)
		== ($a[0] | total) - ($b[0] | total)'
}

rates_divide() {
	compare --all-rows --sections primary
	cp "$report" "$scratch/plain"
	compare --all-rows --sections primary --rate
	is_so '.rate == true and .elapsed_s >= 0.5'
	is_so --slurpfile plain "$scratch/plain" '
		def rows: [.rows[] | select(.section == "primary" and (.metric | IN("run_time_ns", "minflt", "timeslices", "wchar")))]
			| map({key: "\(.group) \(.metric)", value: .delta}) | from_entries;
		.elapsed_s as $s | ($plain[0] | rows) as $whole | rows | length > 10 and
		all(to_entries[]; if .value == null then $whole[.key] == null
			else ($whole[.key] / $s - .value | fabs) <= (.value | fabs) * 1e-12 end)'
	has "the table" "$("$ctprof" compare --rate --limit 1 "$before" "$after")" /s
}

# The time between is the one that passed, by the clock since boot.
elapsed_is_uptime() {
	local ticks

	compare
	# Either is cut to whole ticks.
	ticks=$(jq -s '.[1].host.uptime_clock_ticks - .[0].host.uptime_clock_ticks' "$scratch/before.json" "$scratch/after.json")
	between "ticks between" $((ticks - 2)) "$(jq '.elapsed_s * 100 | round' "$report")" $((ticks + 2))
}

per_cpu_second() {
	compare --normalize cpu --sections primary --metrics run_time_ns,timeslices
	is_so '.normalize == "cpu" and ([.rows[] | select(.section == "primary" and .metric == "run_time_ns" and .baseline != null)]
		| length > 10 and all((.baseline - 1e9 | fabs) < 1e-3 and (.delta == null or (.delta | fabs) < 1e-3)))'
	is_so --slurpfile b "$scratch/before.json" '.rows[] | select(.section == "primary" and .group == "paired" and .metric == "timeslices")
		| ($b[0].threads | map(select(.pcomm == "paired")) | 1e9 * (map(.timeslices) | add) / (map(.run_time_ns) | add)) as $wanted
		| (.baseline - $wanted | fabs) <= $wanted * 1e-9'
	show --normalize cpu --sections primary --metrics run_time_ns
	is_so '[.rows[] | select(.value != null)] | length > 10 and all((.value - 1e9 | fabs) < 1e-3)'
}

# One second of CPU time per second of CPU time is no change at all.
per_cpu_second_is_even() {
	compare --normalize cpu --sections primary --metrics run_time_ns --changed
	is_so '[.rows[] | select(.section == "primary")] == []'
}

per_second_of_life() {
	compare --normalize age --sections primary --metrics minflt
	is_so --slurpfile b "$scratch/before.json" '.rows[] | select(.section == "primary" and .group == "paired" and .metric == "minflt")
		| $b[0].host.uptime_clock_ticks as $now
		| ($b[0].threads | map(select(.pcomm == "paired"))
			| 100 * (map(.minflt) | add) / (map($now - .start_time_clock_ticks) | add)) as $wanted
		| .unit == "count/s" and (.baseline - $wanted | fabs) <= $wanted * 1e-9'
}

run_case "--group-by thread --window: each thread's own delta" on_pair threads_exact
run_case "--window: threads that ended or began, with their counts" on_pair births_and_deaths
run_case "--window: totals never fall" on_pair totals_grow
run_case "--window: with births and deaths it is the whole difference" on_pair window_is_the_rest
run_case "--rate: deltas by the seconds between" on_pair rates_divide
run_case "elapsed time is that of the clock since boot" on_pair elapsed_is_uptime
run_case "--normalize cpu: a second for each second" on_pair per_cpu_second
run_case "--normalize cpu: of which nothing changes" on_pair per_cpu_second_is_even
run_case "--normalize age: by how long the threads lived" on_pair per_second_of_life

# --- the host ---

# The difference of two readings of a counter lies between those of readings around them.
counters_between_readings() {
	local broken

	compare --sections host-counters --all-rows
	jq -r '.rows[] | select(.section == "host-counters" and .delta != null)
		| "\(.group | split(" ")[-1]) \(.metric) \(.delta)"' "$report" > "$scratch/values"
	broken=$(awk '
		FNR == 1 { file++ }
		file <= 4 { sub(/^(cpu|block|net):/, "", $1); sub(/:$/, "", $1); reading[file, $1, $2] = $3; next }
		!((1, $1, $2) in reading) { next }
		{ low = reading[3, $1, $2] - reading[2, $1, $2]
		  high = reading[4, $1, $2] - reading[1, $1, $2]; checked++ }
		$3 < low || $3 > high { print $1, $2, "is", $3, "not from", low, "to", high }
		END { if (checked < 10) print "only", checked + 0, "counters to check" }' \
		"$scratch"/counters.[0-3] "$scratch/values")
	equal "what is not between its readings" "$broken" ""
}

# Not a fact of a host that is the same host is named.
same_host() {
	compare --sections host --changed
	is_so '[.rows[] | select(.section == "host")] == []'
}

run_case "host-counters: deltas lie between readings" on_pair counters_between_readings
run_case "host: nothing of it changed" on_pair same_host

# --- formats ---

# The rows of a table as "METRIC BASELINE CANDIDATE DELTA %", with a tab between them. Groups are
# left out, as they may hold anything; so is what stands elsewhere in tables than in JSON: numbers of
# CPUs, which have no difference there, and ctprof itself.
table_rows() {
	"$ctprof" compare --lifetime --all --all-rows --no-thread-normalize --not-match ctprof \
		--columns metric,baseline,candidate,delta,% --sections "$sections" "$before" "$after" |
		grep -v '^ processor ' |
		awk '/^[0-9]+ (group|thread)s? / { exit }
			/^## / { getline; next }
			/^ / { sub(/^ /, ""); sub(/ $/, ""); gsub(/  +/, "\t"); print }'
}

# The numbers of each cell, back from what people read: half of its last place away at most.
table_is_json() {
	local broken sections

	sections=primary,taskstats-delay,derived,smaps-rollup,host-pressure,host,host-counters
	compare --all-rows --not-match ctprof --sections "$sections"
	table_rows > "$scratch/cells"
	jq -r '.rows[] | select(.section | startswith("only-") | not) | select(.metric != "processor")
		| [.metric, .unit, (.baseline, .candidate, .delta, .pct | if type == "object" then "object" else tostring end)]
		| @tsv' "$report" > "$scratch/numbers"
	equal "rows of the table" "$(wc -l < "$scratch/cells")" "$(wc -l < "$scratch/numbers")"
	broken=$(paste "$scratch/cells" "$scratch/numbers" | awk -F '\t' -f tests/live/cells.awk)
	equal "cells that say something else" "$broken" ""
}

# A row and column each; JSON has counts of impossible values only where there are some. What names hold is quoted, so
# lines are counted of rows without groups.
csv_is_json() {
	compare --sections host-counters,host-pressure
	"$ctprof" compare --sections host-counters,host-pressure --format csv "$before" "$after" > "$scratch/csv"
	equal "its first line" "$(head -n 1 "$scratch/csv" | tr -d '\r')" \
		"$(jq -r '.rows[0] | keys_unsorted | map(select(contains("impossible") | not)) | join(",")' "$report"),baseline_impossible_threads,impossible_threads"
	sed 1d "$scratch/csv" | grep '^host-' | tr -d '\r"' > "$scratch/got"
	jq -r '.rows[] | select(.section | startswith("host-"))
		| [.[] | if . == null then "" else tostring end] | join(",")' "$report" > "$scratch/wanted"
	cut -d , -f 1-4 "$scratch/got" > "$scratch/got.names"
	cut -d , -f 1-4 "$scratch/wanted" > "$scratch/wanted.names"
	same_lines "rows of CSV" "$scratch/got.names" "$scratch/wanted.names"
	# Whole numbers are the same digits; others may be written differently.
	awk -F , '$5 !~ /[.e]/ && $7 !~ /[.e]/ { print $1, $2, $3, $5, $6, $7 }' "$scratch/got" > "$scratch/got.whole"
	awk -F , '$5 !~ /[.e]/ && $7 !~ /[.e]/ { print $1, $2, $3, $5, $6, $7 }' "$scratch/wanted" > "$scratch/wanted.whole"
	same_lines "numbers of CSV" "$scratch/got.whole" "$scratch/wanted.whole"
}

markdown_is_a_table() {
	"$ctprof" compare --format markdown --sections primary --limit 0 "$before" "$after" > "$scratch/markdown"
	compare --sections primary
	equal "lines of another number of cells" \
		"$(awk '/^\|/ { line = $0; gsub(/\\\|/, "", line); n = gsub(/\|/, "", line); if (!wide) wide = n
			if (n != wide) print }
			/^[0-9]+ (group|thread)s? / { exit }' "$scratch/markdown" | head -n 3)" ""
	grep -q '^|.*paired.*run' "$scratch/markdown"
	has "show" "$("$ctprof" show --format markdown "$before" paired)" "| paired | 3 | run"
	has "show" "$("$ctprof" show --format csv --match paired "$before")" "primary,paired,run_time_ns,ns,"
}

from_a_pipe() {
	compare
	cp "$report" "$scratch/from-files"
	"$ctprof" compare --format json - "$after" < "$before" > "$report"
	equal "rows from a pipe" "$(jq -c .rows "$report" | cksum)" "$(jq -c .rows "$scratch/from-files" | cksum)"
	"$ctprof" compare --format json "$before" - < "$after" > "$report"
	equal "rows from a pipe" "$(jq -c .rows "$report" | cksum)" "$(jq -c .rows "$scratch/from-files" | cksum)"
	has "what show prints" "$("$ctprof" show - < "$before")" "CPU time"
}

# Whatever one turns round, the differences do too.
turned_round() {
	"$ctprof" compare --format json --all-rows "$after" "$before" > "$report"
	is_so --slurpfile full "$scratch/full" '
		def deltas: [.rows[] | select(.delta != null)] | map({key: "\(.section) \(.group) \(.metric)", value: .delta}) | from_entries;
		deltas as $back | ($full[0] | deltas) | length == ($back | length) and
		all(to_entries[]; .value == - $back[.key])'
	"$ctprof" compare --format json --all-rows "$before" "$before" > "$report"
	is_so 'all(.rows[]; .delta == null or .delta == 0) and ([.rows[] | select(.section | startswith("only-"))] == [])'
}

run_case "table and JSON: the same numbers" on_pair table_is_json
run_case "--format csv: the same as JSON" on_pair csv_is_json
run_case "--format markdown: tables" on_pair markdown_is_a_table
run_case "-: a snapshot from a pipe" on_pair from_a_pipe
run_case "turned round every difference is its negative; with itself it is zero" on_pair turned_round

# --- conditions ---

# ends_with STATUS OPTIONS...: a comparison does, with JSON in $report.
ends_with() {
	local wanted=$1 status=0

	compare "${@:2}" || status=$?
	equal "status of '${*:2}'" "$status" "$wanted"
}

judged() {
	ends_with 0 --fail-if 'run_time_ns > 1000000s' --fail-if 'minflt < -1000G'
	is_so '[.fail_if[].verdict] == ["holds", "holds"]'
	ends_with 3 --fail-if 'run_time_ns > 1000000s' --fail-if 'paired:minflt > 0'
	is_so '[.fail_if[].verdict] == ["holds", "broken"]'
	is_so --slurpfile full "$scratch/full" '.fail_if[1].rows
		== [$full[0].rows[] | select(.section == "primary" and .group == "paired" and .metric == "minflt")]'
	ends_with 3 --fail-if '*:run_time_ns >= 0'
	is_so --slurpfile full "$scratch/full" '.fail_if[0].groups
		== ([$full[0].rows[] | select(.section == "primary" and .metric == "run_time_ns")] | length)'
	ends_with 4 --fail-if 'no such group:run_time_ns > 1%'
	is_so '.fail_if[0] | .verdict == "undecided" and .groups == 0'
	ends_with 4 --fail-if 'paired:allocated_bytes > 1MiB'
	is_so '.fail_if[0] | .verdict == "undecided" and .unmeasured_groups == 1'
	ends_with 3 --fail-if 'no such group:run_time_ns > 1%' --fail-if 'paired:timeslices > 0'
	ends_with 2 --fail-if 'run_time_ns > 5MiB'
	ends_with 2 --fail-if 'run_time > 5'
	fails 3 "$ctprof" compare --limit 1 --fail-if 'paired:run_time_ns > 1us' "$before" "$after"
	has "the table" "$output" "paired:run_time_ns > 1us"
}

# The rows are judged that the limit, or the choice of sections, leaves out.
judged_unseen() {
	ends_with 3 --limit 1 --sections host --match nobody --fail-if 'paired:minflt > 0'
	ends_with 3 --window --rate --fail-if 'paired:minflt > 0'
}

run_case "--fail-if: status 0, 3, 4, and 2 for an invalid condition" on_pair judged
run_case "--fail-if: hidden rows are judged too" on_pair judged_unseen

# --- every option ---

# Options that no case above has, nor those of recordings and of waits in progress.
untried() {
	local command

	for command in compare show; do
		"$ctprof" $command --help | grep -o '^ \{4,8\}\(-[a-z], \)\?--[a-z-]*' | grep -o -- '--[a-z-]*'
	done | sort -u | while read -r option; do
		[ "$option" = --help ] || grep -qE -- "$option( |\$)" tests/live/{compare,trial,record,profile_options}.sh tests/golden/cases/{compare-waits,terminal} || echo "$option"
	done
}

every_option() {
	between "options there are" 20 "$("$ctprof" compare --help | grep -c '^ *\(-[a-z], \)\?--')" 100
	equal "options without a case" "$(untried | xargs)" ""
}

run_case "every option of compare and show has a case here" every_option

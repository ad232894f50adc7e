# SPDX-License-Identifier: BSD-2-Clause
#
# What an overview names first: changes that are planted on a busy host. Part of tests/live/run.

# A host that has much to do: programs that do a bit of everything, more that compute than there are CPUs, and one that
# writes. What else runs here changes as it likes, and is not asked for.
makes_busy() {
	local name

	for name in web db batch cache queue mail auth search feed sync log stats; do
		cp "$programs/busy" "$scratch/shop-$name"
		start "$scratch/shop-$name" 2
	done
	for ((i = 0; i <= $(nproc); i++)); do
		cp "$programs/planted" "$scratch/shop-steady$i"
		start "$scratch/shop-steady$i" burn now
	done
	cp "$programs/planted" "$scratch/shop-writes"
	start "$scratch/shop-writes" write now
	sleep 1
}

# plant KIND NAME: what changes between two captures 300 ms apart, NAME.a.zst and NAME.b.zst.
plant() {
	local pid

	if [ "$1" = new ]; then
		"$ctprof" capture -q -o "$2.a.zst"
		"$programs/planted" burn now > "$scratch/ready" &
		pid=$!
	else
		"$programs/planted" "$1" > "$scratch/ready" &
		pid=$!
		until grep -qs ready "$scratch/ready"; do sleep 0.01; done
		sleep 0.2
		"$ctprof" capture -q -o "$2.a.zst"
		kill -USR1 $pid
	fi
	sleep 0.3
	"$ctprof" capture -q -o "$2.b.zst"
	kill -KILL $pid
	wait $pid 2> "$noise" || :
}

# is_found KIND NAME: the planted group is among the first five.
is_found() {
	local overview

	overview=$("$ctprof" compare "$2.a.zst" "$2.b.zst" --format json --filter "shop-|planted" | jq -c .overview)
	jq -e '[.groups[:5][].group] | index("planted")' <<< "$overview" > /dev/null ||
		{ echo "$1 is not among the first: $(jq -r '[.groups[].group] | join(" ")' <<< "$overview")"; return 1; }
}

# plant_all RUNS: on a host that is busy no longer than that.
plant_all() {
	local run

	makes_busy
	for ((run = 0; run < $1; run++)); do
		plant "${kinds[run % ${#kinds[@]}]}" "$scratch/planted.$run"
	done
}

# finds_planted RUNS: in 95 of 100, to the nearest run.
finds_planted() {
	local kinds=(burn starve write fault still new leak) found=0 least=$((($1 * 95 + 50) / 100)) run

	(
		endings=()
		trap run_endings EXIT
		plant_all "$1"
	)
	for ((run = 0; run < $1; run++)); do
		! is_found "${kinds[run % ${#kinds[@]}]}" "$scratch/planted.$run" || found=$((found + 1))
	done
	rm -f "$scratch"/planted.*.zst
	echo "found in $found of $1" | tee -a "${OVERVIEW_FOUND:-/dev/null}"
	((found >= least))
}

noise=$scratch/noise

# OVERVIEW_RUNS asks for another number of runs; OVERVIEW_FOUND=FILE keeps in how many the change was found. The longer of
# both cases needs no shorter one beside it.
if [ -n "${CHECK_ALL-}${LIVE_WHOLE-}${OVERVIEW_RUNS-}" ]; then
	run_case "the overview finds planted changes on a busy host, in 95 of 100 runs" slow alone needs_root \
		finds_planted "${OVERVIEW_RUNS:-42}"
else
	run_case "the overview finds planted changes on a busy host" needs_root finds_planted 14
fi

# A leak is told in words, by as much as the kernel says that the process grew.
leak_is_told() {
	local pid grown told

	"$programs/planted" leak > "$scratch/ready" &
	pid=$!
	at_end "kill -KILL $pid"
	until grep -qs ready "$scratch/ready"; do sleep 0.01; done
	"$ctprof" capture -q -o "$scratch/leak.a.zst"
	kill -USR1 $pid
	until (($(awk '/^VmRSS/ { print $2 }' /proc/$pid/status) > 100 << 10)); do sleep 0.01; done
	kill -STOP $pid
	grown=$(awk '/^Pss:/ { print $2 * 1024 }' /proc/$pid/smaps_rollup)
	"$ctprof" capture -q -o "$scratch/leak.b.zst"
	"$ctprof" compare "$scratch"/leak.{a,b}.zst --match planted --format json > "$scratch/leak.json"
	told=$(jq '.overview.groups[0].reasons[] | select(.metric == "memory").candidate' "$scratch/leak.json")
	between "bytes of memory" $((grown * 98 / 100)) "$told" $((grown * 102 / 100))
	"$ctprof" compare "$scratch"/leak.{a,b}.zst --match planted > "$scratch/leak"
	grep -qE '^  planted .*memory \+[0-9.]+ MiB \([0-9.]+ [KM]?i?B? ?-> [0-9.]+ MiB\)' "$scratch/leak" || { cat "$scratch/leak"; return 1; }
}

run_case "the overview tells of a leak" leak_is_told

# What the tables say that threads did in between, and what the overview says that they did together.
sums_are_equal() {
	local side axis

	start "$programs/busy" 2
	"$ctprof" capture -q -o "$scratch/sum.a.zst"
	"$programs/planted" fault now > "$scratch/ready" &
	at_end "kill -KILL $!"
	sleep 0.3
	"$ctprof" capture -q -o "$scratch/sum.b.zst"
	for side in a b; do
		zstd -qdcf "$scratch/sum.$side.zst" > "$scratch/sum.$side.json"
	done
	for axis in pcomm cgroup; do
		"$ctprof" compare --window "$scratch"/sum.{a,b}.zst --group-by $axis --format json > "$scratch/sum.json"
		adds_up
		"$ctprof" show "$scratch/sum.b.zst" --group-by $axis --format json > "$scratch/sum.json"
		adds_up
	done
}

adds_up() {
	local wrong

	[ "$(jq '[.overview.totals[] | select(.total > 0)] | length' "$scratch/sum.json")" -ge 5 ]
	wrong=$(jq -r --slurpfile before "$scratch/sum.a.json" --slurpfile after "$scratch/sum.b.json" \
		-f tests/golden/totals.jq "$scratch/sum.json")
	[ -z "$wrong" ] || { echo "$wrong"; return 1; }
}

run_case "the totals of the overview are those of the table" sums_are_equal

# A snapshot against itself, and a screen for any two.
lines_are_few() {
	"$ctprof" capture -q -o "$scratch/few.a.zst"
	sleep 0.1
	"$ctprof" capture -q -o "$scratch/few.b.zst"
	"$ctprof" compare "$scratch"/few.{a,a}.zst > "$scratch/few"
	grep -q '^nothing changed' "$scratch/few"
	(($(wc -l < "$scratch/few") <= 5))
	"$ctprof" compare "$scratch"/few.{a,b}.zst | sed '/^baseline: /,$d' > "$scratch/few"
	(($(wc -l < "$scratch/few") <= 25))
	! grep -nE '.{101}' "$scratch/few"
}

run_case "the overview fits a screen" lines_are_few

# The last line of a report on a process that computes names a command on it, as long as it runs: not when it has ended,
# when another process has its number, or when the file is of another boot.
next_of() {
	"$ctprof" compare "$before" "$1" --match "next*" | sed '/^baseline: /,$d' | grep 'ctprof [a-z]* ' || :
}

changed() {
	zstd -dcq "$1" | jq -c "$2" | zstd -qf > "$3"
}

next_commands_work() {
	local before=$scratch/next.a.zst after=$scratch/next.b.zst name="next [1]" pid file command

	cp "$programs/planted" "$scratch/$name"
	"$scratch/$name" burn now > "$scratch/ready" &
	pid=$!
	at_end "kill -KILL $pid"
	"$ctprof" capture -q -o "$before"
	sleep 0.5
	"$ctprof" capture -q -o "$after"
	has "where it runs" "$(next_of "$after")" " -p $pid -d 5s"
	for file in "$before" "$after"; do
		changed "$file" "(.threads[] | select(.tgid == $pid) | .start_time_clock_ticks) += 1" "$file.reused"
		changed "$file" '.host.boot_id = "another"' "$file.boot"
	done
	before=$before.reused
	has_not "of a number that was used again" "$(next_of "$after.reused")" " -p "
	before=${before%.reused}.boot
	has_not "of another boot" "$(next_of "$after.boot")" " -p "
	kill -KILL $pid
	wait $pid 2> "$noise" || :
	before=${before%.boot}
	command=$(next_of "$after" | grep -o 'ctprof compare .*')
	equal "of what has ended" "$command" "ctprof compare $before $after --match 'next \\[1]'"
	eval "\"\$ctprof\" ${command#ctprof }" > "$scratch/next"
	grep -q '^ next \[1\] ' "$scratch/next"
}

run_case "the last line of an overview is a command that works" next_commands_work

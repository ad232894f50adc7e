# SPDX-License-Identifier: BSD-2-Clause
#
# ctprof fleet, of a hundred hosts for an hour, drawn at random by the server: they differ in load and in how they
# spend their time, and three of them, a version and the second half of the hour in what is planted.

# Yesterday: tables drop rows that are two weeks old.
fleet_begin=$(date -u -d 'yesterday 12:00:00' +%s)
fleet_end=$((fleet_begin + 3600))
fleet_middle=$((fleet_begin + 1800))

# spread SIZE SEED: an expression that is a factor, which differs from 1 by about so much
spread() {
	local i sum=-2 seed=$3

	for i in 1 2 3 4; do
		sum+=" + cityHash64('$seed', $2, $i) / 18446744073709551616."
	done
	echo "exp($1 * 1.7320508 * ($sum))"
}

# insert TABLE COLUMNS SELECT
insert() {
	sql "INSERT INTO fleet.$1 ($2) SELECT $3"
}

# fill_fleet HOSTS PLANTED: an interval of a minute, of five programs. h, m and p are the host, minute and program of
# a row; version 1.5 is on the hosts from 80 on. With PLANTED 1, prog1 waits for locks on web-17, f2 of prog2 takes
# twice as long on web-42, all programs wait for CPUs on web-63, prog3 1.5 waits for locks, and prog4 does from 12:30.
fill_fleet() {
	local hosts=$1 planted=$2 rows load
	local at="toDateTime($fleet_begin + m * 60)" host="concat('web-', toString(h))" program="concat('prog', toString(p))"

	build/tests/programs/store_driver schema "$store_url/" fleet > /dev/null
	insert hosts "host, seen, boot, booted, kernel, cpus, version, label_names, label_values" \
		"concat('web-', toString(number)), toDateTime($fleet_begin), 'b', toDateTime($fleet_begin - 86400), '6.1.0', 4, '1.0',
		['version', 'zone'], [if(number < 80, '1.4', '1.5'), if(number % 2, 'a', 'b')] FROM numbers($hosts)"
	rows="(SELECT number % $hosts AS h, intDiv(number, $hosts) % 60 AS m, intDiv(number, $hosts * 60) AS p FROM numbers($hosts * 300))"
	load="$(spread 0.3 'h, p' load) * $(spread 0.1 'h, p, m' load) * (1 + m / 120.)"
	insert states "host, t, ms, process, comm, cgroup, threads, exec_user_ns, runnable_ns, lock_futex_ns, sleep_disk_ns, idle_poll_ns" \
		"$host, $at, 60000, $program, 'worker', '/', 16, toUInt64(exec), toUInt64(runnable), toUInt64(lock), toUInt64(disk),
		toUInt64(greatest(960e9 - exec - runnable - lock - disk, 0)) FROM (SELECT h, m, p, $load AS load, load * 80e9 AS exec,
		load * 10e9 * $(spread 0.15 'h, p' runnable) * $(spread 0.1 'h, p, m' runnable) + if($planted AND h = 63, load * 60e9, 0) AS runnable,
		load * 30e9 * $(spread 0.15 'h, p' lock) * $(spread 0.1 'h, p, m' lock) + if($planted, if(h = 17 AND p = 1, load * 190e9, 0) +
			if((h >= 80 AND p = 3) OR (m >= 30 AND p = 4), load * 40e9, 0), 0) AS lock,
		load * 4e9 * $(spread 0.15 'h, p' disk) * $(spread 0.1 'h, p, m' disk) AS disk FROM $rows)"
	insert stacks "hash, seen, functions" \
		"number + 1, toDateTime($fleet_begin), ['main', 'serve', concat('f', toString(number)), 'memcpy'] FROM numbers(8)"
	insert samples "host, t, process, comm, cgroup, class, state, stack, ns, count" \
		"$host, $at, $program, 'worker', '/', 'on-cpu', 'exec', f + 1, toUInt64(ns), 100 FROM (SELECT h, m, p, f,
		$load * 80e9 / (f + 1) / 2.7 * $(spread 0.05 'h, p, f' mix) * $(spread 0.2 'h, p, f, m' mix) *
		if($planted AND h = 42 AND p = 2 AND f = 2, 2, 1) AS ns FROM $rows ARRAY JOIN range(8) AS f)"
	insert threads "host, t, ms, process, comm, cgroup, tgid, tid, run_time_ns, majflt, measured0, measured1" \
		"$host, $at, 60000, $program, 'worker', '/', 7, 8, toUInt64($load * 80e9),
		toUInt64($load * 240 * $(spread 0.2 'h, p' majflt)), bitNot(toUInt64(0)), bitNot(toUInt64(0)) FROM $rows"
	insert loads "host, t, ms, cpu_some_ns, memory_some_ns, io_some_ns, measured" \
		"$host, $at, 60000, toUInt64(1e9 * $(spread 0.3 h psi)), 0, 1000000, bitNot(toUInt64(0)) FROM $rows WHERE p = 0"
}

fleet() {
	local verb=$1

	shift
	build/ctprof fleet "$verb" "ch://127.0.0.1:$store_port/fleet?from=$fleet_begin&to=$fleet_end" "$@"
}

# Hosts of findings, each once.
hosts_of() {
	jq -r '[.[].host] | unique | join(" ")' "$1"
}

# finds_outliers KIND: the hosts that differ are found by what was planted, and no others.
finds_outliers() {
	start_store "$1"
	fill_fleet 100 1
	fleet outliers --format json > "$scratch/json"
	equal "hosts" "$(hosts_of "$scratch/json")" "web-17 web-42 web-63"
	equal "programs of web-17" "$(jq -r '[.[] | select(.host == "web-17").program] | unique | join(" ")' "$scratch/json")" prog1
	jq -e '[.[] | select(.host == "web-17" and .name == "lock")][0] | .kind == "state" and .peers >= 97 and .peers <= 99 and
		.value > 0.6 and .value < 0.9 and .other > 0.2 and .other < 0.3 and .other_low < .other and .other < .other_high and
		.effect_low > 0.2 and .q < 1e-6' "$scratch/json" > /dev/null
	jq -e '[.[] | select(.host == "web-42" and .name == "f2" and .program == "prog2")][0] | .value / .other > 1.5' \
		"$scratch/json" > /dev/null
	equal "programs of web-63" "$(jq -r '[.[] | select(.host == "web-63" and .name == "runnable").program] | unique | join(" ")' \
		"$scratch/json")" "prog0 prog1 prog2 prog3 prog4"
	fleet outliers > "$scratch/text"
	has "the answer" "$(head -n 1 "$scratch/text")" "3 of 100 hosts are unlike the others."
	grep -qE '^  web-17: prog1 waits [0-9]+ % of its busy time for locks; its 9[0-9] peers [0-9]+ % \([0-9]+ % to [0-9]+ %\); q = ' \
		"$scratch/text"
	has "what is next" "$(cat "$scratch/text")" "Next: ctprof flame --diff 'ch://127"
	# The command that it says runs.
	eval "build/$(sed -n 's/^Next: //p' "$scratch/text")" > "$scratch/flame"
	# One that sent nothing since half an hour before.
	insert loads "host, t, ms" "'web-200', toDateTime($fleet_begin - 1800), 60000"
	fleet outliers > "$scratch/text"
	has "who is silent" "$(cat "$scratch/text")" "1 host has stopped sending: web-200 (last at $(date -u -d "@$((fleet_begin - 1800))" +%FT%TZ))."
	has "the answer" "$(head -n 1 "$scratch/text")" "3 of 100 hosts are unlike the others."
	has "who is silent" "$(fleet hosts)" "1 host has stopped sending: web-200"
	equal "last rows" "$(fleet hosts --format json | jq -r '[.[] | [.seen, .silent_ns]] | unique | tostring')" \
		"[[\"$(date -u -d "@$((fleet_end - 60))" +%FT%TZ)\",null]]"
	# Of one, names of functions were left out in five of sixty intervals, and of another in one.
	insert losses "host, t, what, why, count" "'web-42', toDateTime($fleet_begin + number * 300), 'files without names of functions', '--memory', 3 FROM numbers(5)"
	insert losses "host, t, what, why, count" "'web-17', toDateTime($fleet_begin), 'files without names of functions', '--memory', 3"
	equal "hosts" "$(fleet outliers --format json | jq -r '[.[].host] | unique | join(" ")')" "web-17 web-63"
	has "whose functions are left out" "$(fleet outliers)" \
		"Functions of 1 host were not compared, since names were left out for its agent's --memory: web-42."
	equal "columns" "$(fleet outliers --format csv | head -n 1)" \
		host,program,kind,name,state,state_value,state_other,value,other,other_low,other_high,effect,effect_low,effect_high,hosts,peers,p,q
}

# The agent of one of eight hosts stops before they all begin to wait for storage: it is no outlier, but named.
leaves_out_stopped_agent() {
	local query="from=$fleet_begin&to=$fleet_end"

	start_store "$1"
	build/tests/programs/store_driver schema "$store_url/" fleet > /dev/null
	insert loads "host, t, ms, io_some_ns, measured" \
		"concat('db-', toString(number % 8)) AS name, toDateTime($fleet_begin + intDiv(number, 8) * 60) AS at, 60000,
		toUInt64(if(number < 240, 1e9, 2e10) * $(spread 0.02 number disk)), bitNot(toUInt64(0)) FROM numbers(480)
		WHERE number < 240 OR number % 8 != 5"
	build/ctprof fleet outliers "ch://127.0.0.1:$store_port/fleet?$query" > "$scratch/text"
	has "the answer" "$(head -n 1 "$scratch/text")" "None of 7 hosts was found to differ from the others."
	has "who is left out" "$(cat "$scratch/text")" "1 host was not compared, with rows of less than 3/4 of the time: db-5 (30 min 0 s of 1 h 0 min)."
	# In the time that all have, it is compared.
	has "the answer" "$(build/ctprof fleet outliers "ch://127.0.0.1:$store_port/fleet?from=$fleet_begin&to=$fleet_middle")" \
		"None of 8 hosts was found to differ from the others."
}

# Hosts that do not differ.
finds_none() {
	start_store new
	fill_fleet 100 0
	equal "findings" "$(fleet outliers --format json | jq length)" 0
	has "the answer" "$(fleet outliers)" "None of 100 hosts was found to differ from the others."
	equal "versions" "$(fleet compare --by version=1.4,1.5 --format json | jq length)" 0
	has "the answer" "$(fleet compare --by version=1.4,1.5)" "No difference was found between version 1.5 (20 hosts) and version 1.4 (80 hosts)."
	equal "changes" "$(fleet regressions --since $fleet_middle --format json | jq length)" 0
}

# Two versions, by a label and by its hosts; what changed when.
compares() {
	local output

	start_store new
	fill_fleet 100 1
	fleet compare --by version=1.4,1.5 --format json > "$scratch/json"
	equal "programs" "$(jq -r '[.[].program] | unique | join(" ")' "$scratch/json")" prog3
	jq -e '[.[] | select(.name == "lock")][0] | .host == null and .hosts == 20 and .peers == 80 and .effect_low > 0.1' \
		"$scratch/json" > /dev/null
	equal "without values" "$(fleet compare --by version --format json | jq -c '[.[].name] | sort')" \
		"$(jq -c '[.[].name] | sort' "$scratch/json")"
	equal "zones" "$(fleet compare --by zone=a,b --format json | jq length)" 0
	fails 2 fleet compare
	fails 2 fleet regressions
	fails 2 fleet compare --by version=1.4,1.4
	has "one value" "$output" "both values are the same"
	fails 2 fleet flame --by version=1.4,1.5,1.6
	has "three values" "$output" "more than two values"
	fails 2 fleet outliers --by version
	has "an option of others" "$output" "--by has no effect with outliers: use compare or flame"
	fails 2 fleet compare --by version --since $fleet_middle
	fails 2 fleet hosts --limit 3
	fails 2 fleet flame --by version=1.4,1.5 --fail-if 'func:f2 > +2%'
	has "a condition" "$output" "--fail-if requires files: for queries, use ctprof fleet compare"
	fails 1 fleet compare --by version=1.4,2.0
	has "the values" "$output" "there are: 1.4, 1.5"
	fails 1 fleet compare --by nothing=1
	has "no label" "$output" "no host of this query has a label 'nothing'"
	fleet regressions --since $fleet_middle --format json > "$scratch/json"
	equal "what changed" "$(jq -r '[.[].program] | unique | join(" ")' "$scratch/json")" prog4
	jq -e '[.[] | select(.name == "lock")][0] | .host == null and .value - .other > 0.1' "$scratch/json" > /dev/null
	# A time before that is shorter; and two hosts, which are compared by slices.
	build/ctprof fleet regressions --since $fleet_middle --format json \
		"ch://127.0.0.1:$store_port/fleet?from=$((fleet_begin + 600))&to=$fleet_end" > "$scratch/json"
	equal "what changed" "$(jq -r '[.[].program] | unique | join(" ")' "$scratch/json")" prog4
	jq -e '[.[] | select(.name == "lock")][0] | .hosts > 90 and .value - .other > 0.1' "$scratch/json" > /dev/null
	build/ctprof fleet regressions --since $fleet_middle --format json \
		"ch://127.0.0.1:$store_port/fleet?host=web-1&host=web-2&from=$fleet_begin&to=$fleet_end" > "$scratch/json"
	has "heads" "$(fleet regressions --since $fleet_middle)" " BEFORE  BEFORE, 95 %  DIFFERENCE"
	equal "the hosts" "$(jq -r '[.[] | select(.program == "prog4" and .name == "lock").host] | sort | join(" ")' "$scratch/json")" "web-1 web-2"
	has "a flame graph" "$(build/ctprof fleet flame --by zone=a,b --format folded \
		"ch://127.0.0.1:$store_port/fleet?host=web-1*&from=$fleet_begin&to=$fleet_end")" "memcpy"
	equal "hosts" "$(fleet hosts --format json | jq -r '.[] | select(.host == "web-99").labels')" "version=1.5 zone=a"
}

# sums FIELDS FILE: of the last one or two fields of folded stacks
sums() {
	awk -v fields="$1" '{ for (i = 0; i < fields; i++) sum[i] += $(NF - i) }
		END { for (i = fields; i--;) printf "%.0f%s", sum[i], i ? " " : "\n" }' "$2"
}

# Profiles of one host for an hour, and of eleven for half an hour: the second is scaled from 5.5 h of hosts to 1 h.
scales_profiles() {
	local part first second one others shorter longer

	start_store new
	fill_fleet 30 0
	part="ch://127.0.0.1:$store_port/fleet?from=$fleet_begin&to"
	first="$part=$fleet_end&host=web-1" second="$part=$fleet_middle&host=web-2*"
	one=$(sql "SELECT sum(ns) FROM fleet.samples WHERE host = 'web-1'")
	others=$(sql "SELECT sum(ns) FROM fleet.samples WHERE host LIKE 'web-2%' AND t < toDateTime($fleet_middle)")
	build/ctprof flame --diff --format folded -o - "$first" "$second" > "$scratch/folded" 2> "$scratch/notes"
	has "the note" "$(cat "$scratch/notes")" "ctprof: totals of $second, which are of 5 h 30 min of hosts, are scaled to 1 h 0 min"
	read -r shorter longer <<< "$(sums 2 "$scratch/folded")"
	equal "the shorter" "$shorter" "$one"
	# Forty numbers, each of which is rounded.
	equal "the longer, but for rounding" "$((longer - others * 2 / 11 <= 40 && others * 2 / 11 - longer <= 40))" 1
	# A sum of both is not scaled.
	build/ctprof flame --format folded -o "$scratch/folded" "$first" "$second"
	equal "the sum" "$(sums 1 "$scratch/folded")" "$((one + others))"
}

# Of few hosts it is said what cannot be known.
knows_little() {
	local output query

	start_store new
	fill_fleet 3 0
	fails 1 fleet outliers
	has "three hosts" "$output" "nothing could be compared, on 3 hosts: at least 4 hosts are needed"
	# A gate must not take this for no difference.
	fails 1 fleet compare --by host=web-1,web-2 --format json
	has "single hosts" "$output" "each group needs at least 2 hosts (host web-1: 1 host, host web-2: 1 host)"
	equal "the lines of the error, and of no table" "$(wc -l <<< "$output")" 1
	fails 1 fleet regressions --since 2100-01-01T00:00:00
	has "a future time" "$output" "--since: the time is in the future"
	fails 1 build/ctprof fleet regressions --since $fleet_begin --format csv "ch://127.0.0.1:$store_port/fleet?to=$fleet_end"
	has "times" "$output" "too little data before $(date -u -d "@$fleet_begin" '+%F %T') UTC, or after it"
	fails 1 build/ctprof fleet outliers "ch://127.0.0.1:$store_port/fleet?from=2020-01-01T00:00:00&to=2020-01-02T00:00:00"
	has "no hosts" "$output" "the store has web-"
	fails 1 build/ctprof fleet hosts "ch://127.0.0.1:$store_port/fleet?host=web-9"
	has "no such host" "$output" "the store has web-0, web-1, web-2"
	equal "silent" "$(build/ctprof fleet hosts --format json "ch://127.0.0.1:$store_port/fleet?to=$((fleet_end + 3600))" |
		jq -c '[.[].silent_ns] | unique')" "[3660000000000]"
	equal "silent, in words" "$(build/ctprof fleet hosts "ch://127.0.0.1:$store_port/fleet?to=$((fleet_end + 3600))" |
		grep -c ' 1 h 1 min ')" 3
	# With `from`, only hosts with rows of the time.
	insert loads "host, t, ms" "'web-1', toDateTime($fleet_begin - 7200), 60000"
	query="ch://127.0.0.1:$store_port/fleet?from=$((fleet_begin - 7260))"
	equal "hosts of a time" "$(build/ctprof fleet hosts --format json "$query&to=$fleet_begin" | jq -r '.[] | .host + " " + .seen')" \
		"web-1 $(date -u -d "@$((fleet_begin - 7200))" +%FT%TZ)"
	equal "hosts of a longer time" "$(build/ctprof fleet hosts --format json "$query&to=$((fleet_begin + 90))" | jq -c '[.[] | [.host, .seen]]')" \
		"$(jq -nc --arg t "$(date -u -d "@$((fleet_begin + 60))" +%FT%TZ)" '["web-0", "web-1", "web-2"] | map([., $t])')"
	fails 1 build/ctprof fleet hosts "$query&to=$((fleet_begin - 7200))"
	has "no hosts of a time" "$output" "no selected host has rows from "
	fails 1 build/ctprof fleet hosts "$query&process=prog1"
	has "hosts of a program" "$output" "leave out process, comm and cgroup"
	fails 1 build/ctprof fleet regressions --since $fleet_begin "ch://127.0.0.1:$store_port/fleet?from=$fleet_middle&to=$fleet_end"
	has "from after --since" "$output" "--since must be after the URL's 'from'"
	build/ctprof fleet regressions --since $((fleet_end - 300)) "ch://127.0.0.1:$store_port/fleet?from=$fleet_begin&to=$fleet_end" \
		> "$scratch/text" 2> "$scratch/said"
	has "from long before --since" "$(cat "$scratch/said")" "it does not begin at 'from'"
	for query in 'process=prog9' 'comm=wroker' 'cgroup=/system.slice' 'host=web-1&process=prog9'; do
		fails 1 build/ctprof fleet outliers "ch://127.0.0.1:$store_port/fleet?from=$fleet_begin&to=$fleet_end&$query"
		has "what there is" "$output" "values of '$(sed 's/.*&//; s/=.*//' <<< "$query")' in this time: "
	done
	fails 1 build/ctprof fleet compare --by zone "ch://127.0.0.1:$store_port/fleet?from=$fleet_begin&to=$fleet_end&process=prog9"
	has "programs" "$output" "values of 'process' in this time: prog0, prog1, prog2, prog3, prog4"
}

# Without PSI a host has 0 in these columns, and no bit for them.
has_no_pressure() {
	local query

	start_store "$1"
	query="ch://127.0.0.1:$store_port/fleet?from=$fleet_begin&to=$fleet_end&host=busy-*"
	build/tests/programs/store_driver schema "$store_url/" fleet > /dev/null
	insert loads "host, t, ms, cpu_some_ns, measured" \
		"concat('busy-', toString(number % 6)), toDateTime($fleet_begin + intDiv(number, 6) * 60), 60000,
		if(number % 6, toUInt64(15e9), 0), if(number % 6, bitNot(toUInt64(0)), 1) FROM numbers(360)"
	build/ctprof fleet outliers --format json "$query" > "$scratch/json"
	equal "findings" "$(cat "$scratch/json")" "[]"
	sql "ALTER TABLE fleet.loads UPDATE measured = bitNot(toUInt64(0)) WHERE host = 'busy-0' SETTINGS mutations_sync = 1"
	build/ctprof fleet outliers --format json "$query" > "$scratch/json"
	jq -e 'any(.[]; .host == "busy-0" and .kind == "host" and .name == "cpu" and .value == 0)' "$scratch/json" > /dev/null
}

# The same function waits for storage and for locks: version 1.5 waits longer for storage, and since the middle of the
# hour all hosts wait longer for locks. That is named, and its part of the waits is what was inserted.
says_what_waits_are_for() {
	local query disk lock output proxy_port

	start_store "$1"
	query="ch://127.0.0.1:$store_port/fleet?from=$fleet_begin&to=$fleet_end"
	build/tests/programs/store_driver schema "$store_url/" fleet > /dev/null
	insert hosts "host, seen, boot, booted, label_names, label_values" "concat('db-', toString(number)), toDateTime($fleet_begin), 'b',
		toDateTime($fleet_begin - 86400), ['version', 'rack'], [if(number < 4, '1.4', '1.5'), if(number < 4, '4,1', '5%,1')]
		FROM numbers(8)"
	insert loads "host, t, ms" "concat('db-', toString(number % 8)), toDateTime($fleet_begin + intDiv(number, 8) * 60), 60000 FROM numbers(480)"
	insert stacks "hash, seen, functions, kinds" "1, toDateTime($fleet_begin), ['work', 'write_log'], [0, 0]"
	insert samples "host, t, process, comm, cgroup, class, state, stack, ns, count" \
		"concat('db-', toString(h)), toDateTime($fleet_begin + m * 60), 'db', 'db', '/',
		if(state = 'exec', 'on-cpu', if(state = 'sleep_disk', 'io-wait', 'interruptible')), state, 1,
		toUInt64($(spread 0.02 'h, m, state' one) * multiIf(state = 'exec', 10e9, state = 'sleep_disk', if(h < 4, 1e9, 5e9),
			if(m < 30, 1e9, 8e9))), 100
		FROM (SELECT number % 8 AS h, intDiv(number, 8) % 60 AS m, ['exec', 'sleep_disk', 'lock_futex'][intDiv(number, 480) + 1] AS state
			FROM numbers(1440))"
	# waits STATE WHERE: its share of the waits.
	waits() {
		sql "SELECT round(sum(if(state = '$1', ns, 0)) / sum(ns), 6) FROM fleet.samples WHERE state != 'exec' AND $2"
	}
	disk=$(waits sleep_disk "host >= 'db-4'")
	lock=$(waits lock_futex "t >= toDateTime($fleet_middle)")
	build/ctprof fleet compare --by version=1.4,1.5 --format json "$query" > "$scratch/json"
	jq -e --argjson part "$disk" '[.[] | select(.name == "write_log")][0] | .state == "sleep_disk" and .state_other < .state_value and
		(.state_value / .value - $part | fabs) < 1e-5' "$scratch/json" > /dev/null
	cp "$scratch/json" "$scratch/json.groups"
	# Values with a comma.
	equal "the same groups" "$(build/ctprof fleet compare --by rack=4%2C1,5%25%2C1 --format json "$query")" "$(cat "$scratch/json")"
	build/ctprof fleet compare --by rack=4%2C1,5%25%2C1 "$query" > "$scratch/text"
	has "its name" "$(cat "$scratch/text")" "rack 5%,1 (4 hosts) differs from rack 4,1 (4 hosts)."
	eval "build/$(sed -n 's/^Next: //p' "$scratch/text") --format folded" > "$scratch/flame"
	grep -q write_log "$scratch/flame"
	fails 1 build/ctprof fleet compare --by rack=6 "$query"
	has "the values" "$output" "there are: 4%2C1, 5%25%2C1"
	fails 2 build/ctprof fleet compare --by rack=4,1,5%,1 "$query"
	has "a comma" "$output" "more than two values; write a comma in a value as %2C"
	fails 2 build/ctprof fleet compare --by rack=5%,1 "$query"
	has "digits" "$output" "expected two hexadecimal digits after %: write %25 for % itself"
	build/ctprof fleet regressions --since "$fleet_middle" --format json "$query" > "$scratch/json"
	jq -e --argjson part "$lock" '[.[] | select(.name == "write_log")][0] | .state == "lock_futex" and .state_other < .state_value and
		(.state_value / .value - $part | fabs) < 1e-5' "$scratch/json" > /dev/null
	build/ctprof fleet regressions --since "$fleet_middle" "$query" > "$scratch/text"
	grep -qE '8 hosts: db waits [0-9]+ % of its busy time in (work|write_log), [0-9]+ % for a lock of its program; before, [0-9]+ %; q = ' \
		"$scratch/text"
	grep -qE 'off (work|write_log) \(lock_futex\)' "$scratch/text"
	# The query for it fails: findings are the same without it.
	command -v python3 > /dev/null || return 0
	proxy_port=$(free_port)
	echo 0 > "$scratch/delay"
	python3 tests/store/slow_proxy.py "$proxy_port" "$store_port" "$scratch/delay" ' AS late' &
	at_end "kill -KILL $!"
	until (: < "/dev/tcp/127.0.0.1/$proxy_port") 2> /dev/null; do
		kill -0 $!
		sleep 0.05
	done
	build/ctprof fleet compare --by version=1.4,1.5 --format json "${query/$store_port/$proxy_port}" > "$scratch/without" 2> "$scratch/said"
	equal "what it says" "$(cat "$scratch/said")" \
		"ctprof: cannot read what functions wait for: the query needs more memory than the server has for it: select fewer hosts or a shorter time"
	equal "findings" "$(jq -c 'map(del(.state, .state_value, .state_other))' "$scratch/without")" \
		"$(jq -c 'map(del(.state, .state_value, .state_other))' "$scratch/json.groups")"
	build/ctprof fleet compare --by version=1.4,1.5 "${query/$store_port/$proxy_port}" > "$scratch/text" 2> "$scratch/said"
	has "the answer" "$(cat "$scratch/text")" "version 1.5 (4 hosts) differs from version 1.4 (4 hosts)."
}

# A program waits for storage ten times as long on one of eight hosts. All functions of its stack have the same time; the
# kernel's entry, system call and scheduler are not compared, nor are names that stand for no function; of the others the
# program's own leads. "schedule" is one of the program, too.
names_own_function() {
	local query names

	start_store "$1"
	query="ch://127.0.0.1:$store_port/fleet?from=$fleet_begin&to=$fleet_end"
	build/tests/programs/store_driver schema "$store_url/" fleet > /dev/null
	insert loads "host, t, ms" "concat('db-', toString(number)), toDateTime($fleet_begin), 60000 FROM numbers(8)"
	insert stacks "hash, seen, functions, kinds" "1, toDateTime($fleet_begin), ['[incomplete]', 'start_thread', '[unknown]', 'work',
		'schedule', '[db+0x1a]', 'write_log', 'entry_SYSCALL_64_after_hwframe', 'do_syscall_64', '__x64_sys_fsync', 'a_sync_range',
		'io_schedule', '__schedule'], [2, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]"
	insert stacks "hash, seen, functions, kinds" "2, toDateTime($fleet_begin), ['start_thread', 'work'], [0, 0]"
	insert samples "host, t, process, comm, cgroup, class, state, stack, ns, count" \
		"concat('db-', toString(number)), toDateTime($fleet_begin), 'db', 'db', '/', 'on-cpu', 'exec', 2, 100e9, 5000 FROM numbers(8)"
	insert samples "host, t, process, comm, cgroup, class, state, stack, ns, count" \
		"concat('db-', toString(number)), toDateTime($fleet_begin), 'db', 'db', '/', 'io-wait', 'sleep_disk', 1,
		if(number = 3, 50e9, 5e9) * $(spread 0.02 number disk), 500 FROM numbers(8)"
	build/ctprof fleet outliers --all --format json "$query" > "$scratch/json"
	equal "hosts" "$(hosts_of "$scratch/json")" db-3
	names=$(jq -r '[.[] | select(.kind == "off").name] | join(" ")' "$scratch/json")
	equal "functions" "$names" "schedule work write_log [db+0x1a] a_sync_range"
	jq -e 'all(.[] | select(.kind == "off"); .state == "sleep_disk" and .state_value == .value)' "$scratch/json" > /dev/null
	# They are one finding to people, shown once.
	build/ctprof fleet outliers --all "$query" > "$scratch/text"
	equal "rows of the path" "$(grep -cE 'schedule|work|write_log|a_sync_range' "$scratch/text")" 1
	has_not "the number of hosts" "$(cat "$scratch/text")" "From fewer than"
	build/ctprof fleet outliers "$query&host=db-[0-3]" > "$scratch/few"
	has "the number of hosts" "$(cat "$scratch/few")" "From fewer than 4 others, only large differences are known."
	build/ctprof fleet outliers "$query" > "$scratch/text"
	grep -qE '^  db-3: db waits [0-9]+ % of its busy time in [a-z_]+, all for storage; its 7 peers' "$scratch/text"
	equal "more of the path" "$(grep -c 'more$' "$scratch/text" || true)" 0
}

for kind in new old; do
	run_case "the program's own function leads, $kind" names_own_function "$kind"
	run_case "what the waits in a function are for, $kind" says_what_waits_are_for "$kind"
done
for kind in new old; do
	run_case "a host whose agent stopped is left out, $kind" leaves_out_stopped_agent "$kind"
	run_case "outliers of 100 hosts are found, and no others, $kind" finds_outliers "$kind"
done
run_case "hosts that do not differ are not flagged" finds_none
run_case "two versions, and times" compares
run_case "profiles of other lengths are scaled" scales_profiles
run_case "of few hosts" knows_little
run_case "pressure that was not measured is not 0" has_no_pressure new

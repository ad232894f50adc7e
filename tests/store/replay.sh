# SPDX-License-Identifier: BSD-2-Clause
#
# ctprof fleet, of a hundred hosts that replay recorded intervals (tests/fixtures/fleet-intervals.tar.zst, which
# tests/store/record_fleet makes): each has pieces of the recording in an order of its own, so values vary and depend
# on each other as they did on a real host. Planted hosts have pieces of what was recorded with a change that is
# known: tests/programs/shop.c says which.
#
# REPLAY_SEEDS=100 makes so many fleets instead of one, and REPLAY_RATES=FILE adds to FILE how many are right.
#
# Measured: exactly the planted hosts were named in 25 of 25 fleets; of hosts that are alike, outliers flagged none in 100
# fleets (seeds 131 to 230), and compare and regressions found nothing in 78 (seeds 1 to 78).

replay_hosts=100
# Yesterday: tables drop rows that are two weeks old.
replay_begin=$(date -u -d 'yesterday 12:00:00' +%s)
replay_ms=2000        # of an interval
replay_intervals=50   # of a host: 100 s
replay_piece=10       # intervals in a row
replay_seeds=${REPLAY_SEEDS:-1}

# load_recording KIND: into the database `recorded`, where `host` is a kind, and `t` numbers its intervals.
load_recording() {
	local file table kind

	start_store "$1"
	build/tests/programs/store_driver schema "$store_url/" fleet > /dev/null
	sql "CREATE DATABASE recorded"
	mkdir -p "$scratch/recorded"
	tar -C "$scratch/recorded" -I zstd -xf tests/fixtures/fleet-intervals.tar.zst
	replay_tables=
	for file in "$scratch"/recorded/*.tsv; do
		table=$(basename "$file" .tsv)
		replay_tables+=" $table"
		head -n 1 "$file" | tr '\t' ',' > "$scratch/recorded/$table.columns"
		tail -n +2 "$file" > "$scratch/recorded/$table.rows"
		sql "CREATE TABLE recorded.$table AS fleet.$table ENGINE = Memory" \
			$([ "$1" = new ] || echo allow_experimental_low_cardinality_type=1)
		post_to_store "INSERT INTO recorded.$table ($(cat "$scratch/recorded/$table.columns")) FORMAT TSV" \
			"$scratch/recorded/$table.rows"
	done
	# "['lock','normal'], [54,108]"
	replay_counts="$(sql "SELECT groupArray(toString(host)), groupArray(c) FROM
		(SELECT host, count() AS c FROM recorded.loads GROUP BY host) FORMAT TSVRaw" | tr '\t' ',')"
}

# replay SEED KIND [SENT]: a fleet in the database `fleet`. KIND, the kind of host h in its interval i, and SENT, whether
# that was sent, are expressions. Hosts from 80 on have version 1.5.
replay() {
	local seed=$1 kind=$2 sent=${3:-1} table rest plan

	sql "DROP DATABASE IF EXISTS fleet"
	build/tests/programs/store_driver schema "$store_url/" fleet > /dev/null
	sql "INSERT INTO fleet.hosts (host, seen, boot, booted, kernel, cpus, version, label_names, label_values)
		SELECT concat('web-', toString(number)), toDateTime($replay_begin), 'b', toDateTime($replay_begin - 86400), '6.1.0', 2,
		'1.0', ['version', 'zone'], [if(number < 80, '1.4', '1.5'), if(cityHash64('$seed', number, 'zone') % 2, 'a', 'b')]
		FROM numbers($replay_hosts)"
	plan="(SELECT concat('web-', toString(h)) AS new_host, toDateTime($replay_begin + intDiv(i * $replay_ms, 1000)) AS new_t,
		$kind AS kind, toUInt64(1000000001 + (cityHash64('$seed', h, intDiv(i, $replay_piece)) % 1000000 + i % $replay_piece) %
			transform(kind, $replay_counts, 1)) AS place
		FROM (SELECT number % $replay_hosts AS h, intDiv(number, $replay_hosts) AS i
			FROM numbers($((replay_hosts * replay_intervals)))) WHERE $sent)"
	for table in $replay_tables; do
		rest=$(sed -E 's/^(host,t|hash,seen),//' "$scratch/recorded/$table.columns")
		if [ "$table" = stacks ]; then
			sql "INSERT INTO fleet.stacks (hash, seen, $rest) SELECT hash, toDateTime($replay_begin), $rest FROM recorded.stacks"
			continue
		fi
		sql "INSERT INTO fleet.$table (host, t, $rest) SELECT new_host, new_t, $rest FROM $plan AS p ALL INNER JOIN
			(SELECT toString(host) AS kind, toUInt64(toUInt32(t)) AS place, $rest FROM recorded.$table) AS r USING kind, place"
	done
}

# fleet_of VERB [OPTION...]
fleet_of() {
	local verb=$1

	shift
	build/ctprof fleet "$verb" "ch://127.0.0.1:$store_port/fleet?from=$replay_begin&to=$replay_end" "$@"
}
replay_end=$((replay_begin + replay_intervals * replay_ms / 1000))
replay_middle=$(((replay_begin + replay_end) / 2))

# findings VERB [OPTION...]: what it finds, as JSON.
findings() {
	fleet_of "$@" --format json > "$scratch/json"
}

# found EXPRESSION: whether one of the findings is so.
found() {
	jq -e "any(.[]; $1)" "$scratch/json" > /dev/null
}

# is_right COMMAND...: count it in $right if it succeeds, in a fleet of $tried.
is_right() {
	tried=$((tried + 1))
	if "$@"; then
		right=$((right + 1))
	else
		jq -c '.[:3]' "$scratch/json"
	fi
}

# The four planted hosts and no others, each by what was planted.
finds_the_planted() {
	equal "hosts" "$(jq -r '[.[].host] | unique | join(" ")' "$scratch/json")" \
		"$(printf 'web-%s\n' "${planted[@]}" | LC_ALL=C sort | paste -sd ' ')" &&
		found ".host == \"web-${planted[parse]}\" and .program == \"shop-web\" and .kind == \"cpu\" and .name == \"parse_cart\" and
			.value > 1.5 * .other" &&
		found ".host == \"web-${planted[lock]}\" and .program == \"shop-web\" and .kind == \"off\" and .name == \"find_price\" and
			.value > 2 * .other" &&
		found ".host == \"web-${planted[storage]}\" and .program == \"shop-orders\" and .kind == \"off\" and
			.name == \"flush_orders\" and .value > 1.5 * .other" &&
		found ".host == \"web-${planted[busy]}\" and .name == \"runnable\" and .value > .other"
}

# finds_planted KIND SEEDS: of 100 fleets, at least 95.
finds_planted() {
	local seed tried=0 right=0
	local -A planted

	load_recording "$1"
	for seed in $(seq "$2"); do
		planted=([parse]=$((seed * 13 % 100)) [lock]=$(((seed * 13 + 23) % 100)) [storage]=$(((seed * 13 + 46) % 100))
			[busy]=$(((seed * 13 + 69) % 100)))
		replay "$seed" "multiIf(h = ${planted[parse]}, 'parse', h = ${planted[lock]}, 'lock', h = ${planted[storage]}, 'storage',
			h = ${planted[busy]}, 'busy', 'normal')"
		findings outliers
		is_right finds_the_planted
	done
	echo "# outliers, $1: exactly the planted hosts in $right of $tried fleets" | tee -a "${REPLAY_RATES:-/dev/null}"
	[ $((right * 20)) -ge $((tried * 19)) ]
}

finds_nothing() {
	[ "$(cat "$scratch/json")" = "[]" ]
}

# Fleets of which no host differs: at most 5 % are flagged, by all verbs.
finds_nothing_in_alike() {
	local seed verb tried=0
	local -A rights=()

	for seed in $(seq "$replay_seeds"); do
		replay "$seed" "'normal'"
		for verb in "outliers" "compare --by zone=a,b" "regressions --since $replay_middle"; do
			local right=${rights[$verb]-0}
			findings $verb
			is_right finds_nothing
			rights[$verb]=$right
		done
	done
	for verb in "${!rights[@]}"; do
		echo "# $verb: nothing in ${rights[$verb]} of $replay_seeds fleets of hosts that are alike" | tee -a "${REPLAY_RATES:-/dev/null}"
	done
	for verb in "${!rights[@]}"; do
		[ $((rights[$verb] * 20)) -ge $((replay_seeds * 19)) ]
	done
}

finds_changes() {
	load_recording new
	finds_nothing_in_alike
	finds_version
	finds_time
}

# The version with parse_cart, its direction and size: 0.4 of 1.7 parts of the work, and 1.6 of 2.9.
finds_version() {
	replay 1 "if(h >= 80, 'parse', 'normal')"
	findings compare --by version=1.4,1.5
	jq -c '.[:20][]' "$scratch/json"
	found '.program == "shop-web" and .kind == "cpu" and .name == "parse_cart" and .host == null and .hosts == 20 and .peers == 80 and
		.other > 0.15 and .other < 0.35 and .value > 0.45 and .value < 0.65 and .effect_low > 0.1 and .effect_low < .effect and
		.effect < .effect_high'
	findings compare --by zone=a,b
	equal "zones" "$(cat "$scratch/json")" "[]"
}

# In the second half of the time all hosts wait for locks, but for one that has been silent since then.
finds_time() {
	local query="ch://127.0.0.1:$store_port/fleet?process=shop-web"
	replay 1 "if(i * 2 < $replay_intervals, 'normal', 'lock')" "h != 7 OR i * 2 < $replay_intervals"
	findings regressions --since "$replay_middle"
	jq -c '.[:20][]' "$scratch/json"
	found '.program == "shop-web" and .kind == "state" and .name == "lock" and .host == null and .hosts >= 90 and .value > 1.5 * .other'
	found '.program == "shop-web" and .kind == "off" and .name == "find_price" and .host == null and .value > 2 * .other'
	has_not "hosts" "$(jq -r '.[].host // ""' "$scratch/json")" web-7
	# Columns: stack, before, after.
	build/ctprof flame --diff --format folded "$query&from=$replay_begin&to=$replay_middle" \
		"$query&from=$replay_middle&to=$replay_end" > "$scratch/folded"
	awk '/find_price.*futex/ { before += $(NF - 1); after += $NF } END { print before / 1e9, after / 1e9; exit !(after > 2 * before && before > 0) }' \
		"$scratch/folded"
}

run_case "planted hosts are found among replayed ones, new" finds_planted new "$replay_seeds"
run_case "planted hosts are found among replayed ones, old" finds_planted old 1
run_case "versions and changes in time are found in replayed hosts, and nothing where there is none" finds_changes

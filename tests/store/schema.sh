# SPDX-License-Identifier: BSD-2-Clause
#
# The tables: created, upgraded, and refused.

driver=build/tests/programs/store_driver
# Tables drop rows that are two weeks old.
schema_day=$(date -u -d yesterday +%F)

# schema DATABASE [DAYS]
schema() {
	$driver schema "$store_url/" "$@"
}

columns_of() {
	sql "SELECT count() FROM system.columns WHERE database = 'fleet' AND table = '$1'"
}

# The second time, and with a name that needs quotes, nothing is left to do.
creates_once() {
	local name

	start_store "$1"
	has "the first time" "$(schema fleet)" "new: 17 tables"
	has "the second time" "$(schema fleet)" "upgraded: 0 tables, 0 columns"
	equal "versions" "$(sql 'SELECT version, count() FROM fleet.schema_version GROUP BY version')" $'2\t1'
	equal "the last bit" "$(sql "SELECT name FROM fleet.metrics WHERE number = 120 LIMIT 1")" state_now_ns
	name="a\`b\\c'd"
	has "a name with quotes" "$(schema "$name")" "new: 17 tables"
	has "again" "$(schema "$name")" "upgraded: 0 tables, 0 columns"
}

# What an older version lacks is added, and sums are made of it from then on.
upgrades() {
	local all

	start_store "$1"
	schema fleet
	all=$(columns_of threads)
	sql "DROP TABLE fleet.threads_1m_view"
	sql "DROP TABLE fleet.threads_1h_view"
	sql "ALTER TABLE fleet.threads DROP COLUMN minflt"
	sql "ALTER TABLE fleet.threads_1m DROP COLUMN minflt"
	sql "ALTER TABLE fleet.threads_1h DROP COLUMN minflt"
	sql "DROP TABLE fleet.losses"
	sql "INSERT INTO fleet.threads (host, t, ms) SELECT 'old', toDateTime('$schema_day 12:00:00', 'UTC'), 10000"
	has "the upgrade" "$(schema fleet)" "upgraded: 1 tables, 3 columns"
	equal "columns" "$(columns_of threads)" "$all"
	sql "INSERT INTO fleet.threads (host, t, ms, minflt) SELECT 'a', toDateTime('$schema_day 12:00:07', 'UTC') + number * 10, 10000, 5 FROM system.numbers LIMIT 12"
	equal "rows from before" "$(sql "SELECT minflt FROM fleet.threads WHERE host = 'old'")" 0
	equal "sums by minute" "$(sql "SELECT toUnixTimestamp(t) % 3600, sum(minflt), sum(active_ms) FROM fleet.threads_1m WHERE host = 'a' GROUP BY t ORDER BY t")" \
		$'0\t30\t60000\n60\t30\t60000'
	equal "sums by hour" "$(sql "SELECT sum(minflt) FROM fleet.threads_1h WHERE host = 'a'")" 60
}

# adds_facts KIND: tables of version 1 had no \`facts\`, which is a part of the key of sums and hosts since version 2.
adds_facts() {
	local output

	start_store "$1"
	schema fleet
	sql "DROP TABLE fleet.samples_1m_view"
	sql "DROP TABLE fleet.samples_1h_view"
	sql "ALTER TABLE fleet.samples DROP COLUMN facts"
	sql "DROP TABLE fleet.samples_1m"
	sql "CREATE TABLE fleet.samples_1m (host LowCardinality(String), t DateTime('UTC'), process LowCardinality(String),
		comm LowCardinality(String), cgroup LowCardinality(String), class LowCardinality(String), state LowCardinality(String),
		stack UInt64, ns UInt64, count UInt64) ENGINE = SummingMergeTree PARTITION BY toYYYYMM(t)
		ORDER BY (host, process, comm, class, state, stack, cgroup, t)" $([ "$1" = new ] || echo allow_experimental_low_cardinality_type=1)
	sql "DROP TABLE fleet.hosts"
	sql "CREATE TABLE fleet.hosts (host LowCardinality(String), seen DateTime('UTC'), boot LowCardinality(String), booted DateTime('UTC'),
		kernel LowCardinality(String), arch LowCardinality(String), cpu_model LowCardinality(String), cpus UInt32, memory_bytes UInt64,
		version LowCardinality(String), interval_ms UInt32, label_names Array(LowCardinality(String)),
		label_values Array(LowCardinality(String))) ENGINE = ReplacingMergeTree(seen) ORDER BY (host, boot)" \
		$([ "$1" = new ] || echo allow_experimental_low_cardinality_type=1)
	sql "TRUNCATE TABLE fleet.schema_version"
	sql "INSERT INTO fleet.schema_version (version, program) SELECT 1, 'before'"
	sql "INSERT INTO fleet.hosts (host, boot, label_names, label_values) SELECT 'a', 'b', ['version'], ['1.4']"
	sql "INSERT INTO fleet.samples (host, t, ns) SELECT 'a', toDateTime('$schema_day 12:00:00', 'UTC'), 5"
	fails 1 build/ctprof flame "ch://127.0.0.1:$store_port/fleet"
	has "the error" "$output" "the tables are of version 1, and this ctprof needs 2: upgrade them by 'ctprof agent --create-schema"
	has "the upgrade" "$(schema fleet)" "upgraded: 0 tables, 3 columns"
	has "again" "$(schema fleet)" "upgraded: 0 tables, 0 columns"
	sql "INSERT INTO fleet.hosts (host, boot, facts, label_names, label_values) SELECT 'a', 'b', 7, ['version'], ['1.5']"
	sql "INSERT INTO fleet.samples (host, t, facts, ns) SELECT 'a', toDateTime('$schema_day 12:00:10', 'UTC'), 7 * (number % 2), 1
		FROM system.numbers LIMIT 3"
	sql "OPTIMIZE TABLE fleet.samples_1m FINAL"
	sql "OPTIMIZE TABLE fleet.hosts FINAL"
	equal "sums by minute" "$(sql "SELECT facts, sum(ns) FROM fleet.samples_1m WHERE t = toDateTime('$schema_day 12:00:00', 'UTC') GROUP BY facts ORDER BY facts")" \
		$'0\t2\n7\t1'
	equal "hosts" "$(sql "SELECT facts, label_values[1] FROM fleet.hosts ORDER BY facts")" $'0\t1.4\n7\t1.5'
}

# The tables of a program that is newer stay as they are.
refuses_newer() {
	local output

	start_store "$1"
	schema fleet
	sql "DROP TABLE fleet.losses"
	sql "INSERT INTO fleet.schema_version (version, program) SELECT 3, 'later'"
	fails 1 schema fleet
	has "the error" "$output" "the tables in fleet have version 3, and this ctprof knows versions up to 2: update ctprof"
	equal "what was there" "$(columns_of losses)" 0
}

# A schema that was made halfway, when the server died, is completed.
completes() {
	start_store "$1"
	schema fleet
	sql "DROP TABLE fleet.schema_version"
	sql "DROP TABLE fleet.samples_1h_view"
	kill -KILL "$store_pid"
	wait "$store_pid" 2> /dev/null || true
	start_store_again
	has "the rest" "$(schema fleet)" "new: 1 tables"
	equal "versions" "$(sql 'SELECT max(version) FROM fleet.schema_version')" 2
	equal "views" "$(sql "SELECT count() FROM system.tables WHERE database = 'fleet' AND engine = 'MaterializedView'")" 6
}

# Only current servers have them.
has_lifetimes() {
	local output

	start_store new
	schema fleet 7
	has "samples" "$(sql 'SHOW CREATE TABLE fleet.samples')" "TTL t + toIntervalDay(7)"
	has "sums by minute" "$(sql 'SHOW CREATE TABLE fleet.samples_1m')" "TTL t + toIntervalDay(90)"
	schema fleet 30
	has "samples" "$(sql 'SHOW CREATE TABLE fleet.samples')" "TTL t + toIntervalDay(30)"
	schema fleet
	has "samples" "$(sql 'SHOW CREATE TABLE fleet.samples')" "TTL t + toIntervalDay(30)"
	build/ctprof agent --create-schema --clickhouse "$store_url/fleet" --keep-rows minute=60d,hour=1000d
	has "samples" "$(sql 'SHOW CREATE TABLE fleet.samples')" "TTL t + toIntervalDay(30)"
	has "sums by minute" "$(sql 'SHOW CREATE TABLE fleet.samples_1m')" "TTL t + toIntervalDay(60)"
	has "sums by hour" "$(sql 'SHOW CREATE TABLE fleet.states_1h')" "TTL t + toIntervalDay(1000)"
	has "stacks" "$(sql 'SHOW CREATE TABLE fleet.stacks')" "TTL seen + toIntervalDay(1000)"
	# What is not named stays as it is, and counts.
	build/ctprof agent --create-schema --clickhouse "$store_url/fleet" --keep-rows raw=500d
	has "samples" "$(sql 'SHOW CREATE TABLE fleet.samples')" "TTL t + toIntervalDay(500)"
	fails 1 build/ctprof agent --create-schema --clickhouse "$store_url/fleet" --keep-rows hour=400d
	has "shorter than rows" "$output" "'raw' (500 days) is longer than 'hour' (400 days), which stacks and hosts are kept for"
	fails 1 build/ctprof agent --create-schema --clickhouse "$store_url/fleet" --keep-rows minute=1001d
	has "longer than hosts" "$output" "'minute' (1001 days) is longer than 'hour' (1000 days)"
	fails 2 build/ctprof agent --create-schema --clickhouse "$store_url/fleet" --keep-rows raw=5d,hour=4d
	has "samples" "$(sql 'SHOW CREATE TABLE fleet.samples')" "TTL t + toIntervalDay(500)"
	# A table that is made anew gets what others of its kind have.
	sql "DROP TABLE fleet.losses"
	build/ctprof agent --create-schema --clickhouse "$store_url/fleet"
	has "losses" "$(sql 'SHOW CREATE TABLE fleet.losses')" "TTL t + toIntervalDay(1000)"
	# Lifetimes that were written by hand are not compared.
	sql "ALTER TABLE fleet.loads MODIFY TTL t + INTERVAL 50 YEAR"
	build/ctprof agent --create-schema --clickhouse "$store_url/fleet" --keep-rows raw=20d
	has "loads" "$(sql 'SHOW CREATE TABLE fleet.loads')" "TTL t + toIntervalYear(50)"
}

# Old servers have no lifetimes, which one line says.
has_no_lifetimes() {
	start_store old
	has "the first time" "$(build/ctprof agent --create-schema --clickhouse "$store_url/fleet" --keep-rows raw=500d 2> "$scratch/told")" \
		"tables have no lifetimes"
	equal "what is next" "$(< "$scratch/told")" "ctprof: next: ctprof agent --clickhouse $store_url/fleet"
	equal "what is next, if it is quiet" "$(build/ctprof agent --create-schema --clickhouse "$store_url/fleet" --quiet 2>&1 > /dev/null)" ""
	has "again" "$(build/ctprof agent --create-schema --clickhouse "$store_url/fleet" --keep-rows raw=500d)" "up to date"
}

# no_server ADDRESS PIECE: what is no ClickHouse is told.
tells_what_is_no_server() {
	local output

	start_store new
	fails 1 $driver schema "http://127.0.0.1:1/" fleet
	fails 1 $driver schema "$store_url/nothing/" fleet
	has "another path" "$output" "There is no handle /nothing/"
}

for kind in new old; do
	run_case "tables are created once, $kind" creates_once "$kind"
	run_case "tables are upgraded in place, $kind" upgrades "$kind"
	run_case "tables of version 1 get facts, $kind" adds_facts "$kind"
	run_case "newer tables are refused, $kind" refuses_newer "$kind"
	run_case "tables that were made halfway are completed, $kind" completes "$kind"
done
run_case "rows have lifetimes, new" has_lifetimes
run_case "rows have no lifetimes, old" has_no_lifetimes
run_case "what is no server is told" tells_what_is_no_server

# SPDX-License-Identifier: BSD-2-Clause
#
# The tables: created, upgraded, and refused.

driver=build/tests/programs/store_driver

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
	equal "versions" "$(sql 'SELECT version, count() FROM fleet.schema_version GROUP BY version')" $'1\t1'
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
	sql "INSERT INTO fleet.threads (host, t, ms) SELECT 'old', toDateTime('2026-11-26 12:00:00', 'UTC'), 10000"
	has "the upgrade" "$(schema fleet)" "upgraded: 1 tables, 3 columns"
	equal "columns" "$(columns_of threads)" "$all"
	sql "INSERT INTO fleet.threads (host, t, ms, minflt) SELECT 'a', toDateTime('2026-11-26 12:00:07', 'UTC') + number * 10, 10000, 5 FROM system.numbers LIMIT 12"
	equal "rows from before" "$(sql "SELECT minflt FROM fleet.threads WHERE host = 'old'")" 0
	equal "sums by minute" "$(sql "SELECT toUnixTimestamp(t) % 3600, sum(minflt), sum(active_ms) FROM fleet.threads_1m WHERE host = 'a' GROUP BY t ORDER BY t")" \
		$'0\t30\t60000\n60\t30\t60000'
	equal "sums by hour" "$(sql "SELECT sum(minflt) FROM fleet.threads_1h WHERE host = 'a'")" 60
}

# The tables of a program that is newer stay as they are.
refuses_newer() {
	local output

	start_store "$1"
	schema fleet
	sql "DROP TABLE fleet.losses"
	sql "INSERT INTO fleet.schema_version (version, program) SELECT 2, 'later'"
	fails 1 schema fleet
	has "the error" "$output" "the tables in fleet have version 2, and this ctprof knows versions up to 1: update ctprof"
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
	equal "versions" "$(sql 'SELECT max(version) FROM fleet.schema_version')" 1
	equal "views" "$(sql "SELECT count() FROM system.tables WHERE database = 'fleet' AND engine = 'MaterializedView'")" 6
}

# Only current servers have them.
has_lifetimes() {
	start_store new
	schema fleet 7
	has "samples" "$(sql 'SHOW CREATE TABLE fleet.samples')" "TTL t + toIntervalDay(7)"
	has "sums by minute" "$(sql 'SHOW CREATE TABLE fleet.samples_1m')" "TTL t + toIntervalDay(90)"
	schema fleet 30
	has "samples" "$(sql 'SHOW CREATE TABLE fleet.samples')" "TTL t + toIntervalDay(30)"
	schema fleet
	has "samples" "$(sql 'SHOW CREATE TABLE fleet.samples')" "TTL t + toIntervalDay(30)"
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
	run_case "newer tables are refused, $kind" refuses_newer "$kind"
	run_case "tables that were made halfway are completed, $kind" completes "$kind"
done
run_case "rows have lifetimes, new" has_lifetimes
run_case "what is no server is told" tells_what_is_no_server

# SPDX-License-Identifier: BSD-2-Clause
#
# The servers of these tests answer as ctprof expects of ClickHouse.

# answers KIND: a row of RowBinary goes in and out again, in each encoding; errors have a status and a text.
answers() {
	local data=$scratch/row encoding output

	start_store "$1"
	equal "ping" "$(curl -s "$store_url/ping")" "Ok."
	sql "CREATE DATABASE d"
	sql "CREATE TABLE t (a UInt64, s String) ENGINE = MergeTree ORDER BY a" database=d
	printf '\5\0\0\0\0\0\0\0\1A' > "$data"
	post_to_store "INSERT INTO t (a, s) FORMAT RowBinary" "$data" database=d
	gzip -c "$data" > "$data.gz"
	POST_ENCODING=gzip post_to_store "INSERT INTO t (a, s) FORMAT RowBinary" "$data.gz" database=d
	equal "rows" "$(sql 'SELECT a, s, count() FROM t GROUP BY a, s' database=d)" $'5\tA\t2'
	equal "bytes" "$(sql 'SELECT a, s FROM t LIMIT 1 FORMAT RowBinary' database=d | od -An -tx1 | tr -d ' \n')" \
		05000000000000000141
	fails 1 sql "SELECT * FROM nothing" database=d
	has "the exception" "$output" "Code: 60"
	fails 1 sql "SELECT 1" database=nothing
	has "the exception" "$output" "Code: 81"
	fails 1 sql "SELEC 1" database=d
	has "the exception" "$output" "Code: "
}

# What only current servers have.
takes_parameters() {
	local data=$scratch/row

	start_store new
	printf '\1\0\0\0\0\0\0\0\0' | zstd -qc > "$data.zst"
	sql "CREATE TABLE t (a UInt64, s String) ENGINE = MergeTree ORDER BY a"
	POST_ENCODING=zstd post_to_store "INSERT INTO t (a, s) FORMAT RowBinary" "$data.zst"
	equal "rows" "$(sql 'SELECT count() FROM t WHERE a = {a:UInt64}' param_a=1)" 1
	equal "a parameter" "$(sql 'SELECT hex({x:String})' "param_x=a'\"; \\\\ ü")" "$(printf "a'\"; \\\\ ü" | od -An -tx1 | tr -d ' \n' | tr a-f A-F)"
	equal "a setting" "$(sql "SELECT getSetting('max_threads')" max_threads=1)" 1
	fails 1 sql "SELECT 1" no_such_setting=1
	has "the exception" "$output" "Code: 115"
}

# streams KIND: an answer of many pieces is whole, and an error within one is no whole answer.
streams() {
	start_store "$1"
	equal "bytes" "$(sql 'SELECT number FROM numbers(3000000) FORMAT RowBinary' | wc -c)" 24000000
	fails 0 curl -s "$store_url/?query=SELECT+1"
	equal "a GET" "$output" 1
	# Debian's server ends such an answer as if it were whole, unless it is to keep it until its end.
	fails 1 sql "SELECT throwIf(number = 2900000) FROM numbers(3000000) FORMAT TSV" wait_end_of_query=1
}

# survives KIND: what was inserted is there after the server was killed.
survives() {
	start_store "$1"
	sql "CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a"
	sql "INSERT INTO t SELECT number FROM system.numbers LIMIT 1000"
	kill -KILL "$store_pid"
	wait "$store_pid" 2> /dev/null || true
	start_store_again
	equal "rows" "$(sql 'SELECT count() FROM t')" 1000
}

for kind in new old; do
	run_case "a server answers, $kind" answers "$kind"
	run_case "a server streams, $kind" streams "$kind"
	run_case "rows survive the end of a server, $kind" survives "$kind"
done
run_case "a server takes parameters and settings, new" takes_parameters

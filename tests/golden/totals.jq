# SPDX-License-Identifier: BSD-2-Clause
#
# jq -r -f totals.jq REPORT.json: the totals of the overview that differ from the sum of the rows of their metric: what
# the threads of all groups did, with those that began in between.
# With --slurpfile before OLD --slurpfile after NEW, also of page faults, which rows of groups that began do not have, by
# the threads of the two snapshots.

def part:
	if .section == "only-candidate" then .candidate
	elif .section == "only-baseline" then 0
	elif has("value") then .value
	else .delta end // 0;

# Disks have metrics of the same names.
def of_rows($rows; $metric):
	[$rows[] | select(.metric == $metric and (.section | test("^(primary|taskstats-delay|only-)"))) | part] | add // 0;

def key: "\(.tid) \(.start_time_clock_ticks)";

def of_threads($metric):
	($ARGS.named.before[0].threads | map({(key): .[$metric]}) | add) as $old
	| [$ARGS.named.after[0].threads[] | (.[$metric] // 0) - ($old[key] // 0)] | add;

# The tables of groups that began have no column for these, and not all threads have the last two.
def is_without_column: IN("minflt", "wchar", "block_sum");

.rows as $rows
| .overview.totals[]
| .metric as $metric
| (if ($metric | is_without_column) and any($rows[]; .section == "only-candidate") then
	if $metric == "minflt" then of_threads($metric) else .total end
   else of_rows($rows; $metric) end) as $sum
| select(.total != $sum)
| "\($metric): \(.total), but \($sum)"

# SPDX-License-Identifier: BSD-2-Clause
#
# jq -r -f cells.jq: the rows of a JSON report of two snapshots as the lines of its table, made of the
# raw numbers alone: "group metric baseline candidate delta %", one space between.

def padded($count): tostring | if length < $count then "0" * ($count - length) + . else . end;

# With so many decimals, rounded half up.
def fixed($decimals):
	pow(10; $decimals) as $scale
	| (. * $scale + 0.5 | floor) as $whole
	| "\($whole / $scale | floor).\($whole % $scale | padded($decimals))";

def ladder:
	{
		"ns": [1000, "ns", "µs", "ms", "s"],
		"us": [1000, "µs", "ms", "s"],
		"ms": [1000, "ms", "s"],
		"ticks": [1, "s"],
		"bytes": [1024, "B", "KiB", "MiB", "GiB", "TiB"],
		"KiB": [1024, "KiB", "MiB", "GiB", "TiB"],
		"count": [1000, "", "K", "M", "G"],
		"": [1, ""],
		"ratio": [1, ""],
		"percent": [1, "%"]
	}[.];

# A size on the ladder of its unit; `$whole` when the number is one by its kind.
def sized($unit; $whole):
	($unit | ladder) as [$step, $first]
	| ($unit | ladder[1:]) as $rungs
	| {size: ., rung: 0}
	| until($rungs[.rung + 1] == null or .size < $step; .size /= $step | .rung += 1)
	| if $unit == "percent" then (.size | fixed(2)) + $first
	  elif $unit == "ticks" then (.size / 100 | fixed(2)) + $first
	  elif .rung == 0 and $whole then "\(.size)\($first)"
	  else (if .rung > 0 or $unit == "" or $unit == "ratio" then 3 else 2 end) as $decimals
	       | (.size | fixed($decimals)) + $rungs[.rung] end;

def signed($unit; $whole): (if . < 0 then "-" else "+" end) + (fabs | sized($unit; $whole));

def is_quotient: (.metric | startswith("avg_") or . == "load1") or .unit == "ratio";

# Categories count by themselves, and nr_threads is a number of leaders alone.
def share_of($measured; $threads):
	if $measured == null or $measured == $threads or .metric == "nr_threads" then ""
	else " (\($measured)/\($threads))" end;

def delays: if .measured_delays then " (\(.measured_delays) of 8 delays)" else "" end;

def cell($value; $measured; $threads):
	if $value == null then (if (.metric | endswith("_min_ns")) and $measured > 0 then "no events" else "-" end)
	elif ($value | type) == "string" then $value
	elif ($value | type) == "object" and ($value | has("cpus")) then "\($value.min) cpus (\($value.cpus))"
	elif ($value | type) == "object" and $value.min == $value.max then "\($value.min)"
	elif ($value | type) == "object" then "\($value.min)..\($value.max)"
	else .unit as $unit | is_quotient as $quotient
	     | ($value | if . < 0 then "-" + (fabs | sized($unit; $quotient | not)) else sized($unit; $quotient | not) end)
	       + share_of($measured; $threads) + delays end;

# A CPU has a number for its name.
def is_label: .metric == "processor";

def delta:
	if is_label then
		if .baseline == null or .candidate == null then "-"
		elif .baseline == .candidate then "same" else "differs" end
	elif .delta == null then
		if (.baseline | type) != "string" or (.candidate | type) != "string" then "-"
		elif .baseline == .candidate then "same" else "differs" end
	elif (.candidate | type) == "object" and .delta == 0 then "same"
	elif (.candidate | type) == "object" then (if .delta < 0 then "-" else "+" end) + (.delta | fabs | tostring)
	else .unit as $unit | is_quotient as $quotient | .delta | signed($unit; $quotient | not) end;

def percent($share): $share * 100 | (if . < 0 then "-" else "+" end) + (fabs | fixed(1)) + "%";

# Of a window: the rate in it, against that before.
def pct($elapsed_s):
	if is_label then "-"
	elif .baseline_per_s then
		.baseline_per_s as $before | (.delta / $elapsed_s) as $rate
		| if $before > 0 then
			[$rate / $before - 1, -1] | max | if . > 1000 then ">1000x" else percent(.) end
		  elif $rate > 0 then "new" else "-" end
	elif .pct == null and .baseline == 0 and (.delta // 0) > 0 and (.unit | . != "" and . != "ratio") then "new"
	elif .pct == null then "-"
	else percent(.pct / 100) end;

.elapsed_s as $elapsed_s
| .rows[]
| select(.section | startswith("only-") | not)
| [.group // empty, .metric, cell(.baseline; .baseline_measured_threads; .baseline_threads),
   cell(.candidate; .measured_threads; .threads), delta, pct($elapsed_s)]
| join(" ")

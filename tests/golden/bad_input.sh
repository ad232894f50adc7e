# SPDX-License-Identifier: BSD-2-Clause
#
# What a snapshot may do to its reader: nothing but be refused, in one line that names the file and
# the place in its decompressed text, with status 1 and within a bound of memory. And what a failed
# write may do to the file that was there: nothing. Part of tests/golden/run.

stream=$root/build/tests/programs/bad_stream
peak=$root/build/tests/programs/bad_peak

# The bound on memory: 64 MiB, 3 KiB for each thread of the file, and a quarter for each cgroup where each thread has one
# of its own.
memory_base=$((64 * 1024))
memory_per_thread=3
cgroups_per_kib=4

host=tests/fixtures/synthetic-host/proc

# measure COMMAND...: its status in $status, output in $out and $err, memory in KiB in $resident, CPU
# time in ms in $cpu. Standard input goes through.
measure() {
	status=0
	"$peak" "$scratch/peak" "$@" > "$scratch/out" 2> "$scratch/err" || status=$?
	out=$(head -c 4000 "$scratch/out") err=$(head -c 4000 "$scratch/err")
	read -r resident cpu < "$scratch/peak"
}

# within_memory THREADS [CGROUPS]
within_memory() {
	local bound=$((memory_base + memory_per_thread * $1 + ${2:-0} / cgroups_per_kib))

	[ "$resident" -le "$bound" ] || {
		echo "$resident KiB resident are more than $bound, the bound of $1 threads and ${2:-0} cgroups"
		return 1
	}
}

# was_refused NAME [THREADS]: the last command was, in one line that names NAME and an offset, which
# is left in $offset.
was_refused() {
	equal status "$status" 1
	equal "standard output" "$out" ""
	equal "lines of error" "$(wc -l < "$scratch/err")" 1
	[[ $err =~ ^"ctprof: $1: at offset "([0-9]+)": ". ]] || { echo "no place in: $err"; return 1; }
	offset=${BASH_REMATCH[1]}
	if LC_ALL=C grep -q $'[\001-\011\013-\037\177]' "$scratch/err"; then
		echo "control characters in: $(cat -v "$scratch/err")"
		return 1
	fi
	within_memory "${2:-0}"
}

# refuses FILE
refuses() {
	measure ctprof show "$1"
	was_refused "$1"
}

# --- files that are no snapshots ---

is_no_snapshot() {
	cat > "$scratch/bad"
	refuses "$scratch/bad"
	equal offset "$offset" "${1:-0}"
}

not_zstd() { echo 'plain text' | is_no_snapshot; }
nothing() { is_no_snapshot < /dev/null; }
random_bytes() { head -c 100000 /dev/urandom | is_no_snapshot; }
not_json() { echo 'hello' | zstd -q | refuse_json_at 0 1; }
an_array() { printf '[]' | zstd -q | refuse_json_at 0 1; }
another_object() { printf '{"a":1}' | zstd -q | refuse_json_at 0 7; }
two_objects() { printf '{"captured_at_unix_ns":1}{}' | zstd -q | refuse_json_at 25 27; }
not_utf8() { printf '{"captured_at_unix_ns":1,"ctprof":{"note":"\377"}}' | zstd -q | refuse_json_at 42 46; }

refuse_json_at() {
	cat > "$scratch/bad"
	refuses "$scratch/bad"
	between offset "$1" "$offset" "$2"
}

for case in not_zstd nothing random_bytes not_json an_array another_object two_objects not_utf8; do
	run_case "bad input: ${case//_/ }" $case
done

# Every prefix of a file is refused, and so is every file with one byte too many at its end.
truncated() {
	local length

	zstd -q < tests/fixtures/synthetic-snapshots/before.json > "$scratch/whole"
	ctprof show "$scratch/whole" > /dev/null
	length=$(stat -c %s "$scratch/whole")
	for ((cut = 0; cut < length; cut += cut < 64 || cut > length - 64 ? 1 : 7)); do
		head -c "$cut" "$scratch/whole" > "$scratch/cut"
		refuses "$scratch/cut"
	done
	for byte in '\0' x '\050'; do
		{ cat "$scratch/whole"; printf "$byte"; } > "$scratch/longer"
		refuses "$scratch/longer"
	done
}
run_case "bad input: a snapshot cut anywhere" truncated

# A text that ends anywhere, in a frame that is whole.
truncated_text() {
	local length

	length=$(stat -c %s tests/fixtures/synthetic-snapshots/before.json)
	for ((cut = 0; cut < length - 1; cut += 97)); do
		head -c "$cut" tests/fixtures/synthetic-snapshots/before.json | zstd -q > "$scratch/cut"
		refuses "$scratch/cut"
		between offset 0 "$offset" "$cut"
	done
}
run_case "bad input: a text cut anywhere" truncated_text

# A byte that changed on the way is found by the checksum, wherever it is behind the header.
corrupted() {
	local length

	zstd -q --check < tests/fixtures/synthetic-snapshots/before.json > "$scratch/whole"
	length=$(stat -c %s "$scratch/whole")
	for ((at = 6; at < length; at += 13)); do
		cp "$scratch/whole" "$scratch/changed"
		byte=$(od -An -tu1 -j "$at" -N 1 "$scratch/whole")
		printf "\\x$(printf %02x $((byte ^ 16)))" |
			dd of="$scratch/changed" bs=1 seek="$at" conv=notrunc status=none
		refuses "$scratch/changed" || { echo "with byte $at changed"; return 1; }
	done
}
run_case "bad input: a snapshot with a changed byte" corrupted

# --- members that are wrong, at the place they stand ---

# A name, and a text with the wrong token between two @.
wrong_members() {
	cat <<-'X'
	no time           | {"captured_at_unix_ns":@null@}
	time as text      | {"captured_at_unix_ns":@"1"@}
	time twice        | {"captured_at_unix_ns":1,@"captured_at_unix_ns":1@}
	negative time     | {"captured_at_unix_ns":@-1@}
	fraction          | {"captured_at_unix_ns":@1.5@}
	exponent          | {"captured_at_unix_ns":@1e3@}
	2^64              | {"captured_at_unix_ns":@18446744073709551616@}
	threads twice     | {"captured_at_unix_ns":1,"threads":[],@"threads":[]@}
	threads an object | {"captured_at_unix_ns":1,"threads":@{@}}
	a thread a number | {"captured_at_unix_ns":1,"threads":[@1@]}
	thread without tid| {"captured_at_unix_ns":1,"threads":[@{"tgid":1}@]}
	tid 0             | {"captured_at_unix_ns":1,"threads":[@{"tid":0,"tgid":1}@]}
	tid 2^32          | {"captured_at_unix_ns":1,"threads":[{"tid":@4294967296@,"tgid":1}]}
	tid negative      | {"captured_at_unix_ns":1,"threads":[{"tid":@-1@,"tgid":1}]}
	tid twice         | {"captured_at_unix_ns":1,"threads":[{"tid":1,@"tid":1@,"tgid":1}]}
	name a number     | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"comm":@5@}]}
	name with NUL     | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"comm":@"a\u0000"@}]}
	state of two      | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"state":@"SS"@}]}
	state empty       | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"state":@""@}]}
	flag a number     | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"ext_enabled":@1@}]}
	nice 2^31         | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"nice":@2147483648@}]}
	priority fraction | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"rt_priority":@-1@}]}
	counter negative  | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"run_time_ns":@-5@}]}
	counter null      | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"run_time_ns":@null@}]}
	counter an array  | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"run_time_ns":@[@1]}]}
	counter too large | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"rchar":@99999999999999999999999999@}]}
	counter twice     | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"rchar":1,@"rchar":1@}]}
	CPUs out of order | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"cpu_affinity":[1,@0@]}]}
	CPU twice         | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"cpu_affinity":[1,@1@]}]}
	CPU negative      | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"cpu_affinity":[@-1@]}]}
	CPUs as text      | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"cpu_affinity":@"0-3"@}]}
	memory twice      | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"smaps_rollup_kb":{"Rss":1,@"Rss":1@}}]}
	memory negative   | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"smaps_rollup_kb":{"Rss":@-1@}}]}
	boolean a number  | {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1,"taskstats_measured":@1@}]}
	cgroups an array  | {"captured_at_unix_ns":1,"cgroup_stats":@[@]}
	cgroup a number   | {"captured_at_unix_ns":1,"cgroup_stats":{"/":@1@}}
	cgroup number bad | {"captured_at_unix_ns":1,"cgroup_stats":{"/":{"cpu":{"usage_usec":@-1@}}}}
	cgroup key twice  | {"captured_at_unix_ns":1,"cgroup_stats":{"/":{"cpu":{},@"cpu":{}@}}}
	cgroup stat twice | {"captured_at_unix_ns":1,"cgroup_stats":{"/":{"memory":{"stat":{"a":1,@"a":1@}}}}}
	weight too large  | {"captured_at_unix_ns":1,"cgroup_stats":{"/":{"cpu":{"weight_nice":@9223372036854775808@}}}}
	host a text       | {"captured_at_unix_ns":1,"host":@"x"@}
	tunable twice     | {"captured_at_unix_ns":1,"host":{"sched_tunables":{"a":"b",@"a":"b"@}}}
	tunable a number  | {"captured_at_unix_ns":1,"host":{"sched_tunables":{"a":@1@}}}
	host twice        | {"captured_at_unix_ns":1,"host":{"arch":"a",@"arch":"b"@}}
	pressure a text   | {"captured_at_unix_ns":1,"psi":{"cpu":{"some":{"avg10":@"1"@}}}}
	pressure twice    | {"captured_at_unix_ns":1,"psi":{"cpu":{"some":{},@"some":{}@}}}
	summary a number  | {"captured_at_unix_ns":1,"parse_summary":@1@}
	process a number  | {"captured_at_unix_ns":1,"processes":[@1@]}
	process uid text  | {"captured_at_unix_ns":1,"processes":[{"tgid":1,"uid":@"root"@}]}
	a later form      | {"captured_at_unix_ns":1,"ctprof":{"form":@2@}}
	head without list | {"captured_at_unix_ns":1,"ctprof":@{"form":1}@}
	head after threads| {"captured_at_unix_ns":1,"threads":[{"tid":1,"tgid":1}],"ctprof":@{@}}
	bits no digits    | {"captured_at_unix_ns":1,"ctprof":{"form":1,"fields":{"threads":["nice"]}},"threads":[{"tid":1,"tgid":1,"measured":@"g"@}]}
	bits a number     | {"captured_at_unix_ns":1,"ctprof":{"form":1,"fields":{"threads":["nice"]}},"threads":[{"tid":1,"tgid":1,"measured":@1@}]}
	no comma          | {"captured_at_unix_ns":1 @"threads"@:[]}
	a comma too many  | {"captured_at_unix_ns":1,@}@
	a comment         | {@/*@ */"captured_at_unix_ns":1}
	X
}

# Where between the two marks, or right after them, the error is said to be.
wrong_member() {
	local text=$1 before=${1%%@*} wrong

	wrong=${text#*@}
	wrong=${wrong%%@*}
	printf '%s' "${text//@/}" | zstd -q > "$scratch/bad"
	refuses "$scratch/bad"
	between offset "${#before}" "$offset" $((${#before} + ${#wrong} + 1))
}

while IFS='|' read -r name text; do
	name=${name%"${name##*[! ]}"}
	run_case "bad input: $name" wrong_member "${text# }"
done < <(wrong_members)

# The end of a text says which cgroup stood twice, since they are compared when all are there.
cgroup_twice() {
	printf '{"captured_at_unix_ns":1,"cgroup_stats":{"/a":{},"/b":{},"/a":{}}}' | zstd -q > "$scratch/bad"
	refuses "$scratch/bad"
	has error "$err" /a
}
run_case "bad input: a cgroup twice" cgroup_twice

# Names come from files; in a message they may be neither lines nor commands to a terminal.
hostile_names() {
	for text in \
		'{"captured_at_unix_ns":1,"cgroup_stats":{"/\n\u001b[2J":{},"/\n\u001b[2J":{}}}' \
		'{"captured_at_unix_ns":1,"cgroup_stats":{"/\n\u001b[2J":1}}' \
		'{"captured_at_unix_ns":1,"cgroup_stats":{"/":{"memory":{"stat":{"\n\u007f":-1}}}}}' \
		'{"captured_at_unix_ns":1,"cgroup_stats":{"/":{"memory":{"stat":{"\r":1,"\r":1}}}}}'; do
		printf '%s' "$text" | zstd -q > "$scratch/bad"
		refuses "$scratch/bad"
	done
}
run_case "bad input: names with control characters" hostile_names

# --- bombs: files of some KiB that say a great deal ---

GIB=$((1 << 30))

# bomb KIND COUNT: refused, long before all of it was made.
bomb() {
	measure ctprof show - < <("$stream" "$1" "$2" | zstd -q -1)
	was_refused "standard input"
}

# The text itself, and not what a pipe makes of it, once.
bomb_file() {
	"$stream" zeros $((10 * GIB)) | zstd -q -1 > "$scratch/bomb"
	refuses "$scratch/bomb"
	"$stream" spaces $((10 * GIB)) | zstd -q -1 > "$scratch/bomb"
	refuses "$scratch/bomb"
	rm "$scratch/bomb"
}
run_case "bomb: files of 10 GiB" bomb_file
while read -r kind count; do
	run_case "bomb: $kind" bomb "$kind" "$count"
done <<-X
	zeros $((10 * GIB))
	spaces $((10 * GIB))
	unknown $((5 * GIB))
	string $((10 * GIB))
	escapes $((2 * GIB))
	name $((10 * GIB))
	digits $((10 * GIB))
	nested $((5 * GIB))
	nested-objects $((2 * GIB))
	cgroups 1000000
	processes 1000000
	cpus 40000000
X

# The bounds themselves are inside.
# accepts KIND COUNT; rejects KIND COUNT
accepts() {
	measure ctprof show - --limit 1 < <("$stream" "$1" "$2" | zstd -q -1)
	equal status "$status ($err)" "0 ($err)"
}

rejects() {
	measure ctprof show - --limit 1 < <("$stream" "$1" "$2" | zstd -q -1)
	was_refused "standard input"
}

bounds() {
	accepts string $((1 << 20))
	rejects string $(((1 << 20) + 1))
	accepts name $((1 << 20))
	rejects name $(((1 << 20) + 1))
	# One level is the snapshot itself.
	accepts nested 31
	rejects nested 32
}
run_case "bad input: strings of 1 MiB and 32 levels are the most" bounds

# A window that asks for more memory than a reader should give to any file.
wide_window() {
	"$stream" spaces 200000000 | zstd -q --long=30 --ultra -1 > "$scratch/bad"
	refuses "$scratch/bad"
}
run_case "bomb: a window of 1 GiB" wide_window

# --- many threads are no bomb ---

# loads KIND COUNT: that many threads are read within the bound.
loads() {
	"$stream" "$1" "$2" | zstd -q -1 > "$scratch/many"
	measure ctprof show "$scratch/many" --metrics thread_count --limit 1
	equal status "$status ($err)" "0 ($err)"
	within_memory "$2"
	rm "$scratch/many"
}
run_case "bound of memory: 200,000 threads without values" loads tiny-threads 200000
run_case "bound of memory: 1,000,000 threads without values" loads tiny-threads 1000000

# many_real_threads COUNT: a thread as captures write it, so many times over, with a name of its own
# each time.
many_real_threads() {
	ctprof capture -q --proc-root tests/fixtures/synthetic-5.15/proc -o - | zstd -dcq > "$scratch/one"
	jq -c '.threads[0] | del(.tid, .comm)' "$scratch/one" | cut -c 2- > "$scratch/thread"
	jq -c '.threads = ["here"]' "$scratch/one" > "$scratch/around"
	{
		sed 's/"here".*//' "$scratch/around" | tr -d '\n'
		awk -v count="$1" '{ for (i = 1; i <= count; i++)
			print (i > 1 ? "," : "") "{\"tid\":" i ",\"comm\":\"worker-" i "\"," $0 }' \
			"$scratch/thread"
		sed 's/.*"here"//' "$scratch/around"
	} | zstd -q -1
}

real_threads() {
	many_real_threads 200000 > "$scratch/many"
	measure ctprof show "$scratch/many" --metrics thread_count
	equal status "$status ($err)" "0 ($err)"
	has output "$out" 200000
	within_memory 200000
	rm "$scratch/many"
}
run_case "bound of memory: 200,000 threads with everything a capture has" real_threads

many_groups() {
	many_real_threads 50000 > "$scratch/many"
	measure ctprof show "$scratch/many" --group-by comm-exact --metrics thread_count --limit 1
	equal status "$status ($err)" "0 ($err)"
	has output "$out" worker-1
	within_memory 50000
	rm "$scratch/many"
}
run_case "bound of memory: 50,000 threads, each a group of its own" many_groups

# As much as a file can hang on each thread: refused or read, but within the bound.
everything() {
	"$stream" everything 100000 | zstd -q -1 > "$scratch/many"
	measure ctprof show-host "$scratch/many"
	((status == 0)) || was_refused "$scratch/many" 100000
	within_memory 100000 100000
	rm "$scratch/many"
}
run_case "bound of memory: 100,000 threads, each with names, memory, cgroup and process" everything

# One map of many names takes time in proportion to them: eight times as many, not sixty-four times
# as long.
cpu_of_counts() {
	"$stream" counts "$1" | zstd -q -1 > "$scratch/counts"
	measure ctprof show-host "$scratch/counts"
}

many_counts() {
	local few

	cpu_of_counts 12500
	few=$cpu
	cpu_of_counts 100000
	[ "$cpu" -le $((24 * (few + 10))) ] || { echo "8 times the names, $few ms became $cpu ms"; return 1; }
}
run_case "bad input: a map of 100,000 names takes no square of time" many_counts

# --- comparing what nobody planned for ---

# crowd FIRST LAST [NAME]: that many processes of one thread, each with a name and a cgroup of its own,
# that ran as many ns as their number says.
crowd() {
	awk -v first="$1" -v last="$2" -v name="${3-crowd-}" 'BEGIN {
		printf "{\"captured_at_unix_ns\":%d,\"ctprof\":{\"form\":1,\"fields\":{\"threads\":", first
		printf "[\"run_time_ns\",\"start_time_clock_ticks\"]}},\"threads\":["
		for (i = first; i <= last; i++) {
			printf "%s{\"tid\":%d,\"tgid\":%d,\"pcomm\":\"%s%d\",", (i > first) ? "," : "", i, i, name, i
			printf "\"comm\":\"%s%d\",\"cgroup\":\"/%s%d.scope\",", name, i, name, i
			printf "\"start_time_clock_ticks\":%d,\"run_time_ns\":%d,", i, (first == 1) ? i : i + 3
			print "\"measured\":\"3\"}"
		}
		print "]}"
	}' | zstd -q -1
}

# 1 to 100,000 and 50,001 to 150,000: half of them on both sides, each of which ran 3 ns more.
crowds() {
	crowd 1 100000 > "$scratch/before"
	crowd 50001 150000 > "$scratch/after"
}

many_groups_compared() {
	crowds
	measure ctprof compare "$scratch/before" "$scratch/after" --limit 1
	equal status "$status ($err)" "0 ($err)"
	has output "$out" "... 49999 more rows (--all)"
	has output "$out" "50000 groups only in baseline"
	has output "$out" "50000 groups only in candidate"
	has output "$out" "... 49999 more groups (--all)"
	within_memory 200000
	measure ctprof compare "$scratch/before" "$scratch/after" --metrics run_time_ns --format csv
	equal status "$status ($err)" "0 ($err)"
	equal "groups, their changes, groups before, groups after" "$(awk -F, '
		$1 == "primary" { groups++; change += $7 }
		$1 == "only-baseline" && $3 == "run_time_ns" { before += $5 }
		$1 == "only-candidate" && $3 == "run_time_ns" { after += $6 }
		END { printf "%d %d %.0f %.0f", groups, change, before, after }' "$scratch/out")" \
		"50000 150000 1250025000 6250175000"
	within_memory 200000
}
run_case "bad input: 100,000 groups on each side" many_groups_compared

# Every axis, in memory and in time that grows with the threads.
cpu_of_axis() {
	measure ctprof compare "$scratch/$2before" "$scratch/$2after" --group-by "$1" --limit 1
	equal "status by $1" "$status ($err)" "0 ($err)"
	within_memory 200000
}

axes_of_crowds() {
	local axis few

	crowds
	crowd 1 12500 > "$scratch/few-before"
	crowd 6251 18750 > "$scratch/few-after"
	for axis in pcomm cgroup comm comm-exact pcomm-comm all exe cmdline user unit container thread; do
		cpu_of_axis "$axis" few-
		few=$cpu
		cpu_of_axis "$axis" ""
		[ "$cpu" -le $((24 * (few + 20))) ] || { echo "by $axis, 8 times the groups, $few ms became $cpu ms"; return 1; }
	done
}
run_case "bad input: 100,000 groups on every axis take no square of time" axes_of_crowds

# ... LONG in every place where a name may stand, and nothing of it lost.
long_names() {
	local long axis format

	long=$(printf 'w%.0s' {1..4090})
	crowd 1 3 "$long" > "$scratch/before"
	crowd 1 3 "$long" > "$scratch/after"
	for axis in pcomm cgroup comm comm-exact pcomm-comm all thread; do
		measure ctprof compare "$scratch/before" "$scratch/after" --group-by "$axis" --metrics run_time_ns --all-rows
		equal "status by $axis" "$status ($err)" "0 ($err)"
		grep -q "$long" "$scratch/out" || { echo "by $axis, the name is not in the output"; return 1; }
	done
	for format in json csv markdown; do
		measure ctprof compare "$scratch/before" "$scratch/after" --metrics run_time_ns --all-rows --format $format
		equal "status as $format" "$status ($err)" "0 ($err)"
		equal "names in $format" "$(grep -c "${long}[123]" "$scratch/out")" 3
	done
	COLUMNS=100 measure ctprof compare "$scratch/before" "$scratch/after" --metrics run_time_ns --all-rows --wrap
	equal "status when wrapped" "$status ($err)" "0 ($err)"
	equal "of the names when wrapped" "$(sed -n '/^ /p' "$scratch/out" | tr -cd w | wc -c)" \
		"$(sed -n '/^ /p' <(ctprof compare "$scratch/before" "$scratch/after" --metrics run_time_ns --all-rows) | tr -cd w | wc -c)"
}
run_case "bad input: names of 4 KB" long_names

# A glob that would try every way to share 4 KB between its stars, and one of many **.
slow_globs() {
	local long glob

	long=$(printf 'a%.0s' {1..4000})
	crowd 1 3 "$long" > "$scratch/before"
	crowd 1 3 "$(printf 'a/%.0s' {1..2000})" > "$scratch/after"
	for glob in "/$(printf 'a*%.0s' {1..1000})b" "/$(printf '**/a/%.0s' {1..500})b" "/$(printf '?*%.0s' {1..1000})[!0-9]"; do
		measure timeout 20 ctprof compare "$scratch/before" "$scratch/after" --group-by cgroup \
			--cgroup-flatten "$glob" --metrics run_time_ns
		equal "status of ${glob:0:20}..." "$status (${err:0:200})" "0 (${err:0:200})"
	done
}
run_case "bad input: globs that try everything" slow_globs

# All on one side: nothing is compared, and a condition cannot be told.
one_sided() {
	local sides

	crowd 1 3 > "$scratch/some"
	crowd 7 9 other- > "$scratch/others"
	printf '{"captured_at_unix_ns":1,"ctprof":{"form":1,"fields":{"threads":["run_time_ns"]}},"threads":[]}' | zstd -q > "$scratch/none"
	for sides in "some others" "some none" "none some" "none none"; do
		set -- $sides
		for axis in pcomm thread; do
			measure ctprof compare "$scratch/$1" "$scratch/$2" --group-by $axis --format json --sections primary
			equal "status of $sides" "$status ($err)" "0 ($err)"
			equal "rows of $sides" "$(jq '[.rows[] | select(.section | startswith("only") | not)] | length' "$scratch/out")" 0
			equal "groups of $sides" "$(jq -c '[.rows[] | select(.metric == "run_time_ns") | .section] | [map(select(. == "only-baseline")), map(select(. == "only-candidate"))] | map(length)' "$scratch/out")" \
				"[$([ "$1" = none ] && echo 0 || echo 3),$([ "$2" = none ] && echo 0 || echo 3)]"
		done
		measure ctprof compare "$scratch/$1" "$scratch/$2" --fail-if 'run_time_ns > 0'
		equal "status of a condition of $sides" "$status ($err)" "4 ($err)"
	done
}
run_case "bad input: snapshots that share nothing, or are empty" one_sided

no_match() {
	local words

	crowd 1 3 > "$scratch/some"
	for words in "--match nobody" "--not-match *" "--match \\[" "--match crowd-1 --not-match crowd-?"; do
		for command in "show $scratch/some" "compare $scratch/some $scratch/some"; do
			set -f
			measure ctprof $command $words
			set +f
			equal "status of $words" "$status ($err)" "0 ($err)"
			has "$words" "$out" "no group matches"
			set -f
			measure ctprof $command $words --format json
			set +f
			equal "rows of $words" "$(jq '.rows | length' "$scratch/out")" 0
		done
	done
	for words in '[' 'a[!b' 'a\'; do
		for command in --match --not-match; do
			fails 2 ctprof show "$scratch/some" $command "$words"
			has "the error" "$output" "$command: "
		done
		fails 2 ctprof compare "$scratch/some" "$scratch/some" --fail-if "$words:majflt > 1"
	done
	measure ctprof compare "$scratch/some" "$scratch/some" --group-by cgroup --cgroup-flatten '/nothing/**' --metrics run_time_ns --all-rows
	equal "status of a flattening of nothing" "$status ($err)" "0 ($err)"
	has output "$out" /crowd-3.scope
}
run_case "bad input: globs that match nothing" no_match

# refuses_usage WORDS...: before any file is read, in one line and a hint, without control characters.
refuses_usage() {
	measure ctprof "$@" "$scratch/nonexistent" "$scratch/nonexistent"
	equal "status of $*" "$status" 2
	equal "standard output of $*" "$out" ""
	equal "lines of error of $*" "$(wc -l < "$scratch/err")" 2
	if LC_ALL=C grep -q $'[\001-\011\013-\037\177]' "$scratch/err"; then
		echo "control characters in: $(cat -v "$scratch/err")"
		return 1
	fi
}

malformed_globs() {
	local glob

	for glob in '' '/a[' '/[]' '/[z-a]' '/a\' 'a/b' '/a**' '/**a/b' '*' $'\n' $'/\033[31m[' "/$(printf '[%.0s' {1..4000})"; do
		refuses_usage compare --group-by cgroup --cgroup-flatten "$glob"
	done
}
run_case "bad input: malformed globs" malformed_globs

two_inputs() {
	measure ctprof compare - -
	equal status "$status" 2
	measure ctprof compare --baseline - - --candidate "$scratch/nonexistent"
	equal status "$status" 2
	measure ctprof compare --baseline - --candidate -
	equal status "$status" 2
	equal "lines of error" "$(wc -l < "$scratch/err")" 2
}
run_case "bad input: standard input twice" two_inputs

hostile_options() {
	local option

	for option in --columns --sections --metrics --sort-by --min-delta --fail-if --limit --normalize \
		--group-by --format --display-format; do
		for value in $'\033[31m' $'a\nb' , 'a,' ':' '%%' $'\377' "$(printf 'x%.0s' {1..5000})"; do
			refuses_usage compare $option "$value"
		done
	done
}
run_case "bad input: options full of control characters, and of 5 KB" hostile_options

# --- output that cannot be written ---

# fails_to_write PIECE COMMAND...: one line that names it, status 1.
fails_to_write() {
	local piece=$1

	shift
	status=0
	"$@" 2> "$scratch/err" || status=$?
	equal status "$status" 1
	equal "lines of error" "$(wc -l < "$scratch/err")" 1
	has error "$(cat "$scratch/err")" "$piece"
}

device_full() {
	fails_to_write "/dev/full: No space left" ctprof capture -q --proc-root "$host" -o /dev/full
	[ -c /dev/full ]
}
run_case "output: /dev/full" device_full

closed() { "$@" >&-; }

stdout_full() {
	zstd -q < tests/fixtures/synthetic-snapshots/before.json > "$scratch/whole"
	fails_to_write "No space left" full ctprof capture -q --proc-root "$host" -o -
	for words in "show $scratch/whole" "compare $scratch/whole $scratch/whole" \
		"show-host $scratch/whole" metric-list --help --version "show --help"; do
		# shellcheck disable=SC2086
		fails_to_write "standard output: " full ctprof $words
	done
}
run_case "output: standard output is full" stdout_full

stdout_closed() {
	fails_to_write "standard output" closed ctprof capture -q --proc-root "$host" -o -
	fails_to_write "standard output" closed ctprof metric-list
}
run_case "output: standard output is closed" stdout_closed

a_directory() {
	mkdir "$scratch/directory"
	fails_to_write "$scratch/directory: Is a directory" \
		ctprof capture -q --proc-root "$host" -o "$scratch/directory"
	fails_to_write "nonexistent" ctprof capture -q --proc-root "$host" -o "$scratch/nonexistent/x"
}
run_case "output: a directory, and a name in none" a_directory

# In a mount namespace of its own: $scratch/small is a tmpfs with an old file and no room.
in_small_tmpfs() {
	[ "$(id -u)" -eq 0 ] || skip "needs root to mount"
	mkdir -p "$scratch/small"
	unshare -m bash -c "
		set -e
		mount -t tmpfs -o size=16k none '$scratch/small'
		echo old > '$scratch/small/snapshot'
		head -c 12000 /dev/zero > '$scratch/small/filler' || true
		$1"
}

small_disk() {
	in_small_tmpfs "
		status=0
		'$root/build/ctprof' capture -q -o '$scratch/small/snapshot' 2> '$scratch/err' || status=\$?
		echo \$status > '$scratch/status'
		cat '$scratch/small/snapshot' > '$scratch/old'
		ls -A '$scratch/small' > '$scratch/left'"
	equal status "$(cat "$scratch/status")" 1
	equal error "$(cat "$scratch/err")" "ctprof: $scratch/small/snapshot: No space left on device"
	equal "the old file" "$(cat "$scratch/old")" old
	equal "what is there" "$(echo $(cat "$scratch/left"))" "filler snapshot"
}
run_case "output: a full disk leaves the old file and nothing else" small_disk

read_only_disk() {
	in_small_tmpfs "
		mount -o remount,ro '$scratch/small'
		status=0
		'$root/build/ctprof' capture -q --proc-root $host -o '$scratch/small/snapshot' \
			2> '$scratch/err' || status=\$?
		echo \$status > '$scratch/status'"
	equal status "$(cat "$scratch/status")" 1
	equal error "$(cat "$scratch/err")" "ctprof: $scratch/small/snapshot: Read-only file system"
}
run_case "output: a disk that is read-only" read_only_disk

# as_nobody COMMAND...: without root's powers over files.
as_nobody() {
	[ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$@"
}

# The tree may stand where nobody else may look, so a copy of the program and of a host is used.
forbidden_directory() {
	cp build/ctprof "$scratch/program"
	cp -r "$host" "$scratch/host"
	mkdir "$scratch/forbidden"
	echo old > "$scratch/forbidden/snapshot"
	chmod 755 "$scratch/forbidden" "$scratch/program"
	cd "$scratch"
	fails_to_write "$scratch/forbidden/snapshot: Permission denied" \
		as_nobody "$scratch/program" capture -q --proc-root "$scratch/host" \
		-o "$scratch/forbidden/snapshot"
	equal "the old file" "$(cat "$scratch/forbidden/snapshot")" old
	equal "what is there" "$(ls -A "$scratch/forbidden")" snapshot
}
run_case "output: a folder that may not be written" forbidden_directory

forbidden_input() {
	cp build/ctprof "$scratch/program2"
	echo secret > "$scratch/unreadable"
	chmod 600 "$scratch/unreadable"
	cd "$scratch"
	fails_to_write "$scratch/unreadable: Permission denied" \
		as_nobody "$scratch/program2" show "$scratch/unreadable"
	fails_to_write "$scratch/unreadable: Permission denied" \
		as_nobody "$scratch/program2" compare "$scratch/unreadable" "$scratch/unreadable"
}
run_case "input: a file that may not be read" forbidden_input

# What was there is replaced in one step, with its mode, through a link; nothing is left beside it.
replaced() {
	mkdir "$scratch/good"
	echo old > "$scratch/good/snapshot"
	chmod 640 "$scratch/good/snapshot"
	ln -s snapshot "$scratch/good/link"
	ctprof capture -q --proc-root "$host" -o "$scratch/good/link"
	ctprof show "$scratch/good/snapshot" > /dev/null
	[ -L "$scratch/good/link" ]
	equal mode "$(stat -c %a "$scratch/good/snapshot")" 640
	equal "what is there" "$(echo $(ls -A "$scratch/good"))" "link snapshot"
}
run_case "output: a file is replaced with its mode, behind a link too" replaced

# Killed at any moment, a capture leaves the old file as it was or the new one whole.
killed() {
	mkdir "$scratch/killed"
	for delay in 0.001 0.002 0.004 0.006 0.008 0.01 0.015 0.02 0.03; do
		echo old > "$scratch/killed/snapshot"
		timeout -s KILL "$delay" ctprof capture -q -o "$scratch/killed/snapshot" || true
		[ "$(cat "$scratch/killed/snapshot" | tr -d '\0')" = old ] ||
			ctprof show "$scratch/killed/snapshot" > /dev/null
		equal "what is there" "$(ls -A "$scratch/killed")" snapshot
	done
}
run_case "output: a killed capture leaves nothing half done" killed

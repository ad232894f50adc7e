# SPDX-License-Identifier: BSD-2-Clause
#
# The command line of kstats, from `trace` to `remove`, against programs that know how often they did
# what is measured. What the recorders themselves do is in kstats_bpf.sh and kstats_library.sh. Part of
# tests/live/run.

# Its name is a filter that nothing else passes; all of it but one part is what was there anyway.
own_comm=kcli-$$
calls=$scratch/$own_comm
cp "$programs/kstats_calls" "$calls"

command_case() {
	local name=$1

	shift
	run_case "ctprof kstats: $name" has_own_place "$@"
}

kstats() {
	"${inside[@]}" "$ctprof" kstats "$@"
}

# metric NAME [WORDS...]: of this program's getppid(), until the case ends.
metric() {
	kstats trace --comm "$own_comm" "$@" start syscall:getppid
	at_end "kstats remove $1"
}

# do_calls COUNT
do_calls() {
	"$calls" getppid "$1" > "$scratch/did"
}

# hold COUNT: a process, $pid, that makes so many calls once it is let go, as the only thing it does.
hold() {
	rm -f "$scratch/go"
	bash -c 'while [ ! -e "$0/go" ]; do [ -d "$0" ] || exit; sleep 0.01; done; exec "$@"' \
		"$scratch" "$calls" getppid "$1" > "$scratch/did" &
	pid=$!
}

let_go() {
	: > "$scratch/go"
	wait "$pid"
}

# csv WORD...: "ID SLOT LOW HIGH COUNT" of each line that counts something.
csv() {
	kstats show "$@" --format csv | awk -F, 'NR > 1 { print $3, $5, $6, $7, $8 }'
}

# count WORD...: of all values.
count() {
	csv "$@" | awk '{ n += $5 } END { print n + 0 }'
}

# pinned: what there is below /sys/fs/bpf, whether there is a folder of ours or not.
pinned() {
	"${inside[@]}" find /sys/fs/bpf -mindepth 2 -path '/sys/fs/bpf/ctprof/*'
}

# refused STATUS PIECE WORDS...: with one line that has PIECE (and a hint, for wrong usage).
refused() {
	local status=$1 piece=$2

	shift 2
	fails "$status" kstats "$@"
	has "the error" "$output" "$piece"
	equal "lines of error" "$(wc -l <<< "$output")" $((status == 2 ? 2 : 1))
}

# --- one metric in all forms ---

all_formats_agree() {
	hold 12345
	kstats trace agreed --pid "$pid" start syscall:getppid
	at_end "kstats remove agreed"
	let_go
	kstats stop agreed
	is_csv
	is_json
	is_for_awk
	is_openmetrics
	has "the text" "$(kstats show agreed)" 12345
}

is_csv() {
	csv agreed > "$scratch/csv"
	equal "values in csv" "$(awk '{ n += $5 } END { print n }' "$scratch/csv")" 12345
	kstats show agreed --format csv > "$scratch/all"
	equal "the heading" "$(head -n 1 "$scratch/all")" name,by,id,label,slot,low,high,count,mean
	equal "means out of their slots" \
		"$(awk -F, 'NR > 1 && ($9 < $6 || $9 > $7 || $1 != "agreed" || $2 != "cpu")' "$scratch/all")" ""
}

is_json() {
	kstats show agreed --format json > "$scratch/agreed.json"
	equal "facts in JSON" "$(jq -c '[.format, .version, (.metrics | length), (.metrics[0] | .name, .unit, .bits, .by,
		.active, .start, .recorder, .losses.unmatched)]' "$scratch/agreed.json")" \
		'["ctprof-kstats",1,1,"agreed","ns",3,"cpu",false,"syscall:getppid","bpf",0]'
	jq -r '.metrics[0].rows[] | .id as $id | .slots[] | "\($id) \(.[0]) \(.[1])"' "$scratch/agreed.json" |
		diff - <(awk '{ print $1, $2, $5 }' "$scratch/csv")
}

# Columns as the first kstats had them: slot N CPU ID count N avg N p SHARE, and CPUS for all of them.
is_for_awk() {
	kstats show agreed --format kstats > "$scratch/lines"
	equal "other lines" "$(sed -E '/^slot +[0-9]+ +CPUS? +[0-9]+ +count +[0-9]+ +avg +[0-9]+ +p +[01]\.[0-9]{6}$/d' \
		"$scratch/lines")" ""
	equal "values of each CPU" "$(awk '$3 == "CPU" { n += $6 } END { print n }' "$scratch/lines")" 12345
	equal "values of all CPUs" "$(awk '$3 == "CPUS" { n += $6 } END { print n }' "$scratch/lines")" 12345
	awk '$3 == "CPU" { print $4, $2, $6 }' "$scratch/lines" | sort |
		diff - <(awk '{ print $1, $2, $5 }' "$scratch/csv" | sort)
	equal "the last share" "$(awk '$3 == "CPUS" { last = $10 } END { print last }' "$scratch/lines")" 1.000000
}

# Buckets are cumulative, and bounds are the same in all metrics. Rows are series by their labels.
is_openmetrics() {
	kstats show agreed --format openmetrics > "$scratch/metrics"
	equal "the last line" "$(tail -n 1 "$scratch/metrics")" "# EOF"
	buckets "$scratch/metrics" > "$scratch/buckets"
	equal "the last bucket" "$(tail -n 1 "$scratch/buckets")" "+Inf 12345"
	equal "the count" "$(sed -nE 's/^[^#]*_count(\{.*\})? ([0-9]+).*/\2/p' "$scratch/metrics")" 12345
	awk 'NR == FNR { high[NR] = $4; n[NR] = $5; rows = NR; next }
		$1 != "+Inf" { le = sprintf("%.0f", $1 * 1e9); all = 0; for (i = 1; i <= rows; i++) if (high[i] <= le + 0) all += n[i]; print $1, all }' \
		"$scratch/csv" "$scratch/buckets" | diff - <(sed '$d' "$scratch/buckets")
	metric other
	kstats show other --format openmetrics > "$scratch/other"
	buckets "$scratch/other" | cut -d ' ' -f 1 | diff - <(cut -d ' ' -f 1 "$scratch/buckets")
	kstats show agreed --rows --format openmetrics |
		sed -nE 's/^[^#]*_count\{.*cpu="([0-9]+)"\} ([0-9]+)$/\1 \2/p' | sort -n |
		diff - <(awk '{ n[$1] += $5 } END { for (cpu in n) print cpu, n[cpu] }' "$scratch/csv" | sort -n)
}

# buckets FILE: "BOUND COUNT"
buckets() {
	sed -nE 's/^[^#]*_bucket\{.*le="([^"]*)".*\} ([0-9]+)$/\1 \2/p' "$1"
}

# --- who has which metric ---

lists_agree() {
	metric listed --stopped
	kstats trace many bits 5 start "usdt:$calls:kstats_calls:nap_begin" end "usdt:$calls:kstats_calls:nap_end"
	at_end "kstats remove many"
	kstats start listed GAP-listed
	do_calls 17
	equal "as text" "$(kstats list --via bpf | awk 'NR > 1 { print $1, $2, $3, $4 }' | sort)" \
		"$(printf '%s\n' "GAP-listed bpf active 16" "listed bpf active 17" "many bpf active 0")"
	kstats stop many
	equal "as CSV" "$(kstats list --via bpf --format csv | cut -d, -f-12 | sort | tr '\n' ' ')" \
		"GAP-listed,bpf,active,16,syscall:getppid,,cpu,task,,,$own_comm, listed,bpf,active,17,syscall:getppid,,cpu,task,,,$own_comm, many,bpf,stopped,0,usdt:$calls:kstats_calls:nap_begin,usdt:$calls:kstats_calls:nap_end,cpu,task,,,, name,via,state,count,start,end,by,key,pid,cgroup,comm,cpus "
	equal "as JSON" "$(kstats list --via bpf --format json | jq -c '[.[] | select(.name == "listed") | .via, .active, .count, .start, .end]')" \
		'["bpf",true,17,"syscall:getppid",null]'
	equal "their numbers" "$(kstats list --via bpf --format json | jq -c '.[] | select(.name == "listed") | .rate_per_s > 0, .p50_low < .p50_high, .p99_high, .program')" \
		$'true\ntrue\nnull\nnull'
	refused 2 "text, json and csv" list --format kstats
}

# Who comes later reads of whom the values are, also in what was saved.
readers_are_told() {
	local only="rows by process, key arg1, only pid $$, only cgroup /, only comm $own_comm, only cpus 0-1"

	kstats trace told --key arg1 --by process --pid $$ --cgroup / --comm "$own_comm" --cpus 0,1 start syscall:getppid
	at_end "kstats remove told"
	has "the list" "$(kstats list --via bpf)" "syscall:getppid, $only"
	has "what is shown" "$(kstats show told)" "), $only, 3 bits"
	equal "the list as JSON" "$(kstats list --via bpf --format json | jq -c '.[] | [.by, .key, .only]')" \
		"[\"process\",\"arg1\",{\"pid\":\"$$\",\"cgroup\":\"/\",\"comm\":\"$own_comm\",\"cpus\":\"0-1\"}]"
	kstats save -o "$scratch/told" told
	has "what was saved" "$("$ctprof" kstats show "$scratch/told")" "), $only, 3 bits"
	kstats remove told
	metric plain
	has_not "what is usual" "$(kstats list --via bpf)" key
	equal "the same as JSON" "$(kstats show plain --format json | jq -c '.metrics[0] | [.by, .key, .only]')" \
		"[\"cpu\",\"task\",{\"comm\":\"$own_comm\"}]"
}

commands_do_what_they_say() {
	metric gated --stopped
	do_calls 100
	equal "before start" "$(count gated)" 0
	kstats start gated
	do_calls 100
	equal "after start" "$(count gated)" 100
	kstats stop gated
	do_calls 50
	equal "after stop" "$(count gated)" 100
	kstats reset gated
	equal "after reset" "$(count gated)" 0
	kstats start gated
	do_calls 7
	equal "after another start" "$(count gated)" 7
}

# What is not there is said, and the others are done all the same.
several_at_once() {
	metric first
	metric second
	refused 1 "no metric 'none'" stop first none second
	equal "those that stopped" "$(kstats list --via bpf | awk '$3 == "stopped" && !/GAP/ { print $1 }' | sort | xargs)" "first second"
	refused 1 "no metric 'none'" remove first none second
	equal "what is left" "$(pinned)" ""
}

names_are_one() {
	metric one
	do_calls 5
	refused 1 "metric 'one' already exists (bpf)" trace one start syscall:read
	refused 1 "'one' already exists" trace one start syscall:read --via module
	equal "values of the one that was there" "$(count one)" 5
	refused 1 "is removed with" remove GAP-one
	kstats remove one
	refused 1 "no metric 'one'" show one
	refused 1 "no metric 'GAP-one'" show GAP-one
}

# A number says which process only with the time when it was born, and threads have numbers, too.
processes_are_told_apart() {
	refused 2 "'0' is not a process ID" trace nobody --pid 0 start syscall:getppid
	refused 2 "'-1' is not a process ID" trace nobody --pid -1 start syscall:getppid
	refused 2 "no process 4194305" trace nobody --pid 4194305 start syscall:getppid
	start "$programs/busy" 2
	until [ "$(ls "/proc/$pid/task" | wc -l)" -gt 1 ]; do sleep 0.01; done
	refused 2 "is a thread of process $pid; use --pid $pid" trace nobody --pid "$(ls /proc/$pid/task | tail -n 1)" start syscall:getppid
	"${inside[@]}" unshare -pf --mount-proc bash -ec '
		ctprof=$1 calls=$2
		sleep 100 & pid=$!
		"$ctprof" kstats trace reused --pid $pid start syscall:getppid
		"$ctprof" kstats list | grep "only pid $pid *$"
		kill $pid
		wait $pid || :
		"$ctprof" kstats list | grep "only pid $pid (ended) *$"
		echo $((pid - 1)) > /proc/sys/kernel/ns_last_pid
		"$calls" getppid 10 & later=$!
		[ $later = $pid ]
		wait $later
		"$ctprof" kstats show reused | grep -F "count 0"
		"$ctprof" kstats remove reused' - "$ctprof" "$calls" > "$scratch/out" 2>&1 || { cat "$scratch/out"; return 1; }
}

# One that cannot be made leaves nothing of it.
nothing_is_left() {
	local place

	equal "before" "$(pinned)" ""
	for place in syscall:no_such_call tracepoint:no:such "uprobe:/no/such:f" "uprobe:$calls:no_such_function" \
		"usdt:$calls:kstats_calls:none" nothing:vfs_read no_such_function_of_the_kernel; do
		fails 1 kstats trace bad start "$place"
		equal "lines of error" "$(wc -l <<< "$output")" 1
		has_not "what has its reason already" "$output" "Invalid argument"
		equal "what $place left" "$(pinned)" ""
	done
	fails 1 kstats trace bad start "uprobe:$calls:empty_function" end "uprobe:$calls:no_such_function"
	fails 1 kstats trace bad --cgroup /no/such start syscall:read
	fails 1 kstats trace bad --cpus 3-1 start syscall:read
	fails 1 kstats trace bad --key arg9 start syscall:read
	fails 1 kstats trace bad --key arg1 start "usdt:$calls:kstats_calls:nap_begin" end "usdt:$calls:kstats_calls:nap_end"
	has "why not" "$output" "it has no arg1, but 0 arguments"
	fails 2 kstats trace bad --key arg13 start syscall:read
	equal "what options left" "$(pinned)" ""
	kstats trace good start syscall:getppid
	[ -n "$(pinned)" ]
	kstats remove good
	equal "after remove" "$(pinned)" ""
}

places_are_measured() {
	kstats trace naps start "uprobe:$calls:napping_function"
	at_end "kstats remove naps"
	kstats trace static start "usdt:$calls:kstats_calls:nap_begin" end "usdt:$calls:kstats_calls:nap_end"
	at_end "kstats remove static"
	kstats trace --comm "$own_comm" --key task switches start syscall:nanosleep end tracepoint:sched:sched_switch
	at_end "kstats remove switches"
	"$calls" nap 20 3000000 > "$scratch/did"
	equal "calls of the function" "$(count naps)" 20
	equal "of them in no time" "$(csv naps | awk '$4 < 3000000')" ""
	equal "pairs of static probes" "$(count static)" 20
}

rows_are_what_they_are_by() {
	kstats trace --comm "$own_comm" --by process of_process start syscall:getppid
	at_end "kstats remove of_process"
	hold 30
	let_go
	"$calls" getppid 12 > "$scratch/did"
	equal "of each process" "$(kstats show of_process --format csv | awk -F, 'NR > 1 { n[$3] += $8 } END { for (p in n) print n[p] }' | sort -n | xargs)" "12 30"
	equal "of the first" "$(csv of_process | awk -v pid="$pid" '$1 == pid { n += $5 } END { print n }')" 30
	has "the rows" "$(kstats show of_process --rows)" "$own_comm"
}

# stop_in_nap: stop $napping while it sleeps in a call, until it is told to go on: attaching takes as long as it takes.
stop_in_nap() {
	until grep -qE '^(35|230) ' "/proc/$napping/syscall" && [[ $(readlink "/proc/$napping/exe") == "$scratch"/* ]]; do
		sleep 0.01
	done
	kill -STOP $napping
	until grep -q '^State:	T' "/proc/$napping/status"; do sleep 0.01; done
	at_end "kill -KILL $napping"
}

# Who is in a call when recording begins is not measured, and nothing is lost by it. Of the second call of the same
# thread everything is known, and so it is of a call that was in progress while it was stopped.
calls_in_progress_are_no_loss() {
	mkfifo "$scratch/held"
	cat "$scratch/held" > "$scratch/got" &
	reader=$!
	exec 8> "$scratch/held"
	until grep -q '^0 ' "/proc/$reader/syscall" && [ "$(cat /proc/$reader/comm)" = cat ]; do sleep 0.01; done
	kstats trace held --pid $reader start syscall:read
	at_end "kstats remove held"
	echo one >&8
	until [ "$(count GAP-held)" = 0 ] && [ -s "$scratch/got" ] && grep -q '^0 ' "/proc/$reader/syscall"; do sleep 0.01; done
	equal "what was in progress" "$(kstats show held | grep -o 'earlier *[0-9]*' | tr -s ' ')" "earlier 1"
	kstats show held --slo 'lost<1' > "$scratch/out"
	echo two >&8
	until grep -q two "$scratch/got" && grep -q '^0 ' "/proc/$reader/syscall"; do sleep 0.01; done
	equal "values" "$(count held)" 1
	kstats stop held
	kstats start held
	echo three >&8
	until grep -q three "$scratch/got" && grep -q '^0 ' "/proc/$reader/syscall"; do sleep 0.01; done
	equal "what was in progress" "$(kstats show held --format json | jq '.metrics[0].earlier')" 2
	exec 8>&-
	wait $reader
	kstats show held --slo 'lost<1' --slo 'count>=2' > "$scratch/out"
}

# naps_in_progress KEY WORDS...: of a process that naps three times, during the first of which recording begins. Those of
# each pair are its own, so that no other program is in between.
naps_in_progress() {
	local key=$1

	cp "$programs/kstats_calls" "$scratch/naps"
	taskset 1 "$scratch/naps" nap 3 700000000 > "$scratch/did" &
	napping=$!
	stop_in_nap
	kstats trace --key "$key" naps start "usdt:$scratch/naps:kstats_calls:nap_begin" \
		end "usdt:$scratch/naps:kstats_calls:nap_end"
	at_end "kstats remove naps"
	kill -CONT $napping
	wait $napping
	equal "what was in progress" "$(kstats show naps --format json | jq -c '.metrics[0] | [.earlier, .losses.unmatched]')" "[1,0]"
	# It may have been in the second nap.
	between "values" 1 "$(count naps)" 2
	kstats show naps --slo 'lost<1' > "$scratch/out"
}

# Calls within calls, all of which were in progress: the innermost ends first.
calls_within_calls_are_no_loss() {
	"$calls" recurse 3 20 700000000 > "$scratch/did" &
	napping=$!
	stop_in_nap
	kstats trace deep start "uprobe:$calls:recursive_function" end "uret:$calls:recursive_function"
	at_end "kstats remove deep"
	kill -CONT $napping
	wait $napping
	# It was in the first call or in the second, of three.
	equal "what was in progress" "$(kstats show deep --format json | jq -c --argjson count "$(count deep)" '.metrics[0] |
		[.earlier >= 20, $count == .earlier or $count == 2 * .earlier, .losses.unmatched]')" "[true,true,0]"
}

# An argument comes from anywhere: what was unmatched may have begun earlier, or not.
arguments_do_not_tell() {
	local status=0

	rm -f "$scratch/held"
	mkfifo "$scratch/held"
	bash -c 'cat "$0"; :' "$scratch/held" &
	pid=$!
	exec 8> "$scratch/held"
	until grep -qE '^(61|260) ' "/proc/$pid/syscall" && [ "$(cat /proc/$pid/comm)" = bash ]; do sleep 0.01; done
	kstats trace --pid $pid --key arg1 held start syscall:wait4 end tracepoint:syscalls:sys_exit_wait4
	at_end "kstats remove held"
	exec 8>&-
	wait $pid
	has "what may have been in progress" "$(kstats show held)" "earlier   unknown: some of the unmatched"
	equal "in files" "$(kstats show held --format json | jq '.metrics[0].earlier')" null
	kstats show held --slo 'lost<1' > "$scratch/out" || status=$?
	equal "the promise" $status 4
}

# A child of clone() returns from a call that it did not make.
ends_without_a_start_are_lost() {
	cp /bin/bash "$scratch/forks-$$"
	kstats trace --comm forks-$$ forks start syscall:clone
	at_end "kstats remove forks"
	"$scratch/forks-$$" -c 'for i in {1..20}; do (:); done'
	kstats show forks --format json | jq -e '.metrics[0] | .losses.unmatched == 20 and .earlier == 0'
}

# A row has the name of who does it now, not of the shell that it was before.
names_follow_programs() {
	local by

	for by in process thread; do
		hold 100
		kstats trace --pid $pid --by $by renamed start syscall:getppid
		at_end "kstats remove renamed || :"
		kstats trace --pid $pid --by $by all start syscall:newfstatat
		at_end "kstats remove all || :"
		until kstats show all --format csv | grep -q ',bash,'; do sleep 0.01; done
		let_go
		equal "the row's name" "$(kstats show renamed --format csv | awk -F, 'NR > 1 { print $3, $4 }' | sort -u)" "$pid $own_comm"
		equal "the name after exec" "$(kstats show all --format csv | awk -F, 'NR > 1 { print $3, $4 }' | sort -u)" "$pid $own_comm"
		kstats remove renamed all
	done
}

# Threads that end after the start leave it to nobody, whoever comes in their place.
starts_end_with_their_thread() {
	local i

	kstats trace --comm "$own_comm" orphan start syscall:getppid end syscall:getpid
	at_end "kstats remove orphan"
	for i in {1..100}; do
		do_calls 3
		bash -c : # which asks for its number
	done
	equal "values of a program that never gets to the end" "$(count orphan)" 0
}

# --- promises ---

# promised STATUS PROMISE...
promised() {
	local wanted=$1 status=0 words=() promise

	shift
	for promise; do
		words+=(--slo "$promise")
	done
	kstats show judged "${words[@]}" --format csv > "$scratch/shown" 2> "$scratch/err" || status=$?
	equal "status of $*" "$status" "$wanted"
	equal "lines about $*" "$(grep -c '^ctprof: judged: ' "$scratch/err")" $#
	equal "other lines" "$(sed '/^ctprof: judged: /d' "$scratch/err")" ""
	cmp "$scratch/shown" "$scratch/csv"
}

# Bounds of the slot in which the value is that half of all are not above.
promises_are_judged() {
	local low high

	metric judged
	do_calls 1000
	kstats stop judged
	kstats show judged --format csv > "$scratch/csv"
	read -r low high < <(awk -F, 'NR > 1 { of[$6] += $8; high[$6] = $7 } END { for (low in of) print low, high[low], of[low] }' \
		"$scratch/csv" | sort -n | awk '{ all += $3 } all >= 500 { print $1, $2; exit }')
	promised 0 'count>999'
	promised 0 'count>=1000' 'count<=1000' 'lost<1' 'max<1000s'
	promised 3 'count>1000'
	promised 3 'count<1000' 'count>999'
	promised 0 "p50<$((high + 1))"
	promised 0 "p50<=$high" "p50>=$low"
	promised 3 "p50<$low"
	promised 3 "p50>$high"
	((low == high)) || promised 4 "p50<$high"
	((low == high)) || promised 3 "p50<$high" 'count>1000'
	((low == high)) || promised 3 'count>1000' "p50<$high"
	kstats reset judged
	kstats show judged --format csv > "$scratch/csv"
	promised 4 'p99<1s'
	promised 3 'count>0'
	refused 2 "invalid SLO" show judged --slo 'p101<1ms'
	refused 2 "invalid SLO limit" show judged --slo 'p50<1parsec'
}

# --- over time ---

# lines PATTERN: how many of it are shown so far.
lines() {
	awk -v pattern="$1" '$0 ~ pattern { n++ } END { print n + 0 }' "$scratch/series"
}

# await COUNT PATTERN: so many lines of it in what is shown.
await() {
	until [ "$(lines "$2")" -ge "$1" ]; do
		kill -0 "$series" || { cat "$scratch/series"; return 1; }
		sleep 0.02
	done
}

# start_series WORDS...: as $series, until the case ends.
start_series() {
	# What an earlier one left is no line of this one.
	: > "$scratch/series"
	"${inside[@]}" "$ctprof" kstats show "$@" > "$scratch/series" 2>&1 &
	series=$!
	at_end "kill $series"
}

# Whatever an interval sees of the calls, all of them together are all.
intervals_add_up() {
	metric series
	do_calls 100
	start_series series --interval 50ms --format csv
	await 1 ^at_unix_ns,
	do_calls 4321
	do_calls 1234
	sleep 0.3
	kill "$series"
	wait "$series"
	equal "values in all intervals" "$(awk -F, '$3 == "series" && $2 > 0 { n += $10 } END { print n }' "$scratch/series")" 5555
	equal "headings" "$(lines ^at_unix_ns,window_ns,name,)" 1
}

# Each interval is judged for itself.
intervals_are_judged() {
	local status=0

	metric quiet
	do_calls 5
	kstats show quiet --interval 50ms -n 3 --slo 'count<1' > "$scratch/out" 2> "$scratch/err"
	equal "verdicts" "$(grep -c ': kept (0)' "$scratch/err")" 3
	kstats show quiet --interval 50ms -n 2 --slo 'count>0' > "$scratch/out" 2> "$scratch/err" || status=$?
	equal "status of a broken one" "$status" 3
	status=0
	kstats show quiet --interval 50ms -n 2 --slo 'p50<1s' > "$scratch/out" 2> "$scratch/err" || status=$?
	equal "status of one that nothing tells" "$status" 4
	start_series quiet --interval 50ms --slo 'count<1000'
	await 1 ': kept'
	do_calls 2000
	await $(($(lines ': kept|: broken') + 2)) ': kept|: broken'
	kill "$series"
	status=0
	wait "$series" || status=$?
	equal "status where one interval broke it" "$status" "$(awk '/: broken/ { broken = 1 } END { print broken ? 3 : 0 }' "$scratch/series")"
}

heat_is_a_picture() {
	metric warm
	kstats show warm --interval 50ms -n 3 --heat "$scratch/heat.svg" > "$scratch/series"
	equal "lines" "$(lines '^[0-9]')" 3
	do_calls 10
	start_series warm -i 50ms --heat "$scratch/warm.svg"
	await 1 '^[0-9]'
	do_calls 1000
	await $(($(lines '^[0-9]') + 2)) '^[0-9]'
	kill "$series"
	wait "$series"
	cat "$scratch/series"
	xmllint --noout "$scratch/heat.svg" "$scratch/warm.svg"
	equal "the root" "$(xmllint --xpath 'local-name(/*)' "$scratch/warm.svg")" svg
	equal "values in the picture of nothing" "$(drawn "$scratch/heat.svg")" 0
	equal "values in the picture" "$(drawn "$scratch/warm.svg")" 1000
	has "the picture" "$(< "$scratch/warm.svg")" warm
}

# drawn FILE: how many values its cells say they are.
drawn() {
	sed -n 's/.*<title>\([0-9]*\) values\{0,1\} .*/\1/p' "$1" | awk '{ n += $1 } END { print n + 0 }'
}

# --- files ---

file_says_the_same() {
	local form

	metric kept
	do_calls 777
	kstats stop kept
	kstats save -o "$scratch/kept.zst" kept
	for form in "text --rows" "kstats --rows" "csv --rows" openmetrics; do
		kstats show kept --all-buckets --format $form > "$scratch/now"
		kstats show "$scratch/kept.zst" --all-buckets --format $form | diff "$scratch/now" -
	done
	zstd -dcq "$scratch/kept.zst" | jq -e '.metrics[0].name == "kept"' > "$scratch/out"
	kstats show kept --format json | jq -c '.metrics[].rows' > "$scratch/now"
	kstats show "$scratch/kept.zst" --format json | jq -c '.metrics[].rows' | diff "$scratch/now" -
	zstd -dcq "$scratch/kept.zst" | "$ctprof" kstats show - --format csv > "$scratch/now"
	kstats show kept --format csv | diff - "$scratch/now"
	kstats remove kept
	"${as_nobody[@]}" "$ctprof" kstats show - --format csv < "$scratch/kept.zst" | diff - "$scratch/now"
}

# All there are of this recorder, each with its GAP.
saves_everything() {
	metric all_a
	metric all_b
	kstats save --via bpf -o "$scratch/all.zst"
	equal "metrics in the file" "$(zstd -dcq "$scratch/all.zst" | jq -r '.metrics[].name' | sort | xargs)" \
		"GAP-all_a GAP-all_b all_a all_b"
	kstats save -o "$scratch/all.zst" all_b
	equal "metrics in the file" "$(zstd -dcq "$scratch/all.zst" | jq -r '.metrics[].name' | xargs)" all_b
	refused 1 "no metric 'none'" save -o "$scratch/all.zst" none
	equal "metrics in the old file" "$(zstd -dcq "$scratch/all.zst" | jq -r '.metrics[].name' | xargs)" all_b
}

# by_slot FILE: "SLOT LOW HIGH COUNT" of all rows.
by_slot() {
	csv "$1" | awk '{ n[$2 " " $3 " " $4] += $5 } END { for (slot in n) print slot, n[slot] }' | sort -n
}

merges_exactly() {
	metric sum
	do_calls 1000
	kstats save -o "$scratch/one.zst" sum
	kstats reset sum
	do_calls 234
	kstats save -o "$scratch/two.zst" sum
	kstats merge -o "$scratch/both.zst" "$scratch/one.zst" "$scratch/two.zst"
	equal "values of both" "$(count "$scratch/both.zst")" 1234
	{ csv "$scratch/one.zst"; csv "$scratch/two.zst"; } |
		awk '{ n[$1 " " $2 " " $3 " " $4] += $5 } END { for (row in n) print row, n[row] }' | sort -n > "$scratch/wanted"
	csv "$scratch/both.zst" | sort -n | diff - "$scratch/wanted"
	equal "sums of both" "$(sums "$scratch/both.zst")" "$({ sums "$scratch/one.zst"; sums "$scratch/two.zst"; } | paste -sd + | bc)"
}

# sums FILE: of the sums of all slots, which are of a scale of its own above 2^20 ns.
sums() {
	zstd -dcq "$1" | jq '[.metrics[].rows[].slots[] | select(.[0] < 160) | .[2]] | add'
}

# With the fewer bits, in which each slot is several of the other's.
merges_other_bits() {
	metric bits bits 5
	do_calls 500
	kstats save -o "$scratch/fine.zst" bits
	kstats remove bits
	kstats trace --comm "$own_comm" bits bits 1 start syscall:getppid
	do_calls 300
	kstats save -o "$scratch/coarse.zst" bits
	kstats merge -o "$scratch/mixed.zst" "$scratch/fine.zst" "$scratch/coarse.zst"
	equal "bits of both" "$(zstd -dcq "$scratch/mixed.zst" | jq '.metrics[].bits')" 1
	equal "values of both" "$(count "$scratch/mixed.zst")" 800
	by_slot "$scratch/mixed.zst" > "$scratch/mixed"
	{ by_slot "$scratch/fine.zst"; by_slot "$scratch/coarse.zst"; } | awk -v mixed="$scratch/mixed" '
		BEGIN { while ((getline line < mixed) > 0) { split(line, part, " "); low[++n] = part[2]; high[n] = part[3]; wanted[n] = part[4] } }
		{ for (i = 1; i <= n; i++) if ($2 >= low[i] && $3 <= high[i]) got[i] += $4 }
		END { for (i = 1; i <= n; i++) if (got[i] != wanted[i]) { print low[i], got[i], wanted[i]; bad = 1 } exit bad }'
}

compares_with_itself() {
	metric same
	do_calls 1000
	kstats stop same
	kstats save -o "$scratch/same.zst" same
	kstats compare "$scratch/same.zst" "$scratch/same.zst" > "$scratch/out"
	grep -q ' same *$' "$scratch/out"
	has_not "the comparison" "$(< "$scratch/out")" "larger"
	has_not "the comparison" "$(< "$scratch/out")" "smaller"
	has_not "the comparison" "$(< "$scratch/out")" "unsure"
	kstats compare same "$scratch/same.zst" | diff "$scratch/out" -
}

# --- programs ---

serve_program() {
	start "$programs/kstats_library-shared" serve known 3
	metric=$pid:known
}

program_is_shown() {
	serve_program
	equal "values" "$(count "$metric")" 1000000
	has "the list" "$(kstats list --via user | tr -s ' ')" "$metric user active 1000000 "
	equal "their program" "$(kstats list --via user --format json | jq -r ".[] | select(.name == \"$metric\") | .program")" "$(< /proc/$pid/comm)"
	kstats stop "$metric"
	has "the list" "$(kstats list --via user | tr -s ' ')" "$metric user stopped 1000000"
	kstats save -o "$scratch/known.zst" "$metric"
	equal "values in the file" "$(count "$scratch/known.zst")" 1000000
	kstats reset "$metric"
	equal "values after a reset" "$(count "$metric")" 0
	refused 1 "it exists as long as its program" remove "$metric"
	refused 2 "programs create their metrics themselves" trace mine start syscall:read --via user
	refused 1 "process $pid has no metric 'unknown'" show "$pid:unknown"
	refused 1 known show 1:known
	refused 1 "no metric '$metric'" show --via bpf "$metric"
}

# Others than root have their programs, and files.
# as_guest COMMAND...: another user, where the metrics are.
as_guest() {
	"${inside[@]}" "${as_nobody[@]}" "$@"
}

others_have_their_own() {
	local list

	cp "$programs/kstats_library-static" "$scratch/served"
	chmod 755 "$scratch/served"
	start "${as_nobody[@]}" "$scratch/served" serve theirs 3
	has "their list" "$("${as_nobody[@]}" "$ctprof" kstats list)" "$pid:theirs"
	equal "values" "$("${as_nobody[@]}" "$ctprof" kstats show "$pid:theirs" --format csv |
		awk -F, 'NR > 1 { n += $8 } END { print n }')" 1000000
	# What is not theirs is left out, and is no failure where they have something.
	metric hidden
	list=$(as_guest "$ctprof" kstats list 2>&1)
	has "their list" "$list" "$pid:theirs"
	has "what is left out" "$list" "ctprof: note: metrics of bpf are not included: "
	fails 1 as_guest "$ctprof" kstats list --via bpf
	fails 1 "${as_nobody[@]}" "$ctprof" kstats trace mine start syscall:read
	has "what is missing" "$output" root
	equal "lines of error" "$(wc -l <<< "$output")" 1
}

example_runs() {
	PATH=$scratch:$PATH "${inside[@]}" "$PWD/examples/kstats_session.sh" > "$scratch/out" 2>&1 || { cat "$scratch/out"; return 1; }
	has "its list" "$(tr -s ' ' < "$scratch/out")" "session_read bpf stopped"
	has "its histogram" "$(< "$scratch/out")" p50
	grep -qE '^[0-9]+ took [0-9]+ ns each$' "$scratch/out"
	equal "what is left" "$(pinned)" ""
}

# Each is made by a command of its own, two at a time. A program that is executed renames its thread just
# before: once in what is held, and not often elsewhere, which a place has to be where a thousand programs run.
# Of what all programs do often there are three: the first, one amid them and the last.
thousand_at_once() {
	local execs="start tracepoint:task:task_rename end tracepoint:sched:sched_process_exec"

	hold 500
	metric first
	seq 1 500 | "${inside[@]}" xargs -P 2 -I{} "$ctprof" kstats trace --pid $pid many{} $execs
	metric middle
	seq 501 997 | "${inside[@]}" xargs -P 2 -I{} "$ctprof" kstats trace --pid $pid many{} $execs
	metric last
	let_go
	kstats list > "$scratch/list"
	equal "how many are active" "$(awk '$3 == "active" && $1 !~ /^GAP-/' "$scratch/list" | wc -l)" 1000
	equal "how many saw one" "$(awk '$1 ~ /^many/ && $4 == 1' "$scratch/list" | wc -l)" 997
	equal "what the three saw" "$(awk '$1 ~ /^(first|middle|last)$/ { print $4 }' "$scratch/list" | xargs)" "500 500 500"
	awk 'NR > 1 && $1 !~ /^GAP-/ { print $1 }' "$scratch/list" | "${inside[@]}" xargs "$ctprof" kstats remove
	equal "what is left" "$(pinned)" ""
}

# What was attached, and the command that comes next: it works as it stands.
trace_says_what_it_did() {
	local said

	said=$(kstats trace told bits 2 start "uprobe:$calls:main")
	at_end "kstats remove told"
	has "what is recorded" "$said" "recording told: uprobe:$calls:main ("
	has "how" "$said" "probes: uprobe, uretprobe)"
	has "the gaps" "$said" "in GAP-told"
	kstats $(sed -n 's/^show it: ctprof kstats //p' <<< "$said") > "$scratch/out"
	has "the next command" "$(< "$scratch/out")" "told: uprobe:$calls:main, by bpf"
	said=$(kstats trace later --stopped start syscall:getppid)
	at_end "kstats remove later"
	kstats $(sed -n 's/^start it: ctprof kstats //p' <<< "$said")
	do_calls 10
	kstats stop later
	[ "$(count later)" -ge 10 ]
}

# ran STATUS ARGUMENTS...: of kstats run; standard output is in $scratch/out, standard error in $scratch/err.
ran() {
	local wanted=$1 status=0

	shift
	kstats run "$@" > "$scratch/out" 2> "$scratch/err" || status=$?
	equal "the status of kstats run $*" "$status" "$wanted"
}

# A metric that is there while a command runs: it has every call of it, and goes.
run_measures_a_command() {
	ran 0 during --comm "$own_comm" start syscall:getppid -o "$scratch/during.zst" --slo 'count>=100' --slo 'lost<1' -- "$calls" getppid 100
	has "the output of the command, and of the metric" "$(< "$scratch/out")" "  count 100, mean "
	has "the verdict" "$(< "$scratch/err")" "during: count>=100: kept (100)"
	equal "what was saved" "$(count "$scratch/during.zst")" 100
	ran 3 during --comm "$own_comm" start syscall:getppid --slo 'count<100' -- "$calls" getppid 100
	ran 4 during --comm nobody-has-it start syscall:getppid --slo 'p50<1s' -- "$calls" getppid 100
	# The command's own status comes first.
	ran 7 during start syscall:getppid --slo 'count<0' -- sh -c 'exit 7'
	ran 127 during start syscall:getppid -- "$scratch/none"
	ran 125 during start syscall:nonexistent -- "$calls" getppid 1
	ran 125 during start
	ran 125 during start syscall:getppid
	ran 125 during start syscall:getppid --slo nonsense -- "$calls" getppid 1
	# Output that cannot be written is a failure of ctprof, and the command's own goes before it.
	fails 125 full kstats run during start syscall:getppid -- true
	has "what it says" "$output" "ctprof: standard output: "
	fails 7 full kstats run during start syscall:getppid -- sh -c 'exit 7'
	has "what it says" "$output" "ctprof: standard output: "
	# Its process, and not its children.
	ran 0 during --only-command start syscall:getppid -o "$scratch/own.zst" -- bash -c "'$calls' getppid 50; exec '$calls' getppid 20"
	equal "its own calls" "$(csv "$scratch/own.zst" | awk '{ n += $5 } END { print (n >= 20 && n < 50) }')" 1
	# It goes as well when it is asked to end.
	"${inside[@]}" "$ctprof" kstats run during start syscall:getppid -- sleep 100 > /dev/null 2>&1 &
	pid=$!
	until kstats list 2> /dev/null | grep -q during; do sleep 0.05; done
	kill "$pid"
	wait "$pid" || :
	equal "what is left" "$(pinned)" ""
}

# What cannot be shown is named, and the others are shown.
the_rest_is_shown() {
	local status=0

	metric there
	do_calls 10
	kstats show none there "$scratch/none.zst" > "$scratch/out" 2> "$scratch/err" || status=$?
	equal "the status" "$status" 1
	equal "what cannot be shown" "$(grep -c "no metric 'none'\|none.zst: No such file" "$scratch/err")" 2
	has "the metric" "$(< "$scratch/out")" "there: "
	status=0
	kstats show none --format json > "$scratch/out" 2> "$scratch/err" || status=$?
	equal "the status of none" "$status" 1
	equal "of none" "$(wc -c < "$scratch/out")" 0
}

# Two readings, and what was recorded between them.
readings_are_subtracted() {
	metric between
	do_calls 100
	kstats save -o "$scratch/first.zst" between
	do_calls 70
	kstats save -o "$scratch/second.zst" between
	kstats diff "$scratch/first.zst" "$scratch/second.zst" -o "$scratch/between.zst"
	equal "the values between" "$(count "$scratch/between.zst")" 70
	kstats merge -o "$scratch/sum.zst" "$scratch/first.zst" "$scratch/between.zst"
	csv "$scratch/sum.zst" | diff - <(csv "$scratch/second.zst")
	refused 1 "lacks values of the first" diff "$scratch/second.zst" "$scratch/first.zst" -o "$scratch/never.zst"
	# Emptied, and more than before again.
	kstats reset between
	do_calls 1000
	refused 1 "was reset" diff "$scratch/first.zst" between -o "$scratch/never.zst"
	[ ! -e "$scratch/never.zst" ]
}

command_case "trace says what it did" trace_says_what_it_did
command_case "run measures a command" run_measures_a_command
command_case "what is missing hides nothing" the_rest_is_shown
command_case "two readings are subtracted" readings_are_subtracted
command_case "all forms say the same" all_formats_agree
command_case "lists" lists_agree
command_case "what was asked for is told to who reads later" readers_are_told
command_case "start, stop and reset" commands_do_what_they_say
command_case "several names" several_at_once
command_case "a name is there once" names_are_one
command_case "a process is that one alone" processes_are_told_apart
command_case "what cannot be traced leaves nothing" nothing_is_left
command_case "probes of programs" places_are_measured
command_case "rows" rows_are_what_they_are_by
command_case "what is in progress is no loss" calls_in_progress_are_no_loss
command_case "nor what is between two places (task)" naps_in_progress task
command_case "nor what is between two places (cpu)" naps_in_progress cpu
command_case "nor calls within calls" calls_within_calls_are_no_loss
command_case "arguments do not tell what is in progress" arguments_do_not_tell
command_case "an end without a start is one" ends_without_a_start_are_lost
command_case "rows are named by the program that runs" names_follow_programs
command_case "a start is of its thread alone" starts_end_with_their_thread
command_case "promises" promises_are_judged
command_case "intervals add up" intervals_add_up
command_case "intervals are judged" intervals_are_judged
command_case "a heat map is a picture" heat_is_a_picture
command_case "a file says the same" file_says_the_same
command_case "save" saves_everything
command_case "merge adds up" merges_exactly
command_case "merge with other bits" merges_other_bits
command_case "compare with itself" compares_with_itself
command_case "programs with libkstats" program_is_shown
command_case "others than root" others_have_their_own
command_case "the example" example_runs
command_case "1,000 at once" slow thousand_at_once

# SPDX-License-Identifier: BSD-2-Clause
#
# What ctprof serve answers is what threads did. Part of tests/live/run.

. tests/live/serving.sh

# stream TICKS: what /api/live sends up to so many, as {"about": ..., "ticks": [...]}.
stream() {
	{ timeout 60 curl -sSN "$at/api/live" || true; } 2> /dev/null |
		awk -v left="$1" '/^event: / { event = $2 } /^data: / && event != "reset" { sub(/^data: /, ""); print event, $0 }
			/^data: / { next } /^$/ && event == "tick" && !--left { exit }' |
		sed -E 's/^(about|tick) (.*)$/{"\1":\2}/' | jq -cs '{ about: map(.about // empty)[0], ticks: map(.tick // empty) }'
}

# Times of a page, summed up as the description of the stream says, are those of /api/threads to the nanosecond.
stream_is_what_threads_did() {
	local from to

	start "$programs/churn" 20 10
	serve
	stream 4 > "$scratch/stream"
	from=$(jq '.ticks[0].begin_ms' "$scratch/stream")
	to=$(jq '.ticks[-1].begin_ms + 1' "$scratch/stream")
	equal "ticks" "$(jq '.ticks | length' "$scratch/stream")" 4
	jq -S -c -f tests/live/serve.jq "$scratch/stream" | jq -c 'map(select(.ns != {})) | sort_by(.tid, .ns)[]' > "$scratch/sums"
	get "/api/threads?from=$from&to=$to" |
		jq -S -c '[.threads[] | { tid, ns } | select(.ns != {})] | sort_by(.tid, .ns)[]' > "$scratch/answer"
	diff "$scratch/sums" "$scratch/answer" | head -n 20
	cmp "$scratch/sums" "$scratch/answer"
}

# thread TID FIELD FILE
time_of() {
	jq --argjson tid "$1" "[.threads[] | select(.tid == \$tid) | .ns | $2] | add // 0" "$3"
}

# Its time on CPUs so far, by the kernel's own count.
cpu_time_of() {
	cut -d' ' -f1 "/proc/$1/schedstat"
}

# A thread that is on a CPU as long as the kernel says, one that sleeps, and both of them whole.
known_threads_are_as_known() {
	local busy asleep all before first last after

	start "$programs/duty" 5 5
	busy=$pid
	start_sleep
	asleep=$pid
	before=$(cpu_time_of "$busy")
	serve
	get /api/about > /dev/null
	first=$(cpu_time_of "$busy")
	sleep 3
	last=$(cpu_time_of "$busy")
	sleep 2
	get '/api/threads?from=0' > "$scratch/threads"
	after=$(cpu_time_of "$busy")
	all=$(jq .ns "$scratch/threads")
	between "ns of a sleeper in its timer" $((all * 95 / 100)) "$(time_of "$asleep" .sleep_timer "$scratch/threads")" "$all"
	between "ns on CPUs" $((last - first)) "$(time_of "$busy" .exec "$scratch/threads")" $((after - before))
	between "percent of all time" 95 $(($(time_of "$busy" 'add' "$scratch/threads") * 100 / all)) 101
}

# What ended waits, and the longest of them, is known in each reading, and not only when their stack is new.
wakers_of_each_reading() {
	local reader

	mkfifo "$scratch/pipe"
	start bash -c 'echo ready; exec cat "$1" > /dev/null' reader "$scratch/pipe"
	reader=$pid
	start bash -c 'echo ready; exec 3> "$1"; for ((;;)); do echo >&3; sleep 0.05; done' writer "$scratch/pipe"
	serve -p "$reader"
	stream 8 > "$scratch/stream"
	jq -c --argjson tid "$reader" '
		(reduce .ticks[].threads as $t ([]; . + $t.tid)) as $tids | (reduce .ticks[].wakers as $w ([]; . + $w.tid)) as $wakers |
		.about.states.name as $states |
		.ticks[2:][].samples | . as $s | range($s.ns | length) |
		select($tids[$s.thread[.]] == $tid and $states[$s.state[.]] == "sleep_pipe") |
		{ ms: ($s.longest_ns[.] / 1e6 | floor), by: (if $s.waker[.] == null then null else $wakers[$s.waker[.]] end) }
	' "$scratch/stream" > "$scratch/waits"
	cat "$scratch/waits"
	between "readings with waits" 5 "$(wc -l < "$scratch/waits")" 12
	equal "those not ended by the writer" "$(jq -c --argjson tid "$pid" 'select(.by != $tid)' "$scratch/waits")" ""
	equal "those without a length" "$(jq -c 'select(.ms < 20)' "$scratch/waits")" ""
}

# A filter leaves out threads that do not pass, and of others what does not.
threads_are_filtered() {
	local busy one

	start "$programs/duty" 10 10
	busy=$pid
	start_sleep
	serve -p "$busy,$pid"
	sleep 3
	get "/api/threads?from=0" > "$scratch/all"
	get "/api/threads?from=0&filter=pid:$busy" > "$scratch/one"
	equal "processes without a filter" "$(jq -c '[.threads[].tgid] | unique | length' "$scratch/all")" 2
	equal "processes that pass" "$(jq -c '[.threads[].tgid] | unique' "$scratch/one")" "[$busy]"
	one=$(time_of "$busy" .exec "$scratch/one")
	[ "$one" -ge "$(time_of "$busy" .exec "$scratch/all")" ]
	equal "threads of a function that none calls" "$(get '/api/threads?from=0&filter=nosuch_function' | jq -c .threads)" "[]"
	equal "time on CPUs off CPUs" "$(get "/api/threads?from=0&mode=off" | jq '[.threads[].ns.exec // 0] | add')" 0
}

# go tool pprof reads the seconds to come.
go_reads_it() {
	local kind busy

	command -v go > /dev/null || skip "needs go"
	start "$programs/duty" 10 10
	busy=$pid
	start_sleep
	serve -p "$busy,$pid"
	for kind in profile offcpu wall; do
		HOME=$scratch go tool pprof -raw "$at/debug/pprof/$kind?seconds=2" > "$scratch/raw.$kind" 2> "$scratch/error" ||
			{ cat "$scratch/error"; return 1; }
	done
	has "frames on the CPU" "$(< "$scratch/raw.profile")" main
	has "frames off the CPU" "$(< "$scratch/raw.offcpu")" nanosleep
	has "sample types" "$(< "$scratch/raw.wall")" "on-cpu/nanoseconds off-cpu/nanoseconds wall/nanoseconds"
	has "the type that is shown" "$(go_top wall)" "Type: wall"
}

go_top() {
	HOME=$scratch go tool pprof -top "$at/debug/pprof/$1?seconds=1" 2>> "$scratch/error"
}

# An empty profile would look like a host without waits.
unmeasured_times_are_refused() {
	start_sleep
	serve -p "$pid" --mode on
	equal "status of offcpu" "$(curl -s -o "$scratch/answer" -w '%{http_code}' "$at/debug/pprof/offcpu?seconds=1")" 404
	has "the reason" "$(< "$scratch/answer")" "times off CPUs are not measured: serve runs with --mode on"
	equal "status of mode=off" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/profile?mode=off")" 404
	equal "status of wall" "$(curl -s -o /dev/null -w '%{http_code}' "$at/debug/pprof/wall?seconds=1")" 200
}

# Other formats are those of ctprof flame, and have the same total.
formats_have_one_total() {
	local json folded

	start_sleep
	serve -p "$pid"
	sleep 4
	get "/api/profile?from=0&format=json" > "$scratch/p.json"
	"$ctprof" flame -q "$scratch/p.json" --format folded -o - > "$scratch/p.folded"
	folded=$(awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$scratch/p.folded")
	json=$(jq '.samples.ns | add' "$scratch/p.json")
	equal "the sum of its lines" "$folded" "$json"
	[ "$json" -gt 2000000000 ]
	get "/api/profile?format=svg" | xmllint --noout -
	equal "status of a wrong format" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/profile?format=gif")" 400
	equal "status of a wrong number" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/profile?from=x")" 400
	equal "status of another path's parameter" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/threads?format=csv")" 400
	for history in x -1 '' 1.5; do
		equal "status of history=$history" "$(curl -s -o /dev/null -w '%{http_code}' -m 60 "$at/api/live?history=$history")" 400
	done
	equal "status of no such path" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/../etc/passwd")" 404
}

# A snapshot has the counters of the threads that are served; requests that come at once get the same one.
snapshots_are_captures() {
	local i others=()

	start "$programs/duty" 5 5
	serve -p "$pid"
	for i in 1 2 3; do
		get /api/snapshot > "$scratch/snapshot.$i" &
		others+=($!)
	done
	wait "${others[@]}"
	cmp "$scratch/snapshot.1" "$scratch/snapshot.2"
	cmp "$scratch/snapshot.1" "$scratch/snapshot.3"
	zstd -dcq < "$scratch/snapshot.1" > "$scratch/snapshot.json"
	equal "its threads" "$(jq -c '[.threads[].tid]' "$scratch/snapshot.json")" "[$pid]"
	between "its time on CPUs" 1 "$(jq '.threads[0].run_time_ns' "$scratch/snapshot.json")" "$(cpu_time_of "$pid")"
	"$ctprof" show "$scratch/snapshot.1" > "$scratch/shown"
	has "a report of it" "$(< "$scratch/shown")" duty
}

# inspected TID: what /api/thread says, in $scratch/inspected; its sentence in $sentence. On a busy host, the first readings
# may take longer than a request waits.
inspected() {
	local try

	for try in {1..3}; do
		get "/api/thread?tid=$1" > "$scratch/inspected" && break
		[ "$try" -lt 3 ] || return 1
	done
	sentence=$(jq -r .answer "$scratch/inspected")
}

# Of a thread, the server says what `top --inspect` does: the same members, and of threads that wait all the time the same
# sentence and chain. Addresses of locks are those of the process.
inspections_are_those_of_top() {
	local kind holder waiter

	serve
	for kind in mutex fifo join flock pipe tcp unix deadlock; do
		start "$programs/lock_waits" "$kind" "$scratch/inspected.$kind"
		read -r holder waiter <<< "$ready"
		sleep 2.5
		inspected "$waiter"
		"$ctprof" top --tid "$waiter" --inspect "$waiter" -i 300ms --format json > "$scratch/by_top"
		equal "the sentence of a wait for $kind" "${sentence/#99 %/100 %}" "$(jq -r .answer "$scratch/by_top" | sed 's/^99 %/100 %/')"
		has "the holder" "$sentence" "holder ($holder)"
		for member in .chain .state .deadlock .also .limits .tid .tgid .comm .process .by; do
			equal "$member of $kind" "$(jq -cS "$member" "$scratch/inspected")" "$(jq -cS "$member" "$scratch/by_top")"
		done
		equal "members" "$(jq -c "[paths | map(tostring) | join(\".\")]" "$scratch/inspected")" \
			"$(jq -c "[paths | map(tostring) | join(\".\")]" "$scratch/by_top")"
		kill "$pid"
	done
}

# Only threads that are served; one that has ended is said to have.
others_are_not_inspected() {
	local served

	start_sleep
	served=$pid
	serve -p "$served"
	inspected "$served"
	has "what it does" "$sentence" "sleeping for a time"
	equal "status of another thread" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/thread?tid=$$")" 404
	equal "status of no number" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/thread?tid=0")" 400
	equal "status of no thread" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/thread")" 400
	serve --no-inspect
	equal "status with --no-inspect" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/thread?tid=$served")" 403
	serve
	inspected "$served"
	kill "$served"
	while [ -e "/proc/$served" ]; do sleep 0.1; done
	sleep 2
	equal "status of one that has ended" "$(curl -s -o "$scratch/text" -w '%{http_code}' "$at/api/thread?tid=$served")" 404
	has "the reason" "$(< "$scratch/text")" "thread $served has ended"
}

# All processes end together, whichever is ended, and with the targets.
# has_ended PID: soon.
has_ended() {
	for _ in {1..100}; do
		kill -0 "$1" 2> /dev/null || return 0
		sleep 0.1
	done
	echo "process $1 is still there"
	return 1
}

ends_as_one() {
	local web files

	serve
	get /api/about > /dev/null
	files=$(pgrep -P "$server" -x ctprof-files)
	web=$(pgrep -P "$server" -x ctprof-web)
	kill -9 "$web"
	wait "$server" && return 1
	has_ended "$files"
	serve
	web=$(pgrep -P "$server" -x ctprof-web)
	kill "$server"
	wait "$server"
	has_ended "$web"
	start_sleep
	serve -p "$pid"
	kill "$pid"
	wait "$server"
}

# The processes that read requests and files have no capability.
has_no_privileges() {
	local name child

	serve
	get /api/about > /dev/null
	for name in ctprof-web ctprof-files; do
		child=$(pgrep -P "$server" -x $name)
		equal "capabilities" "$(grep -h '^Cap' "/proc/$child/task/"*/status | grep -v '0000000000000000' || true)" ""
	done
}

# send FILE: its id.
send() {
	curl -sS --fail-with-body --max-time 60 --data-binary "@$1" "$at/api/files?name=${1##*/}" | jq -r .id
}

# The report of files that are sent is that of ctprof report.
files_are_compared() {
	local kind ids

	start_sleep
	serve -p "$pid"
	get /api/snapshot > "$scratch/first.ctprof.zst"
	sleep 5.1
	get /api/snapshot > "$scratch/second.ctprof.zst"
	for kind in compare profiles; do
		cp tests/fixtures/synthetic-$kind/before.json "$scratch/$kind-before.json"
		cp tests/fixtures/synthetic-$kind/after.json "$scratch/$kind-after.json"
	done
	get '/api/profile?format=raw' > "$scratch/seconds.raw"
	cp tests/fixtures/synthetic-kstats/reads.json "$scratch"
	for ids in "first.ctprof.zst second.ctprof.zst" "compare-before.json compare-after.json" \
		"profiles-before.json profiles-after.json" "reads.json reads.json reads.json" "seconds.raw" \
		"first.ctprof.zst seconds.raw reads.json second.ctprof.zst"; do
		set -- $ids
		# Root is told of offcpu.
		(cd "$scratch" && "$ctprof" report -q "$@" -o - | sed 's/; see ctprof offcpu -d 5s)/)/' > expected.html)
		ids=
		while [ $# != 0 ]; do
			ids+=${ids:+,}$(send "$scratch/$1")
			shift
		done
		get "/api/report/$(curl -sS -X POST "$at/api/report?files=$ids" | jq -r .id)" > "$scratch/page.html"
		cmp "$scratch/expected.html" "$scratch/page.html" || { diff "$scratch/expected.html" "$scratch/page.html" | cut -c1-200; return 1; }
	done
}

# What is sent needs the token; a report needs its own address alone.
reports_have_secret_addresses() {
	local id report head

	start_sleep
	serve -p "$pid" --token secret
	equal "status without a token" "$(curl -s -o /dev/null -w '%{http_code}' -d x "$at/api/files")" 401
	id=$(curl -sS -d 'main;work 5' "$at/api/files?name=stacks&token=secret" | jq -r .id)
	equal "status of a report without a token" \
		"$(curl -s -o /dev/null -w '%{http_code}' -X POST "$at/api/report?files=$id")" 401
	equal "status of a report for another page" \
		"$(curl -s -o /dev/null -w '%{http_code}' -H 'Origin: http://evil.example' -X POST "$at/api/report?files=$id&token=secret")" 403
	report=$(curl -sS -X POST "$at/api/report?files=$id&token=secret" | jq -r .id)
	head=$(curl -sS -I "$at/api/report/$report")
	has "its policy" "$head" "sandbox allow-scripts"
	has_not "its policy" "$head" "'unsafe"
	has "the report" "$(get "/api/report/$report")" stacks
	equal "status of no report" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/report/${report:1}0")" 404
	equal "status of a file as a report" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/report/$id")" 404
	equal "status of no file" \
		"$(curl -s -o /dev/null -w '%{http_code}' -X POST "$at/api/report?files=$report&token=secret")" 404
}

# Every file of the page is there, and is not sent to those who have it.
files_of_the_page_are_there() {
	local file tag

	start_sleep
	serve -p "$pid" --token secret
	equal "status without a token" "$(curl -s -o /dev/null -w '%{http_code}' "$at/api/about")" 401
	get / > "$scratch/index.html"
	cmp "$scratch/index.html" assets/serve/index.html
	for file in assets/serve/*.js assets/serve/*.css assets/serve/*.svg; do
		get "/page/${file##*/}" | cmp - "$file"
	done
	for file in $(grep -o 'page/[a-z_]*\.[a-z]*' "$scratch/index.html"); do
		get "/$file" > /dev/null
	done
	tag=$(curl -s -D - -o /dev/null "$at/page/main.js" | tr -d '\r' | sed -n 's/^ETag: //Ip')
	equal "status of a known file" "$(curl -s -o /dev/null -w '%{http_code}' -H "If-None-Match: $tag" "$at/page/main.js")" 304
	equal "status of no file" "$(curl -s -o /dev/null -w '%{http_code}' "$at/page/none.js")" 404
}

# The page, in a browser, shows what the stream says.
page_shows_the_stream() {
	local status=0

	command -v node > /dev/null || skip "needs node"
	start "$programs/churn" 20 30
	serve
	node tests/assets/serve/real.mjs "$at/" 4 "$ctprof" || status=$?
	[[ $status != 77 ]] || skip "needs Chromium"
	return "$status"
}

# Profiles as pages, in a browser, run their own scripts, and what names no icon gets one.
pages_of_profiles_run() {
	local status=0

	command -v node > /dev/null || skip "needs node"
	start "$programs/churn" 5 30
	serve -p "$pid"
	get /favicon.ico | cmp - assets/serve/icon.svg
	get /api/threads > /dev/null
	node tests/assets/serve/formats.mjs "$at/" || status=$?
	[[ $status != 77 ]] || skip "needs Chromium"
	return "$status"
}

run_case "serve: the stream has what threads did" stream_is_what_threads_did
run_case "serve: known threads are as known" known_threads_are_as_known
run_case "serve: the files of the page are there" files_of_the_page_are_there
run_case "serve: the page shows the stream" page_shows_the_stream
run_case "serve: profiles as pages run in a browser" pages_of_profiles_run
run_case "serve: wakers and longest waits are known in each reading" wakers_of_each_reading
run_case "serve: threads are filtered" threads_are_filtered
run_case "serve: go tool pprof reads it" go_reads_it
run_case "serve: times that are not measured are refused" unmeasured_times_are_refused
run_case "serve: all formats have one total" formats_have_one_total
run_case "serve: snapshots are captures" snapshots_are_captures
run_case "serve: files that are sent are compared" files_are_compared
run_case "serve: a report needs its own address alone" reports_have_secret_addresses
run_case "serve: inspections of threads are those of top" inspections_are_those_of_top
run_case "serve: threads that are not served are not inspected" others_are_not_inspected
run_case "serve: its processes end as one" ends_as_one
run_case "serve: requests and files are read without privileges" has_no_privileges

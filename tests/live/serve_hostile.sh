# SPDX-License-Identifier: BSD-2-Clause
#
# What clients can do to `ctprof serve`: malformed requests, huge bodies, and a thousand connections that send or
# take nothing. Part of tests/live/run.

# serve [OPTIONS...]: its process is $server, its web process $web, its port $port.
serve() {
	local log=$scratch/serve.$BASHPID

	"$ctprof" serve --listen 127.0.0.1:0 "$@" 2> "$log" &
	server=$!
	at_end "kill $server; wait $server"
	until port=$(sed -nE 's/^ctprof: serving at http:\/\/[^:]*:([0-9]+)\/.*/\1/p' "$log") && [ -n "$port" ]; do
		kill -0 $server || { cat "$log"; return 1; }
		sleep 0.05
	done
	web=$(pgrep -P $server -x ctprof-web)
	# The first reading.
	curl -sf -m 30 -H 'Authorization: Bearer an-example' "http://127.0.0.1:$port/api/threads" > /dev/null
}

# status_of CURL-ARGUMENTS...: what it answers; 000: nothing.
status_of() {
	curl -s -o /dev/null -m 20 -w '%{http_code}' "$@" || true
}

# sends BYTES: what it answers to these bytes, escaped as for printf.
sends() {
	exec 7<> "/dev/tcp/127.0.0.1/$port"
	printf "$1" >&7
	timeout 20 cat <&7 | tr -d '\0\r' || true
	exec 7>&-
}

# answers STATUS BYTES: to a request whose answer is the last of its connection.
answers() {
	local answer

	answer=$(sends "$2")
	equal "the answer to '${2:0:60}'" "$(sed -nE '1s/^HTTP\/1\.[01] ([0-9]+).*/\1/p' <<< "$answer")" "$1"
}

as_told='Host: localhost\r\nConnection: close\r\n\r\n'

malformed_requests_are_refused() {
	local long

	serve
	long=$(printf 'a%.0s' {1..20000})
	answers 200 "GET /api/about HTTP/1.1\r\n$as_told"
	answers 200 "HEAD /api/about HTTP/1.1\r\n$as_told"
	answers 404 "GET /etc/passwd HTTP/1.1\r\n$as_told"
	for path in //api/about /../etc/passwd /api/../../etc/passwd /%%2e%%2e/etc/passwd /..%%2fetc/passwd \
		/api/%%00about '/api\\\\about' http://localhost/api/about '*' '%%2fapi/about' '/api/about?x=%%zz'; do
		answers 400 "GET $path HTTP/1.1\r\n$as_told"
	done
	answers 405 "POST /api/about HTTP/1.1\r\n$as_told"
	answers 405 "BREW /api/about HTTP/1.1\r\n$as_told"
	answers 403 "GET /api/about HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
	answers 403 "GET /api/about HTTP/1.1\r\nOrigin: http://evil.example\r\n$as_told"
	answers 403 "GET /api/about HTTP/1.1\r\nSec-Fetch-Site: cross-site\r\n$as_told"
	answers 411 "GET /api/about HTTP/1.1\r\nTransfer-Encoding: chunked\r\n$as_told"
	answers 431 "GET /api/about HTTP/1.1\r\nX-Long: $long\r\n$as_told"
	# A NUL ends the path, or the request is malformed.
	has_not "the answer to a NUL" "$(sends "GET /api/about\\0/../../etc/passwd HTTP/1.1\r\n$as_told")" root:
	# Garbage, which libmicrohttpd answers or not.
	sends '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' > /dev/null < /dev/null &
	equal "answers to ten requests at once" \
		"$(sends "$(for i in {1..9}; do printf '%s' 'GET /api/about HTTP/1.1\r\nHost: localhost\r\n\r\n'; done
		)GET /api/about HTTP/1.1\r\n$as_told" | grep -o 'HTTP/1.1 200' | wc -l)" 10
	kill -0 "$web"
}

tokens_are_required() {
	serve --token an-example
	equal "without a token" "$(status_of "http://127.0.0.1:$port/api/about")" 401
	equal "with a wrong one" "$(status_of "http://127.0.0.1:$port/api/about?token=an-examplf")" 401
	equal "with it" "$(status_of "http://127.0.0.1:$port/api/about?token=an-example")" 200
	equal "with it as a bearer" \
		"$(status_of -H 'Authorization: Bearer an-example' "http://127.0.0.1:$port/api/about")" 200
}

# peak_mb: the most memory that the web process has had.
peak_mb() {
	awk '/^VmHWM:/ { print int($2 / 1024) }' "/proc/$web/status"
}

large_bodies_are_not_read() {
	local before file=$scratch/serve.large

	serve
	truncate -s 1G "$file"
	before=$(peak_mb)
	equal "a body of 1 GB" "$(status_of -X GET -T "$file" "http://127.0.0.1:$port/api/about")" 413
	# Clients that do not wait may not see the answer, since they are still sending.
	has "the same without 100-continue" "413 000" \
		"$(status_of -X GET -H Expect: -T "$file" "http://127.0.0.1:$port/api/about")"
	equal "a body in pieces" "$(status_of -X GET -T - "http://127.0.0.1:$port/api/about" < /dev/zero)" 411
	between "MB more than before" 0 $(($(peak_mb) - before)) 40
	kill -0 "$web"
}

# is_answered WHAT: at the first or at a later attempt; the limits of an address hold for all its clients.
is_answered() {
	for _ in {1..10}; do
		[ "$(status_of "http://127.0.0.1:$port/api/about")" != 200 ] || return 0
		sleep 0.2
	done
	echo "nobody is answered beside clients that $1"
	return 1
}

# The last clients' answers may not be over at the first attempt.
readings_go_on() {
	for _ in {1..10}; do
		! grep -q '^event: tick' <(curl -sN -m 10 "http://127.0.0.1:$port/api/live?history=0") || return 0
		sleep 0.5
	done
	echo "no reading comes"
	return 1
}

# measured: seconds that readings cover, and events that they have lost, by /metrics.
measured() {
	local metrics

	for _ in {1..10}; do
		! metrics=$(curl -sf -m 20 "http://127.0.0.1:$port/metrics") || break
		sleep 0.5
	done
	awk '$1 == "ctprof_measured_seconds_total" { ms = int($2 * 1000) }
		$1 == "ctprof_lost_events_total" { lost = $2 }
		END { print ms, lost }' <<< "$metrics"
}

thousand_clients_keep_nobody_out() {
	local how before clients first first_lost last last_lost begin

	serve
	before=$(peak_mb)
	read -r first first_lost <<< "$(measured)"
	begin=$(($(date +%s%N) / 1000000))
	for how in head drip body "unread /api/profile" "unread /api/live"; do
		start "$programs/slow_clients" "$port" 1000 $how
		clients=$pid
		is_answered "$how"
		is_answered "$how"
		kill $clients
	done
	readings_go_on
	# All of the time is measured, but for the reading that is not over.
	read -r last last_lost <<< "$(measured)"
	[ $((last - first)) -ge $(($(date +%s%N) / 1000000 - begin - 10000)) ]
	equal "events lost meanwhile" $((last_lost - first_lost)) 0
	# What is not taken is 64 MB at most; what is kept of readings meanwhile comes to that.
	between "MB more than before" 0 $(($(peak_mb) - before)) 300
	kill -0 "$web" "$server"
}

# connections STATE...: those of the server in these states, with what the kernel has for them.
connections() {
	ss -Htn "$@" "sport = :$port"
}

# What a client has not taken when its time is over is dropped, and not offered to it for minutes by the kernel.
unread_answers_are_dropped() {
	local try

	command -v ss > /dev/null || skip "needs ss"
	start "$programs/churn" 20 10
	serve
	sleep 3
	for fd in 20 21 22 23; do
		eval "exec $fd<> /dev/tcp/127.0.0.1/$port"
		printf 'GET /api/profile?from=0 HTTP/1.1\r\nHost: localhost\r\n\r\n' >&$fd
	done
	until [ -n "$(connections state established | awk '$2 > 0')" ]; do sleep 0.1; done
	until [ -z "$(connections state established | awk '$2 > 0')" ]; do sleep 0.5; done
	for try in {1..20}; do
		[ -n "$(connections state fin-wait-1)" ] || return 0
		sleep 0.2
	done
	connections state fin-wait-1
}

# send FILE: its id, or why there is none.
send() {
	curl -s -m 60 --data-binary "@$1" "http://127.0.0.1:$port/api/files?name=hostile" | sed -E 's/.*"id":"([^"]*)".*/\1/'
}

# report_of FILE: the status of a report of it, and what is said instead of an id.
report_of() {
	local answer

	answer=$(curl -s -m 60 -w ' %{http_code} ' --data-binary "@$1" "http://127.0.0.1:$port/api/files?name=hostile" | tr '\n' ' ')
	if [[ $answer == *'"id":"'* ]]; then
		answer=$(sed -E 's/.*"id":"([^"]*)".*/\1/' <<< "$answer")
		answer=$(curl -s -m 60 -w ' %{http_code} ' -X POST "http://127.0.0.1:$port/api/report?files=$answer" | tr '\n' ' ')
	fi
	echo "$answer"
}

# frames COUNT TEXT: many megabytes of it in some kilobytes.
frames() {
	local frame=$scratch/serve.frame i

	{ yes "$2" || true; } | head -n 1000000 | zstd -qc > "$frame"
	for ((i = 0; i < $1; i++)); do
		cat "$frame"
	done
}

# Files that are none, those that every fuzz target has found, and those that unpack to gigabytes.
hostile_files_harm_nothing() {
	local file answer peak=$scratch/serve.peak count=0

	serve
	files=$(pgrep -P $server -x ctprof-files)
	for file in /dev/null <(head -c 1M /dev/urandom) /bin/true; do
		has "an answer" "400 422" "$(report_of "$file" | grep -oE '[0-9]+ $' | tr -d ' ')"
	done
	for file in tests/fuzz/corpus/{snapshot_file,snapshot_json,profile_file,profile_json,profile_pprof,profile_folded,kstats_file}/*; do
		[ -s "$file" ] || continue
		answer=$(report_of "$file")
		[[ $answer =~ (201|422)' '$ ]] || { echo "$file: $answer"; return 1; }
		count=$((count + 1))
	done
	between "files" 30 $count 10000
	(printf '{"captured_at_unix_ns":1,"threads":[' | zstd -qc; frames 100 '{"tid":1,"tgid":1},') > "$scratch/serve.bomb"
	between "bytes of the bomb" 1 "$(stat -c %s "$scratch/serve.bomb")" 1000000
	equal "the answer to it" "$(report_of "$scratch/serve.bomb" | tr -s ' ')" "out of memory 422 "
	# Each report was made by a process of its own, which is gone.
	equal "its processes" "$(pgrep -P "$files" || true)" ""
	between "MB of the process that starts them" 1 "$(awk '/^VmHWM:/ { print int($2 / 1024) }' /proc/$files/status)" 40
	between "MB of the web process" 1 "$(peak_mb)" 100
	readings_go_on
	has "the report of a file afterwards" "$(report_of tests/fixtures/synthetic-compare/after.json)" 201
	kill -0 "$web" "$server" "$files"
}

# More files than there is room for, at once and one after the other.
uploads_are_limited() {
	local file=$scratch/serve.large before first i clients=()

	serve
	truncate -s 64M "$file"
	before=$(peak_mb)
	first=$(send "$file")
	equal "digits of its id" ${#first} 32
	send "$file" > /dev/null
	send "$file" > /dev/null
	equal "status of the first, which has made room" \
		"$(status_of -X POST "http://127.0.0.1:$port/api/report?files=$first")" 404
	truncate -s 1G "$file"
	has "a file of 1 GB" "413 000" "$(status_of -X POST -T "$file" "http://127.0.0.1:$port/api/files")"
	# One that is slow keeps others of its address out for 30 s, and says so.
	start_slow_upload
	equal "another one meanwhile" "$(status_of -d x "http://127.0.0.1:$port/api/files")" 429
	exec 7>&-
	is_taken_again
	for i in {1..20}; do
		status_of -X POST "http://127.0.0.1:$port/api/report?files=$(send tests/fixtures/synthetic-profiles/after.json)" > "$scratch/serve.many.$i" &
		clients+=($!)
	done
	wait "${clients[@]}"
	equal "answers but 201, 404 and 429" "$(cat "$scratch"/serve.many.* | sed 's/201\|404\|429//g')" ""
	between "MB more than before" 0 $(($(peak_mb) - before)) 40
	readings_go_on
	kill -0 "$web" "$server"
}

start_slow_upload() {
	exec 7<> "/dev/tcp/127.0.0.1/$port"
	printf 'POST /api/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nx' >&7
	sleep 0.5
}

is_taken_again() {
	for _ in {1..20}; do
		[ "$(status_of -d x "http://127.0.0.1:$port/api/files")" != 201 ] || return 0
		sleep 0.2
	done
	echo "an upload that has ended keeps others out"
	return 1
}

# Whatever is asked for at once, few threads are inspected, who waits is bounded, and readings go on.
inspections_are_few() {
	local tids clients=() answered refused seconds first i

	serve
	tids=$(curl -sf "http://127.0.0.1:$port/api/threads" | jq -r '.threads[].tid' | head -n 60)
	first=$(date +%s)
	for i in {1..20}; do
		for _ in {1..3}; do
			for tid in $(shuf <<< "$tids"); do
				status_of "http://127.0.0.1:$port/api/thread?tid=$tid"
				echo
			done
		done > "$scratch/statuses.$i" &
		clients+=($!)
	done
	readings_go_on
	sleep 5
	readings_go_on
	kill "${clients[@]}" 2> /dev/null || true
	wait "${clients[@]}" || true
	seconds=$(($(date +%s) - first + 1))
	answered=$(cat "$scratch"/statuses.* | grep -c '^200' || true)
	refused=$(cat "$scratch"/statuses.* | grep -c '^503' || true)
	between "answers" 1 "$answered" 1000000
	between "refusals" 1 "$refused" 1000000
	equal "other statuses" "$(cat "$scratch"/statuses.* | { grep -vxE '(200|404|503)*' || true; } | sort -u)" ""
	# Each inspection answers those who ask about the same thread meanwhile: twenty clients.
	between "inspections" 1 "$answered" $((20 * 4 * seconds + 20))
	kill -0 "$web" "$server"
}

run_case "serve refuses malformed requests, and those for other hosts" needs_bpf malformed_requests_are_refused
run_case "serve requires its token" needs_bpf tokens_are_required
run_case "serve does not read bodies of 1 GB" needs_bpf large_bodies_are_not_read
run_case "serve answers beside a thousand clients that send or take nothing" needs_bpf thousand_clients_keep_nobody_out
run_case "serve drops answers that are not taken" slow needs_bpf unread_answers_are_dropped
run_case "serve: hostile files harm nothing" needs_bpf hostile_files_harm_nothing
run_case "serve: files that are sent are limited" needs_bpf uploads_are_limited
run_case "serve inspects few threads, whatever is asked for" needs_bpf inspections_are_few

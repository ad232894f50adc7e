# SPDX-License-Identifier: BSD-2-Clause
#
# Requests of the agent on their way to a server that misbehaves (stub_server.py), by tests/programs/deliver: each
# arrives once, or is counted as lost, or waits in the spool.

deliver=build/tests/programs/deliver
stub_pem=

# start_stub: sets $stub, its folder, and $stub_url.
start_stub() {
	command -v python3 > /dev/null || skip "no python3"
	stub=$(mktemp -d "$scratch/stub.XXXXXX")
	stub_port=$(free_port)
	stub_url=http://127.0.0.1:$stub_port/
	at_end stop_stub
	start_stub_again
}

start_stub_again() {
	python3 tests/store/stub_server.py "$stub_port" "$stub" $stub_pem &
	stub_pid=$!
	until (: < "/dev/tcp/127.0.0.1/$stub_port") 2> /dev/null; do
		kill -0 "$stub_pid"
		sleep 0.05
	done
}

stop_stub() {
	kill -9 "$stub_pid" && wait "$stub_pid" || :
}

# mode WORD: from now on.
mode() {
	echo "$1" > "$stub/mode.new"
	mv "$stub/mode.new" "$stub/mode"
}

# start_deliver BYTES URL...: sets $deliver_pid and $spool; commands go to descriptor $to, and what
# it says to $said.
start_deliver() {
	local most=$1

	shift
	spool=${spool-$(mktemp -d "$scratch/spool.XXXXXX")}
	said=$spool.said
	[ -p "$spool.commands" ] || mkfifo "$spool.commands"
	"$deliver" "$spool" "$most" "$spool.numbers" "$@" < "$spool.commands" >> "$said" &
	deliver_pid=$!
	exec {to}> "$spool.commands"
	at_end 'kill -9 $deliver_pid'
}

tell() {
	echo "$*" >&"$to"
}

# end_deliver COMMAND...: and wait until it has done them.
end_deliver() {
	printf '%s\n' "$@" end >&"$to"
	exec {to}>&-
	wait "$deliver_pid"
}

# last_state: what the last "state" printed.
last_state() {
	awk '/^state/ { text = "" } { text = text $0 "\n" } END { printf "%s", text }' "$said"
}

# wait_for WHAT COMMAND...: until it succeeds.
wait_for() {
	local what=$1 tries

	shift
	for ((tries = 0; tries < 1200; tries++)); do
		! "$@" > /dev/null 2>&1 || return 0
		sleep 0.05
	done
	echo "waited for nothing: $what"
	cat "$said"
	return 1
}

# has_arrived COUNT: so many different requests.
has_arrived() {
	[ "$(sort -u "$stub/arrived" | wc -l)" -eq "$1" ]
}

arrived_once() {
	[ ! -e "$stub/arrived" ] || equal "requests that arrived twice" "$(sort "$stub/arrived" | uniq -d)" ""
}

said() {
	grep -c "$1" "$said" || :
}

# How many were lost, and how many wait, by the last state.
lost() {
	last_state | awk '/^lost/ && !/ sums of / { n += $3 } END { print n + 0 }'
}

waiting() {
	last_state | awk '/^waiting/ { print $2 }'
}

arrives_in_order() {
	start_stub
	start_deliver 10000000 "$stub_url"
	tell add 20 1000
	end_deliver drain
	equal "order" "$(cat "$stub/arrived")" "$(seq -f 0-%g 20)"
	equal "what waits" "$(find "$spool" -name '*.request')" ""
	has "header" "$(head -n 1 "$stub/requests")" "Content-Type=text/plain"
	equal "lines" "$(said '^said')" 0
}

# At the end, a line says what waits for a server, and none does of one that has all.
says_what_waits() {
	start_stub
	start_deliver 10000000 http://127.0.0.1:1/ "$stub_url"
	tell add 3 1000
	wait_for "three" has_arrived 3
	end_deliver drain
	equal "lines" "$(grep 'the next agent' "$said")" "said sink-0 (http://127.0.0.1:1/): 3 requests wait in $spool: the next agent sends them"
}

many_sinks() {
	start_stub
	start_deliver 10000000 "$stub_url" "${stub_url}?database=x" "http://127.0.0.1:1/?key=secret"
	tell add 5 1000
	wait_for "two sinks" has_arrived 10
	has "query" "$(cat "$stub/requests")" "POST /?database=x&id=1-5 "
	end_deliver state
	has "state" "$(cat "$said")" "waiting 5 "
	has "failure" "$(cat "$said")" "said sink-2 (http://127.0.0.1:1/): Failed to connect to 127.0.0.1 port 1"
	equal "lines about it" "$(said '^said')" 1
}

# comes_back MODE: the server is like that for a while.
comes_back() {
	start_stub
	mode "$1"
	start_deliver 10000000 "$stub_url"
	tell add 5 1000
	wait_for "a failure" grep -q '^said sink-0' "$said"
	mode ok
	wait_for "all requests" has_arrived 5
	end_deliver finish state
	has "state" "$(cat "$said")" "waiting 0 0"
	has "said" "$(cat "$said")" "works again"
	equal "lines about it" "$(grep '^said' "$said" | grep -vc 'may lack rows')" 2
	arrived_once
}

says() {
	start_stub
	mode "$1"
	start_deliver 10000000 "$stub_url"
	tell add 1 1000
	wait_for "a failure" grep -q '^said sink-0' "$said"
	end_deliver state
	has "said" "$(cat "$said")" "$2"
}

spool_is_empty() {
	[ -z "$(find "$spool" -name '*.request')" ]
}

# is_dropped MODE LINE: what it says.
is_dropped() {
	start_stub
	mode "$1"
	start_deliver 10000000 "$stub_url"
	tell add 3 1000
	wait_for "three attempts" grep -qs "0-3 $1" "$stub/requests"
	wait_for "the last refusal" spool_is_empty
	mode ok
	tell add 1 1000
	end_deliver finish state
	equal "arrived" "$(cat "$stub/arrived")" 0-4
	has "losses" "$(cat "$said")" "lost sink-0 3 requests of the test: refused"
	has "said" "$(cat "$said")" "$2; what it refuses is dropped"
}

one_waits() {
	[ "$(find "$spool" -name '*.request' | wc -l)" -eq 1 ]
}

# passes MODE: one request that is always answered as by an overloaded server is not dropped, and holds up no others,
# also of a later agent.
passes() {
	start_stub
	mode "$1"
	start_deliver 10000000 "$stub_url"
	tell add 5 1000
	wait_for "four others" has_arrived 4
	wait_for "the answer to the last" one_waits
	tell state
	wait_for "the state" grep -q '^waiting' "$said"
	equal "arrived" "$(tr '\n' ' ' < "$stub/arrived")" "0-1 0-2 0-4 0-5 "
	equal "lost" "$(lost)" 0
	equal "waiting" "$(waiting)" 1
	equal "lines about it" "$(said 'waits behind others, which it accepts')" 1
	tell add 2 1000
	wait_for "two more" has_arrived 6
	wait_for "the answer to the last" one_waits
	end_deliver
	mode ok
	start_deliver 10000000 "$stub_url"
	end_deliver finish state
	equal "arrived" "$(tr '\n' ' ' < "$stub/arrived")" "0-1 0-2 0-4 0-5 0-6 0-7 0-3 "
	equal "lost" "$(lost)" 0
}

# passes_unknown MODE COUNT: one request of which the server never says whether it has arrived holds up no others, also of
# a later agent that finds it behind them, and is not sent twice.
passes_unknown() {
	start_stub
	mode "$1"
	start_deliver 10000000 "$stub_url"
	tell add 5 1000
	wait_for "four others" has_arrived "$2"
	wait_for "the answer to the last" one_waits
	tell state
	wait_for "the state" grep -q '^waiting' "$said"
	equal "lost" "$(last_state | grep -c ^lost || :)" 0
	equal "waiting" "$(waiting)" 1
	equal "lines about it" "$(said 'waits behind others, which it accepts')" 1
	end_deliver
	start_deliver 10000000 http://127.0.0.1:1/
	tell add 3 1000
	end_deliver
	mv "$(find "$spool/sink-0" -name '*.request' | sort | sed -n 1p)" "$spool/sink-0/00000000000000000099.request"
	start_deliver 10000000 "$stub_url"
	wait_for "three more" has_arrived $(($2 + 3))
	wait_for "the answer to the last" one_waits
	mode ok
	end_deliver finish state
	has_arrived 8
	arrived_once
	equal "lost" "$(lost)" 0
	equal "waiting" "$(waiting)" 0
}

# without_mark: requests in the spool become those of an earlier version, which has no place for a mark in its files.
without_mark() {
	sed -i '/^interrupted: 0$/d' "$spool"/sink-0/*.request
	equal "files with a mark" "$(grep -alx 'interrupted: .' "$spool"/sink-0/*.request || :)" ""
}

# passes_older: the same of requests of an earlier version.
passes_older() {
	start_deliver 10000000 http://127.0.0.1:1/
	tell add 5 1000
	end_deliver
	without_mark
	start_stub
	mode poison_check
	start_deliver 10000000 "$stub_url"
	wait_for "four others" has_arrived 4
	wait_for "the answer to the last" one_waits
	equal "mark of the last" "$(grep -ax 'interrupted: .' "$spool"/sink-0/*.request)" "interrupted: 1"
	mode ok
	end_deliver finish state
	has_arrived 5
	arrived_once
	equal "lost" "$(lost)" 0
	equal "waiting" "$(waiting)" 0
}

# On a disk that has no room for another file, such a request waits.
cannot_mark_older() {
	spool=$scratch/older
	mkdir "$spool"
	mount -t tmpfs -o size=400k,mode=700 none "$spool" || skip "no mounts"
	at_end 'umount -l "$scratch/older"'
	start_deliver 10000000 http://127.0.0.1:1/
	tell add 2 70000
	end_deliver
	without_mark
	mount -o remount,size=200k "$spool"
	start_stub
	mode cut_kept
	start_deliver 10000000 "$stub_url"
	wait_for "a failure" grep -q '^said sink-0' "$said"
	mode ok
	end_deliver finish state
	has_arrived 2
	arrived_once
	equal "lost" "$(lost)" 0
	equal "waiting" "$(waiting)" 0
}

# Requests 3 and 4 were interrupted, and 4 has arrived. A check does not find 3, which is then dropped while it waits. That
# says nothing about 4.
knows_what_is_absent() {
	start_deliver 10000000 http://127.0.0.1:1/
	tell add 4 1000
	end_deliver
	rm "$spool"/sink-0/*0[12].request
	sed -i 's/^interrupted: 0$/interrupted: 1/' "$spool"/sink-0/*.request
	start_stub
	echo 0-4 > "$stub/arrived"
	stop_stub
	start_stub_again
	mode poison_soon
	start_deliver $((2 * 4096)) "$stub_url"
	wait_for "a refusal" grep -q 'HTTP status 429' "$said"
	tell add 1 1000
	end_deliver finish state
	has_arrived 2
	arrived_once
	equal "lost" "$(lost)" 1
	equal "waiting" "$(waiting)" 0
}

# A server of OTLP takes a request, and rejects what is in it.
rejects_a_part() {
	start_stub
	mode partial
	start_deliver 10000000 "otlp=$stub_url"
	tell add 3 1000
	wait_for "all" has_arrived 3
	end_deliver finish state
	arrived_once
	has "losses" "$(last_state)" "lost sink-0 3 requests of the test: refused"
	equal "lines" "$(said '^said')" 1
	has "said" "$(cat "$said")" "1 of a request were not stored: too old; they are counted as lost"
}

# sums_may_be_missing MODE: of a request that is found after the server, or the connection, has failed.
sums_may_be_missing() {
	start_stub
	start_deliver 10000000 "$stub_url"
	tell add 1 1000
	wait_for "the first" has_arrived 1
	mode "$1"
	tell add 2 1000
	wait_for "a failure" grep -q '^said sink-0' "$said"
	end_deliver
	mode ok
	start_deliver 10000000 "$stub_url"
	end_deliver finish state
	arrived_once
	has_arrived 3
	equal "losses" "$(last_state | grep ^lost)" "lost sink-0 1 sums of the test: perhaps missing"
	equal "lines about it" "$(said 'sums by minute and hour may lack rows')" 1
}

# Of an interrupted request of which a part was stored, both the rest and the sums of the part are counted; so are all of
# it and its sums if the server stored it but does not keep what is so old. Its answers to checks count one row.
sums_of_a_part_may_be_missing() {
	start_stub
	mode cut_kept
	start_deliver 10000000 "$stub_url"
	tell insert 10 7
	wait_for "a failure" grep -q '^said sink-0' "$said"
	mode ok
	wait_for "the answer to it" spool_is_empty
	mode cut_kept
	tell add 1 1000
	wait_for "the second failure" has_arrived 2
	mode ahead
	end_deliver finish state
	arrived_once
	equal "losses" "$(last_state | grep ^lost | sort)" "lost sink-0 1 requests of the test: too old
lost sink-0 1 sums of samples: perhaps missing
lost sink-0 1 sums of the test: perhaps missing
lost sink-0 6 rows of samples: stored in part"
}

# finds_after_a_kill MODE COUNT: an agent that was killed while it sent does not know whether the server had failed, but
# the server whether it has restarted.
finds_after_a_kill() {
	start_stub
	mode silent_kept
	start_deliver 10000000 "$stub_url"
	tell add 1 1000
	wait_for "it" has_arrived 1
	kill -9 "$deliver_pid"
	exec {to}>&-
	wait "$deliver_pid" || :
	equal "failures" "$(said '^said')" 0
	mode "$1"
	start_deliver 10000000 "$stub_url"
	end_deliver finish state
	arrived_once
	equal "losses" "$(last_state | grep -c '^lost sink-0 1 sums of the test: perhaps missing' || :)" "$2"
}

# fails_at_sums KIND: a view fails, so the server has the rows and not all sums.
fails_at_sums() {
	local setting=

	start_store "$1"
	[ "$1" = new ] || setting=allow_experimental_low_cardinality_type=1
	build/ctprof agent --create-schema --clickhouse "$store_url/fleet"
	sql "CREATE TABLE fleet.broken (host String, ns UInt8) ENGINE = MergeTree ORDER BY host"
	sql "CREATE MATERIALIZED VIEW fleet.a_view TO fleet.broken AS SELECT host, throwIf(ns > 0) AS ns FROM fleet.samples" $setting
	start_deliver 10000000 "$store_url/"
	tell insert 10 7
	end_deliver finish state
	equal "rows" "$(sql "SELECT count() FROM fleet.samples")" 7
	equal "losses" "$(last_state | grep ^lost)" "lost sink-0 7 sums of samples: perhaps missing"
}

# A server that is 20 days ahead is asked whether it keeps what it has taken. It does not.
has_another_clock() {
	start_stub
	start_deliver 10000000 "$stub_url"
	tell add 2 1000
	wait_for "two requests" has_arrived 2
	equal "questions" "$(grep -c lifetime= "$stub/requests" || :)" 0
	mode ahead
	tell add 3 1000
	end_deliver finish state
	has_arrived 5
	equal "questions" "$(grep -c lifetime= "$stub/requests")" 3
	has "losses" "$(last_state)" "lost sink-0 3 requests of the test: too old"
	equal "lines" "$(said '^said')" 2
	equal "lines about clocks" "$(said 'the clock of this host is .* d .* h behind the server')" 1
	has "said" "$(cat "$said")" "1 of a request were not stored: they are 20 days old by the clock of the server, which keeps them for 14 days"
}

# other_clock MODE LINE: a server whose clock is like that takes all; one line says so ("": none does).
other_clock() {
	start_stub
	mode "$1"
	start_deliver 10000000 "$stub_url"
	tell add 3 1000
	end_deliver finish state
	has_arrived 3
	arrived_once
	equal "state" "$(last_state | grep -v ^cpu)" $'state\nwaiting 0 0'
	equal "lines" "$(said '^said')" "$([ -z "$2" ] && echo 0 || echo 1)"
	[ -z "$2" ] || grep -x "$2" "$said"
}

# drops_what_is_old new|old: of rows that are older than their table keeps, each is counted; a server without lifetimes
# has them.
drops_what_is_old() {
	start_store "$1"
	build/ctprof agent --create-schema --clickhouse "$store_url/fleet" --keep-rows raw=20d
	start_deliver 10000000 "$store_url/"
	tell insert 10 7
	tell insert 1500000 5
	tell insert 2000000 3
	end_deliver finish state
	sql "OPTIMIZE TABLE fleet.samples FINAL"
	equal "rows and losses" "$(sql "SELECT count() FROM fleet.samples")+$(lost)" "$2"
	equal "reasons" "$(last_state | grep -c 'rows of samples: too old' || :)" "$3"
	equal "sums" "$(sql "SELECT sum(count), sum(ns) FROM fleet.samples_1m")" $'0\t49'
}

# says_that_others_send new|old: two agents send rows of one host. The first is alone when it asks. The second is not, which
# is not said of rows that waited for long.
says_that_others_send() {
	local begin lines="said sink-0: another agent sends rows as host 'it's', too: they count twice; "

	start_store "$1"
	build/ctprof agent --create-schema --clickhouse "$store_url/fleet"
	begin=$(date +%s)
	# Most of an interval that is so long is after the time that is asked for.
	sql "INSERT INTO fleet.loads (host, t, ms) VALUES ('it\\'s', toDateTime($((begin - 5))), 600000)"
	start_deliver 10000000 "$store_url/"
	tell loads $((begin - 10000)) 10
	tell loads $((begin - 100)) 10
	end_deliver finish
	equal "rows" "$(sql "SELECT count() FROM fleet.loads")" 23
	equal "what one says that is alone" "$(grep ^said "$said" || :)" ""
	start_deliver 10000000 "$store_url/"
	tell loads $((begin - 10000)) 10
	end_deliver finish
	equal "what one says of rows that are old" "$(grep ^said "$said" || :)" ""
	start_deliver 10000000 "$store_url/"
	tell loads $((begin - 95)) 10
	end_deliver finish
	equal "rows" "$(sql "SELECT count() FROM fleet.loads")" 45
	equal "what the second says" "$(grep ^said "$said")" "${lines}give one of them another name (--host), or stop it"
}

# others_are_not_known MODE: a server that takes requests and does not answer whether others send is no failure.
others_are_not_known() {
	start_stub
	mode "$1"
	start_deliver 10000000 "$stub_url"
	tell loads "$(date +%s)" 1
	end_deliver finish
	has "requests" "$(cat "$stub/requests")" "GET /?query=SELECT%20sum(if(t"
	equal "what it says" "$(grep ^said "$said" || :)" ""
	equal "what waits" "$(find "$spool" -name '*.request')" ""
}

# An hour of intervals, for which the spool has no room: the newest arrive, in their order.
is_down_for_an_hour() {
	start_deliver $((200 * 4096)) http://127.0.0.1:1/
	tell add 360 1000
	end_deliver state
	equal "lost" "$(lost)" 160
	equal "waiting" "$(waiting)" 200
	start_stub
	start_deliver $((200 * 4096)) "$stub_url"
	end_deliver finish state
	arrived_once
	equal "order" "$(cut -d - -f 2 "$stub/arrived")" "$(cut -d - -f 2 "$stub/arrived" | sort -n)"
	# The first one was being sent, and is not among the oldest that are dropped.
	equal "arrived" "$(sed 1d "$stub/arrived")" "$(seq -f 0-%g 162 360)"
	equal "lost" "$(lost)" 160
}

# A server that fails at one request always. One that fails at all of them gets each when it works again.
goes_on() {
	start_stub
	mode fail
	start_deliver 10000000 "$stub_url"
	tell add 5 1000
	wait_for "eight attempts" test_attempts 8
	mode poison
	end_deliver finish state
	equal "arrived" "$(sort "$stub/arrived" | tr '\n' ' ')" "0-1 0-2 0-4 0-5 "
	arrived_once
	has "losses" "$(last_state)" "lost sink-0 1 requests of the test: refused"
	has "said" "$(cat "$said")" "dropped a request that it cannot process"
}

test_attempts() {
	[ "$(grep -c ^POST "$stub/requests")" -ge "$1" ]
}

honours_retry_after() {
	start_stub
	mode later
	start_deliver 10000000 "$stub_url"
	tell add 1 1000
	wait_for "an attempt" grep -qs later "$stub/requests"
	# Without the header there would be more, after 0.1 s, 0.2 s, 0.4 s, ...
	sleep 3
	equal "attempts" "$(grep -c later "$stub/requests")" 1
}

is_down_for_a_while() {
	start_stub
	start_deliver 10000000 "$stub_url"
	tell add 5 1000
	wait_for "five requests" has_arrived 5
	stop_stub
	tell add 50 1000
	sleep 1
	tell state
	start_stub_again
	wait_for "all requests" has_arrived 55
	end_deliver finish state
	arrived_once
	equal "lost" "$(lost)" 0
}

# is_slow MODE COUNT: each answer takes seconds. Adding waits for none of them; all requests arrive, once.
is_slow() {
	start_stub
	mode "$1"
	start_deliver 10000000 "$stub_url"
	tell add "$2" 1000
	tell state
	wait_for "the state" grep -q '^waiting' "$said"
	between "what waits" 1 "$(waiting)" "$2"
	end_deliver finish state
	has_arrived "$2"
	arrived_once
	equal "lost" "$(lost)" 0
	equal "waiting" "$(waiting)" 0
}

# A server that takes less than there is: the spool is bounded, and what is dropped is counted.
is_too_slow_for_all() {
	start_stub
	mode slower
	start_deliver $((20 * 4096)) "$stub_url"
	tell add 10 1000
	wait_for "the first" has_arrived 1
	tell add 40 1000
	tell state
	wait_for "the state" grep -q '^waiting' "$said"
	between "bytes" 1 "$(last_state | awk '/^waiting/ { print $3 }')" $((20 * 4096))
	mode ok
	end_deliver finish state
	arrived_once
	equal "arrived and lost" $(($(wc -l < "$stub/arrived") + $(lost))) 50
	between "lost" 25 "$(lost)" 35
}

# 40 blocks of 4 KiB.
spool_is_bounded() {
	start_deliver 163840 http://127.0.0.1:1/ http://127.0.0.1:1/
	tell add 100 1000
	end_deliver state
	has "state" "$(cat "$said")" "waiting 40 163840"
	# The first of each sink is being sent when the others are dropped.
	equal "lost" "$(lost)" 160
	between "KiB on disk" 1 "$(du -sk "$spool" | cut -f 1)" 200
	start_stub
	start_deliver 163840 "$stub_url" "$stub_url"
	end_deliver finish state
	has_arrived 40
	arrived_once
	equal "lost" "$(lost)" 160
}

disk_is_full() {
	spool=$scratch/small
	mkdir "$spool"
	mount -t tmpfs -o size=200k,mode=700 none "$spool" || skip "no mounts"
	at_end 'umount -l "$scratch/small"'
	start_deliver 10000000 http://127.0.0.1:1/
	tell add 100 10000
	end_deliver state
	has "losses" "$(cat "$said")" "disk full"
	equal "all" "$(($(lost) + $(waiting)))" 100
	start_stub
	start_deliver 10000000 "$stub_url"
	end_deliver finish
	between "arrived" 10 "$(wc -l < "$stub/arrived")" 20
}

# Losses are handed out, with the next interval, while a sink that keeps them works.
hands_out_losses() {
	local i

	start_stub
	start_deliver $((5 * 4096)) keeps=http://127.0.0.1:1/ "keeps=$stub_url"
	for ((i = 1; i <= 10; i++)); do
		tell add 1 1000
		wait_for "arrival $i" has_arrived "$i"
	done
	wait_for "a failure" fails_times 1
	tell state
	wait_for "the state" grep -q '^waiting' "$said"
	has "losses" "$(grep ^lost "$said")" " requests of the test: spool full"
	equal "losses of the store that works" "$(said '^lost sink-1')" 0
	end_deliver
	start_deliver $((5 * 4096)) keeps=http://127.0.0.1:1/ "$stub_url"
	wait_for "a failure" fails_times 2
	end_deliver state
	equal "losses if none works" "$(lost)" 0
}

fails_times() {
	[ "$(said '^said sink-0 (http://127.0.0.1:1/): Failed')" -eq "$1" ]
}

# Files that have arrived and cannot be removed are not sent again, also by a later agent.
cannot_remove() {
	start_deliver 10000000 http://127.0.0.1:1/
	tell add 3 1000
	end_deliver state
	chattr +i "$spool/sink-0" 2> /dev/null || skip "no immutable directories"
	at_end 'chattr -i "$spool/sink-0"'
	start_stub
	start_deliver 10000000 "$stub_url"
	wait_for "all" has_arrived 3
	end_deliver finish state
	has "said" "$(cat "$said")" "said cannot remove 1 file from the spool: Operation not permitted; it is not sent again"
	equal "lines about it" "$(said 'cannot remove')" 1
	equal "state" "$(last_state | grep -v ^cpu)" $'state\nwaiting 0 12288'
	start_deliver 10000000 "$stub_url"
	end_deliver state
	equal "state of the next agent" "$(last_state | grep -v ^cpu)" $'state\nwaiting 0 12288'
	chattr -i "$spool/sink-0"
	start_deliver 10000000 "$stub_url"
	tell add 1 1000
	end_deliver finish state
	equal "state at the end" "$(last_state | grep -v ^cpu)" $'state\nwaiting 0 0'
	equal "order" "$(cat "$stub/arrived")" "$(seq -f 0-%g 4)"
}

one_agent() {
	start_deliver 1000000 http://127.0.0.1:1/
	wait_for "its start" grep -q ready "$said"
	fails 1 "$deliver" "$spool" 1000000 "$spool.numbers" http://127.0.0.1:1/
	has "error" "$output" "another agent uses this spool"
	end_deliver
}

sends_passwords() {
	start_stub
	echo "machine 127.0.0.1 login me password secret" > "$scratch/netrc"
	chmod 600 "$scratch/netrc"
	export DELIVER_NETRC=$scratch/netrc
	start_deliver 1000000 "$stub_url"
	tell add 1 1000
	wait_for "it" has_arrived 1
	has "header" "$(cat "$stub/requests")" "Authorization=Basic bWU6c2VjcmV0"
	equal "arguments and environment with it" \
		"$(cat /proc/"$deliver_pid"/{cmdline,environ} | tr '\0' '\n' | grep secret || :)" ""
	end_deliver
	equal "files with it" "$(grep -rl secret "$spool" || :)" ""
}

# The file of certificates is one that nobody else may read.
sends_by_tls() {
	command -v openssl > /dev/null || skip "no openssl"
	stub_pem=$scratch/stub.pem
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$scratch/key.pem" -out "$scratch/cert.pem" -days 2 \
		-subj /CN=localhost -addext subjectAltName=DNS:localhost
	cat "$scratch/cert.pem" "$scratch/key.pem" > "$stub_pem"
	chmod 600 "$scratch/cert.pem"
	start_stub
	start_deliver 1000000 "https://localhost:$stub_port/"
	tell add 1 1000
	wait_for "a refusal of the certificate" grep -q 'SSL certificate problem' "$said"
	end_deliver
	export DELIVER_CA=$scratch/cert.pem
	start_deliver 1000000 "https://localhost:$stub_port/"
	end_deliver finish
	has_arrived 1
}

# A server that speaks HTTP alone answers the beginning of TLS with an error in HTTP.
lacks_tls() {
	start_stub
	start_deliver 1000000 "https://127.0.0.1:$stub_port/"
	tell add 1 1000
	wait_for "a failure" grep -q '^said' "$said"
	end_deliver
	equal "line" "$(grep ^said "$said")" \
		"said sink-0: the server does not speak TLS at this port: use http:// (ch:// in queries); its requests wait in the spool"
}

# The senders of $deliver_pid.
sender_pids() {
	local starter

	for starter in $(cat "/proc/$deliver_pid/task/$deliver_pid/children"); do
		cat "/proc/$starter/task/$starter/children"
	done
}

sender_is_confined() {
	local pid

	start_stub
	start_deliver 1000000 "$stub_url"
	tell add 1 1000
	wait_for "it" has_arrived 1
	for pid in $(cat "/proc/$deliver_pid/task/$deliver_pid/children") $(sender_pids); do
		has "status" "$(cat "/proc/$pid/status")" $'\nUid:\t65534\t65534\t65534\t65534\n'
		has "status" "$(cat "/proc/$pid/status")" $'\nCapPrm:\t0000000000000000\n'
		has "status" "$(cat "/proc/$pid/status")" $'\nCapBnd:\t0000000000000000\n'
		has "status" "$(cat "/proc/$pid/status")" $'\nSeccomp:\t2\n'
		has "status" "$(cat "/proc/$pid/status")" $'\nNoNewPrivs:\t1\n'
	done
	# By name, which a thread looks up.
	end_deliver
	start_deliver 1000000 "http://localhost:$stub_port/"
	tell add 1 1000
	end_deliver finish
	has_arrived 2
	wait_for "the end of all processes" test ! -e "/proc/$pid"
}

sender_crashes() {
	start_stub
	mode silent_kept
	start_deliver 1000000 "$stub_url"
	tell add 3 1000
	wait_for "the first" has_arrived 1
	kill -9 $(sender_pids)
	wait_for "a message" grep -q 'the process that sends requests has ended' "$said"
	mode ok
	end_deliver finish state
	has_arrived 3
	arrived_once
	has "state" "$(cat "$said")" "waiting 0 0"
}

starter_ends() {
	local status=0

	start_stub
	start_deliver 1000000 "$stub_url"
	wait_for "its start" grep -q ready "$said"
	kill -9 $(cat "/proc/$deliver_pid/task/$deliver_pid/children")
	wait "$deliver_pid" || status=$?
	equal "status" "$status" 1
}

# kill_at_random SECONDS: of the agent's side and of senders, with a server that does all it can.
kill_at_random() {
	local until=$((SECONDS + $1)) starts=0 produced lost

	start_stub
	mode random
	while ((SECONDS < until)); do
		start_deliver 2000000 "$stub_url"
		tell add 20 5000
		sleep "0.$((RANDOM % 10))"
		kill -9 $(sender_pids) 2> /dev/null || :
		tell add 5 5000
		sleep "0.$((RANDOM % 10))"
		kill -9 "$deliver_pid"
		exec {to}>&-
		wait "$deliver_pid" || :
		starts=$((starts + 1))
	done
	mode ok
	start_deliver 2000000 "$stub_url"
	wait_for "its start" grep -q ready "$said"
	end_deliver finish state
	arrived_once
	produced=$(stat -c %s "$spool.numbers")
	lost=$(lost)
	echo "produced $produced, arrived $(wc -l < "$stub/arrived"), lost $lost"
	has "state" "$(cat "$said")" "waiting 0 0"
	# A kill between the number and the request, at most once for each start, makes neither.
	between "arrived and lost" $((produced - starts)) $(($(wc -l < "$stub/arrived") + lost)) "$produced"
}

run_case "requests arrive in their order" arrives_in_order
run_case "a line says at the end what waits" says_what_waits
run_case "several sinks do not wait for each other" many_sinks
for word in full error busy silent cut garbage page moved; do
	run_case "requests wait while a server is '$word'" comes_back "$word"
done
for word in silent_kept cut_kept error_kept; do
	run_case "what has arrived is not sent again: '$word'" comes_back "$word"
done
run_case "a line says what the server said" says full "HTTP status 507: disk full; its requests wait in the spool"
run_case "a request that is too large is dropped and counted" is_dropped too_large "HTTP status 413: ?[31mtoo large"
run_case "a request with wrong data is dropped and counted" is_dropped data "Cannot read all data"
for word in parts memory queries space no_table no_column denied readonly proxy; do
	run_case "requests wait for ClickHouse that answers '$word'" comes_back "$word"
done
for word in poison_parts poison_busy; do
	run_case "a request that an overloaded server always refuses holds up no others: '$word'" passes "$word"
done
run_case "a request that is never answered for holds up no others" passes_unknown poison_check 4
run_case "a request that is never answered for is not sent twice" passes_unknown poison_check_kept 5
run_case "a request of an earlier version that is never answered for holds up no others" passes_older
run_case "a request of an earlier version waits if the disk has no room for its mark" cannot_mark_older
run_case "a request that has arrived is not sent after one that had not" knows_what_is_absent
run_case "a line says which tables are missing" says no_table \
	"Table x does not exist; create or upgrade the tables: ctprof agent --create-schema --clickhouse URL; its requests wait"
run_case "a line says that the user is refused" says denied "check the user, its password (--netrc-file) and its rights"
run_case "what a server of OTLP rejects is counted" rejects_a_part
for word in cut_kept error_kept silent_kept; do
	run_case "sums that may be missing are counted: '$word'" sums_may_be_missing "$word"
done
run_case "sums that may be missing are counted: a part of a request" sums_of_a_part_may_be_missing
run_case "sums of a request that is found after a kill are there" finds_after_a_kill ok 0
run_case "checks of an older version are understood" finds_after_a_kill older_check 0
run_case "sums may be missing if the server has restarted" finds_after_a_kill restarted 1
run_case "sums are counted if a view fails, new" fails_at_sums new
run_case "sums are counted if a view fails, old" fails_at_sums old
run_case "rows that a server with another clock does not keep are counted" has_another_clock
behind="said sink-0: the clock of this host is 1[0-9] min [0-9]* s behind the server's: its times may not match .*"
run_case "a line says that this host's clock is behind" other_clock minutes_ahead "$behind"
run_case "a line says that this host's clock is ahead" other_clock minutes_behind "${behind/behind/ahead of}"
for word in seconds_ahead no_date; do
	run_case "no line says that clocks differ: '$word'" other_clock "$word" ""
done
run_case "a server with a wrong year is harmless: 1970" other_clock year_1970 "${behind/1*behind/[0-9]* d .* ahead of}"
for word in new old; do
	run_case "an agent says that another one sends rows of its host, $word" says_that_others_send "$word"
done
for word in mute deaf; do
	run_case "a server that does not say whether others send is no failure: '$word'" others_are_not_known "$word"
done
run_case "rows that are too old for their table are counted, new" drops_what_is_old new 12+3 1
run_case "rows of any age are stored, old" drops_what_is_old old 15+0 0
run_case "an hour without a server keeps the newest" is_down_for_an_hour
run_case "a request at which a server always fails holds up no others" goes_on
run_case "Retry-After is honoured" honours_retry_after
run_case "nothing is lost while a server is down" is_down_for_a_while
run_case "a slow server gets everything once: each answer takes a second" is_slow slower 4
run_case "a slow server gets everything once: answers come too late" is_slow too_slow 3
run_case "what is too much for a slow server is counted" is_too_slow_for_all
run_case "the spool is bounded, and the oldest are dropped" spool_is_bounded
run_case "a full disk drops the oldest" disk_is_full
run_case "losses are handed out while a store that keeps them works" hands_out_losses
run_case "files that cannot be removed are not sent again" cannot_remove
run_case "a spool has one agent" one_agent
run_case "passwords come from a netrc file" sends_passwords
run_case "certificates are checked" sends_by_tls
run_case "a line says that a server does not speak TLS" lacks_tls
run_case "senders have no privileges" sender_is_confined
run_case "a sender that crashes is started again" sender_crashes
run_case "the agent ends with what starts senders" starter_ends
run_case "kill -9 at random loses and repeats nothing" kill_at_random "${KILL_SECONDS:-15}"

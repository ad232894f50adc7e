# SPDX-License-Identifier: BSD-2-Clause
#
# The first steps of doc/fleet.md: a store and an agent by two commands, and two groups of hosts compared by a third, with the
# commands of the page. Two of the hosts are this one, one after the other: shopd 1.4, and shopd 1.5, whose workers wait for a
# lock. The other six of each group are copies of them, whose times differ by some percent.
#
# With PICTURES=DIR, what the page shows is written there: fleet.txt, fleet.svg (tools/record-pictures).

page=doc/fleet.md

# command_of_page PATTERN: the first command of an indented line that matches, with this build and the address of this store.
command_of_page() {
	local command

	command=$(sed 's/ *# .*//' "$page" | sed -nE "s/^    (sudo )?(ctprof $1)$/build\/\2/p" | sed -n 1p)
	[ -n "$command" ] || { echo "$page has no command '$1'" >&2; return 1; }
	sed "s/localhost:8123/127.0.0.1:$store_port/g" <<< "$command"
}

# measured_ms HOST: in the store
measured_ms() {
	sql "SELECT sum(ms) FROM ctprof.loads WHERE host = '$1'"
}

# runs_host HOST VERSION: shopd of this version, and an agent that measures it for eight seconds, however long it takes to begin.
runs_host() {
	local agent program pid tries=600

	"$scratch/services/shopd" "$scratch/services" > "$scratch/ready" &
	program=$!
	at_end "kill $program; wait $program"
	agent=$(command_of_page 'agent --clickhouse [^ ]+ --label version=1.4')
	timeout 120 ${agent/version=1.4/version=$2} --host "$1" --comm shopd --spool "$scratch/spool.$1" --interval 1 > "$scratch/said" 2>&1 &
	pid=$!
	at_end "kill $pid"
	until (($(measured_ms "$1") >= 8000)); do
		((tries--)) && kill -0 "$pid" || { cat "$scratch/said"; return 1; }
		sleep 0.2
	done
	kill "$pid" "$program"
	wait "$pid" "$program" || true
}

# varied HOST KEY NAME...: columns with up to 8 % more or less: how much depends on the host, the column and the key of a row.
varied() {
	local name list

	for name in "${@:3}"; do
		list+=", toUInt64($name * (0.92 + 0.16 * (cityHash64('$1', '$name', $2) % 1000) / 1000)) AS $name"
	done
	echo "$list"
}

# copy_host FROM TO
copy_host() {
	local table columns

	for table in hosts loads states samples; do
		case $table in
		states) columns=$(varied "$2" comm exec_ns runnable_ns lock_futex_ns sleep_disk_ns) ;;
		samples) columns=$(varied "$2" stack ns) ;;
		*) columns= ;;
		esac
		sql "INSERT INTO ctprof.$table SELECT * REPLACE ('$2' AS host$columns) FROM (SELECT * FROM ctprof.$table WHERE host = '$1')"
	done
}

# write_pictures COMMAND: the transcript of the page, and the flame graph of both groups.
write_pictures() {
	local flame

	flame=$(command_of_page 'fleet flame --by .*')
	${flame/ -o *} -o "$scratch/fleet.svg"
	sed "s|$scratch/services|/usr/bin|g" "$scratch/fleet.svg" > "$PICTURES/fleet.svg"
	{
		sed "s|^build/|\$ |; s/127.0.0.1:$store_port/localhost:8123/" <<< "$1"
		sed "s/127.0.0.1:$store_port/localhost:8123/g; s/ *$//" "$scratch/compared"
	} > "$PICTURES/fleet.txt"
}

compares_hosts() {
	local command number

	[ "$(id -u)" = 0 ] || skip "needs root"
	make -s build/tests/programs/slow_services > "$scratch/made" 2>&1
	mkdir "$scratch/services"
	cp build/tests/programs/slow_services "$scratch/services/shopd"
	start_store new
	grep -q '^    sudo packaging/start-store ' "$page"
	packaging/start-store "$store_port"
	touch "$scratch/services/old"
	runs_host web-01 1.4
	rm "$scratch/services/old"
	runs_host web-11 1.5
	for number in 2 3 4 5 6 7; do
		copy_host web-01 "web-0$number"
		copy_host web-11 "web-1$number"
	done
	command=$(command_of_page 'fleet compare .*')
	COLUMNS=100 $command > "$scratch/compared"
	has "the comparison" "$(< "$scratch/compared")" "version 1.5 (7 hosts) differs from version 1.4 (7 hosts)"
	# The command that it names next shows where.
	eval "build/$(sed -n 's/^Next: //p' "$scratch/compared")" > "$scratch/stacks"
	has "the stacks of both groups" "$(< "$scratch/stacks")" take_order
	[ -z "${PICTURES-}" ] || write_pictures "$command"
	# What the page shows as found.
	sed -n 's/^<!-- found: \(.*\) -->$/\1/p' "$page" > "$scratch/found"
	between "patterns" 1 "$(wc -l < "$scratch/found")" 5
	while read -r pattern; do
		grep -qE -- "$pattern" "$scratch/compared" || { echo "no line has '$pattern'"; cat "$scratch/compared"; return 1; }
		grep -qE -- "$pattern" <(sed -n '/^\$ ctprof fleet compare/,/^```$/p' "$page") || { echo "nor has the page: $pattern"; return 1; }
	done < "$scratch/found"
}

# ask OPTION...: a query of the started store
ask() {
	curl -s "$@" "http://127.0.0.1:$store_port/?query=SELECT+1"
}

# The script starts Debian's server with the configuration of a test. The service is one that runs until the case ends.
starts_with_a_password() {
	local output

	command -v clickhouse-server > /dev/null || skip "no clickhouse-server"
	[ "$(dpkg-query -W -f '${db:Status-Status}' clickhouse-server 2> /dev/null)" = installed ] || skip "clickhouse-server is not Debian's"
	[ ! -d /run/systemd/system ] || skip "systemd would start the service"
	store_port=$(free_port)
	write_old_config "$scratch/config" "$store_port"
	mkdir "$scratch/bin"
	cat > "$scratch/bin/service" <<-END
		#!/bin/bash
		cd "$scratch/config"
		clickhouse-server --config-file config.xml > out 2>&1 &
		echo \$! > pid
	END
	chmod +x "$scratch/bin/service"
	at_end "kill \$(cat $scratch/config/pid)"
	fails 1 env CLICKHOUSE_CONFIG="$scratch/config" packaging/start-store 1
	has "another port" "$output" "is not http_port of"
	ln -s "$scratch/elsewhere" "$scratch/link"
	fails 1 env CLICKHOUSE_CONFIG="$scratch/config" packaging/start-store --netrc-file "$scratch/link" "$store_port"
	has "a link to nothing" "$output" "cannot create $scratch/link"
	[ ! -e "$scratch/elsewhere" ]
	PATH=$scratch/bin:$PATH CLICKHOUSE_CONFIG=$scratch/config packaging/start-store --netrc-file "$scratch/netrc" "$store_port" > "$scratch/started"
	has "what is next" "$(cat "$scratch/started")" "next: ctprof agent --clickhouse http://localhost:$store_port/ctprof --netrc-file '$scratch/netrc'"
	equal "who may read the password" "$(stat -c %a "$scratch/netrc")" 600
	has "no password" "$(ask)" "Password required"
	has "a wrong password" "$(ask -u default:wrong)" "Wrong password"
	equal "the password" "$(ask -u "default:$(awk '{ print $6 }' "$scratch/netrc")")" 1
	# The same store again, and commands without its password.
	CLICKHOUSE_CONFIG=$scratch/config packaging/start-store --netrc-file "$scratch/netrc" "$store_port"
	fails 1 packaging/start-store "$store_port"
	has "what the file needs" "$output" "denies access: the file of --netrc-file needs the line 'machine localhost login USER password PASSWORD'"
	fails 1 packaging/start-store --netrc-file "$scratch/none" "$store_port"
	has "no file" "$output" "a server listens already"
	fails 1 env HOME=/nonexistent build/ctprof show "ch://localhost:$store_port/ctprof"
	has "what the file needs" "$output" "needs the line 'machine localhost login USER password PASSWORD'"
	fails 1 env HOME=/nonexistent build/ctprof show "ch://me@localhost:$store_port/ctprof"
	has "what the file needs" "$output" "needs the line 'machine localhost login me password PASSWORD'"
	fails 1 env CTPROF_NETRC="$scratch/netrc" build/ctprof show "ch://localhost:$store_port/ctprof"
	has "the right password" "$output" "no agent has sent anything"
}

# None of these gets as far as to look for a server or a package.
reads_arguments() {
	local arguments output

	for arguments in -h --help '--netrc-file x 9000 --help'; do
		fails 0 env -i PATH=/usr/bin:/bin packaging/start-store $arguments
		has "help" "$output" "usage: start-store [--netrc-file FILE] [PORT]"
	done
	for arguments in --helpp --netrc-file 0 09000 65536 99999999999 -1 9000x 'PATH' '9000 9001'; do
		fails 2 env -i PATH=/usr/bin:/bin packaging/start-store $arguments
		has "usage" "$output" "usage: start-store [--netrc-file FILE] [PORT]"
		equal "lines" "$(wc -l <<< "$output")" 2
	done
}

run_case "start-store reads its arguments" reads_arguments
run_case "the first steps compare hosts" compares_hosts
run_case "a store is started with a password" starts_with_a_password

# SPDX-License-Identifier: BSD-2-Clause
#
# What each command is still permitted while it runs, in each of its threads; and what a file with
# capabilities gives to those who may execute it. Part of tests/live/run.

# Numbers of include/uapi/linux/capability.h.
declare -A capability=([dac_override]=1 [dac_read_search]=2 [fowner]=3 [net_admin]=12 [ipc_lock]=14
	[sys_ptrace]=19 [sys_admin]=21 [sys_nice]=23 [sys_resource]=24 [syslog]=34 [perfmon]=38 [bpf]=39
	[checkpoint_restore]=40)

# mask NAME...: as a number
mask() {
	local name sum=0

	for name; do
		sum=$((sum | 1 << capability[$name]))
	done
	echo $sum
}

parsing=(sys_ptrace dac_read_search checkpoint_restore)
reading=("${parsing[@]}" syslog)
growing=("${reading[@]}" bpf)
writing=(dac_override fowner)
loading=(bpf perfmon ipc_lock sys_resource)

# statuses PID: a line for each thread: number, effective and permitted set, NoNewPrivs, Seccomp, and its
# four user and group IDs.
statuses() {
	local thread

	for thread in /proc/"$1"/task/*; do
		awk -v tid="${thread##*/}" '
			/^Uid:|^Gid:/ { ids = ids " " $2 " " $3 " " $4 " " $5 }
			/^CapEff:/ { effective = $2 } /^CapPrm:/ { permitted = $2 }
			/^NoNewPrivs:/ { none = $2 } /^Seccomp:/ { filter = $2 }
			END { if (permitted != "") print tid, effective, permitted, none, filter ids }' \
			"$thread/status" 2> /dev/null || true
	done
}

# exceeds SET ALLOWED: has the set, a hexadecimal number, more than that?
exceeds() {
	(((16#$1 & ~$2) != 0))
}

# has_dropped PID ALLOWED: the first thread has no more than that.
has_dropped() {
	local tid effective permitted none rest

	read -r tid effective permitted none rest < <(statuses "$1" | grep "^$1 ") || return 1
	[ "$none" = 1 ] && ! exceeds "$permitted" "$2"
}

# threads_are_limited PID FIRST OTHERS IDS: each thread that can be seen now.
threads_are_limited() {
	local tid effective permitted none filter ids allowed

	while read -r tid effective permitted none filter ids; do
		[ "$tid" = "$1" ] && allowed=$2 || allowed=$3
		if exceeds "$permitted" "$allowed" || exceeds "$effective" "$allowed" || [ "$none" != 1 ] ||
			[ "$ids" != "$4" ]; then
			echo "thread $tid of $1: permitted $permitted effective $effective, no new privileges $none," \
				"IDs $ids"
			return 1
		fi
		if [ "$tid" != "$1" ]; then
			others=$((others + 1))
			[ "$filter" != 2 ] || filtered=$((filtered + 1))
		fi
	done < <(statuses "$1")
}

# is_limited PID FIRST OTHERS [IDS]: it gets there, and stays there for a while. How many other threads were
# seen is in $others, those with a filter in $filtered.
is_limited() {
	local ids=${4-0 0 0 0 0 0 0 0}

	others=0 filtered=0
	until has_dropped "$1" "$2"; do
		kill -0 "$1" || { echo "it ended before it dropped its privileges"; return 1; }
		sleep 0.02
	done
	for _ in {1..20}; do
		threads_are_limited "$1" "$2" "$3" "$ids"
		sleep 0.05
	done
	kill -0 "$1" || { echo "it ended while it was looked at"; return 1; }
}

# in_background COMMAND...: its number is in $pid.
in_background() {
	"$@" > "$scratch/rights.background" 2>&1 < /dev/null &
	pid=$!
	at_end "kill -9 $pid; wait $pid"
}

profiles_drop() {
	local command

	for command in profile offcpu; do
		in_background "$ctprof" $command -d 1000s
		is_limited $pid $(mask "${growing[@]}" "${writing[@]}") $(mask "${parsing[@]}" bpf)
		# Those that make unwind tables, and the one that follows processes.
		between "threads of $command beside the first" 1 $others 1000
		equal "those with a filter of system calls" $filtered $others
		kill $pid
		wait $pid || true
	done
}

captures_drop() {
	in_background "$ctprof" capture --interval 100ms -o "$scratch/limited.recording"
	is_limited $pid $(mask "${reading[@]}" "${writing[@]}" net_admin) \
		$(mask "${reading[@]}" "${writing[@]}" net_admin)
	kill $pid
	wait $pid || true
	in_background "$ctprof" capture --profile 1000s -o "$scratch/limited.zst"
	is_limited $pid $(mask "${growing[@]}" "${writing[@]}") $(mask "${parsing[@]}" bpf)
	between "threads beside the first" 1 $others 1000
	equal "those with a filter of system calls" $filtered $others
}

diff_drops() {
	local allowed=$(mask "${reading[@]}" "${writing[@]}" net_admin)

	in_background "$ctprof" diff 1000s
	is_limited $pid $allowed $allowed
	in_background "$ctprof" diff -- sleep 1000
	is_limited $pid $allowed $allowed
	at_end "pkill -9 -P $pid"
}

top_drops() {
	local allowed=$(mask "${growing[@]}" "${writing[@]}" net_admin) engine

	for engine in exact counters taskstats procfs; do
		in_background "$ctprof" top --batch -i 100ms --engine $engine
		is_limited $pid $allowed $allowed
	done
	allowed=$(mask "${reading[@]}" "${writing[@]}" "${loading[@]}" net_admin)
	in_background "$ctprof" top --batch -i 100ms --format none --record "$scratch/limited.top"
	is_limited $pid $allowed $allowed
	between "threads beside the first" 1 $others 1000
}

# The process that measures, the one that talks to the network, and the one that makes reports of files.
serve_drops() {
	local name child nobody="65534 65534 65534 65534 65534 65534 65534 65534"

	in_background "$ctprof" serve --listen 127.0.0.1:0
	is_limited $pid $(mask "${growing[@]}" "${writing[@]}" net_admin) $(mask "${parsing[@]}" bpf)
	equal "those with a filter of system calls" $filtered $others
	for name in ctprof-web ctprof-files; do
		child=$(pgrep -P $pid -x $name)
		is_limited $child 0 0 "$nobody"
		equal "threads of $name beside the first" $others 0
		equal "its filter" "$(awk '/^Seccomp:/ { print $2 }' /proc/$child/status)" 2
		equal "its bounding set" "$(awk '/^CapBnd:/ { print $2 }' /proc/$child/status)" 0000000000000000
		has_not "its files" "$(find /proc/$child/fd -type l -printf '%l\n' |
			grep -vE "^(socket:|anon_inode:|/dev/null$|$scratch/rights.background$)" || true)" /
	done
	kill $pid
	wait $pid
}

# The process that measures, the one that starts senders, and a sender, which has connected to a server by then.
agent_drops() {
	local child name starter nobody="65534 65534 65534 65534 65534 65534 65534 65534"

	in_background "$ctprof" agent --config /dev/null --clickhouse http://127.0.0.1:1/none --spool "$scratch/rights.spool" \
		--interval 1
	is_limited $pid $(mask "${growing[@]}" "${writing[@]}" net_admin) $(mask "${parsing[@]}" bpf)
	starter=$(pgrep -P $pid -x ctprof-starter)
	until pgrep -P $starter -x ctprof-send > /dev/null; do
		kill -0 $pid
		sleep 0.1
	done
	for child in $starter $(pgrep -P $starter -x ctprof-send); do
		is_limited $child 0 0 "$nobody"
		equal "its filter" "$(awk '/^Seccomp:/ { print $2 }' /proc/$child/status)" 2
		equal "its bounding set" "$(awk '/^CapBnd:/ { print $2 }' /proc/$child/status)" 0000000000000000
		has_not "its files" "$(find /proc/$child/fd -type l -printf '%l\n' |
			grep -vE "^(socket:|anon_inode:|/dev/null$|$scratch/rights.background$)" || true)" /
	done
	kill $pid
	wait $pid
}

# The inspector loads programs later, so that much stays.
screen_drops() {
	local allowed=$(mask "${reading[@]}" "${writing[@]}" "${loading[@]}" net_admin) shell screen

	mkfifo "$scratch/rights.keys"
	TERM=xterm script -qec "exec $ctprof top -i 100ms" /dev/null < "$scratch/rights.keys" > "$scratch/rights.shown" &
	shell=$!
	exec 9> "$scratch/rights.keys"
	at_end "exec 9>&-; kill -9 $shell; wait $shell"
	until screen=$(pgrep -P $shell -x ctprof); do
		kill -0 $shell
		sleep 0.02
	done
	is_limited $screen $allowed $allowed
	between "threads beside the first" 1 $others 1000
	printf q >&9
	wait $shell
}

histograms_drop() {
	local allowed=$(mask "${reading[@]}" "${writing[@]}")

	"${inside[@]}" "$ctprof" kstats trace limited start syscall:getppid
	in_background "${inside[@]}" "$ctprof" kstats show -i 100ms limited
	is_limited $pid $allowed $allowed
	kill $pid
	wait $pid || true
	"${inside[@]}" "$ctprof" kstats remove limited
}

# hangs HOW: a process that hangs who reads it; its number is in $hanging.
hangs() {
	: > "$scratch/rights.hanging"
	start "$programs/hanging_file" "$scratch/rights.hanging" "$1" || skip "no FUSE"
	hanging=$pid
}

# While the capture reads processes, before it has written anything.
captures_with_profiles_drop() {
	hangs maps
	in_background "$ctprof" capture --profile 1000s -o "$scratch/rights.hung.zst"
	is_limited $pid $(mask "${reading[@]}" "${writing[@]}" net_admin) $(mask "${parsing[@]}" bpf)
	equal "those with a filter of system calls" $filtered $others
	[ ! -e "$scratch/rights.hung.zst" ] || { echo "the capture is over already"; return 1; }
	kill "$hanging"
}

# The file that is to be probed does not answer.
probed_files_are_parsed_by_a_confined_thread() {
	hangs memory
	in_background "${inside[@]}" "$ctprof" kstats trace limited start \
		"uprobe:/proc/$hanging/root$scratch/rights.hanging:main"
	until [ "$(ls "/proc/$pid/task" | wc -l)" = 2 ]; do
		kill -0 "$pid" || { cat "$scratch/rights.background"; return 1; }
		sleep 0.02
	done
	is_limited $pid $(mask "${reading[@]}" "${writing[@]}" "${loading[@]}" sys_admin) $(mask "${parsing[@]}")
	equal "those with a filter of system calls" $filtered $others
	kill "$hanging"
}

# What only reads files waits for one, from a pipe.
files_drop() {
	local allowed=$(mask dac_read_search "${writing[@]}") words

	mkfifo "$scratch/rights.waits"
	exec 9<> "$scratch/rights.waits"
	at_end "exec 9>&-"
	for words in "show -" "show-host -" "compare - $scratch/missing.zst" "flame -" \
		"kstats show -"; do
		"$ctprof" $words < "$scratch/rights.waits" > "$scratch/rights.background" 2>&1 &
		pid=$!
		at_end "kill -9 $pid; wait $pid"
		is_limited $pid $allowed $allowed
		kill $pid
		wait $pid || true
	done
}

# What reads from a store waits for a server that does not answer.
stores_drop() {
	local allowed=$(mask dac_read_search "${writing[@]}") words port

	command -v python3 > /dev/null || skip "no python3"
	coproc silent { exec python3 -c 'import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
time.sleep(1000)'; }
	at_end "kill $silent_PID"
	read -r port <&"${silent[0]}"
	for words in "agent --config /dev/null --create-schema --clickhouse http://127.0.0.1:$port/none" \
		"flame ch://127.0.0.1:$port/none" "top --batch --replay ch://127.0.0.1:$port/none" \
		"fleet hosts ch://127.0.0.1:$port/none"; do
		in_background "$ctprof" $words
		is_limited $pid $allowed $allowed
		kill $pid
		wait $pid || true
	done
}

# ends_with ALLOWED WORDS...: a command that is over at once has no more than that when it is; it is held at its
# end while it is looked at.
ends_with() {
	local allowed=$1 tracer

	shift
	in_background "${inside[@]}" strace -qq -f -o /dev/null -e trace=exit_group \
		-e inject=exit_group:delay_enter=20000000 "$ctprof" "$@"
	tracer=$pid
	until pid=$(pgrep -x ctprof -P $tracer) && has_dropped $pid $allowed; do
		kill -0 $tracer || { echo "$*: it has not dropped its privileges"; cat "$scratch/rights.background"; return 1; }
		sleep 0.02
	done
	is_limited $pid $allowed $allowed || { echo "that was $*"; return 1; }
	# It has not ended for want of a privilege.
	has_not "what $* says" "$(< "$scratch/rights.background")" "Operation not permitted"
	kill -9 $pid $tracer
	wait $tracer || true
}

brief_commands_drop() {
	local kstats=$(mask "${reading[@]}" "${writing[@]}") files=$(mask dac_read_search "${writing[@]}") verb \
		saved=$scratch/rights.kstats

	command -v strace > "$scratch/which" || skip "no strace"
	"$ctprof" capture -q -p $$ --interval 50ms --count 2 -o "$scratch/rights.brief"
	ends_with $(mask "${reading[@]}" "${writing[@]}" net_admin) capture -q -p $$ -o "$scratch/rights.zst"
	ends_with $(mask "${reading[@]}" "${writing[@]}" "${loading[@]}" net_admin) doctor
	ends_with $files metric-list
	ends_with $files top --batch --replay "$scratch/rights.brief"
	ends_with $(mask "${reading[@]}" "${writing[@]}" "${loading[@]}" sys_admin) kstats trace brief start syscall:getppid
	for verb in list "show brief" "save -o $saved"; do
		ends_with $kstats kstats $verb
	done
	for verb in "stop brief" "start brief" "reset brief" "remove brief"; do
		ends_with $(mask "${growing[@]}" "${writing[@]}") kstats $verb
	done
	for verb in "show $saved" "merge -o $saved.2 $saved" "compare $saved $saved"; do
		ends_with $files kstats $verb
	done
}

# A command of the user has what ctprof was started with.
commands_keep_privileges() {
	local before words

	before=$(grep -E '^Cap|^NoNewPrivs' /proc/self/status)
	for words in "profile -q -o $scratch/rights.told.raw" "offcpu -q -o $scratch/rights.told.raw" "diff -q"; do
		"$ctprof" $words -- grep -E '^Cap|^NoNewPrivs' /proc/self/status > "$scratch/rights.told"
		equal "privileges of a command of $words" "$(grep -E '^Cap|^NoNewPrivs' "$scratch/rights.told")" "$before"
	done
}

# --- a file with capabilities ---

# The program as doctor says, for a group that 65533 is in and 65534 is not.
with_file_capabilities() {
	is_root
	granted=$scratch/rights.granted
	mkdir -p "$granted"
	chmod 755 "$granted"
	cp build/ctprof "$granted/ctprof"
	chown 65534 "$granted/ctprof"
	"${as_nobody[@]}" "$granted/ctprof" doctor --format json > "$scratch/rights.findings"
	command=$(jq -r 'first(.[] | select(.source == "io")).command // ""' "$scratch/rights.findings")
	has "the command" "$command" "chown root:adm "
	eval "$command" || skip "no capabilities can be given to a file here"
	as_member=(setpriv --reuid=65533 --regid=65533 --groups="$(getent group adm | cut -d: -f3)")
	"$@"
}

only_the_group_executes() {
	equal "the mode and owners" "$(stat -c '%a %U %G' "$granted/ctprof")" "750 root adm"
	fails 126 "${as_nobody[@]}" bash -c '"$0" --version' "$granted/ctprof"
	"${as_member[@]}" "$granted/ctprof" --version
	has "what it grants" "$(jq -r 'first(.[] | select(.source == "io")).covers' "$scratch/rights.findings")" \
		"the processes of all users"
}

# What the member sees of root's processes, and of root's files.
members_see_processes_and_no_files() {
	local secret=$scratch/rights.secret tree=$scratch/rights.tree

	start_sleep
	"${as_member[@]}" "$granted/ctprof" capture -q -p $pid -o - > "$scratch/snapshot.zst"
	zstd -qdcf "$scratch/snapshot.zst" > "$json"
	is_measured $pid rchar minflt
	equal "what was denied" "$(query '.capture.denied | length')" 0

	mkdir -p "$secret" "$tree/sys/kernel"
	chmod 755 "$tree" "$tree/sys" "$tree/sys/kernel"
	echo "kept-from-members" > "$secret/file"
	chmod 600 "$secret/file"
	for name in cpuinfo meminfo cmdline version loadavg stat; do
		ln -s "$secret/file" "$tree/$name"
	done
	for name in hostname osrelease ostype version; do
		ln -s "$secret/file" "$tree/sys/kernel/$name"
	done
	# Root would see it: so the test can fail.
	has "what root sees" "$("$ctprof" show-host --proc-root "$tree" 2>&1)" kept-from-members
	has_not "what a member sees by show-host" \
		"$("${as_member[@]}" "$granted/ctprof" show-host --proc-root "$tree" 2>&1)" kept-from-members
	has_not "what a member sees by capture" \
		"$("${as_member[@]}" "$granted/ctprof" capture -q --proc-root "$tree" -o - 2>&1 | zstd -qdcf)" \
		kept-from-members
}

members_open_files_with_their_own_rights() {
	local private=$scratch/rights.private words

	mkdir -m 755 -p "$private"
	"$ctprof" capture -q -p $$ -o "$private/snapshot.zst"
	"$ctprof" capture -q -p $$ --interval 50ms --count 2 -o "$private/recording"
	"$ctprof" profile -q -d 100ms -p $$ --mode both -o "$private/profile.raw"
	chmod 600 "$private/snapshot.zst" "$private/profile.raw"
	chmod 700 "$private/recording"
	"$ctprof" show "$private/snapshot.zst" > /dev/null
	for words in "show $private/snapshot.zst" "show $private/recording" "show-host $private/snapshot.zst" \
		"compare $private/snapshot.zst $private/snapshot.zst" "flame $private/profile.raw" \
		"top --batch --replay $private/recording" "kstats show $private/profile.raw" \
		"kstats merge -o /dev/null $private/profile.raw" \
		"profile -d 1ms -e uprobe:$private/snapshot.zst:main"; do
		status=0
		"${as_member[@]}" "$granted/ctprof" $words > "$scratch/rights.output" 2>&1 || status=$?
		between "status of $words" 1 $status 2
		has "what it says" "$(< "$scratch/rights.output")" "Permission denied"
	done
	# A probe without a file is in the program of the command.
	install -m 600 build/ctprof "$private/program"
	fails 126 "${as_member[@]}" "$granted/ctprof" profile -d 1ms -e uprobe:nonesuch -- "$private/program"
	has "what it says of a command" "$output" "$private/program: Permission denied"
	# Where a member may not write, ctprof does not either.
	for words in "capture -q -p $$" "profile -q -d 100ms -p $$" "flame $scratch/mine.raw"; do
		status=0
		"${as_member[@]}" "$granted/ctprof" $words -o "$private/new.raw" > "$scratch/rights.output" 2>&1 || status=$?
		between "status of $words" 1 $status 2
	done
	equal "new files" "$(ls "$private" | grep new || true)" ""
	profile_stays_out "$granted/ctprof" "${as_member[@]}"
}

# profile_stays_out PROGRAM COMMAND...: with a profile beside a snapshot, whose name is a link of the user's own
# into a directory where root alone may write. COMMAND runs a program as that user.
profile_stays_out() {
	local private=$scratch/rights.outside mine

	mkdir -m 755 -p "$private"
	mine=$(mktemp -d "$scratch/rights.mine.XXXXXX")
	chmod 1777 "$mine"
	"${@:2}" ln -s "$private/planted" "$mine/mine.profile.raw"
	fails 1 "${@:2}" "$1" capture -q -p $$ --profile 50ms -o "$mine/mine"
	has "what it says" "$output" "Permission denied"
	equal "new files" "$(ls "$private")" ""
}

# Variables by which libraries open files of the member, or print what they do.
environment_of_members_is_limited() {
	local descriptions=$scratch/rights.terminfo

	mkdir -m 755 -p "$descriptions"
	printf 'ofmember|a test,\n\tuse=xterm,\n' > "$scratch/rights.ti"
	tic -x -o "$descriptions" "$scratch/rights.ti"
	chmod -R a+rX "$descriptions"
	# Where the user has the privileges, it is used.
	TERM=ofmember TERMINFO=$descriptions script -qec "timeout --foreground 3 $ctprof top" /dev/null > "$scratch/rights.shown" 2>&1 || true
	[ -s "$scratch/rights.shown" ]
	has_not "what root sees" "$(< "$scratch/rights.shown")" "'ofmember'"
	for variables in "TERMINFO=$descriptions" "TERMINFO_DIRS=$descriptions" "HOME=$scratch/rights.home"; do
		mkdir -p "$scratch/rights.home"
		cp -r "$descriptions" "$scratch/rights.home/.terminfo"
		chmod -R a+rX "$scratch/rights.home"
		"${as_member[@]}" env TERM=ofmember "$variables" script -qec "timeout --foreground 3 $granted/ctprof top" /dev/null \
			> "$scratch/rights.shown" 2>&1 || true
		has "what a member sees" "$(< "$scratch/rights.shown")" "'ofmember'"
	done
	NLCB=debug NLDBG=5 "${as_member[@]}" "$granted/ctprof" capture -q -p $$ -o /dev/null > "$scratch/rights.shown" 2>&1
	has_not "what libraries say" "$(< "$scratch/rights.shown")" 0x
	has_not "what libraries say" "$(< "$scratch/rights.shown")" "NETLINK MESSAGE"
	equal "the environment of a command" "$("${as_member[@]}" env MINE=yes "$granted/ctprof" profile -q -d 1s \
		-o /dev/null --format folded -- sh -c 'echo $MINE')" yes
}

members_stop_no_threads() {
	fails 2 "${as_member[@]}" "$granted/ctprof" capture -q -p $$ --allow-ptrace -o /dev/null
	has "what it says" "$output" "--allow-ptrace refused: with the capabilities of the executable file"
}

# Nothing is in effect but while the kernel and processes are read.
members_have_no_more_than_they_need() {
	local ids="65533 65533 65533 65533 65533 65533 65533 65533"

	in_background "${as_member[@]}" "$granted/ctprof" offcpu -d 1000s
	is_limited $pid $(mask sys_ptrace dac_read_search bpf syslog) $(mask sys_ptrace dac_read_search bpf) "$ids"
	between "threads beside the first" 1 $others 1000
	in_background "${as_member[@]}" "$granted/ctprof" diff 1000s
	is_limited $pid $(mask sys_ptrace dac_read_search bpf syslog net_admin) \
		$(mask sys_ptrace dac_read_search bpf syslog net_admin) "$ids"
	equal "the effective set while it waits" "$(awk '/^CapEff/ { print $2 }' /proc/$pid/status)" \
		0000000000000000
	"${as_member[@]}" "$granted/ctprof" profile -q -d 1s -o /dev/null --format folded -- \
		grep -E '^Cap(Eff|Prm|Amb)' /proc/self/status > "$scratch/rights.told"
	equal "what a command of a member has" "$(awk '/^Cap/ { print $2 }' "$scratch/rights.told" | sort -u)" \
		0000000000000000
}

# The set-user-ID bit is no better way: it gives what file capabilities give.
set_user_id_becomes_the_real_user() {
	local granted=$scratch/rights.setuid/ctprof

	is_root
	mkdir -m 755 -p "$scratch/rights.setuid"
	cp build/ctprof "$granted"
	chmod 4755 "$granted"
	in_background "${as_nobody[@]}" "$granted" offcpu -d 1000s
	is_limited $pid $(mask "${growing[@]}") $(mask "${parsing[@]}" bpf) \
		"65534 65534 65534 65534 65534 65534 65534 65534"
	install -m 600 /dev/null "$scratch/rights.setuid/secret"
	fails 1 "${as_nobody[@]}" "$granted" show "$scratch/rights.setuid/secret"
	has "what it says" "$output" "Permission denied"
	profile_stays_out "$granted" "${as_nobody[@]}"
	"${as_nobody[@]}" "$granted" profile -q -d 100ms -o /dev/null --format folded -- \
		id -u > "$scratch/rights.told"
	equal "the user of a command" "$(< "$scratch/rights.told")" 65534
}

# as_by_sudo COMMAND...
as_by_sudo() {
	env SUDO_UID=65534 SUDO_GID=65533 "$@"
}

# Those that each command writes, in a directory of the user and in one of root's.
results_are_of_the_user_of_sudo() {
	local mine=$scratch/sudo.mine roots=$scratch/sudo.roots dir owner

	mkdir "$mine" "$roots"
	chown 65534:65533 "$mine"
	for dir in "$mine" "$roots"; do
		as_by_sudo "$ctprof" capture -q -o "$dir/a.zst" -p $$
		as_by_sudo "$ctprof" offcpu -q -d 0.2 -p $$ --format json -o "$dir/b.json"
		as_by_sudo "$ctprof" flame "$dir/b.json" -o "$dir/c.svg"
		as_by_sudo "$ctprof" capture -q --profile 200ms -o "$dir/d.zst" -p $$
		as_by_sudo "$ctprof" top --batch -n 2 -i 50ms --format none --record "$dir/e" -p $$
		[ "$dir" = "$mine" ] && owner=65534:65533 || owner=0:0
		[ "$(find "$dir" -mindepth 1 -type f | wc -l)" -ge 6 ]
		equal "owners in $dir" "$(find "$dir" -mindepth 1 -printf '%U:%G\n' | sort -u)" $owner
	done
	# Without it, and for others than root, nothing is changed.
	"$ctprof" show "$mine/a.zst" --format json > /dev/null
	"$ctprof" capture -q -o "$mine/f.zst" -p $$
	equal "the owner without sudo" "$(stat -c %u:%g "$mine/f.zst")" 0:0
}

sudo_keeps_one_privilege_more() {
	capability[chown]=0
	in_background env SUDO_UID=65534 SUDO_GID=65533 "$ctprof" offcpu -d 1000s
	is_limited $pid $(mask "${growing[@]}" "${writing[@]}" chown) $(mask "${parsing[@]}" bpf)
}

# Whoever runs a set-user-ID file writes these variables.
set_user_id_has_no_sudo() {
	local where=$scratch/sudo.setuid

	mkdir -m 1777 "$where"
	cp build/ctprof "$where/ctprof"
	chmod 4755 "$where/ctprof"
	"${as_nobody[@]}" env SUDO_UID=65533 SUDO_GID=65533 "$where/ctprof" capture -q -o "$where/a.zst" -p $$
	equal "the owner" "$(stat -c %u:%g "$where/a.zst")" 65534:65534
	as_by_sudo "$where/ctprof" capture -q -o "$where/b.zst" -p $$
	equal "the owner of root's" "$(stat -c %u:%g "$where/b.zst")" 65534:65533
}

run_case "profile and offcpu drop their privileges, in each thread" needs_bpf profiles_drop
run_case "capture drops its privileges, in each thread" needs_bpf captures_drop
run_case "diff drops its privileges, in each thread" needs_bpf diff_drops
run_case "serve has no privileges, no user and no files in its web process" needs_bpf serve_drops
run_case "agent has no privileges, no user and no files in its senders" needs_bpf agent_drops
run_case "top drops its privileges, in each thread" slow needs_bpf top_drops
run_case "the screen of top drops its privileges, in each thread" slow needs_bpf screen_drops
run_case "kstats drops its privileges" needs_bpf has_own_place histograms_drop
run_case "capture --profile drops its privileges before it reads processes" needs_bpf captures_with_profiles_drop
run_case "files that are probed are parsed in a confined thread" needs_bpf has_own_place \
	probed_files_are_parsed_by_a_confined_thread
run_case "commands that read from stores drop their privileges" slow needs_root stores_drop
run_case "commands that read files drop their privileges" slow needs_root files_drop
run_case "brief commands drop their privileges" slow needs_bpf has_own_place brief_commands_drop
run_case "a command that is run has all privileges" slow needs_bpf commands_keep_privileges
run_case "doctor restricts the execution of a file with capabilities" with_file_capabilities only_the_group_executes
run_case "capabilities of the file show processes of others, and no files" \
	with_file_capabilities members_see_processes_and_no_files
run_case "with capabilities of the file, paths are opened by the user's rights" \
	with_file_capabilities members_open_files_with_their_own_rights
run_case "capabilities of the file are in effect where they are needed" \
	with_file_capabilities members_have_no_more_than_they_need
run_case "with capabilities of the file, libraries do not see all variables" \
	with_file_capabilities environment_of_members_is_limited
run_case "with capabilities of the file, no thread is stopped" with_file_capabilities members_stop_no_threads
run_case "a set-user-ID file becomes the real user" set_user_id_becomes_the_real_user
run_case "results of sudo belong to its user" needs_bpf results_are_of_the_user_of_sudo
run_case "a set-user-ID file has no user of sudo" needs_bpf set_user_id_has_no_sudo
run_case "with sudo, CAP_CHOWN is kept, for results" needs_bpf sudo_keeps_one_privilege_more

# SPDX-License-Identifier: BSD-2-Clause
#
# Processes to look at, and snapshots of this host as the tests here read them: by zstd and jq, not
# by ctprof. Part of tests/live/run.

chmod 711 "$scratch"
ctprof=$scratch/ctprof
programs=build/tests/programs
# A place on a disk, of this process.
disks=build/tests/disks.$$
mkdir -p "$disks"
at_exit 'rm -rf "$scratch" "$disks"'
# A place that others than root can reach too.
cp build/ctprof "$ctprof" || exit 2

# --- turns (see run) ---

# A word before a case's command: others beside it would be in what it looks at, or be disturbed themselves.
alone() {
	"$@"
}

# A case that others of its part need, whichever turn they have.
always() {
	"$@"
}

# A case that takes long, and is left out by ./check without --all.
slow() {
	"$@"
}

# is_noted TURN NAME: is the case of this part to be run again in that turn? REASON of its failure is in $reason.
is_noted() {
	reason=$(awk -F '\t' -v OFS='\t' -v turn="$1" -v part="$part" -v name="$2" '
		$1 == turn && $2 == part && $3 == name { print $4; found = 1; exit } END { exit !found }' "$LIVE_AGAIN")
}

is_due() {
	local words=" ${*:2} "

	[[ $words != *" slow "* ]] || [ -n "${CHECK_ALL-}${LIVE_WHOLE-}" ] || return 1
	if [ "$turn" = again ]; then
		is_noted again "$1" || [[ $words == *" always "* ]]
		return
	fi
	[[ $words != *" always "* ]] || return 0
	if [[ $words == *" alone "* || $words == *" undisturbed "* ]] || is_noted alone "$1"; then
		[ "$turn" = alone ]
	else
		[ "$turn" = beside ]
	fi
}

# note_failure TURN NAME DETAILS: the case is to be run again in that turn. Until then it is said for those who read
# along, and not counted.
note_failure() {
	echo "# fails $turn, and is run again: $2"
	print_details "$3"
	printf '%s\t%s\t%s\t%s\n' "$1" "$part" "$2" "$(reason_of "$3")" >> "$LIVE_AGAIN"
}

case $turn in
beside) has_failed() { note_failure alone "$@"; } ;;
alone) has_failed() { note_failure again "$@"; } ;;
again)
	has_passed() {
		! is_noted again "$1" || echo "ok - $1 (at the second attempt; the first: $reason)"
	}

	has_failed() {
		is_noted again "$1" || reason="it was another case"
		echo "not ok - $1"
		print_details "$2"
		echo "    at the first attempt: $reason"
		failures=$((failures + 1))
	}
	;;
esac

is_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

needs_root() {
	is_root
	"$@"
}

# Another user, with no privileges.
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

needs_bpf() {
	is_root
	output=$("$ctprof" capture -q --source bpf -o "$scratch/bpf.zst" -p $$ 2>&1) || skip "$output"
	"$@"
}

# Nobody else sees the metrics, and they go with the last process that does: a place of its own for them.
has_own_place() {
	is_root
	rm -f "$scratch/place"
	unshare -m sh -c 'mount -t bpf bpf /sys/fs/bpf && echo ready && exec sleep infinity' \
		> "$scratch/place" 2>&1 &
	at_end "kill $!; wait $!"
	until grep -qs . "$scratch/place"; do sleep 0.01; done
	grep -q ready "$scratch/place" || skip "$(cat "$scratch/place")"
	inside=(nsenter "--mount=/proc/$!/ns/mnt")
	"$@"
}

# --- a host that is shared ---

# Time that the hypervisor took from all CPUs since boot, in ns: the kernel leaves it out of the CPU time of threads
# (CONFIG_PARAVIRT_TIME_ACCOUNTING), while the thread is on its CPU to who looks at switches.
stolen() {
	awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%.0f\n", $9 * 1e9 / hz }' /proc/stat
}

# What several cases look at.
kept_for_cases=("$scratch"/{long.json,top.waits,top.cpus,top.processes})

# undisturbed COMMAND...: in one of three attempts. Now and then, on a busy host, some milliseconds are a wait for
# the CPU to the kernel and part of the sleep here, or the other way round. It is skipped when the hypervisor took
# more than a hundredth of the CPUs each time. The first attempt may be about what was measured before.
undisturbed() {
	local try status taken all calm=0

	for try in 1 2 3; do
		status=0
		taken=$(stolen)
		all=${EPOCHREALTIME/./}
		(
			endings=()
			trap run_endings EXIT
			"$@"
		) &
		wait $! || status=$?
		((status != SKIPPED)) || exit $SKIPPED
		((status != 0)) || return 0
		taken=$(($(stolen) - taken))
		all=$(((${EPOCHREALTIME/./} - all) * 1000 * $(nproc)))
		((try == 1 || taken * 100 > all)) || calm=$((calm + 1))
		rm -rf "${kept_for_cases[@]}"
		echo "that was attempt $try; the hypervisor took $((taken / 1000000)) ms of the CPUs"
	done
	((calm)) || skip "the hypervisor took more than a hundredth of the CPUs, three times"
	return 1
}

# --- processes to look at ---

# start COMMAND...: run it until the case ends; what it prints is in the file $said, after "ready" also
# in $ready, and its own number in $pid.
start() {
	said=$(mktemp -p "$scratch")
	"$@" > "$said" < /dev/null &
	pid=$!
	at_end "kill -9 $pid; wait $pid"
	until ready=$(grep -m 1 '^ready' "$said"); do
		kill -0 "$pid" || return 1
		sleep 0.01
	done
	ready=${ready#ready}
	ready=${ready# }
}

# start_sleep COMMAND...: start `COMMAND... sleep`, once it is that.
start_sleep() {
	start bash -c 'echo ready; exec "$@"' bash "$@" sleep 1000
	until [ "$(< "/proc/$pid/comm")" = sleep ]; do
		sleep 0.01
	done
}

# --- snapshots ---

# capture OPTIONS...: a snapshot in $json, its last line in $summary.
json=$scratch/json
capture() {
	"$ctprof" capture -v -o "$scratch/snapshot.zst" "$@" 2> "$scratch/summary"
	load
}

load() {
	summary=$(< "$scratch/summary")
	zstd -qdcf "$scratch/snapshot.zst" > "$json"
}

query() {
	jq -r -L tests "include \"snapshot\"; $1" "${@:2}" < "$json"
}

# field TID NAME
field() {
	query "thread($1).$2"
}

# is_measured TID NAME...
is_measured() {
	equal "the part of '${*:2}' that thread $1 has not measured" \
		"$(query "\$ARGS.positional - thread($1).has | join(\" \")" --args "${@:2}")" ""
}

is_unmeasured() {
	equal "the part of '${*:2}' that thread $1 has measured" \
		"$(query "\$ARGS.positional - (\$ARGS.positional - thread($1).has) | join(\" \")" --args "${@:2}")" ""
}

has_thread() {
	equal "the number of threads $1" "$(query "[.threads[] | select(.tid == $1)] | length")" 1
}

has_no_thread() {
	equal "the number of threads $1" "$(query "[.threads[] | select(.tid == $1)] | length")" 0
}

# --- cgroups ---

# A cgroup of our own with one below it, until the case ends.
with_cgroup() {
	is_root
	mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$mount" ] || skip "no cgroup2 mount"
	# We may ourselves be in one, and see the mount from its top.
	top=$(sed -n 's/^0:://p' /proc/self/cgroup)
	cgroup=${top%/}/ctprof-test.$$
	[ -d "$mount$top" ] && mkdir -p "$mount$cgroup/below" || skip "no cgroup can be made"
	at_end 'rmdir "$mount$cgroup/below"; rmdir "$mount$cgroup"'
	"$@"
}

start_in() {
	start bash -c 'echo $$ > "$1/cgroup.procs" && echo ready && exec sleep 1000' bash "$mount$1"
}

# --- delay accounting ---

sysctl=/proc/sys/kernel/task_delayacct

# The switch as the case wants it, and afterwards as it was.
with_delayacct() {
	is_root
	[ -w $sysctl ] || skip "no sysctl kernel.task_delayacct"
	! grep -qw delayacct /proc/cmdline || skip "booted with delayacct"
	"$programs/delays" $$ > /dev/null || skip "taskstats does not answer"
	was=$(< $sysctl)
	at_end 'echo "$was" > $sysctl'
	"$@"
}

# --- counters of the host ---

# "KIND:NAME KEY VALUE" of what only grows, by other means than ctprof's.
read_host_counters() {
	awk '/^cpu[0-9]/ {
			print "cpu:" $1, "user_ticks", $2; print "cpu:" $1, "system_ticks", $4
			printf "cpu:%s busy_ticks %.0f\n", $1, $2 + $3 + $4 + $7 + $8 + $9 }
		$1 == "ctxt" { print "kernel: context_switches", $2 }
		$1 == "intr" { print "kernel: interrupts", $2 }
		$1 == "processes" { print "kernel: forks", $2 }' /proc/stat
	awk '$1 ~ /^(pgfault|pgmajfault|pgfree)$/ { print "vmstat:", $1, $2 }' /proc/vmstat
	awk '$4 + $8 { print "block:" $3, "reads", $4; printf "block:%s written_bytes %.0f\n", $3, $10 * 512 }' \
		/proc/diskstats
	sed -n 's/^ *\([^ ]*\):/\1 /p' /proc/net/dev | awk '{
		print "net:" $1, "received_bytes", $2; print "net:" $1, "sent_packets", $11 }'
}

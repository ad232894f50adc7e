# SPDX-License-Identifier: BSD-2-Clause
#
# What is measured by the BPF recorder of kstats, beside what the measured program says of itself
# (tests/programs/kstats_calls.c). Who sources this sets `driver` and `calls`, the two programs, and
# may set `inside`, a command in front of the driver.

inside=()

kstats() {
	"${inside[@]}" "$driver" "$@"
}

# trace NAME ...: until the case ends. Options, KEY=VALUE, stand in front of the name.
trace() {
	local word name

	for word; do
		name=$word
		[[ $word == *=* ]] || break
	done
	kstats trace "$@"
	at_end "kstats remove $name"
}

# do_calls WORDS...: what the program did is in $did.
do_calls() {
	did=$("$calls" "$@")
}

# did KEY
did() {
	[[ " $did " =~ " $1="([0-9]+)" " ]] && echo "${BASH_REMATCH[1]}"
}

# look NAME: its table is in $table.
look() {
	table=$(kstats show "$1")
}

# fact KEY; loss KIND: "unknown" where this kernel does not tell.
fact() {
	awk -v key="$1" '$1 == key { print $2; exit }' <<< "$table"
}

loss() {
	awk -v kind="$1" '$1 == "loss" && $2 == kind { print $3; found = 1 } END { if (!found) print "unknown" }' <<< "$table"
}

# row ID: how many values it has. Sum of all values [of a row], to some nanoseconds, of 3 bits.
row() {
	awk -v id="$1" '$1 == "row" && $2 == id { n = $3 } END { print n + 0 }' <<< "$table"
}

total() {
	local word id slot count sum all=0

	while read -r word id slot count sum; do
		[ "$word" = slot ] && [ "${1-$id}" = "$id" ] || continue
		((slot >> 3 > 20)) && ((sum <<= (slot >> 3) - 20)) || true
		((all += sum))
	done <<< "$table"
	echo "$all"
}

nothing_is_lost() {
	local kind

	for kind in unmatched replaced backwards full; do
		equal "$kind" "$(loss $kind)" 0
	done
	for kind in missed recursive; do
		[ "$(loss $kind)" = unknown ] || equal $kind "$(loss $kind)" 0
	done
}

# The mean of the slot that the median is in, of values below 2^20.
median() {
	awk '$1 == "count" { all = $2 } $1 == "slot" { count[$3] += $4; sum[$3] += $5 } END {
		for (slot = 0; slot < 2048; slot++)
			if (slot in count && (seen += count[slot]) > all / 2) break
		printf "%d\n", sum[slot] / count[slot]
	}' <<< "$table"
}

# agrees NAME [CALLS]: as many as the program did, in as much time as it took, and nothing lost.
agrees() {
	look "$1"
	equal "the count of $1" "$(fact count)" "${2-$(did calls)}"
	nothing_is_lost
	between "the time of $1" $(($(did least) - 100 * $(did calls))) "$(total)" "$(did most)"
}

# Every slot's sum is one of that many of its values: none was torn when it was emptied. Of values below 2^20.
sums_fit() {
	awk '$1 == "slot" && $3 < 160 {
		octave = int($3 / 8); fraction = $3 % 8
		for (width = 1; octave > 1; octave--) width *= 2
		low = $3 < 8 ? fraction : (8 + fraction) * width
		if ($5 < low * $4 || $5 > (low + width - 1) * $4) { print; bad = 1 }
	} END { exit bad }' <<< "$table"
}

# --- cases that are the same at every kind of place ---

# START WORDS...: calls of one function, measured at that place.
function_agrees() {
	local start=$1

	shift
	trace comm=kstats_calls here start "$start"
	do_calls "$@"
	agrees here
}

# START WORDS...: calls of a function that does next to nothing take what an empty pair is said to take.
overhead_is_that_of_nothing() {
	local start=$1

	shift
	trace comm=kstats_calls here bits 5 start "$start"
	do_calls "$@"
	look here
	between "the overhead, by what was measured" $(($(median) / 4)) "$(fact overhead)" $((4 * $(median)))
}

# However deeply it calls itself, each call has its own start: none is shorter than the sleep below all of them.
recursion_is_told_apart() {
	local start=$1

	trace deep start "$start"
	do_calls recurse 10 30 2000000
	look deep
	equal "the calls" "$(fact count)" 300
	nothing_is_lost
	awk '$1 == "slot" && $3 < 148 { print; bad = 1 } END { exit bad }' <<< "$table"
	between "the time of all" $((300 * 2000000)) "$(total)" $((30 * $(did most)))
}

# Requests of one thread overlap, so only their numbers tell which end is whose. Each of the eight locations of the two
# probes has the number in another register, in memory, or as a constant.
requests_agree() {
	trace key=arg2 comm=kstats_calls requests start "usdt:$calls:kstats_calls:request_begin" \
		end "usdt:$calls:kstats_calls:request_end"
	do_calls requests 20 5000000
	look requests
	equal "the requests" "$(fact count)" 80
	nothing_is_lost
	between "their time" "$(($(did least) - 80 * 100))" "$(total)" "$(did most)"
}

# A wake-up begins on one CPU and ends on another. The thread is held up by one that says until when.
wakeup_is_measured() {
	(($(nproc) > 1)) || skip "one CPU"
	trace key=arg1 by=thread wakeup start tracepoint:sched:sched_waking end tracepoint:sched:sched_switch
	do_calls wake 10 20000000
	look wakeup
	# As it began it was woken once or twice more, with its CPU free, and waited less than once.
	between "the wake-ups" 11 "$(row "$(did tid)")" 13
	between "the waiting" "$(did least)" "$(total "$(did tid)")" $(($(did most) + 20000000))
}

# Without the other, each of them would be read as the other.
stop_and_start_are_heard() {
	trace stopped=1 comm=kstats_calls held start syscall:getppid
	do_calls getppid 1000
	look held
	equal "before it was started" "$(fact count)" 0
	kstats start held
	do_calls getppid 1000
	kstats stop held
	do_calls getppid 500
	look held
	equal "while it was active" "$(fact count)" 1000
	equal "is it active" "$(fact active)" 0
	kstats start held
	do_calls getppid 300
	kstats reset held
	do_calls getppid 70
	look held
	equal "after it was emptied" "$(fact count)" 70
	nothing_is_lost
}

# Who calls on all CPUs at once, more of them than there are CPUs, is counted to the last; but where a thread
# may lose its CPU inside of a program (Linux 7.2), each call that is not counted was told as one or two places
# that no program was called at.
several_at_once_agree() {
	local i callers=() untold

	trace comm=kstats_calls crowd start syscall:getppid
	for i in {1..8}; do
		"$calls" getppid "$1" > "$scratch/said.$i" &
		callers+=($!)
	done
	wait "${callers[@]}"
	look crowd
	untold=$(loss recursive)
	between "the calls" $((8 * $1 - untold)) "$(fact count)" $((8 * $1))
	((untold > 0)) || nothing_is_lost
	sums_fit
}

# Stopped while it is called all the time: nothing is counted afterwards, until it is started.
stops_race_with_calls() {
	local file=$scratch/done round stopped tries

	trace comm=kstats_calls again start syscall:getppid
	"$calls" until "$file" > "$scratch/said" &
	at_end "rm -f $file; kill $!"
	for round in {1..20}; do
		kstats stop again
		look again
		stopped=$(fact count)
		look again
		equal "what was counted after stop" "$(fact count)" "$stopped"
		kstats start again
		tries=0
		until look again && (($(fact count) > stopped)); do
			((++tries < 500))
			sleep 0.01
		done
	done
	sums_fit
	rm -f "$file"
}

# The caller counts its calls where we can read it: what was done after it was emptied is all that is there.
reset_forgets_exactly() {
	local caller before after end round file=$scratch/done

	trace comm=kstats_calls again start syscall:getppid
	"$calls" until "$file" > "$scratch/said" &
	caller=$!
	at_end "rm -f $file; kill $caller"
	until [ "$(calls_done "$file")" -gt 1000 ]; do sleep 0.01; done
	for round in {1..20}; do
		before=$(calls_done "$file")
		kstats reset again
		after=$(calls_done "$file")
		look again
		sums_fit
	done
	rm -f "$file"
	wait "$caller" || true
	end=$(sed 's/calls=//' "$scratch/said")
	look again
	sums_fit
	# One that was made before may have been counted by the caller after.
	between "the calls after it was emptied" $((end - after - 1)) "$(fact count)" $((end - before))
	kstats reset again
	look again
	equal "what is left" "$(fact count)" 0
	equal "slots with a sum" "$(grep -c ^slot <<< "$table")" 0 || true
}

calls_done() {
	local n

	n=$(od -An -t u8 -N 8 "$1" 2> /dev/null | tr -d ' ')
	echo "${n:-0}"
}

# refused STATUS PIECE WORDS...: the status is the code of the error.
refused() {
	local status=$1 piece=$2

	shift 2
	fails "$status" kstats "$@"
	has "what is said" "$output" "$piece"
}

EPERM=1 ENOENT=2 EACCES=13 EEXIST=17 ENOTDIR=20 EINVAL=22 EPROTO=71 EOPNOTSUPP=95

bad_places_are_refused() {
	local switch='start tracepoint:sched:sched_waking end tracepoint:sched:sched_switch'

	refused $ENOENT "no function 'no_such_function_anywhere'" trace bad start no_such_function_anywhere
	refused $ENOENT "no function 'nanosleep'; did you mean 'start syscall:nanosleep'?" trace bad start kprobe:nanosleep
	refused $ENOENT "did you mean 'read'" trace bad start syscall:reed
	refused $ENOENT "did you mean 'sched_waking'" trace bad start tracepoint:sched:sched_wakin end vfs_read
	refused $ENOENT "matches nothing" trace bad start "uprobe:$calls:no_such_function"
	refused $EINVAL "is ambiguous" trace bad start "uprobe:$calls:*_function"
	refused $EINVAL "unknown probe" trace bad start nothing:vfs_read
	refused $EINVAL "invalid kernel name" trace bad start 'vfs read'
	refused $EINVAL "give an end" trace bad start tracepoint:sched:sched_waking
	refused $EINVAL "no arg3" trace key=arg3 bad $switch
	refused $EINVAL "no value is returned" trace by=retval bad $switch
	refused $EINVAL "unavailable at a return" trace key=arg1 bad start "uprobe:$calls:empty_function"
	refused $ENOENT "/no/such" trace cgroup=/no/such bad start syscall:read
	refused $EINVAL "invalid CPU list" trace cpus=3-1 bad start syscall:read
	refused $EINVAL "this host has CPU" trace cpus=0,4095 bad start syscall:read
	refused $EINVAL "at most" trace comm=a_name_that_is_too_long bad start syscall:read
	refused $EINVAL "reserved" trace GAP-bad start syscall:read
	refused $EINVAL "letters" trace ../bad start syscall:read
	refused $ENOENT bad show bad
	refused $ENOENT bad remove bad
	refused $ENOENT ../bad remove ../bad
	refused $EINVAL "is removed with" remove GAP-bad
	equal "what is left" "$(kstats list)" ""
}

names_are_unique() {
	trace one start syscall:getppid
	refused $EEXIST one trace one start syscall:read
	equal "how many" "$(kstats list | wc -l)" 2
	refused $EINVAL "is removed with" remove GAP-one
	kstats remove one
	refused $ENOENT one remove one
	refused $ENOENT GAP-one show GAP-one
	# What has the same argument later may be something else: there are no gaps of that.
	trace key=arg1 keyed start syscall:close
	equal "what there is" "$(kstats list | awk '{ print $1 }')" keyed
	refused $ENOENT GAP-keyed show GAP-keyed
}

# programs: how many programs and maps of this recorder there are in the kernel.
programs() {
	local kind

	for kind in prog map; do
		bpftool $kind show | grep -cE 'name (begin_|end_|measure_nothing|group_numbers|last_ends|data.control)' || true
	done | paste -sd ' '
}

# no_more_programs_than BEFORE. The kernel frees them a little later, and much later when it has much to do;
# some that were there before may have been on their way out.
no_more_programs_than() {
	local now i

	for i in {1..300}; do
		now=$(programs)
		[ "${now% *}" -gt "${1% *}" ] || [ "${now#* }" -gt "${1#* }" ] || return 0
		sleep 0.1
	done
	equal "programs and maps" "$now" "$1"
}

# A directory as a command leaves it that was killed.
half_made_ones_go() {
	local before round

	before=$(programs)
	trace whole start syscall:getppid
	"${inside[@]}" mkdir /sys/fs/bpf/ctprof/+half
	equal "how many" "$(kstats list | wc -l)" 2
	fails 1 "${inside[@]}" test -e /sys/fs/bpf/ctprof/+half
	for round in {1..12}; do
		kstats trace cut start syscall:getppid &
		sleep "0.0$((round * 8 / 10))"
		kill -9 $! 2> /dev/null || true
		wait $! 2> /dev/null || true
		kstats list > "$scratch/list"
		kstats remove cut 2> /dev/null || true
	done
	equal "how many" "$(kstats list | wc -l)" 2
	kstats remove whole
	equal "what is left" "$("${inside[@]}" ls -A /sys/fs/bpf/ctprof)" ""
	no_more_programs_than "$before"
}

# Metrics that this version has not made: of another form, without maps, and none at all. None of them is in the way
# of another, and each can be removed.
strange_ones_are_seen() {
	local name pins=/sys/fs/bpf/ctprof

	trace small bits 0 start syscall:getppid
	kstats trace large bits 5 start syscall:getppid
	"${inside[@]}" mkdir $pins/form $pins/empty
	"${inside[@]}" bpftool map create $pins/form/config type array key 4 value 8 entries 1 name form
	"${inside[@]}" bpftool map create $pins/file type array key 4 value 8 entries 1 name file
	"${inside[@]}" bpftool map create $pins/+half type array key 4 value 8 entries 1 name half
	"${inside[@]}" mv -f $pins/small/cells $pins/large/cells
	refused $EPROTO "another version" show form
	refused $EPROTO "another version" show large
	refused $EPROTO "another version" stop large
	equal "what there is" "$(kstats list | cut -f 1 | paste -sd ' ')" "empty file form large small"
	equal "what is said of one" "$(kstats list | grep ^form)" \
		$'form\tstopped\t0\t-\t-\tmade by another version of ctprof'
	kstats trace other start syscall:getppid
	for name in other form empty file large; do
		kstats remove $name
	done
	equal "what is left" "$(kstats list | cut -f 1)" small
	equal "what is left of them" "$("${inside[@]}" ls -A $pins)" small
}

# TIMES PLACE
nothing_leaks() {
	local before i

	before=$(programs)
	for ((i = 0; i < $1; i++)); do
		kstats trace leak start "$2"
		kstats remove leak
	done
	no_more_programs_than "$before"
}

# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# Captures beside the peers, on hosts of several sizes: samples of the name "50x200" are from 50 processes of 200
# threads.

# The fields of ps(1) that ctprof captures too.
columns=pid,lwp,ppid,comm,args,exe,euid,euser,state,cls,policy,ni,pri,rtprio,psr,nlwp,min_flt,maj_flt
columns+=,cputimes,lstart,rss,vsz,cgroup

# each_peer FUNCTION: call it with the name and the command of each tool that reads every thread. Of
# one sample atop shows what happened since boot, and does not wait for a second one.
each_peer() {
	"$1" ctprof $ctprof capture --source bpf -q -o "$work/peer.zst"
	"$1" ctprof_without_smaps $ctprof capture --source bpf --without smaps -q -o "$work/peer.zst"
	"$1" collect "$programs/collect"
	"$1" bare_walk "$programs/bare_walk"
	"$1" bare "$programs/bare_capture" "$work/peer.json" "$mebibytes" "$work/peer.bare"
	"$1" ctprof_of_proc $ctprof capture --source proc -q -o "$work/peer.zst"
	"$1" atop atop -a -y -PPRG,PRC,PRM,PRD 1 1
	"$1" ps ps -eLo $columns
	"$1" pidstat pidstat -t -u -d -w -p ALL
}

# The text of a snapshot, of which bare_capture compresses the first MiB as often as it has any.
make_text() {
	zstd -dcq "$work/peer.zst" > "$work/peer.json" || could_not "zstd -dc"
	mebibytes=$((($(stat -c %s "$work/peer.json") + 524288) / 1048576))
}

# A tool that uses a minute of CPU time is ended, and is left out of later rounds.
time_peer() {
	local status

	wants "$host" "$1" && has "$2" && [[ " $endless " != *" $host:$1 "* ]] || return
	"$programs/timed" "$host" "$@" >> "$samples" 2> "$work/errors"
	status=$?
	if [ $status -eq 3 ]; then
		endless+=" $host:$1"
		echo "$1 with $host threads: more than a minute of CPU time"
	elif [ $status -ne 0 ]; then
		fail_of "${@:2}"
	fi
}

# Which files of a thread a peer reads.
files_of_peer() {
	local name=$1

	shift
	has "$1" || return
	strace -f -qq -y -e trace=openat,open -o "$work/strace" "$@" > "$work/output" 2> /dev/null || return
	grep -aoE "</proc/($process/task/)?$thread/[a-z_]+>" "$work/strace" | tr -d '>' |
		awk -F/ -v name="$name" '!seen[$NF]++ { files = files " " $NF }
			END { printf "%-22s %s\n", name, files ? files : " none" }'
}

# A thread that is not the leader of its process.
measure_files_read() {
	local process thread

	has strace && start_threads 1 3 || return
	$ctprof capture --source proc -q -o "$work/peer.zst"
	make_text
	process=$(pgrep -P $sleepers)
	thread=$((process + 1))
	[ -d "/proc/$process/task/$thread" ] || thread=$(ls "/proc/$process/task" | tail -n 1)
	echo "files of a thread that leads no process, as each tool opens them:"
	each_peer files_of_peer
	stop_threads
}

# peers_on PROCESSES THREADS ROUNDS, if a row is about that host
peers_on() {
	local host=$1x$2 round

	wants "$host" || { [ "$host" = 50x200 ] && wants_parts; } || return 0
	start_threads "$1" "$2" || return
	# The first reader of /proc makes the kernel create its entries.
	$ctprof capture --source proc -q -o "$work/peer.zst"
	make_text
	captured=$("$programs/collect")
	while ((${round:--1} + 1 < $3)) && next_round; do
		each_peer time_peer
	done
	[ "$host" != 50x200 ] || parts_of_capture "$3"
	stop_threads
}

wants_parts() {
	wants phases || wants kernel || wants iterator || wants recorder
}

# Rows of captures by BPF that have no peer.
parts_of_capture() {
	local round

	sample of phases "$captured"
	! wants phases && ! wants kernel || measure "$programs/phases" "$1"
	while wants iterator ctprof && next_round; do
		measure "$programs/timed" -f iterator ctprof "$programs/first_record"
		measure "$programs/timed" -f iterator object "$programs/object_load" build/bpf/task_iterator.bpf.o
	done
	! wants recorder || measure "$programs/recorder" "$1" "$interval" "$work/recorded.zst"
}

measure_captures() {
	peers_on 10 200 "$rounds"
	peers_on 50 200 "$rounds"
	peers_on 500 20 "$rounds"
	peers_on 500 200 $(((rounds + 2) / 3))
}

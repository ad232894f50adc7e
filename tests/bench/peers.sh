# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# ctprof beside the peers, on hosts of several sizes: `samples` of the names "HOST:peer", where HOST
# is how the threads are spread, "50x200" for 50 processes of 200.

# What ps can show of that which ctprof keeps.
columns=pid,lwp,ppid,comm,args,exe,euid,euser,state,cls,policy,ni,pri,rtprio,psr,nlwp,min_flt,maj_flt
columns+=,cputimes,lstart,rss,vsz,cgroup

# each_peer FUNCTION: call it with the name and the command of each tool that reads every thread. Of
# one sample atop shows what happened since boot, and does not wait for a second one.
each_peer() {
	"$1" ctprof $ctprof capture --source bpf -q -o "$work/peer.zst"
	"$1" ctprof_without_smaps $ctprof capture --source bpf --without smaps -q -o "$work/peer.zst"
	"$1" ctprof_without_a_file "$programs/collect"
	"$1" ctprof_of_/proc $ctprof capture --source proc -q -o "$work/peer.zst"
	"$1" atop atop -a -y -PPRG,PRC,PRM,PRD 1 1
	"$1" ps_-eLo ps -eLo $columns
	"$1" pidstat_-t_-u_-d_-w pidstat -t -u -d -w -p ALL
}

# One that does not end in a minute is not asked again.
time_peer() {
	local status

	[[ " $endless " != *" $host:$1 "* ]] || return
	"$programs/timed" "$host:peer" "$@" >> "$samples"
	status=$?
	if [ $status -eq 3 ]; then
		endless+=" $host:$1"
		echo "endless $host $1" >> "$samples"
	elif [ $status -ne 0 ]; then
		could_not "$*"
	fi
}

# Which files of a thread a peer reads, as a sample of its own kind.
files_of_peer() {
	local name=$1

	shift
	strace -f -qq -y -e trace=openat,open -o "$work/strace" "$@" > "$work/output" || return
	grep -aoE "</proc/($process/task/)?$thread/[a-z_]+>" "$work/strace" | tr -d '>' |
		awk -F/ -v name="$name" '!seen[$NF]++ { files = files " " $NF }
			END { print "files", name files }' >> "$samples"
}

# Of a thread that leads no process, and of one that does.
look_at_files() {
	local process thread

	command -v strace > /dev/null || {
		could_not "which files are read: strace is not installed"
		return
	}
	start_threads 1 3 || {
		could_not "which files are read: no threads to look at"
		return
	}
	process=$(pgrep -P $sleepers)
	thread=$((process + 1))
	[ -d "/proc/$process/task/$thread" ] || thread=$(ls "/proc/$process/task" | tail -1)
	each_peer files_of_peer
	stop_threads
}

# peers_on PROCESSES THREADS ROUNDS
peers_on() {
	local host=$1x$2 round

	make_room $(($1 * $2))
	if ! start_threads "$1" "$2"; then
		could_not "$1 processes of $2 threads: $(sort "$work/errors" | uniq -c | head -1)"
		give_back
		return
	fi
	# Entries of the kernel's for what is in /proc are made by the first who looks.
	$ctprof capture --source proc -q -o "$work/peer.zst"
	echo "host $host $("$programs/collect") $3" >> "$samples"
	for ((round = 0; round < $3; round++)); do
		each_peer time_peer
	done
	[ "$host" != "$main_host" ] || by_bpf "$3"
	stop_threads
	give_back
}

# What belongs to captures by BPF alone, on the main host.
by_bpf() {
	local round

	measure "$programs/phases" "$1"
	for ((round = 0; round < $1; round++)); do
		timed -f start ours "$programs/first_record"
		timed -f start reference "$programs/object_load" build/bpf/task_iterator.bpf.o
	done
	measure "$programs/recorder" "$1" "$interval" "$work/recorded.zst"
}

measure_peers() {
	look_at_files
	peers_on $((threads / 1000)) 200 "$rounds"
	peers_on $((threads / 200)) 200 "$rounds"
	peers_on $((threads / 20)) 20 "$rounds"
	peers_on $((threads / 20)) 200 $(((rounds + 2) / 3))
}

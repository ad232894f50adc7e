# SPDX-License-Identifier: BSD-2-Clause
#
# Metrics by BPF: made, read and removed 200 times under load, and many of them at once: a thousand
# would take an emulated CPU some ten minutes, for each is verified anew.
#
# slow
# seconds: 800

. tests/kernels/guest/kstats_command.sh
. tests/kernels/guest/load.sh

# Who frees them waits in milliseconds, not in tens of them.
[ ! -e /sys/kernel/rcu_expedited ] || echo 1 > /sys/kernel/rcu_expedited

# say WORDS...: beside what the cases say.
exec 3>&1
say() {
	echo "    $*" >&3
}

# Whoever reads a file passes the first two; by what `cat` reads it differs from kernel to kernel.
places=("start vfs_read" "start kprobe:vfs_open"
	"start tracepoint:sched:sched_process_exec end tracepoint:sched:sched_process_exit")

# PLACES...
one_round() {
	kstats trace here "$@"
	read -r _ < /proc/self/stat
	cat /proc/self/stat > "$scratch/stat"
	# On Linux 7.2 a thread loses its CPU inside of such a program, too, and what others do there meanwhile is not told.
	kstats show here > "$scratch/text"
	grep -qE '^ *(count|recursive) +[1-9]' "$scratch/text" || { cat "$scratch/text"; return 1; }
	kstats remove here
}

# rounds COUNT: each by another way than the one before.
rounds() {
	local i

	for ((i = 0; i < $1; i++)); do
		one_round ${places[i % 3]}
	done
}

two_hundred_rounds() {
	local second=/sys/devices/system/cpu/cpu1/online before kind
	declare -A had

	before=$(bpf_objects)
	make_load
	rounds 10
	# On two CPUs the emulator shows the other one a breakpoint, at times, that was there when the kernel patched
	# its code.
	at_end "echo 1 > $second"
	echo 0 > $second
	# What the kernel keeps of the first is no leak.
	rounds 10
	nothing_is_left "$before"
	for kind in Percpu SUnreclaim VmallocUsed; do
		had[$kind]=$(kib $kind)
	done
	SECONDS=0
	rounds 200
	say "200 rounds took $SECONDS s"
	nothing_is_left "$before"
	for kind in Percpu SUnreclaim VmallocUsed; do
		say "$kind: $(($(kib $kind) - had[$kind])) KiB more"
	done
	fails 1 kstats trace no start no_such_function
	# A metric that is forgotten in each is 6 MiB of per-CPU memory, and its programs are 2 MiB of the last.
	between "KiB of per-CPU memory more" -100000 $(($(kib Percpu) - had[Percpu])) 1500
	between "KiB of slabs more" -100000 $(($(kib SUnreclaim) - had[SUnreclaim])) 3000
	between "KiB of mapped memory more" -100000 $(($(kib VmallocUsed) - had[VmallocUsed])) 1500
	log_is_clean
}

# What programs of 32 bits would call, and others: functions of system calls.
functions() {
	awk '$2 ~ /^[tT]$/ && $3 ~ /^__(ia32|x64)_(compat_)?sys_[a-z0-9_]+$/ && !seen[$3]++ { print $3 }' /proc/kallsyms |
		grep -vxE '__x64_sys_(getpgid|exit|exit_group)' | sort
}

many=200

# Each counts its own: the first, one amid them and the last.
many_at_once() {
	local before name number=0

	before=$(bpf_objects)
	at_end 'names | xargs -r ctprof kstats remove'
	SECONDS=0
	kstats trace first start do_nanosleep --comm kstats_calls
	functions > "$scratch/all"
	head -n $((many - 3)) "$scratch/all" > "$scratch/functions"
	equal "functions" "$(wc -l < "$scratch/functions")" $((many - 3))
	while read -r name; do
		[ $((++number)) != $((many / 2)) ] || kstats trace middle start kprobe:do_nanosleep --comm kstats_calls
		kstats trace "$name"
	done < "$scratch/functions"
	kstats trace last start __x64_sys_getpgid --comm kstats_calls
	say "$many metrics were made in $SECONDS s"
	SECONDS=0
	{ cat "$scratch/functions"; printf '%s\n' first last middle; } | sort | diff - <(names | sort)
	say "and listed in $SECONDS s"
	do_calls nap 10 2000000
	do_calls getpgid 500
	equal "calls that the first saw" "$(count first)" 10
	equal "calls that the middle one saw" "$(count middle)" 10
	equal "calls that the last saw" "$(count last)" 500
	SECONDS=0
	names | xargs ctprof kstats remove
	say "and removed in $SECONDS s"
	equal "what there is" "$(names)" ""
	nothing_is_left "$before"
	log_is_clean
}

run_case "ctprof kstats: 200 times made, read and removed under load" two_hundred_rounds
run_case "ctprof kstats: $many metrics at once" many_at_once

# SPDX-License-Identifier: BSD-2-Clause
#
# What the files of a recorded tree say, read with nothing of ctprof's: lines "WHO FIELD VALUE" as
# facts.jq makes of a snapshot. The functions run in the directory of the recording.

one_line() {
	tr '\n\0' '~ '
}

# Every /proc/PID/task/TID as "TID DIRECTORY".
each_thread() {
	local directory

	for directory in proc/[0-9]*/task/[0-9]*; do
		echo "${directory##*/} $directory"
	done
}

# awk_threads FILE PROGRAM [DIRECTORIES]: over a file of every thread, or of those directories, with the
# functions and variables that all of them want.
awk_threads() {
	awk '
	function start(  parts, n) {
		n = split(FILENAME, parts, "/")
		tid = parts[n - 1]
		pid = parts[2]
		body = 0
	}
	function say(field, value) { print tid, field, value }
	FNR == 1 { start() }
	'"$2" ${3:-proc/[0-9]*/task/[0-9]*}/"$1"
}

# "0-2,5" as "0,1,2,5"
expand_list='
	function expand(list,  pieces, ends, n, i, cpu, text) {
		n = split(list, pieces, ",")
		for (i = 1; i <= n; i++) {
			if (split(pieces[i], ends, "-") == 1)
				ends[2] = ends[1]
			for (cpu = ends[1]; cpu <= ends[2]; cpu++)
				text = text (text == "" ? "" : ",") cpu
		}
		return text
	}'

# --- threads ---

policy() {
	local names=([0]=SCHED_OTHER [1]=SCHED_FIFO [2]=SCHED_RR [3]=SCHED_BATCH [5]=SCHED_IDLE
		[6]=SCHED_DEADLINE [7]=SCHED_EXT)

	echo "${names[$1]}"
}

# columns DIRECTORY: its stat with a word for the name, which may hold anything but ends with the
# last ')'
columns() {
	local line

	line=$(< "$1/stat")
	echo "${line%% *} name ${line##*)}"
}

raw_stat() {
	local tid directory

	each_thread | while read -r tid directory; do
		set -- $(columns "$directory")
		echo "$tid state $3"
		echo "$tid minflt ${10}"
		echo "$tid majflt ${12}"
		echo "$tid utime_clock_ticks ${14}"
		echo "$tid stime_clock_ticks ${15}"
		echo "$tid priority ${18}"
		echo "$tid nice ${19}"
		echo "$tid start_time_clock_ticks ${22}"
		echo "$tid processor ${39}"
		echo "$tid rt_priority ${40}"
		echo "$tid policy $(policy "${41}")"
	done
}

raw_schedstat() {
	awk_threads schedstat '{ say("run_time_ns", $1); say("wait_time_ns", $2); say("timeslices", $3) }'
}

raw_status() {
	awk_threads status "$expand_list"'
	$1 == "Threads:" && tid == pid { say("nr_threads", $2) }
	$1 == "Cpus_allowed_list:" { say("cpu_affinity", expand($2)) }
	$1 == "voluntary_ctxt_switches:" { say("voluntary_csw", $2) }
	$1 == "nonvoluntary_ctxt_switches:" { say("nonvoluntary_csw", $2) }'
}

raw_io() {
	awk_threads io '{ sub(":", "", $1); say($1, $2) }'
}

# Above the rule of dashes stands the name, which may have lines of its own. Times are in
# milliseconds with six decimals, so that the digits alone are nanoseconds.
raw_sched() {
	awk_threads sched '
	function ns(text) { sub(/\./, "", text); sub(/^0+/, "", text); return text == "" ? 0 : text }
	BEGIN {
		n = split("nr_wakeups nr_wakeups_local nr_wakeups_remote nr_wakeups_sync " \
			"nr_wakeups_migrate nr_wakeups_affine nr_wakeups_affine_attempts " \
			"nr_forced_migrations nr_failed_migrations_affine " \
			"nr_failed_migrations_running nr_failed_migrations_hot " \
			"wait_count iowait_count", names, " ")
		for (i = 1; i <= n; i++)
			count[names[i]] = names[i]
		count["se.nr_migrations"] = "nr_migrations"
		count["se.slice"] = "fair_slice_ns"
		n = split("wait_sum wait_max sleep_max block_max iowait_sum exec_max slice_max " \
			"core_forceidle_sum", names, " ")
		for (i = 1; i <= n; i++)
			time[names[i]] = names[i]
		time["sum_block_runtime"] = "block_sum"
	}
	# PF_KTHREAD of include/linux/sched.h: idle time is in what kernel threads have of blocking.
	function is_kernel_thread(stat, line, field) {
		sub(/sched$/, "stat", stat)
		line = ""
		while ((getline < stat) > 0)
			line = line $0
		close(stat)
		sub(/.*\) /, "", line)
		split(line, field, " ")
		return int(field[7] / 2097152) % 2
	}
	/^-----------------/ { body = 1; asleep = -1; owner = is_kernel_thread(FILENAME) ? "kthread_" : ""; next }
	!body { next }
	$1 == "ext.enabled" { say("ext_enabled", $3 ? "true" : "false") }
	$1 in count { say(count[$1], $3) }
	$1 in time { say((time[$1] ~ /^block_/ ? owner : "") time[$1], ns($3)) }
	$1 == "sum_sleep_runtime" { asleep = ns($3) }
	$1 == "sum_block_runtime" && asleep >= 0 {
		say("voluntary_sleep_ns", sprintf("%.0f", asleep - ns($3)))
	}'
}

raw_smaps() {
	awk_threads smaps_rollup '$3 == "kB" { sub(":", "", $1); say("smaps_rollup_kib." $1, $2) }' \
		'proc/[0-9]*'
}

raw_names() {
	local tid directory process

	each_thread | while read -r tid directory; do
		process=${directory%/task/*}
		printf '%s %s %s %s %s\n' "$tid" "${process#proc/}" \
			"$(head -c -1 "$process/comm" | one_line)" \
			"$(head -c -1 "$directory/comm" | one_line)" \
			"$(sed -n 's/^0:://p' "$directory/cgroup")"
	done
}

# --- processes ---

raw_processes() {
	local tid directory words

	each_thread | while read -r tid directory; do
		[ "$directory" = "proc/$tid/task/$tid" ] || continue
		set -- $(columns "$directory")
		echo "$tid ppid $4"
		awk -v tid="$tid" '$1 == "Uid:" { print tid, "uid", $3 }' "$directory/status"
		[ ! -h "proc/$tid/exe" ] || echo "$tid exe $(readlink "proc/$tid/exe")"
		words=$(head -c -1 "proc/$tid/cmdline" | one_line)
		[ -z "$words" ] || echo "$tid cmdline $words"
	done
}

# --- cgroups and pressure ---

# Pressure files: percentages have two decimals, and are kept without the point.
pressure_lines() {
	local who=$1 prefix=$2 file

	shift 2
	for file; do
		[ -e "$file" ] || continue
		awk -v head="$who $prefix$(basename "$file" .pressure)." '{
			for (i = 2; i <= NF; i++) {
				split($i, pair, "=")
				if (pair[1] == "total")
					pair[1] = "total_usec"
				else
					sub(/\./, "", pair[2])
				print head $1 "." pair[1], pair[2] + 0
			}
		}' "$file"
	done
}

raw_pressure() {
	# The host's own cpu.full has no meaning; the kernel prints zeros.
	pressure_lines host "" proc/pressure/* | grep -v '^host cpu\.full\.'
}

# word_of FILE: its first word; nothing when there is no such file
word_of() {
	[ ! -e "$1" ] || awk '{ print $1; exit }' "$1"
}

say_if() {
	[ -z "$2" ] || echo "$1 $2"
}

raw_cgroup() {
	local path=$1 directory=cgroup$1 quota period file

	for file in memory.{current,peak} memory.swap.{current,peak} pids.current; do
		say_if "$path $file" "$(word_of "$directory/$file")"
	done
	say_if "$path cpu.weight" "$(word_of "$directory/cpu.weight")"
	say_if "$path cpu.weight_nice" "$(word_of "$directory/cpu.weight.nice")"
	# Without a limit there is no number; all of memory is one.
	for file in memory.max memory.high memory.swap.max pids.max; do
		say_if "$path $file" "$(word_of "$directory/$file" | sed 's/^max$/null/')"
	done
	for file in memory.low memory.min; do
		say_if "$path $file" "$(word_of "$directory/$file" | sed 's/^max$/18446744073709551615/')"
	done
	if [ -e "$directory/cpu.max" ]; then
		read -r quota period < "$directory/cpu.max"
		echo "$path cpu.max_quota_us ${quota/max/null}"
		echo "$path cpu.max_period_us $period"
	fi
	awk -v path="$path" '/^(usage_usec|nr_throttled|throttled_usec) / {
		print path, "cpu." $1, $2 }' "$directory/cpu.stat"
	for file in memory.stat memory.events; do
		[ ! -e "$directory/$file" ] ||
			awk -v head="$path $file." '{ print head $1, $2 }' "$directory/$file"
	done
	# No device in it: there was no I/O.
	[ ! -e "$directory/io.stat" ] || tr ' ' '\n' < "$directory/io.stat" | awk -F = -v head="$path io." '
		/^(r|w|d)(bytes|ios)=/ { sum[$1] += $2; any = 1 }
		END {
			split("rbytes wbytes rios wios dbytes dios", keys, " ")
			for (i in keys)
				if (!any || keys[i] in sum)
					printf "%s%s %.0f\n", head, keys[i], sum[keys[i]]
		}'
	pressure_lines "$path" psi. "$directory"/*.pressure
}

# Those that threads are in; one that was removed has no files any more.
raw_cgroups() {
	sed -n 's/^0:://p' proc/[0-9]*/task/[0-9]*/cgroup | sort -u | while read -r path; do
		[ ! -e "cgroup$path" ] || raw_cgroup "$path"
	done
}

# --- the host ---

# of_file PREFIX FILE...: "host PREFIX<name of the file> <first line>"; one may be empty, as
# sched_energy_aware is where there is nothing to be aware of
of_file() {
	local prefix=$1 file

	shift
	for file; do
		[ ! -s "$file" ] || echo "host $prefix$(basename "$file") $(head -n 1 "$file")"
	done
}

raw_sched_ext() {
	[ -e sys/kernel/sched_ext ] || echo "host none"
	of_file "" sys/kernel/sched_ext/*
}

raw_host() {
	local governor

	awk -F '[ \t]*: ' '
		$1 == "model name" && !model++ { print "host cpu_model", $2 }
		$1 == "vendor_id" && !vendor++ { print "host cpu_vendor", $2 }
		# arm64
		$1 == "CPU implementer" && !vendor++ { print "host cpu_vendor implementer", $2 }
		$1 == "CPU variant" { variant = $2 }
		$1 == "CPU part" { part = $2 }
		$1 == "CPU revision" && !model++ {
			print "host cpu_model part", part, "variant", variant, "revision", $2
		}' proc/cpuinfo
	awk '
		$1 == "MemTotal:" { print "host total_memory_kb", $2; print "host total_memory_kib", $2 }
		$1 == "HugePages_Total:" { print "host hugepages_total", $2 }
		$1 == "HugePages_Free:" { print "host hugepages_free", $2 }
		$1 == "Hugepagesize:" { print "host hugepages_size_kb", $2; print "host hugepages_size_kib", $2 }
		' proc/meminfo
	awk '$1 == "btime" { print "host boot_time_unix_s", $2 }' proc/stat
	[ ! -e proc/uptime ] || awk '{ sub(/\./, "", $1); print "host uptime_clock_ticks", $1 + 0 }' proc/uptime
	of_file sched_tunables. proc/sys/kernel/sched_*
	of_file thp_ sys/kernel/mm/transparent_hugepage/*
	echo "host kernel_name $(< proc/sys/kernel/ostype)"
	echo "host kernel_release $(< proc/sys/kernel/osrelease)"
	echo "host arch $(< proc/sys/kernel/arch)"
	echo "host kernel_cmdline $(< proc/cmdline)"
	echo "host boot_id $(< proc/sys/kernel/random/boot_id)"
	awk "$expand_list"'{ print "host online_cpus", split(expand($1), cpus, ",") }' \
		sys/devices/system/cpu/online
	echo "host numa_nodes $(cat sys/devices/system/node/node*/cpulist | grep -c .)"
	for governor in sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do
		[ ! -e "$governor" ] || echo "host cpufreq_governor.${governor//[!0-9]/} $(< "$governor")"
	done
}

# The columns of a line from FIRST on under these names: columns_as(WHO, NAMES, FIRST)
columns_as='
	function columns_as(who, names, first,  name, n, i) {
		n = split(names, name, " ")
		for (i = 1; i <= n && first + i - 1 <= NF; i++)
			print who, name[i], $(first + i - 1)
	}'

# What the kernel counts for the host: lines "KIND:NAME KEY VALUE". Of these files an older recording
# may lack all but stat.
raw_counters() {
	awk "$columns_as"'
		/^cpu[0-9]/ {
			columns_as("cpu:" $1, "user_ticks nice_ticks system_ticks idle_ticks " \
				"iowait_ticks irq_ticks softirq_ticks steal_ticks guest_ticks " \
				"guest_nice_ticks", 2)
			printf "cpu:%s busy_ticks %.0f\n", $1, $2 + $3 + $4 + $7 + $8 + $9
		}
		$1 == "intr" { print "kernel: interrupts", $2 }
		$1 == "softirq" { print "kernel: softirqs", $2 }
		$1 == "ctxt" { print "kernel: context_switches", $2 }
		$1 == "processes" { print "kernel: forks", $2 }
		$1 == "procs_running" { print "kernel: running", $2 }
		$1 == "procs_blocked" { print "kernel: blocked", $2 }' proc/stat
	[ ! -e proc/schedstat ] || awk '/^cpu[0-9]/ {
		print "cpu:" $1, "run_ns", $(NF - 2)
		print "cpu:" $1, "wait_ns", $(NF - 1)
		print "cpu:" $1, "timeslices", $NF }' proc/schedstat
	[ ! -e proc/loadavg ] || sed 's/[./]/ /g' proc/loadavg | awk '{
		print "kernel: load1_x100", $1 * 100 + $2
		print "kernel: load5_x100", $3 * 100 + $4
		print "kernel: load15_x100", $5 * 100 + $6
		print "kernel: threads", $8 }'
	[ ! -e proc/vmstat ] || sed 's/^/vmstat: /' proc/vmstat
	[ ! -e proc/diskstats ] || awk "$columns_as"'
		function bytes(sectors) { return sprintf("%.0f", sectors * 512) }
		{ sum = 0; for (i = 4; i <= NF; i++) sum += $i }
		sum {
			$6 = bytes($6); $10 = bytes($10); if (NF > 16) $17 = bytes($17)
			columns_as("block:" $3, "reads reads_merged read_bytes read_ms writes " \
				"writes_merged written_bytes write_ms in_flight io_ms io_weighted_ms " \
				"discards discards_merged discarded_bytes discard_ms flushes flush_ms", 4)
		}' proc/diskstats
	[ ! -e proc/net/dev ] || sed -n 's/^ *\([^ ]*\):/\1 /p' proc/net/dev | awk "$columns_as"'{
		columns_as("net:" $1, "received_bytes received_packets received_errors " \
			"received_drops received_fifo_errors received_frame_errors " \
			"received_compressed received_multicast sent_bytes sent_packets sent_errors " \
			"sent_drops sent_fifo_errors collisions carrier_errors sent_compressed", 2)
	}'
}

# All these kernels were booted with delay accounting; none was built to account interrupts.
raw_accounting() {
	local irq=false

	[ ! -e proc/pressure/irq ] || irq=true
	grep -qw delayacct proc/cmdline && [ "$(< proc/sys/kernel/task_delayacct)" = 1 ] &&
		echo "host delay_accounting boot"
	echo "host irq_accounting $irq"
}

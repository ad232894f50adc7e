#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# kstats_session.sh [bpf|module]: measure the latency of a system call while files are read, with BPF; or of a kernel
# function, with kstats.ko (kmod/), which must be loaded. Run as root.
#
# Without an installed ctprof, set CTPROF: CTPROF=build/ctprof examples/kstats_session.sh

set -e
via=${1:-bpf}
ctprof=${CTPROF:-ctprof}
command -v "$ctprof" > /dev/null || {
	echo "$0: $ctprof not found; set CTPROF to its path, as CTPROF=build/ctprof" >&2
	exit 1
}
kstats() {
	echo "# ctprof kstats $*"
	"$ctprof" kstats "$@" --via "$via"
}
# Remove the metric however the script ends.
trap '"$ctprof" kstats remove session_read > /dev/null 2>&1 || :' EXIT

# BPF measures system calls on every kernel; functions need kprobes or fentry. The module measures only functions and
# pairs of probes.
location=syscall:read
[ "$via" = bpf ] || location=vfs_read

kstats trace session_read bits 3 start "$location"
find /usr/share/doc -maxdepth 2 -type f -exec cat {} + > /dev/null
kstats stop session_read
kstats list
kstats show session_read

# The text format of the module, for awk: the number of values and the mean of each slot, for all CPUs.
kstats show session_read --format kstats | awk '$3 == "CPUS" { print $6, "took", $8, "ns each" }' | head -n 5

# Check an SLO. Status 0: met; 3: violated; 4: undecided, because slots are too wide.
"$ctprof" kstats show session_read --slo 'p50<1ms' > /dev/null || echo "status $?"

kstats reset session_read
kstats start session_read
kstats remove session_read

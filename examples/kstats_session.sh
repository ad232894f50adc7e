#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# kstats_session.sh [bpf|module]: a session with kstats as root, by BPF on the kernel as it is, or by kstats.ko (kmod/)
# where that is loaded: how long a system call, or a function of the kernel, takes while something reads files.
#
# CTPROF is the program, where it is not installed: CTPROF=build/ctprof examples/kstats_session.sh

set -e
via=${1:-bpf}
ctprof=${CTPROF:-ctprof}
command -v "$ctprof" > /dev/null || {
	echo "$0: there is no $ctprof; CTPROF says where it is, as CTPROF=build/ctprof" >&2
	exit 1
}
kstats() {
	echo "# ctprof kstats $*"
	"$ctprof" kstats "$@" --via "$via"
}
# Whatever happens, nothing is left behind.
trap '"$ctprof" kstats remove session_read > /dev/null 2>&1 || :' EXIT

# A system call can be measured on every kernel, a function where the kernel has kprobes or fentry. The module
# measures functions.
place=syscall:read
[ "$via" = bpf ] || place=vfs_read

kstats trace session_read bits 3 start "$place"
find /usr/share/doc -maxdepth 2 -type f -exec cat {} + > /dev/null
kstats stop session_read
kstats list
kstats show session_read

# The lines of the module, for awk: of all CPUs, how many values a slot has, and what they took.
kstats show session_read --format kstats | awk '$3 == "CPUS" { print $6, "took", $8, "ns each" }' | head -n 5

# Was a promise kept? 0: yes, 3: no, 4: the slots are too wide to tell.
"$ctprof" kstats show session_read --slo 'p50<1ms' > /dev/null || echo "status $?"

kstats reset session_read
kstats start session_read
kstats remove session_read

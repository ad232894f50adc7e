# SPDX-License-Identifier: BSD-2-Clause
#
# For cases of the command `ctprof kstats`: metrics that last as long as their case, what they counted, and what of
# them is in the kernel.

kstats() {
	ctprof kstats "$@"
}

# names: of all metrics that can be removed.
names() {
	kstats list --format csv "$@" | awk -F, 'NR > 1 && $1 !~ /^GAP-/ { print $1 }'
}

# trace NAME WORDS...: until the case ends.
trace() {
	kstats trace "$@"
	at_end "ctprof kstats remove $1"
}

# count NAME|FILE: of all values.
count() {
	kstats show "$1" --format csv | awk -F, 'NR > 1 { n += $8 } END { print n + 0 }'
}

# do_calls WORDS...: by kstats_calls, on CPU 1. $most is what they took, in ns. "getpgid 10" calls ten times what
# nobody else here does, "nap 10 NS" sleeps as often.
do_calls() {
	local did

	did=$(taskset 2 /bin/kstats_calls "$@")
	most=${did##*most=}
}

# objects_left BEFORE: of BPF, by bpf_objects; each kind of which there are more. Some that were there before
# may have been on their way out.
objects_left() {
	bpf_objects | awk -v before="${1//$'\n'/ }" '
		BEGIN { n = split(before, word); for (i = 1; i < n; i += 2) had[word[i]] = word[i + 1] }
		$2 > had[$1] { print $1, $2, "not", had[$1] }'
}

# nothing_is_left BEFORE: no pin, and none of the objects, which the kernel frees in its own time.
nothing_is_left() {
	local i

	equal "what is pinned" "$(find /sys/fs/bpf -mindepth 2)" ""
	for i in {1..300}; do
		[ -n "$(objects_left "$1")" ] || return 0
		sleep 0.1
	done
	equal "what the kernel has more of" "$(objects_left "$1")" ""
}

# What is left of a try that took too long.
names 2> /dev/null | xargs -r ctprof kstats remove

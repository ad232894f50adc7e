# SPDX-License-Identifier: BSD-2-Clause
#
# For cases of kstats.ko and its recorder: the modules, what is in debugfs, and what was counted.
# Cases that want it say "modules" in their head. Where there are no modules, those cases skip.

debug=/sys/kernel/debug
kstats=$debug/kstats

if [ ! -e /kmod/kstats.ko ]; then
	run_case "kstats.ko" skip "$(cat /kmod/why)"
	end_cases
fi

is_mounted() {
	grep -q " $debug debugfs " /proc/mounts
}

is_mounted || mount -t debugfs debugfs $debug
# Handlers are waited for at each removal: in milliseconds, not in tens of them.
[ ! -e /sys/kernel/rcu_expedited ] || echo 1 > /sys/kernel/rcu_expedited

# load: both modules, until the case ends.
load() {
	insmod /kmod/kstats.ko "$@"
	at_end "rmmod kstats"
	insmod /kmod/kstats_test.ko
	at_end "rmmod kstats_test"
}

# do_test WORDS...: the test module does it.
do_test() {
	echo "$*" > $debug/kstats_test
}

control() {
	echo "$*" > $kstats/_control
}

# refuses WHY FILE WORDS...: writing these fails so ("File exists").
refuses() {
	local why=$1 file=$2 reason

	shift 2
	! reason=$( (echo "$*" > "$file") 2>&1) || { echo "'$*' was taken"; return 1; }
	has "what was said to '$*'" "$reason" "$why"
}

# raw NAME KEY: a line at the head of what programs read.
raw() {
	awk -v key="$2" '$1 == key { print $2 }' "$kstats/_raw/$1"
}

# totals NAME: "SLOT COUNT SUM" of all CPUs together, as programs/kstats_reference prints them.
totals() {
	awk '$1 == "slot" { count[$2] += $6; sum[$2] += $8; if (!($2 in seen)) { seen[$2]; order[++n] = $2 } }
		END { for (i = 1; i <= n; i++) printf "%d %.0f %.0f\n", order[i], count[order[i]], sum[order[i]] }' \
		"$kstats/_raw/$1"
}

# count_of NAME: how many values.
count_of() {
	raw "$1" count
}

# microseconds NAME: of all values together, by the v3 text.
microseconds() {
	awk '$3 == "CPUS" { sum += $6 * $8 } END { printf "%.0f\n", sum / 1000 }' "$kstats/$1"
}

# Nothing in the kernel's log, and no metric left.
is_clean() {
	log_is_clean
	[ ! -d $kstats ] || equal "what is traced" "$(cat $kstats/_control)" ""
}

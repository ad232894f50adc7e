# SPDX-License-Identifier: BSD-2-Clause
#
# Our own scheduler written in BPF, for cases; it takes those who ask for it.

SCHED_EXT=7

has_sched_ext() {
	[ -e /sys/kernel/sched_ext/state ]
}

# Until the case ends.
load_scheduler() {
	rm -f "$scratch/loaded"
	mkfifo "$scratch/loaded"
	sched_ext /bin/sched_ext.bpf.o > "$scratch/loaded" &
	at_end "kill $!; wait $!"
	read -r -t 60 said < "$scratch/loaded"
	equal "the scheduler" "$said" loaded
}

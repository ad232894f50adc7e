# SPDX-License-Identifier: BSD-2-Clause
#
# An interrupt that ctprof inherits as ignored, as what a script or nohup runs in the background does. Part of
# tests/live/run.

# signals PID SET: one of SigCgt, SigBlk, SigIgn.
signals() {
	echo $((16#$(sed -n "s/^$2:\t//p" "/proc/$1/status")))
}

# ignores WORDS...: the command goes on at SIGINT, and ends at SIGTERM.
ignores() {
	local ours

	# The shell ignores SIGINT for it.
	"${inside[@]}" "$ctprof" "$@" > "$scratch/said" 2>&1 &
	ours=$!
	at_end "kill -9 $ours; wait $ours"
	until (($(signals $ours SigCgt) & 1 << SIGTERM - 1 || $(signals $ours SigBlk) & 1 << SIGTERM - 1)); do
		kill -0 $ours || { cat "$scratch/said"; return 1; }
		sleep 0.02
	done
	equal "SIGINT in SigIgn" $(($(signals $ours SigIgn) >> SIGINT - 1 & 1)) 1
	kill -INT $ours
	sleep 0.5
	kill -0 $ours || { echo "$1 has ended"; return 1; }
	kill -TERM $ours
	wait $ours || true
}
SIGINT=2 SIGTERM=15

ignores_in_place() {
	"${inside[@]}" "$ctprof" kstats trace ignoring start syscall:getppid
	at_end '"${inside[@]}" "$ctprof" kstats remove ignoring'
	ignores "$@"
}

all_ignore() {
	inside=()
	is_root
	ignores top --batch -i 100ms -p $$
	ignores offcpu -p $$ -o "$scratch/ignoring.raw"
	ignores profile -p $$ -o "$scratch/ignoring.raw"
	ignores capture --interval 100ms -p $$ -o "$scratch/ignoring"
}

run_case "an interrupt that is ignored ends nothing" all_ignore
run_case "nor intervals of kstats" slow has_own_place ignores_in_place kstats show ignoring --interval 50ms

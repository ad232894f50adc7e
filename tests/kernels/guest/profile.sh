# SPDX-License-Identifier: BSD-2-Clause
#
# For cases about profiles, beside lib.sh.
#
#	. tests/kernels/guest/profile.sh
#	...
#		watch -p "${tid[sleeper]}"
#		tell sleeper sleep 10 20000
#		end_watch
#		of sleeper "${tid[sleeper]}" interruptible

. tests/cases.sh
. tests/profile_truth.sh

everything=(-q -m 0 --format json -o "$scratch/profile")

# profiled ARGUMENTS... -- COMMAND: all that is off the CPU; what the command says are the truths.
profiled() {
	ctprof offcpu "${everything[@]}" "$@" > "$scratch/truths"
	read_profile
}

# watch ARGUMENTS...: from now on, until end_watch. Some program has to run for that, which says when
# it begins, and ends when it is told to; it is watched as well. Watching begins between $watch_called
# and $watched_from, and ends between $watched_to and $watch_ended.
watch() {
	rm -f "$scratch/begun" "$scratch/over"
	mkfifo "$scratch/begun" "$scratch/over"
	watch_called=$(now)
	ctprof offcpu "${everything[@]}" "$@" -- \
		/bin/bash -c 'echo > "$0/begun"; read -r < "$0/over"' "$scratch" > "$scratch/watch_said" 2>&1 &
	watching=$!
	at_end "kill $watching 2> /dev/null"
	read -r -t 60 < "$scratch/begun" || { cat "$scratch/watch_said"; return 1; }
	watched_from=$(now)
}

end_watch() {
	watched_to=$(now)
	echo > "$scratch/over"
	wait $watching || { cat "$scratch/watch_said"; return 1; }
	watch_ended=$(now)
	read_profile
}

now() {
	echo "${EPOCHREALTIME/./}000"
}

# SPDX-License-Identifier: BSD-2-Clause
#
# For cases about windows of ctprof top, beside lib.sh, cgroups.sh and top_truth.sh.

. tests/top_truth.sh

# Emulated clocks are jumpy.
tolerance=5
wakes_slowly=1

# begin_states BEHAVIOUR...: in group $in, if it is set; $pids are theirs.
begin_states() {
	local tries=0

	: > "$scratch/said"
	(
		[ -z "${in-}" ] || echo "$BASHPID" > "$cgroups/$in/cgroup.procs"
		exec states "$@" > "$scratch/said"
	) &
	states=$!
	at_end "kill -KILL $states 2> /dev/null"
	until pids=$(sed -n 's/^ready //p' "$scratch/said") && [ -n "$pids" ]; do
		kill -0 $states && ((++tries < 600)) || { echo "states does not begin"; return 1; }
		sleep 0.1
	done
}

# look OPTIONS...: at one window of theirs.
look() {
	ctprof top --batch -n 1 -i 3s --format json -p "$pids" "$@" > "$scratch/top"
	read_top
}

end_states() {
	sleep 0.5
	kill $states
	wait $states
}

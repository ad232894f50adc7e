# SPDX-License-Identifier: BSD-2-Clause
#
# The agent measures with what its systemd unit leaves it: capabilities and system calls. Part of tests/live/run.

unit=packaging/ctprof-agent.service.in

# setting NAME: all words of a setting of the unit
setting() {
	sed -n "s/^$1=//p" "$unit" | tr ' ' '\n'
}

# measures COMMAND...: the agent, run by the command, writes profiles that have samples
measures() {
	local dir=$scratch/profiles file

	start "$programs/busy" 2
	"$@" "$ctprof" agent --directory "$dir" --interval 1s --duration 3s --quiet > "$scratch/said" 2>&1 ||
		{ cat "$scratch/said"; return 1; }
	file=$(find "$dir" -type f | sort | tail -n 1)
	[ -n "$file" ] || { cat "$scratch/said"; return 1; }
	"$ctprof" flame --format folded "$file" > "$scratch/stacks"
	grep -q ';work' "$scratch/stacks" || { head "$scratch/stacks"; return 1; }
	rm -rf "$dir"
}

has_the_capabilities_that_it_needs() {
	command -v setpriv > /dev/null || skip "no setpriv"
	(($(< /proc/sys/kernel/perf_event_paranoid) < 3)) || skip "perf_event_paranoid is 3: CAP_SYS_ADMIN is needed, too"
	measures setpriv --no-new-privs --inh-caps=-all \
		--bounding-set="-all,$(setting CapabilityBoundingSet | sed 's/^CAP_/+/' | tr A-Z a-z | paste -sd,)"
}

# calls SET: the system calls of a set of systemd, and of the sets in it
calls() {
	local word

	for word in $(systemd-analyze syscall-filter "$1" | sed -e 1d -e 's/#.*//'); do
		case $word in @*) calls "$word" ;; *) echo "$word" ;; esac
	done
}

may_make_its_system_calls() {
	local set

	command -v strace > /dev/null || skip "no strace"
	command -v systemd-analyze > /dev/null || skip "no systemd-analyze"
	measures strace -f -qq -o "$scratch/trace"
	{
		calls @default
		for set in $(setting SystemCallFilter); do
			case $set in @*) calls "$set" ;; *) echo "$set" ;; esac
		done
	} | sort -u > "$scratch/allowed"
	sed -nE 's/^[0-9]+ +([a-z_0-9]+)\(.*/\1/p' "$scratch/trace" | sort -u > "$scratch/made"
	grep -qx bpf "$scratch/made"
	# It mounts tracefs for itself where it may, with CAP_SYS_ADMIN, and else does without.
	equal "system calls that the unit refuses" \
		"$(comm -23 "$scratch/made" "$scratch/allowed" | sed -E '/^fs(open|config|mount)$/d')" ""
}

run_case "the unit of the agent has the capabilities that it needs" needs_bpf has_the_capabilities_that_it_needs
run_case "the unit of the agent allows the system calls that it makes" needs_bpf may_make_its_system_calls

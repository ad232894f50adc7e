# SPDX-License-Identifier: BSD-2-Clause
#
# Stacks of programs without frame pointers: static, and of several libraries; at each kind of hook.
#
# kernels: 6.1 7.2

. tests/kernels/guest/profile.sh

# shows PROGRAM ACT OPTIONS...: the profile with these options has all five levels.
shows() {
	local program=$1 act=$2

	shift 2
	"$program" five "$act" > "$scratch/said" &
	at_end "kill $! 2> /dev/null"
	until grep -q ready "$scratch/said"; do sleep 0.05; done
	ctprof profile -q -d 2s -p $! "$@" -o "$scratch/stacks.folded"
	grep -qE "main;five_1;five_2;five_3;five_4;five_5;by_$act" "$scratch/stacks.folded" || {
		cut -c 1-300 "$scratch/stacks.folded"
		return 1
	}
}

# What is known again is walked all the same, and each walk ends where the program begins.
walks_are_complete() {
	shapes five nap > "$scratch/said" &
	at_end "kill $! 2> /dev/null"
	until grep -q ready "$scratch/said"; do sleep 0.05; done
	ctprof offcpu -q -d 3s -p $! -m 0 --recheck 1 --format json -o "$scratch/profile"
	read_profile
	jq -c '.losses' "$scratch/profile"
	equal "what walks ended with" "$(jq -r '.losses.walks | keys | join(" ")' "$scratch/profile")" complete
	[ "$(jq '.losses.user_stacks_recognised' "$scratch/profile")" -gt 10 ]
}

# Its table comes when the program does, not when somebody looks.
a_command_is_known_at_once() {
	ctprof offcpu -q -o "$scratch/stacks.folded" -- timeout 1 shapes five nap > /dev/null || :
	grep -qE '_start;.*main;five_1;five_2;five_3;five_4;five_5;by_nap' "$scratch/stacks.folded" || {
		cut -c 1-300 "$scratch/stacks.folded"
		return 1
	}
}

run_case "off the CPU" shows shapes nap --mode off
run_case "off the CPU, static" shows shapes-static nap --mode off
run_case "off the CPU, sampled in time" shows shapes nap --mode off --off-cpu-period 10ms
run_case "on the CPU" shows shapes spin --mode on
run_case "at a tracepoint" shows shapes nap -e tracepoint:sched:sched_switch
run_case "walks are complete, and recognised stacks are right" walks_are_complete
run_case "a command's libraries are known at once" a_command_is_known_at_once

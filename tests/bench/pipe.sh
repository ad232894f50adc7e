# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# The elapsed time of `perf bench sched pipe` while a tool is attached.

# offcputime, with what bpftrace has.
bpftrace_program='tracepoint:sched:sched_switch {
	if (args->prev_pid) {
		@since[args->prev_pid] = nsecs;
		@kernel[args->prev_pid] = kstack;
		@user[args->prev_pid] = ustack;
	}
	if (@since[args->next_pid]) {
		@blocked[args->next_pid, @kernel[args->next_pid], @user[args->next_pid]] =
			sum(nsecs - @since[args->next_pid]);
		delete(@since[args->next_pid]);
	}
}'

# slow SIDE [COMMAND...]: measure the pipe while COMMAND is attached.
slow() {
	local side=$1 seconds

	shift
	wants pipe "$side" || return 0
	if [ $# -gt 0 ]; then
		has "$1" || return 0
		start_tool "$@"
		sleep 1.5
		if ! kill -0 "$tool" 2> /dev/null; then
			left_out "$side: $(complaint)"
			end_tools
			return
		fi
	fi
	seconds=$(pipe $pipe_passes 2> /dev/null | tail -n 1)
	end_tools
	[ -z "$seconds" ] || sample pipe "$side" "$seconds"
}

pipe_passes=50000
# With fewer rounds, no difference could be significant.
pipe_rounds_least=5

measure_pipe() {
	local round

	has perf || return
	for ((round = 0; round < rounds || round < pipe_rounds_least; round++)); do
		((round < pipe_rounds_least || SECONDS < measurement_end)) || break
		slow without
		slow period $ctprof offcpu -q --off-cpu-period 10ms -o "$work/slow.raw"
		slow nothing "$programs/attach_least" nothing
		# The differences between whole tools are larger, so in a quick run two rounds show them.
		((round < 2 || rounds >= pipe_rounds_least)) || continue
		slow ctprof $ctprof offcpu -q -o "$work/slow.raw"
		# shellcheck disable=SC2086
		slow offcputime $peer
		slow bpftrace bpftrace -e "$bpftrace_program"
		slow perf perf record -q -e sched:sched_switch -g -a -o "$work/slow.data"
		rm -f "$work/slow.data"
	done
}

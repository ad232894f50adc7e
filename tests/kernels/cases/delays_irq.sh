# SPDX-License-Identifier: BSD-2-Clause
#
# Delays by interrupts, where the kernel accounts their time.

. tests/kernels/guest/delays.sh

interrupts_delay_or_are_unmeasured() {
	local part reasons

	group interrupted
	actor spinner inside interrupted
	tell spinner pin 1
	snap before
	tell spinner spin 1000
	snap after
	if irqs_are_accounted; then
		interrupts_are_delays
		return
	fi
	for part in count total_ns max_ns min_ns; do
		unmeasured "irq_delay_$part" spinner
	done
	taskstats_agrees spinner
	reasons=$(ctprof show "$scratch/after.ctprof.zst" --metrics irq_delay_count,irq_delay_total_ns)
	has "the reason" "$reasons" "the kernel does not account interrupt time (CONFIG_IRQ_TIME_ACCOUNTING)"
}

interrupts_are_delays() {
	local stalled

	stalled=$(stalled_ns interrupted irq.pressure full)
	taskstats_agrees spinner
	peaks_fit irq spinner
	needs_steady_clock
	between "what stalled it" 1 "$stalled" "$(said wall)"
	moved irq_delay_count spinner 10 100000 "ticks of the clock, and more:"
	within irq_delay_total_ns "$(value after spinner irq_delay_total_ns)" \
		"$(percent "$stalled" 80)" "$(percent "$stalled" 125)" "irq.pressure has"
}

run_case "interrupts delay the interrupted thread, or are not measured" interrupts_delay_or_are_unmeasured

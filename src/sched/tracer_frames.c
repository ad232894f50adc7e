/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/tracer_frames.h"

#include "base/array.h"

/* Names of the functions between a hook and a BPF program: the program, the dispatchers of
 * tracepoints (include/trace/bpf_probe.h, kernel/trace/bpf_trace.c), of kprobes and of events. */
static const char *const prefixes[] = {
	"bpf_prog_",     "bpf_trace_run",   "__bpf_trace_",    "__traceiter_",
	"bpf_get_stack", "__bpf_get_stack", "trace_call_bpf",  "perf_trace_",
	"kprobe_",       "kretprobe_",      "opt_pre_handler", "arch_rethook",
	"rethook_",      "ftrace_",         "fprobe_",         "perf_call_bpf",
	"perf_syscall_", "bpf_dispatcher_", "bpf_trampoline_", "__SCT__tp_func_",
};

/* The largest depth of these frames. */
#define FRAMES_MAX 12

/* Does the function's name start with one of these? */
static bool starts_with_any(const struct kallsyms *symbols, uint64_t address,
			    const char *const *starts, size_t count)
{
	struct kallsym symbol;

	if (!kallsyms_find(symbols, address, &symbol))
		return false;
	for (size_t i = 0; i < count; i++)
		if (text_starts(symbol.name, text_of(starts[i])))
			return true;
	return false;
}

size_t tracer_frames(const struct kallsyms *symbols, const __u64 *frames, size_t count)
{
	size_t own = 0;

	if (!symbols)
		return 0;
	/* Programs come and go, and one that is gone has no name: the last that is known counts. */
	for (size_t i = 0; i < count && i < FRAMES_MAX; i++)
		if (starts_with_any(symbols, frames[i], prefixes, array_length(prefixes)))
			own = i + 1;
	return own;
}

/* Entry points of interrupts into the kernel: x86 (arch/x86/include/asm/idtentry.h), then arm64
 * (arch/arm64/kernel/entry.S). Exceptions are not among them: the running thread causes them. */
static const char *const interrupt_entries[] = {
	"asm_sysvec_", "asm_common_interrupt", "asm_spurious_interrupt",
	"asm_exc_nmi", "el1h_64_irq",          "el1h_64_fiq",
	"el0t_64_irq", "el0t_64_fiq",          "el0t_32_irq",
	"el0t_32_fiq",
};

size_t interrupt_frames(const struct kallsyms *symbols, const __u64 *frames, size_t count)
{
	for (size_t i = 0; symbols && i < count; i++)
		if (starts_with_any(symbols, frames[i], interrupt_entries,
				    array_length(interrupt_entries)))
			return i + 1;
	return count;
}

size_t tracer_frames_always(const struct kallsyms *symbols, const __u64 *frames, size_t count)
{
	static const char *const always[] = { "__traceiter_" };
	size_t own = tracer_frames(symbols, frames, count);

	while (own && starts_with_any(symbols, frames[own - 1], always, array_length(always)))
		own--;
	return own;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/tracer_frames.h"

#include "base/array.h"

/* What functions between a hook and a BPF program are called: the program, the dispatchers of
 * tracepoints (include/trace/bpf_probe.h, kernel/trace/bpf_trace.c), of kprobes and of events. */
static const char *const prefixes[] = {
	"bpf_prog_",     "bpf_trace_run",   "__bpf_trace_",    "__traceiter_",
	"bpf_get_stack", "__bpf_get_stack", "trace_call_bpf",  "perf_trace_",
	"kprobe_",       "kretprobe_",      "opt_pre_handler", "arch_rethook",
	"rethook_",      "ftrace_",         "fprobe_",         "perf_call_bpf",
	"perf_syscall_", "bpf_dispatcher_", "bpf_trampoline_", "__SCT__tp_func_",
};

/* It is no deeper than this. */
#define FRAMES_MAX 12

static bool starts(const struct kallsyms *symbols, uint64_t address, const char *prefix)
{
	struct kallsym symbol;

	return kallsyms_find(symbols, address, &symbol) &&
	       text_starts(symbol.name, text_of(prefix));
}

static bool is_of_tracer(const struct kallsyms *symbols, uint64_t address)
{
	for (size_t i = 0; i < array_length(prefixes); i++)
		if (starts(symbols, address, prefixes[i]))
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
		if (is_of_tracer(symbols, frames[i]))
			own = i + 1;
	return own;
}

/* Where interrupts enter the kernel: x86 (arch/x86/include/asm/idtentry.h), then arm64
 * (arch/arm64/kernel/entry.S). Exceptions are of who causes them. */
static const char *const interrupt_entries[] = {
	"asm_sysvec_", "asm_common_interrupt", "asm_spurious_interrupt",
	"asm_exc_nmi", "el1h_64_irq",          "el1h_64_fiq",
	"el0t_64_irq", "el0t_64_fiq",          "el0t_32_irq",
	"el0t_32_fiq",
};

size_t interrupt_frames(const struct kallsyms *symbols, const __u64 *frames, size_t count)
{
	for (size_t i = 0; symbols && i < count; i++)
		for (size_t k = 0; k < array_length(interrupt_entries); k++)
			if (starts(symbols, frames[i], interrupt_entries[k]))
				return i + 1;
	return count;
}

size_t tracer_frames_always(const struct kallsyms *symbols, const __u64 *frames, size_t count)
{
	size_t own = tracer_frames(symbols, frames, count);

	while (own && starts(symbols, frames[own - 1], "__traceiter_"))
		own--;
	return own;
}

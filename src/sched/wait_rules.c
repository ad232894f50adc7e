/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/wait_rules.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "elf/kallsyms.h"
#include "sched/kernel_code.h"

#define KALLSYMS "/proc/kallsyms"

bool wait_rules_configure(struct wait_config *config, const struct btf *kernel)
{
	memcpy(config->kinds, wait_kinds, sizeof(config->kinds));
	if (!kernel)
		return false;
	config->has_casts = btf__find_by_name_kind(kernel, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	return btf__find_by_name_kind(kernel, "btf_trace_contention_begin", BTF_KIND_TYPEDEF) > 0;
}

struct error *wait_rules_probe(int program)
{
	_cleanup_close_ int out_of_pipe = -1, into_pipe = -1;
	/* Kernels may be without (CONFIG_TIMERFD). */
	_cleanup_close_ int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	_cleanup_close_ int unconnected = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct wait_examples examples;
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &examples, .ctx_size_in = sizeof(examples));
	int ends[2];

	if (unconnected < 0 || pipe2(ends, O_CLOEXEC))
		return error_system(errno, "a socket and a pipe");
	out_of_pipe = ends[0];
	into_pipe = ends[1];
	examples = (struct wait_examples){ .socket = (uint32_t)unconnected,
					   .pipe = (uint32_t)out_of_pipe,
					   .timer = (uint32_t)timer };
	if (bpf_prog_test_run_opts(program, &run))
		return error_system(errno, "the BPF programs do not run");
	return NULL;
}

static bool find_code(const struct kallsyms *symbols, const char *function, uint64_t *ret_begin,
		      uint64_t *ret_end)
{
	return symbols ? kallsyms_code_of(symbols, text_of(function), ret_begin, ret_end)
		       : kernel_code_find(KALLSYMS, function, ret_begin, ret_end);
}

/* Programs test the begin: the end comes first. */
static bool put_code(const struct kallsyms *symbols, const char *function, __u64 *begin, __u64 *end)
{
	uint64_t from, to;

	if (!find_code(symbols, function, &from, &to))
		return false;
	*end = to;
	__atomic_store_n(begin, from, __ATOMIC_RELEASE);
	return true;
}

void wait_rules_find_fifo(struct wait_state *state, const struct kallsyms *symbols)
{
	if (!state->fifo_begin)
		put_code(symbols, "fifo_open", &state->fifo_begin, &state->fifo_end);
}

bool wait_rules_look_at_swap(struct wait_state *state, const struct kallsyms *symbols,
			     bool *ret_is_known)
{
	struct sysinfo host;

	if (sysinfo(&host) || host.totalswap == host.freeswap)
		return false;
	*ret_is_known = put_code(symbols, "do_swap_page", &state->swap_begin, &state->swap_end);
	return true;
}

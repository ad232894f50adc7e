/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The least that walking all threads by BPF can cost: an iterator that looks at none of them.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_helpers.h>

char programs_license[] SEC("license") = "Dual BSD/GPL";

SEC("iter/task") int walk(struct bpf_iter__task *ctx)
{
	(void)ctx;
	return 0;
}

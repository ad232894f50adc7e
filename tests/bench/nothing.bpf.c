/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What programs cost at the places of those of thread states when they do nothing.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_helpers.h>

char programs_license[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	(void)ctx;
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	(void)ctx;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why libbpf failed: it says more than the number that it returns. What it said is kept for each
 * thread that loads programs.
 */
#ifndef BPF_LIBBPF_REASON_H
#define BPF_LIBBPF_REASON_H

/* From here on nothing is printed, and what gives a reason is kept. */
void libbpf_reason_begin(void);

/* What was said since, safe to print; "" when that was nothing. In place until the next
 * libbpf_reason_begin(). */
const char *libbpf_reason(void);

#endif

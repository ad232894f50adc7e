/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why libbpf failed. Its messages say more than the number that it returns; they are kept for each
 * thread that loads programs.
 */
#ifndef BPF_LIBBPF_REASON_H
#define BPF_LIBBPF_REASON_H

/* From here on libbpf prints nothing, and messages that give a reason are kept. */
void libbpf_reason_begin(void);

/* The reason since then, safe to print; "" if libbpf gave none. Valid until the next
 * libbpf_reason_begin(). */
const char *libbpf_reason(void);

#endif

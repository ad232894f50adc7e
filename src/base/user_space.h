/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Where the memory of processes may be.
 *
 * Freestanding: for BPF programs and user space alike.
 */
#ifndef BASE_USER_SPACE_H
#define BASE_USER_SPACE_H

/* Above are the kernel's addresses, whatever the machine. */
#define USER_SPACE_LIMIT (1ull << 56)

#endif

/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The address range of user space.
 *
 * Shared by BPF programs and user space, so it includes nothing.
 */
#ifndef BASE_USER_SPACE_H
#define BASE_USER_SPACE_H

/* Above are the kernel's addresses, whatever the machine. */
#define USER_SPACE_LIMIT (1ull << 56)

#endif

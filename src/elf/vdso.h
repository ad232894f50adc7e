/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library that the kernel puts into each process (vdso(7)). It is in no file, but we have the
 * same one.
 */
#ifndef ELF_VDSO_H
#define ELF_VDSO_H

#include "base/text.h"

/* The vDSO of the calling process; empty if there is none. */
struct text vdso_bytes(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that making an unwind table can cost: step through each instruction of .eh_frame, and
 * keep nothing.
 */
#ifndef BENCH_SCAN_FRAMES_H
#define BENCH_SCAN_FRAMES_H

#include <stddef.h>

/* The number of instructions of all FDEs. Addresses must have four bytes, as compilers make them on
 * x86-64 and arm64. */
size_t scan_frames(const unsigned char *frames, size_t length);

#endif

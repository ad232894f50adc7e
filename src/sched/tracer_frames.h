/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames of a kernel stack that do not belong to the traced event: at the leaf those of the tracing
 * program, at the root those that an interrupt interrupted.
 */
#ifndef SCHED_TRACER_FRAMES_H
#define SCHED_TRACER_FRAMES_H

#include <linux/types.h>
#include <stddef.h>

#include "elf/kallsyms.h"

/* How many of these frames, innermost first; 0 without symbols (NULL). */
size_t tracer_frames(const struct kallsyms *symbols, const __u64 *frames, size_t count);

/* How many are so in every walk of one program. While others are attached to the same tracepoint a
 * function that calls one after the other is there too (__traceiter_*, include/linux/tracepoint.h),
 * which is not counted. */
size_t tracer_frames_always(const struct kallsyms *symbols, const __u64 *frames, size_t count);

/* How many frames, innermost first, are of an interrupt, its entry among them; all where there is
 * none. Behind them is what was merely interrupted. */
size_t interrupt_frames(const struct kallsyms *symbols, const __u64 *frames, size_t count);

#endif

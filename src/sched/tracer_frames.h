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

/* The number of these frames, innermost first; 0 without symbols (NULL). */
size_t tracer_frames(const struct kallsyms *symbols, const __u64 *frames, size_t count);

/* The number of such frames in all walks of one program. With several programs at a tracepoint
 * there is another frame (__traceiter_*, include/linux/tracepoint.h), which is not counted. */
size_t tracer_frames_always(const struct kallsyms *symbols, const __u64 *frames, size_t count);

/* The number of frames of an interrupt, innermost first, including its entry; all frames if there
 * is none. The frames after these were interrupted. */
size_t interrupt_frames(const struct kallsyms *symbols, const __u64 *frames, size_t count);

#endif

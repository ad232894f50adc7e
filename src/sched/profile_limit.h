/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a limit on all of the memory (--memory) is divided. What grows by chunks, which are most of
 * it, asks for each (base/memory_limit.h). The rest has a bound of its own from the start: hashes,
 * which the kernel makes grow, mappings and names of processes, and rings.
 */
#ifndef SCHED_PROFILE_LIMIT_H
#define SCHED_PROFILE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

struct bpf_object;

/* A smaller limit is wrong usage: the programs, the symbols of the kernel and the libraries take
 * most of this. */
#define PROFILE_LIMIT_LEAST ((uint64_t)64 << 20)

/* For records of threads, stacks and counts; so much may also be for unwind tables. */
size_t profile_limit_maps(uint64_t limit);

/* For mappings of processes and names of their files. */
size_t profile_limit_images(uint64_t limit);

/* For perf events of each CPU: `usual`, or less. */
size_t profile_limit_ring(uint64_t limit, size_t usual);

/* Bytes that a reading of `threads` threads with `sums` sums by stack needs while it is made,
 * beside what is kept for the next one: the profile, and a second copy of its samples while frames
 * are named. */
uint64_t profile_limit_reading(uint64_t threads, uint64_t sums);

/* For what is made of a named profile: requests to stores, and what they are encoded with. */
#define PROFILE_LIMIT_REST ((uint64_t)4 << 20)

/* What the maps of the object take in the kernel once they are full, without those in maps and
 * those that are mapped. */
uint64_t profile_limit_kernel(const struct bpf_object *object);

/* The same as they are now, where the kernel tells it. */
uint64_t profile_limit_kernel_now(const struct bpf_object *object);

#endif

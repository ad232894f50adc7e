/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles by hand, for tests.
 *
 *	struct profile *p = build_profile();
 *	uint32_t thread = build_profile_thread(p, 10, 11, "server", "worker", "/app");
 *
 *	build_sample(p, thread, CLASS_IO_WAIT, "main;read;vfs_read_[k]", 5000, 1);
 */
#ifndef UNIT_PROFILE_SCENE_H
#define UNIT_PROFILE_SCENE_H

#include "profile/flame.h"
#include "profile/profile.h"
#include "unit/unit.h"

struct profile *build_profile(void);

/* `cgroup` NULL: unknown. */
uint32_t build_profile_thread(struct profile *p, uint32_t tgid, uint32_t tid, const char *process,
			      const char *name, const char *cgroup);

/* Frames from the outermost on: "main;leaf"; "_[k]" behind one makes it the kernel's and "_[i]"
 * inlined, and is not of the name. "" is no stack. */
uint32_t build_stack(struct profile *p, const char *stack);

struct sample *build_sample(struct profile *p, uint32_t thread, enum profile_class class,
			    const char *stack, uint64_t ns, uint64_t count);

/* The number of frames of a stack. */
size_t stack_depth(const struct profile *p, uint32_t node);

bool has_unnamed_frame(const struct profile *p);

/* "a;b 5 a;c 7": the lines of a tree, with the baseline before a '/' where there is one. Good
 * until the next. */
const char *flame_text(const struct flame *flame);

/* A profile in which everything has a value of its own; other seeds, other values. */
struct profile *full_profile(uint64_t seed);

/* The two are the same in all that a file keeps. */
void expect_same_profile(const struct profile *a, const struct profile *b);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The places between which a metric of kstats measures, as people write them: "vfs_read",
 * "syscall:read", "uprobe:FILE:FUNCTION" (kstats_location_form() has all).
 *
 * How a function of the kernel is reached is chosen where it is not said: its trampoline (fentry)
 * costs least.
 */
#ifndef KSTATS_BPF_LOCATION_H
#define KSTATS_BPF_LOCATION_H

#include "base/error.h"
#include "kstats/bpf_record.h"
#include "kstats/spec.h"
#include "probe/points.h"

struct btf;

enum place_kind {
	PLACE_FUNCTION,
	PLACE_SYSCALL,
	PLACE_TRACEPOINT,
	PLACE_PROGRAM /* code of user space */
};

struct kstats_location {
	enum place_kind kind;
	bool is_return;
	bool by_trampoline, by_kprobe; /* which of them may be taken, of a function */
	char *name;  /* of the function, of the tracepoint; of a system call its function */
	int syscall; /* its number; -1: it is none */
	/* In programs. */
	struct probe_points *points;
	enum probe_code code;
	bool is_ret; /* just before the return, at the RET instructions */
};

struct kstats_locations {
	struct kstats_location start, end;
	bool is_call;      /* the end is the return of what began at the start */
	bool is_alone;     /* and there was no end in the words */
	bool is_goroutine; /* an end belongs to a start of the same goroutine, whatever its thread
			    */
};

/* A form in which places are written ("syscall:NAME"), and what it means; false after the last. */
bool kstats_location_form(size_t number, const char **ret_form, const char **ret_prose);

/* Resolve the words; EINVAL if they cannot be measured, ENOENT if they do not exist here. Functions
 * of the kernel are looked up at attach time. To be cleared, also after an error. */
struct error *kstats_locations_find(const struct kstats_spec *spec,
				    struct kstats_locations *ret) MUST_CHECK;
void kstats_locations_clear(struct kstats_locations *places);

/* ENOENT, and what is near: the kernel has no such function. NULL: it has. */
struct error *kstats_location_obstacle(const struct kstats_location *place,
				       const char *keyword) MUST_CHECK;

/* The arguments that are the key, in the names of the kernel's types (NULL: unknown); only with
 * KSTATS_KEY_ARGUMENT. */
struct error *kstats_locations_key(const struct kstats_spec *spec,
				   const struct kstats_locations *places, const struct btf *btf,
				   struct kstats_site *start, struct kstats_site *end) MUST_CHECK;

#endif

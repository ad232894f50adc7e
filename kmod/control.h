/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Commands written to kstats/_control:
 *
 *	trace NAME [bits B] [start X] [end Y]
 *	remove NAME
 *	remove *
 *
 * This file needs no kernel, so that unit tests and fuzzers can compile it.
 */
#ifndef KMOD_CONTROL_H
#define KMOD_CONTROL_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#endif

/* The same limits as in ctprof (src/kstats/spec.h). */
#define KSTATS_NAME_MAX     63
#define KSTATS_BITS_DEFAULT 3
#define KSTATS_GAP          "GAP-"

/* Longer than any name of a function (KSYM_NAME_LEN). */
#define KSTATS_LOCATION_MAX 511
#define KSTATS_COMMAND_MAX  2047

enum kstats_verb {
	KSTATS_TRACE,
	KSTATS_REMOVE,
	KSTATS_REMOVE_ALL,
};

/* A parsed command. Its texts point into the bytes of the command. */
struct kstats_request {
	enum kstats_verb verb;
	const char *name;       /* NULL for KSTATS_REMOVE_ALL */
	const char *start;      /* never NULL for KSTATS_TRACE */
	const char *end;        /* NULL: measure the duration of the function `start` */
	unsigned int frac_bits; /* 0 to 5 */
};

/*
 * Parse a command of `length` bytes; the buffer has room for one more. Writes NULs between its
 * words. Words are separated by spaces, tabs and newlines; keywords are in any case; pairs come in
 * any order, and the last of a kind counts. Returns 0 or a negative errno:
 *
 *	EINVAL          unknown verb or pair, half a pair, bits outside 0 to 5,
 *	                a name with other characters, a byte that is not printable ASCII
 *	ENAMETOOLONG    a name or a location is too long
 *	EMSGSIZE        the command is longer than KSTATS_COMMAND_MAX
 */
int kstats_request_parse(char *bytes, size_t length, struct kstats_request *ret);

/* Check the name of a metric. Returns 0, -EINVAL or -ENAMETOOLONG. */
int kstats_name_errno(const char *name);

enum kstats_location_kind {
	KSTATS_FUNCTION,   /* name, or MODULE:NAME */
	KSTATS_TRACEPOINT, /* __tracepoint_NAME */
	KSTATS_EVENT,      /* tracepoint:SYSTEM:NAME */
};

struct kstats_location {
	enum kstats_location_kind kind;
	const char *name;
	const char *system; /* for KSTATS_EVENT; a colon ends it */
	size_t system_length;
};

/* Parse a location; *ret points into `text`. -EOPNOTSUPP: only the BPF recorder of ctprof supports
 * this kind. */
int kstats_location_parse(const char *text, struct kstats_location *ret);

#endif

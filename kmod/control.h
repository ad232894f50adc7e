/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The words that are written to kstats/_control:
 *
 *	trace NAME [bits B] [start X] [end Y]
 *	remove NAME
 *	remove *
 *
 * Freestanding, so that it can be tested and fuzzed outside of a kernel.
 */
#ifndef KMOD_CONTROL_H
#define KMOD_CONTROL_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#endif

/* As ctprof's names of metrics (src/kstats/spec.h). */
#define KSTATS_NAME_MAX     63
#define KSTATS_BITS_DEFAULT 3
#define KSTATS_GAP          "GAP-"

/* Names of functions are shorter (KSYM_NAME_LEN). */
#define KSTATS_PLACE_MAX   511
#define KSTATS_COMMAND_MAX 2047

enum kstats_verb {
	KSTATS_TRACE,
	KSTATS_REMOVE,
	KSTATS_REMOVE_ALL,
};

/* What was asked for; texts are inside of the command. */
struct kstats_request {
	enum kstats_verb verb;
	const char *name;       /* NULL of KSTATS_REMOVE_ALL */
	const char *start;      /* never NULL of KSTATS_TRACE */
	const char *end;        /* NULL: how long `start` takes */
	unsigned int frac_bits; /* 0 to 5 */
};

/*
 * `length` bytes, at most KSTATS_COMMAND_MAX, with room for one more behind them; words are cut out
 * of it. Words are separated by spaces, tabs and ends of lines; keywords are in any case; pairs
 * come in any order, and the last of a kind counts. 0, or a negative errno:
 *
 *	EINVAL          no such verb or pair, half a pair, bits that are not 0 to 5,
 *	                a name of other characters, bytes that are no text
 *	ENAMETOOLONG    a name or a place is too long
 *	EMSGSIZE        the whole is
 */
int kstats_request_parse(char *bytes, size_t length, struct kstats_request *ret);

/* 0, EINVAL or ENAMETOOLONG (negative): may a metric be called so? */
int kstats_name_errno(const char *name);

enum kstats_location_kind {
	KSTATS_FUNCTION,   /* name, or MODULE:NAME */
	KSTATS_TRACEPOINT, /* __tracepoint_NAME */
	KSTATS_EVENT,      /* tracepoint:SYSTEM:NAME */
};

struct kstats_location {
	enum kstats_location_kind kind;
	const char *name;
	const char *system; /* of KSTATS_EVENT; ends at a colon */
	size_t system_length;
};

/* Points into `text`. EOPNOTSUPP (negative): a kind of place that only ctprof's other recorder
 * knows. */
int kstats_location_parse(const char *text, struct kstats_location *ret);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared memory of libkstats, in which a program counts and from which others read: one sealed
 * memfd for each metric, "kstats:NAME", which the program maps as a whole.
 *
 *	header | 6 parts, each a table for each CPU
 *
 * It contains no offsets: they follow from frac_bits and cpus, which are constant. A reader copies
 * these two and checks them against the size of the file, since the program may be hostile.
 *
 * Counts and sums only grow. A reset copies them to the unused one of the two parts of "forgotten",
 * and then adds 1 to `resets`, whose last bit selects the part in use. So each value is either
 * forgotten or counted as a whole, recorders write nothing that others write, and an interrupted
 * reset has no effect. A reset holds the flock(2) of the file.
 *
 * Shared by the library and its readers, so it depends on nothing else.
 */
#ifndef KSTATS_SHARED_MEMORY_H
#define KSTATS_SHARED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "histogram/bucket.h"
#include "kstats/recorded_time.h"

#define KSTATS_SHARED_PREFIX     "kstats:" /* of the memfd's name, before the metric's */
#define KSTATS_SHARED_MAGIC      "kstats\r\n"
#define KSTATS_SHARED_VERSION    1
#define KSTATS_SHARED_NAME_MAX   63
#define KSTATS_SHARED_CPUS_MAX   8192
#define KSTATS_SHARED_UNIT_MAX   15
#define KSTATS_SHARED_LABELS_MAX 255
/* Tables begin at multiples of it. */
#define KSTATS_SHARED_UNIT 4096

/* Written by one instruction, and read by one where the machine has it. */
struct kstats_shared_slot {
	uint64_t count, sum; /* sum: scaled by bucket_shift() of the slot */
} __attribute__((aligned(16)));

struct kstats_shared_header {
	char magic[8];
	uint32_t version;
	uint32_t frac_bits;
	uint32_t cpus;        /* tables in a part: more than the largest number of a CPU */
	uint32_t is_time;     /* values are nanoseconds */
	uint32_t overhead_ns; /* what an empty span measures; 0: unknown */
	uint32_t is_stopped;  /* others may write it */
	uint64_t resets;      /* the same, and so all that is behind the name */
	char name[KSTATS_SHARED_NAME_MAX + 1];
	/* Of programs that do not write it, and after a reset by one, it is unknown: `timed_resets`
	 * is then less than `resets`, or `began_ns` is 0. */
	struct kstats_recorded_time recorded;
	uint64_t timed_resets; /* `recorded` is that since so many resets */
	/* Texts that end with NUL; empty: none. */
	char unit[KSTATS_SHARED_UNIT_MAX + 1];
	char labels[KSTATS_SHARED_LABELS_MAX + 1];
};

/*
 * Values are in two parts: those of threads with restartable sequences, where only threads on a CPU
 * write its table; and those of other threads, which write any table by atomic instructions. Each
 * has two parts of forgotten values.
 */
enum kstats_shared_part {
	KSTATS_PART_OWN,
	KSTATS_PART_ATOMIC,
	KSTATS_PART_FORGOTTEN,
	KSTATS_PARTS = KSTATS_PART_FORGOTTEN + 2 * KSTATS_PART_FORGOTTEN,
};

static inline size_t kstats_shared_table_bytes(unsigned frac_bits)
{
	size_t bytes = BUCKET_SLOTS(frac_bits) * sizeof(struct kstats_shared_slot);

	return (bytes + KSTATS_SHARED_UNIT - 1) & ~(size_t)(KSTATS_SHARED_UNIT - 1);
}

/* The offset of the table of `cpu` in `part`, in bytes. */
static inline size_t kstats_shared_table(unsigned frac_bits, unsigned cpus, unsigned part,
					 unsigned cpu)
{
	return KSTATS_SHARED_UNIT +
	       ((size_t)part * cpus + cpu) * kstats_shared_table_bytes(frac_bits);
}

/* The size of the whole region, in bytes. */
static inline size_t kstats_shared_size(unsigned frac_bits, unsigned cpus)
{
	return kstats_shared_table(frac_bits, cpus, KSTATS_PARTS, 0);
}

/* The part that says what was forgotten of `part` (own or atomic) after so many resets. */
static inline unsigned kstats_shared_forgotten(unsigned part, uint64_t resets)
{
	return KSTATS_PART_FORGOTTEN * (1 + (unsigned)(resets & 1)) + part;
}

/* Letters, digits, "_" and "-", not "-..." nor a name that recorders keep for themselves. */
static inline int kstats_shared_is_name(const char *name, size_t length)
{
	static const char gap[] = "gap-", control[] = "_control";
	size_t in_gap = 0, in_control = 0;

	if (!length || length > KSTATS_SHARED_NAME_MAX || *name == '-')
		return 0;
	for (size_t i = 0; i < length; i++) {
		char c = name[i], lower = c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;

		if ((lower < 'a' || lower > 'z') && (c < '0' || c > '9') && c != '_' && c != '-')
			return 0;
		in_gap += i < sizeof(gap) - 1 && lower == gap[i];
		in_control += i < sizeof(control) - 1 && c == control[i];
	}
	return in_gap < sizeof(gap) - 1 &&
	       (in_control < sizeof(control) - 1 || length != sizeof(control) - 1);
}

/* Letters, digits, "_", "%" and "/"; none at all is a unit too. */
static inline int kstats_shared_is_unit(const char *unit, size_t length)
{
	if (length > KSTATS_SHARED_UNIT_MAX)
		return 0;
	for (size_t i = 0; i < length; i++) {
		const char c = unit[i], lower = c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;

		if ((lower < 'a' || lower > 'z') && (c < '0' || c > '9') && c != '_' && c != '%' &&
		    c != '/')
			return 0;
	}
	return 1;
}

/* "name=value,name=value": names are of letters, digits and "_", and begin with a letter or "_";
 * values are printable ASCII without quotes, backslashes and commas. None at all are labels too. */
static inline int kstats_shared_are_labels(const char *labels, size_t length)
{
	int in_name = 1, is_first = 1;

	if (length > KSTATS_SHARED_LABELS_MAX)
		return 0;
	for (size_t i = 0; i < length; i++) {
		const char c = labels[i], lower = c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
		const int is_word = (lower >= 'a' && lower <= 'z') || c == '_' ||
				    (c >= '0' && c <= '9' && !is_first);

		if (in_name && c == '=' && !is_first) {
			in_name = 0;
		} else if (in_name ? !is_word : c < ' ' || c > '~' || c == '"' || c == '\\') {
			return 0;
		} else {
			is_first = 0;
			if (!in_name && c == ',')
				in_name = is_first = 1;
		}
	}
	return !length || !in_name;
}

/* Count and sum as of one moment on x86-64 with AVX (Intel SDM 3A, 9.1.1; AMD APM 2, 7.3.2);
 * elsewhere the sum may be of a moment later. */
static inline struct kstats_shared_slot kstats_shared_load(const struct kstats_shared_slot *slot)
{
	struct kstats_shared_slot ret;
#ifdef __x86_64__
	__asm__ volatile("movdqa %1, %%xmm0\n\tmovdqa %%xmm0, %0"
			 : "=m"(ret)
			 : "m"(*slot)
			 : "xmm0");
#else
	ret.count = __atomic_load_n(&slot->count, __ATOMIC_ACQUIRE);
	ret.sum = __atomic_load_n(&slot->sum, __ATOMIC_RELAXED);
#endif
	return ret;
}

#endif

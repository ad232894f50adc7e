/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a profile as pprof profiles of their own, for stores that keep one for each program.
 *
 *	err = pprof_parts_init(&parts, profile);
 *	while (!err && count) {
 *		err = pprof_part_write(&parts, &head, samples, count, sink, context, &taken);
 *		samples += taken;
 *		count -= taken;
 *	}
 *	pprof_parts_deinit(&parts);
 *
 * Types of values are "cpu", "off_cpu" and, where there are both, their sum "wall", all of them in
 * nanoseconds: Pyroscope refuses types with a '-' in their names, which pprof_write.c writes.
 */
#ifndef PROFILE_PPROF_PARTS_H
#define PROFILE_PPROF_PARTS_H

#include "base/json_writer.h"
#include "profile/locations.h"

/* By default Pyroscope refuses a profile of more samples, or of more than 4 MiB before it was
 * packed (pkg/validation/limits.go of Pyroscope 2.1). */
#define PPROF_PART_SAMPLES_MOST 16000
#define PPROF_PART_BYTES_MOST   ((uint64_t)3 << 20) /* and the stack of one more sample */

/* A stack with its times, summed over threads. */
struct pprof_part_sample {
	uint32_t node;           /* or NODE_NONE */
	uint32_t thread;         /* one of them; it is not written */
	const struct name *comm; /* the label "comm"; NULL: none */
	uint64_t on_cpu_ns, off_cpu_ns;
};

struct pprof_part_head {
	uint64_t begun_unix_ns, ns;
};

/* What parts of a profile share. All zero is none. */
struct pprof_parts {
	const struct profile *profile;
	struct locations locations;
	uint32_t *ids;
	bool has_on_cpu, has_off_cpu; /* whether any part has */
};

/* The profile must stay as it is. */
struct error *pprof_parts_init(struct pprof_parts *parts, const struct profile *profile) MUST_CHECK;
void pprof_parts_deinit(struct pprof_parts *parts);

/* Write the first samples, as many as one profile may have, packed by gzip; `*ret_taken` says how
 * many: at least one. There must be one. */
struct error *pprof_part_write(struct pprof_parts *parts, const struct pprof_part_head *head,
			       const struct pprof_part_sample *samples, size_t count,
			       json_sink sink, void *context, size_t *ret_taken) MUST_CHECK;

#endif

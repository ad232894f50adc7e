/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of the file kstats/NAME, as the kernel module prints it, and as scripts take it apart:
 *
 *	slot 55  CPU  0    count      589 avg      480 p 0.027613
 *	slot 55  CPUS 28   count      814 avg      480 p 0.002474
 *
 * A line for each slot and CPU that have values, with their count, mean and the share of the CPU's
 * values up to this slot; after each slot the same of all CPUs, of which there may be so many.
 *
 * Later kstats wrote more words behind these, or "TABLE" for "CPU": such files are read, too.
 */
#ifndef KSTATS_V3_H
#define KSTATS_V3_H

#include <stdio.h>

#include "base/text.h"
#include "kstats/table.h"

/*
 * The text does not say how many bits slots have. Those with which every mean lies in its slot may
 * be several, when there are only small values: these are in `possible`, a bit for each, and the
 * usual ones are taken, or else the most. No lines, and all are possible.
 *
 * Sums are as exact as the means are. Values of all CPUs that no line of a CPU has (people grep)
 * are in a row whose label is KSTATS_V3_REST.
 */
struct error *kstats_v3_parse(struct text text, const char *name,
			      struct kstats_table **ret) MUST_CHECK;
/* The same, and which bits are possible. */
struct error *kstats_v3_parse_bits(struct text text, const char *name, uint32_t *ret_possible,
				   struct kstats_table **ret) MUST_CHECK;

#define KSTATS_V3_REST "CPUS"

/* Byte for byte as the module does. Rows that are no CPUs have the words of the later ones, TABLE
 * and TABLES, so that scripts do not take a process for a CPU: the number is that of the process,
 * the thread, the cgroup, or what was returned, with its sign. */
void kstats_v3_print(const struct kstats_table *table, FILE *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hosts that a query selects, and for how long each was observed.
 *
 *	struct store_hosts hosts;
 *	err = store_hosts_read(store, &url, &hosts);
 *	...
 *	store_hosts_deinit(&hosts);
 */
#ifndef STORE_HOSTS_H
#define STORE_HOSTS_H

#include <stdio.h>

#include "store/query.h"

/* Pressure of a host in the time of the query. */
struct store_pressure {
	uint64_t some_ns, full_ns;
};

struct store_host {
	char *name;
	uint64_t observed_ns;  /* the sum of its intervals, but no more than the time that passed */
	uint64_t intervals_ns; /* the sum of its intervals */
	/* The sum is clearly more than passed between the first and the last: two agents send rows
	 * with this name, and all sums over the host are those of both. */
	bool has_two_agents;
	uint64_t threads; /* most in an interval */
	uint64_t agent_cpu_ns, bpf_ns;
	struct store_pressure cpu, memory, io, irq; /* cpu: `some` only; irq: `full` only */
	uint64_t measured; /* bit n: the column n behind `ms` of the table loads */
	/* Of its last boot in the store; 0 and "" if unknown. */
	uint32_t cpus;
	uint64_t memory_bytes;
	char *kernel, *arch, *cpu_model;
};

struct store_hosts {
	ARRAY(struct store_host); /* by name */
	uint64_t observed_ns;     /* of all together */
	uint64_t longest_ns;      /* of one */
	uint64_t first_s, end_s;  /* when the first interval of all began, and the last ended */
};

/* Fails if no host that the URL selects has rows (errnum ENODATA); the error names those that do.
 */
struct error *store_hosts_read(struct store *store, const struct store_url *url,
			       struct store_hosts *ret) MUST_CHECK;

/* Print a line for each host that has two agents. At most eight are named. */
void store_hosts_note_shared(const struct store_hosts *hosts, FILE *notes);

/* "web-1", or "100 hosts", to be freed; NULL: no memory. */
char *store_hosts_words(const struct store_hosts *hosts);

/* The value that all hosts have in common; NULL: they differ, or it is unknown. */
const char *store_hosts_kernel(const struct store_hosts *hosts);
const char *store_hosts_arch(const struct store_hosts *hosts);
const char *store_hosts_cpu_model(const struct store_hosts *hosts);

/* Sums over all hosts. */
uint64_t store_hosts_cpus(const struct store_hosts *hosts);
uint64_t store_hosts_memory(const struct store_hosts *hosts);

void store_hosts_deinit(struct store_hosts *hosts);

#endif

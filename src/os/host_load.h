/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory, load, busy CPUs and pressure of the whole host, from /proc/meminfo, /proc/loadavg,
 * /proc/stat and /proc/pressure. Reading them needs no privileges.
 */
#ifndef OS_HOST_LOAD_H
#define OS_HOST_LOAD_H

#include "os/psi.h"

enum host_resource { HOST_CPU, HOST_MEMORY, HOST_IO, HOST_IRQ, HOST_RESOURCES };

struct host_load {
	/* MemTotal and MemAvailable; 0: not known. Used memory, as free(1) prints it, is the
	 * difference. */
	uint64_t memory_bytes, memory_available_bytes;
	double load[3]; /* averages over 1, 5 and 15 minutes; negative: not known */
	/* Time since boot, summed over CPUs, that was neither idle nor iowait (proc_stat(5)), in
	 * steps of 1/USER_HZ. 0: not known. */
	uint64_t busy_ns;
	struct psi_lines pressure[HOST_RESOURCES]; /* without a file, not measured */
};

void host_load_read(struct host_load *ret);

/* Parse the first line of /proc/stat. `*ret_ticks` is the busy time in ticks of 1/USER_HZ. False:
 * not such a line. */
bool host_load_parse_cpu(struct text bytes, uint64_t *ret_ticks);

#endif

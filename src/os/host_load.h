/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the host as a whole does now: memory, load, busy CPUs, pressure (/proc/meminfo, loadavg,
 * stat and pressure). These files need no privileges.
 */
#ifndef OS_HOST_LOAD_H
#define OS_HOST_LOAD_H

#include "os/psi.h"

enum host_resource { HOST_CPU, HOST_MEMORY, HOST_IO, HOST_IRQ, HOST_RESOURCES };

struct host_load {
	/* 0: not known. What could not be given to programs at once, as free(1) has it, is total -
	 * available. */
	uint64_t memory_bytes, memory_available_bytes;
	double load[3]; /* of 1, 5 and 15 minutes; negative: not known */
	/* All CPUs together, since boot: neither idle nor waiting for I/O (proc_stat(5)); steps of
	 * 1/USER_HZ. 0: not known. */
	uint64_t busy_ns;
	struct psi_lines pressure[HOST_RESOURCES]; /* not measured: no such file */
};

void host_load_read(struct host_load *ret);

/* The first line of /proc/stat: false when it is none. `ticks` are those of USER_HZ, busy. */
bool host_load_parse_cpu(struct text bytes, uint64_t *ret_ticks);

#endif

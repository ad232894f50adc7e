/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses the kernel's counters of the whole host, row by row: /proc/stat, /proc/schedstat,
 * /proc/loadavg, /proc/diskstats, /proc/net/dev.
 *
 *	struct text rest = bytes;
 *	struct counter_row row;
 *	while ((found = counters_next_cpu(&rest, &row)) != ROW_NONE)
 *		...
 *
 * (For /proc/vmstat, os/pairs.h is enough.)
 */
#ifndef OS_COUNTERS_H
#define OS_COUNTERS_H

#include "base/text.h"

/* No row has more: a CPU of /proc/stat has 11, an interface 16, a device 17. */
#define COUNTER_ROW_MAX 20

struct counter {
	struct text key; /* no two of a row are the same; lives as long as the program */
	uint64_t value;
};

/* The counters of one CPU, device or interface. */
struct counter_row {
	struct text name; /* in the bytes that were given: not empty, and without white space */
	struct counter items[COUNTER_ROW_MAX];
	size_t count;
};

/* The result of a call: no more rows; a row; or a malformed row, without usable values. */
enum row_found { ROW_NONE, ROW_GOOD, ROW_BAD };

/*
 * The next CPU of /proc/stat, "cpu0" and so on; the line "cpu" of all of them is passed over.
 * user_ticks and so on, as many as are printed (at least four), and busy_ticks: user, nice, system,
 * irq, softirq and steal. Guests are in user and nice already (account_guest_time() in
 * kernel/sched/cputime.c).
 */
enum row_found counters_next_cpu(struct text *rest, struct counter_row *ret);

/*
 * The next CPU of /proc/schedstat: run_ns, wait_ns and timeslices, the seventh to ninth number of
 * its line (Documentation/scheduler/sched-stats.rst). No rows before version 15, which is the first
 * that says the times are nanoseconds: call counters_schedstat_begin on the whole first.
 */
bool counters_schedstat_begin(struct text *rest);
enum row_found counters_next_schedstat(struct text *rest, struct counter_row *ret);

/* The number of a row's CPU. False when the name is not "cpu" and a number. */
bool counters_cpu_number(struct text name, uint32_t *ret);

/*
 * The next device of /proc/diskstats that ever did anything
 * (Documentation/admin-guide/iostats.rst): 11 counters, 15 since Linux 4.18, 17 since 5.5. Sectors
 * are 512 bytes there, whatever the device has.
 */
enum row_found counters_next_block(struct text *rest, struct counter_row *ret);

/* The next interface of /proc/net/dev (dev_seq_printf_stats() in net/core/net-procfs.c). */
enum row_found counters_next_net(struct text *rest, struct counter_row *ret);

/*
 * Parse the values of /proc/stat for the kernel as a whole: interrupts, softirqs, context_switches,
 * forks, running, blocked. The name is empty, as that of loadavg. False if the bytes are not such a
 * file, or a number is invalid; the others are set nevertheless.
 */
bool counters_parse_stat(struct text bytes, struct counter_row *ret);

/* /proc/loadavg: the three averages in hundredths, and threads. False, and no counters, when the
 * bytes are no such file. */
bool counters_parse_loadavg(struct text bytes, struct counter_row *ret);

/* Parse the numbers of runnable threads and of all threads: the fourth word of /proc/loadavg,
 * "2/85". False if it is invalid. */
bool counters_parse_threads(struct text loadavg, uint64_t *ret_runnable, uint64_t *ret_all);

/* "12.34", with two decimals as the kernel prints loads and uptimes, as 1234. */
bool counters_hundredths(struct text text, uint64_t *ret);

#endif

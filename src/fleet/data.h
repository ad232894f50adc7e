/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder fleet/: statistics of many hosts. data.h has what was measured, by host, and
 * measures.h what is compared; scale.h is the scale on which hosts are compared; outlier_score.h
 * says how far a value is from its peers, outliers.h finds hosts that differ from their peers;
 * groups.h compares two groups of hosts, and hosts before and after a point in time. These ask no
 * server: load.h, hosts.h, cgroup_labels.h and wait_states.h do. findings_report.h prints what was
 * found; which lines it has, its words, table and next command are in finding_lines.h,
 * finding_sentence.h, findings_table.h and diff_command.h.
 */

/*
 * What was measured on each host: amounts of each measure of a program, and the bases that they are
 * shares of, by host and slice of time.
 *
 *	struct fleet_data data;
 *
 *	fleet_data_init(&data, 1);
 *	busy = fleet_data_base(&data, FLEET_STATE, TEXT("shopd"), 0);
 *	lock = fleet_data_measure(&data, FLEET_STATE, TEXT("shopd"), TEXT("lock"));
 *	host = fleet_data_host(&data, TEXT("web-17"));
 *	if (!fleet_data_use_base(&data, lock, busy) ||
 *	    !fleet_data_add(&data, lock, host, 0, lock_s) ||
 *	    !fleet_data_add_base(&data, busy, host, 0, busy_s))
 *		return &error_no_memory;
 *	...
 *	fleet_data_deinit(&data);
 *
 * The value of a measure on a host is the sum of its amounts divided by the sum of its bases, so
 * hosts with more load, more threads or more time are comparable with the others.
 *
 * Most programs run on some hosts only, and much of what is measured is 0, so amounts and bases
 * have memory only for hosts on which they are not. Measures of a program share their bases.
 */
#ifndef FLEET_DATA_H
#define FLEET_DATA_H

#include <math.h>

#include "base/array.h"
#include "base/error.h"
#include "base/names.h"

/*
 * KIND(id, name, the scale is of shares, least base, event, what amount and base are)
 *
 * Busy time is what a program wanted to get done: it ran, waited for a CPU, a lock, storage or
 * memory. It is not waiting for work, at sockets and pipes, for a time or a child, or stopped. So
 * shares of it depend little on load and on how many threads wait for work.
 *
 * Of a host with less than the least base, and of one that has less than a quarter of the base of
 * the median host, the value is too uncertain, and is left out: a share of CPU time is counted by
 * samples, of which 5 s at 49 Hz have 245.
 *
 * An amount is the sum of events, of which one more or less is chance: a sample on a CPU, a wait
 * that may take a tenth of a second, a page fault.
 */
#define FLEET_KINDS(KIND)                                                                       \
	KIND(STATE, "state", true, 5, 0.1, "seconds in a state; busy seconds")                  \
	KIND(WAIT, "wait", true, 60, 0.1, "seconds in a state; seconds of all threads")         \
	KIND(CPU, "cpu", true, 5, 0.02, "CPU seconds of a function; of the program")            \
	KIND(CPU_OWN, "cpu-own", true, 5, 0.02, "the same without the functions that it calls") \
	KIND(OFF, "off", true, 5, 0.1, "busy seconds that a function waited; of the program")   \
	KIND(METRIC, "metric", false, 1, 1, "a counter; CPU seconds of the program")            \
	KIND(HOST, "host", true, 60, 0.1, "seconds of pressure, or of CPUs; seconds")

enum fleet_kind {
#define KIND_ENUM(id, ...) FLEET_##id,
	FLEET_KINDS(KIND_ENUM)
#undef KIND_ENUM
		FLEET_KIND_COUNT
};

struct fleet_kind_row {
	const char *name, *what;
	bool is_share;
	double base_least, event;
};
extern const struct fleet_kind_row fleet_kinds[FLEET_KIND_COUNT];

struct fleet_measure {
	enum fleet_kind kind;
	const struct name *program; /* "": the whole host */
	const struct name *name;    /* of the state, function or metric */
	struct {
		ARRAY(uint32_t);
	} bases; /* numbers: its base is their sum */
	/* In measures of functions: cityHash64() of both names, as the server computes it. */
	uint64_t program_hash, function_hash;
};

struct fleet_amount {
	double amount, base; /* 0 and 0: the host has no such program */
};

/* Amounts, or bases: of each host NULL, where all are 0, or one for each slice. */
struct fleet_row {
	double **hosts;
	size_t room;
};

struct fleet_data {
	struct arena arena;
	struct names names;
	struct word_map *measure_numbers, *base_numbers, *host_numbers;
	struct {
		ARRAY(struct fleet_measure);
	} measures;
	struct {
		ARRAY(const struct name *);
	} hosts;
	struct {
		ARRAY(struct fleet_row);
	} amounts, bases; /* by measure, and by the number of the base */
	double *unused;   /* that rows have not got yet, so many times `slices` of them */
	size_t unused_count;
	size_t slices;             /* at least 1 */
	double seconds;            /* of all slices together; 0: not known */
	size_t functions_left_out; /* with less time than those that are measures */
	struct {
		ARRAY(const struct name *);
	} nameless; /* hosts whose functions are not compared, since agents left out names */
};

/* False without memory; it may be deinitialised all the same. */
bool fleet_data_init(struct fleet_data *data, size_t slices) MUST_CHECK;
void fleet_data_deinit(struct fleet_data *data);

#define FLEET_NONE UINT32_MAX

/* The number of a measure or host, which is added if it is new. FLEET_NONE: no memory. */
uint32_t fleet_data_measure(struct fleet_data *data, enum fleet_kind kind, struct text program,
			    struct text name);
uint32_t fleet_data_host(struct fleet_data *data, struct text host);

/* The number of what is there already, or FLEET_NONE. */
uint32_t fleet_data_find_host(const struct fleet_data *data, struct text host);
uint32_t fleet_data_find(const struct fleet_data *data, enum fleet_kind kind, struct text program,
			 struct text name);

/*
 * The number of a base of measures of this kind and program, which is added if it is new.
 * FLEET_CPU_OWN has those of FLEET_CPU. Measures that are not always measured together have
 * different bases: `which` tells them apart. FLEET_NONE: no memory.
 */
uint32_t fleet_data_base(struct fleet_data *data, enum fleet_kind kind, struct text program,
			 uint64_t which);
/* A measure has this base, too. False without memory. */
bool fleet_data_use_base(struct fleet_data *data, uint32_t measure, uint32_t base) MUST_CHECK;

/* Add to a slice of a host. False without memory, or for a number that is not there. Amounts that
 * are negative or not finite, and slices that are not there, are ignored. */
bool fleet_data_add(struct fleet_data *data, uint32_t measure, uint32_t host, size_t slice,
		    double amount) MUST_CHECK;
bool fleet_data_add_base(struct fleet_data *data, uint32_t base, uint32_t host, size_t slice,
			 double amount) MUST_CHECK;

/* Forget all amounts of a host: then it is not compared. */
void fleet_data_clear_host(struct fleet_data *data, size_t host);

/* The sums over the slices `from` to before `to`. */
struct fleet_amount fleet_data_sum(const struct fleet_data *data, size_t measure, size_t host,
				   size_t from, size_t to);

/*
 * The values of a measure over these slices, by host; NaN where the program did not run, or too
 * little. `values` has room for `data->hosts.count`. Returns how many are numbers.
 */
size_t fleet_data_values(const struct fleet_data *data, size_t measure, size_t from, size_t to,
			 double *values);

/* How many threads at once the base of a cell is: 0.5 of a program that is busy half of the time.
 * At most 1; 1 if `seconds` is not known. */
double fleet_data_threads(const struct fleet_data *data, size_t measure, size_t host, size_t from,
			  size_t to);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Code by hand that mixes quantities: every #ifdef must be refused, the rest not. */
#include "metric/record.h"

static void add_ns(struct total_ns *sum, struct total_ns more)
{
	sum->v += more.v;
}

void mix(struct thread_values *values, struct thread_values *other);

void mix(struct thread_values *values, struct thread_values *other)
{
	values->run_time_ns = other->wait_sum;
	add_ns(&values->run_time_ns, other->wait_time_ns);
#ifdef PEAK_INTO_TOTAL /* expect: incompatible type */
	values->run_time_ns = other->wait_max;
#endif
#ifdef COUNT_INTO_TIME /* expect: incompatible type */
	values->run_time_ns = other->timeslices;
#endif
#ifdef PEAK_ADDED /* expect: incompatible type */
	add_ns(&values->run_time_ns, other->exec_max);
#endif
#ifdef BYTES_INTO_TICKS /* expect: incompatible type */
	values->utime_clock_ticks = other->rchar;
#endif
#ifdef TWO_TOTALS_PLUS /* expect: invalid operands */
	values->run_time_ns = other->run_time_ns + other->wait_time_ns;
#endif
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a host did, of its counters: each fact as a rate over a span, or as of its end.
 */
#include <math.h>
#include <string.h>

#include "compare/overview.h"

const struct overview_fact_info overview_facts[FACT_COUNT] = {
#define FACT(id, ...) [FACT_##id] = { __VA_ARGS__ },
	OVERVIEW_FACTS(FACT)
#undef FACT
};

/* No host has so many counters; the time that disks are paired in is bounded. */
#define SETS_MOST 2048

/* --- counters of one snapshot --- */

static bool is_virtual_block(struct text name)
{
	static const char *const prefixes[] = { "dm-", "md", "loop", "zram", "ram", "nbd" };

	for (size_t i = 0; i < array_length(prefixes); i++)
		if (text_starts(name, text_of(prefixes[i])))
			return true;
	return false;
}

/* A partition follows its disk, whose numbers include it. */
static bool is_partition(const struct ctprof_snapshot *s, size_t i)
{
	struct text name = name_text(s->counters.items[i].name);

	for (size_t k = 0; k < i && s->counters.count < SETS_MOST; k++) {
		const struct counter_set *other = &s->counters.items[k];

		if (other->kind == COUNTERS_BLOCK && other->name->length < name.length &&
		    text_starts(name, name_text(other->name)))
			return true;
	}
	return false;
}

static bool is_counted(const struct ctprof_snapshot *s, size_t i)
{
	const struct counter_set *set = &s->counters.items[i];

	if (set->kind == COUNTERS_BLOCK)
		return !is_virtual_block(name_text(set->name)) && !is_partition(s, i);
	return set->kind != COUNTERS_NET || !text_equal(name_text(set->name), TEXT("lo"));
}

/* The sum of a counter over all CPUs, disks or interfaces; NaN where none has it. */
static double sum_of(const struct ctprof_snapshot *s, enum counter_kind kind, const char *key)
{
	double sum = NAN;

	for (size_t i = 0; i < s->counters.count; i++) {
		const struct counter_set *set = &s->counters.items[i];
		const struct count *count =
			set->kind == kind ? counts_find(&set->counts, text_of(key)) : NULL;

		if (count && is_counted(s, i))
			sum = (isnan(sum) ? 0 : sum) + (double)count->value;
	}
	return sum;
}

/* --- over a span --- */

/* What was added; a counter that fell started again. */
static double added(const struct overview_span *span, enum counter_kind kind, const char *key)
{
	double to = sum_of(span->to, kind, key);
	double from = span->from ? sum_of(span->from, kind, key) : 0;

	return to >= from ? to - from : NAN;
}

static double rate(const struct overview_span *span, enum counter_kind kind, const char *key)
{
	return span->seconds > 0 ? added(span, kind, key) / span->seconds : NAN;
}

static double busy_share(const struct overview_span *span)
{
	double busy = added(span, COUNTERS_CPU, "busy_ticks");
	double iowait = added(span, COUNTERS_CPU, "iowait_ticks");
	double all = busy + added(span, COUNTERS_CPU, "idle_ticks") + (isnan(iowait) ? 0 : iowait);

	return all > 0 ? busy / all : NAN;
}

/* The share of the time in which some thread waited for the resource, which is at `offset`. */
static double pressure(const struct overview_span *span, size_t offset)
{
	const struct psi_resource *to = (const void *)((const char *)&span->to->psi + offset);
	const struct psi_resource *from =
		span->from ? (const void *)((const char *)&span->from->psi + offset) : NULL;
	const struct reading now = to->some.total_usec;
	const struct reading then = from ? from->some.total_usec : reading_of(0);

	if (!now.measured || !then.measured || now.value < then.value || !(span->seconds > 0))
		return NAN;
	return fmin((double)(now.value - then.value) / 1e6 / span->seconds, 1);
}

/* The share of the time in which the busiest disk was busy; NaN without disks. */
static double disk_busy(const struct overview_span *span)
{
	double most = NAN;

	for (size_t i = 0; i < span->to->counters.count; i++) {
		const struct counter_set *set = &span->to->counters.items[i];
		const struct count *to = set->kind == COUNTERS_BLOCK
						 ? counts_find(&set->counts, TEXT("io_ms"))
						 : NULL;
		double before = 0;

		for (size_t k = 0;
		     to && span->from && k < span->from->counters.count && k < SETS_MOST; k++) {
			const struct counter_set *other = &span->from->counters.items[k];
			const struct count *from =
				other->kind == COUNTERS_BLOCK && text_equal(name_text(other->name),
									    name_text(set->name))
					? counts_find(&other->counts, TEXT("io_ms"))
					: NULL;

			before = from ? (double)from->value : before;
		}
		if (to && (double)to->value >= before && span->seconds > 0)
			most = fmax(most, ((double)to->value - before) / 1e3 / span->seconds);
	}
	/* Of NaN and a number, fmin() makes the number. */
	return isnan(most) ? NAN : fmin(most, 1);
}

/* The size of a page: no capture has it, but all kernels of x86 have the same. */
static double page_size(const struct ctprof_snapshot *s)
{
	return s->host && s->host->arch && strcmp(s->host->arch->bytes, "x86_64") == 0 ? 4096 : NAN;
}

/* Free, or soon to be: page cache and what the kernel can drop. (MemAvailable keeps a reserve.) */
static double available(const struct ctprof_snapshot *s)
{
	static const char *const keys[] = { "nr_free_pages", "nr_inactive_file", "nr_active_file",
					    "nr_slab_reclaimable" };
	double pages = sum_of(s, COUNTERS_VMSTAT, keys[0]);

	for (size_t i = 1; i < array_length(keys); i++) {
		double more = sum_of(s, COUNTERS_VMSTAT, keys[i]);

		pages += isnan(more) ? 0 : more;
	}
	return pages * page_size(s);
}

static void fill_side(double *facts, const struct overview_span *span)
{
	facts[FACT_CPU_BUSY] = busy_share(span);
	facts[FACT_CPU_PRESSURE] = pressure(span, offsetof(struct psi, cpu));
	facts[FACT_MEMORY_PRESSURE] = pressure(span, offsetof(struct psi, memory));
	facts[FACT_IO_PRESSURE] = pressure(span, offsetof(struct psi, io));
	facts[FACT_LOAD] = sum_of(span->to, COUNTERS_KERNEL, "load1_x100") / 100;
	facts[FACT_AVAILABLE] = available(span->to);
	facts[FACT_SWAPPED_IN] = rate(span, COUNTERS_VMSTAT, "pswpin") * page_size(span->to);
	facts[FACT_SWAPPED_OUT] = rate(span, COUNTERS_VMSTAT, "pswpout") * page_size(span->to);
	facts[FACT_DISK_READ] = rate(span, COUNTERS_BLOCK, "read_bytes");
	facts[FACT_DISK_WRITTEN] = rate(span, COUNTERS_BLOCK, "written_bytes");
	facts[FACT_DISK_BUSY] = disk_busy(span);
	facts[FACT_NET_RECEIVED] = rate(span, COUNTERS_NET, "received_bytes");
	facts[FACT_NET_SENT] = rate(span, COUNTERS_NET, "sent_bytes");
}

static uint64_t count_cpus(const struct ctprof_snapshot *s)
{
	uint64_t cpus = 0;

	if (s->host && s->host->online_cpus.measured)
		return s->host->online_cpus.value;
	for (size_t i = 0; i < s->counters.count; i++)
		cpus += s->counters.items[i].kind == COUNTERS_CPU;
	return cpus;
}

void overview_fill_host(struct overview_host *host, const struct overview_span *before,
			const struct overview_span *after)
{
	const struct host_context *context = after->to->host;

	for (size_t i = 0; i < FACT_COUNT; i++)
		host->before[i] = host->after[i] = NAN;
	if (before->to)
		fill_side(host->before, before);
	fill_side(host->after, after);
	host->cpus = count_cpus(after->to);
	if (context && context->total_memory_kib.measured)
		host->memory_bytes = context->total_memory_kib.value * 1024;
}

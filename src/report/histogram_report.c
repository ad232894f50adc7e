/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/bar.h"
#include "report/percentiles.h"
#include "report/profile_heading.h"
#include "report/profile_stack.h"

#define BAR_WIDTH 40

/* The histograms of one group and class, added up. */
struct histogram_group {
	char *name;
	unsigned class;
	struct histogram *histogram;
};

struct histogram_groups {
	ARRAY(struct histogram_group);
	struct word_map numbers;
};

/* --- adding up --- */

/* The key of a group. CPUs of stretches are not kept, so by CPU there is one group. */
static struct words histogram_key(const struct profile_thread *thread, unsigned class,
				  enum flame_group by)
{
	switch (by) {
	case FLAME_BY_PROGRAM:
		return (struct words){ { class, 0,
					 thread->is_kernel ? 0 : (uintptr_t)thread->process } };
	case FLAME_BY_PROCESS:
		return (struct words){ { class, thread->tgid, (uintptr_t)thread->process } };
	case FLAME_BY_THREAD:
		return (struct words){ { class, thread->tid, (uintptr_t)thread->name } };
	case FLAME_BY_CGROUP:
		return (struct words){ { class, 0, (uintptr_t)thread->cgroup } };
	default:
		return (struct words){ { class } };
	}
}

static char *group_name(const struct profile_thread *thread, enum flame_group by)
{
	struct profile_thread process = *thread;

	switch (by) {
	case FLAME_BY_PROGRAM:
		return thread->is_kernel ? strdup("[kernel threads]")
					 : text_visible((struct text){ thread->process->bytes,
								       thread->process->length });
	case FLAME_BY_PROCESS:
		process.name = thread->process;
		process.tid = thread->tgid;
		return thread_visible(&process);
	case FLAME_BY_THREAD:
		return thread_visible(thread);
	case FLAME_BY_CGROUP:
		return thread->cgroup ? text_visible((struct text){ thread->cgroup->bytes,
								    thread->cgroup->length })
				      : strdup("[unknown]");
	default:
		return strdup("all threads");
	}
}

static struct error *add_group(struct histogram_groups *groups, char *name, unsigned class,
			       unsigned frac_bits)
{
	struct histogram_group group = { name, class, histogram_create(frac_bits) };

	if (name && group.histogram && array_push(groups, group))
		return NULL;
	free(name);
	histogram_destroy(group.histogram);
	return &error_no_memory;
}

/* Sums keep the digits of the coarsest. */
static struct error *add_up(struct histogram_groups *groups, const struct profile *profile,
			    unsigned classes, enum flame_group by, unsigned frac_bits)
{
	for (size_t i = 0; i < profile->histograms.count; i++) {
		const struct thread_histogram *h = &profile->histograms.items[i];
		const struct profile_thread *thread = &profile->threads.items[h->thread];
		uint32_t *number;
		struct error *err;

		if (!(classes >> h->class & 1) || !h->histogram->count)
			continue;
		number = word_map_at(&groups->numbers, histogram_key(thread, h->class, by));
		if (!number)
			return &error_no_memory;
		if (*number == WORD_MAP_NEW) {
			*number = (uint32_t)groups->count;
			err = add_group(groups, group_name(thread, by), h->class, frac_bits);
			if (err)
				return err;
		}
		histogram_merge(groups->items[*number].histogram, h->histogram);
	}
	return NULL;
}

static unsigned coarsest(const struct profile *profile)
{
	unsigned bits = BUCKET_FRAC_BITS_MAX;

	for (size_t i = 0; i < profile->histograms.count; i++)
		if (profile->histograms.items[i].histogram->frac_bits < bits)
			bits = profile->histograms.items[i].histogram->frac_bits;
	return bits;
}

static int by_sum(const void *a, const void *b)
{
	const struct histogram_group *x = a, *y = b;

	if (x->histogram->sum != y->histogram->sum)
		return x->histogram->sum < y->histogram->sum ? 1 : -1;
	return x->class != y->class ? (x->class > y->class) - (x->class < y->class)
				    : strcmp(x->name, y->name);
}

/* --- printing --- */

/* Print one row for each power of two between the shortest and the longest. */
static struct error *print_bucket_rows(FILE *out, const struct histogram *fine, bool utf8)
{
	struct histogram *coarse = histogram_create(0);
	unsigned first = BUCKET_SLOTS(0), last = 0;
	uint64_t most = 0;

	if (!coarse)
		return &error_no_memory;
	histogram_merge(coarse, fine);
	for (unsigned slot = 0; slot < BUCKET_SLOTS(0); slot++) {
		if (!coarse->slots[slot])
			continue;
		first = first < slot ? first : slot;
		last = slot;
		most = most > coarse->slots[slot] ? most : coarse->slots[slot];
	}
	for (unsigned slot = first; slot <= last && slot < BUCKET_SLOTS(0); slot++) {
		char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];

		bar_label(out, units_format(low, UNIT_NS, bucket_low(slot, 0)), 11);
		fputs(" .. ", out);
		bar_label(out, units_format(high, UNIT_NS, bucket_high(slot, 0)), 9);
		fprintf(out, " %10" PRIu64 "  ", coarse->slots[slot]);
		if (coarse->slots[slot])
			bar_print(out, (double)coarse->slots[slot] / (double)most, BAR_WIDTH, utf8);
		fputc('\n', out);
	}
	histogram_destroy(coarse);
	return NULL;
}

static struct percentile_value percentile_at(const void *of, double fraction)
{
	const struct histogram_interval in = histogram_percentile(of, fraction);

	return (struct percentile_value){ .low = in.low, .high = in.high };
}

static char *format_bound(char *buffer, const void *of, uint64_t value)
{
	(void)of;
	return units_format(buffer, UNIT_NS, value);
}

static struct error *print_group(FILE *out, const struct histogram_group *group, bool utf8)
{
	const struct histogram *h = group->histogram;
	char sum[UNITS_TEXT_MAX], mean[UNITS_TEXT_MAX];
	struct error *err;

	fprintf(out, "\n%s, %s: %" PRIu64 " time%s, %s in all, mean %s\n", group->name,
		profile_classes[group->class].name, h->count, plural(h->count),
		units_format(sum, UNIT_NS, h->sum), units_format(mean, UNIT_NS, h->sum / h->count));
	err = print_bucket_rows(out, h, utf8);
	if (!err)
		percentiles_print(out, &(struct percentile_source){ h, h->count, percentile_at,
								    format_bound });
	return err;
}

struct error *histogram_report(FILE *out, const struct profile_report *report,
			       const struct profile_style *style)
{
	struct histogram_groups groups = { 0 };
	struct error *err = add_up(&groups, report->profile, profile_classes_shown(report),
				   report->view->group_by, coarsest(report->profile));
	size_t wanted = rows_wanted(style);

	if (groups.count)
		qsort(groups.items, groups.count, sizeof(*groups.items), by_sum);
	if (groups.count && !err)
		print_heading(out, style, "How long it took");
	for (size_t i = 0; i < groups.count && i < wanted && !err; i++)
		err = print_group(out, &groups.items[i], style->utf8);
	if (groups.count > wanted && !err)
		fprintf(out, "\n... %zu more histogram%s\n", groups.count - wanted,
			plural(groups.count - wanted));
	for (size_t i = 0; i < groups.count; i++) {
		free(groups.items[i].name);
		histogram_destroy(groups.items[i].histogram);
	}
	array_deinit(&groups);
	word_map_deinit(&groups.numbers);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <errno.h>

#include "capture/thread_files.h"
#include "os/taskstats.h"

#define FAMILY 23
#define FIRST  UINT32_MAX /* numbers of requests start again behind it */
#define ASKED  8

/* Fields that the reply did not hold are zero, and never measured. */
static void check_values(const struct taskstats_values *stats)
{
	static struct plan plan;
	struct taker taker = { .plan = &plan };
	struct ctprof_thread thread = { .tid = 1, .tgid = 1 };

	if (!plan.count)
		plan_init(&plan);
	for (unsigned field = 0; field < TASKSTATS_FIELD_COUNT; field++)
		must(stats->present >> field & 1 || !stats->values[field]);
	must(stats->present >> TASKSTATS_FIELD_COUNT == 0);
	take_taskstats(&taker, stats, DELAYS_BOOT, true, &thread);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		must(!metric_set_has(&thread.record.measured, (enum metric_id)i) ||
		     metrics[i].sources[0].id == SOURCE_TASKSTATS);
	if (!stats->present)
		must(!thread.record.measured.words[0] && !thread.record.measured.words[1]);
}

/* Answers to requests of threads 1 to ASKED, of which the first two have been answered. */
static void check_sorted(struct text datagram)
{
	struct taskstats_reply replies[ASKED];
	uint32_t tids[ASKED];
	size_t answered = 0, sorted;

	for (uint32_t i = 0; i < ASKED; i++) {
		tids[i] = i + 1;
		replies[i] = (struct taskstats_reply){ .tid = tids[i],
						       .failed = i < 2 ? ESRCH : ETIMEDOUT };
	}
	sorted = taskstats_sort_replies(datagram, FAMILY, FIRST, tids, ASKED, replies);
	must(replies[0].failed == ESRCH && replies[1].failed == ESRCH);
	for (size_t i = 2; i < ASKED; i++) {
		must(replies[i].failed || replies[i].tid == tids[i]);
		answered += replies[i].failed != ETIMEDOUT;
	}
	must(sorted >= answered);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes;
	struct taskstats_values stats;
	struct taskstats_reply reply;

	if (taskstats_parse(bytes, &stats))
		check_values(&stats);
	while (rest.length) {
		size_t before = rest.length;

		if (!taskstats_next_reply(&rest, FAMILY, &reply))
			break;
		must(rest.length < before && fuzz_is_inside(rest, bytes));
		must(reply.failed >= 0);
		if (!reply.failed)
			check_values(&reply.stats);
	}
	check_sorted(bytes);
	fuzz_release(bytes);
	return 0;
}

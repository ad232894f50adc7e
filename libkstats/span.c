/* SPDX-License-Identifier: BSD-2-Clause */
#include <time.h>

#include <kstats.h>

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct kstats_span kstats_span_start(struct kstats *key)
{
	return (struct kstats_span){ .key = key, .start_ns = now_ns() };
}

uint64_t kstats_span_stop(struct kstats_span span)
{
	uint64_t now = now_ns(), took = now > span.start_ns ? now - span.start_ns : 0;

	kstats_record(span.key, took);
	return took;
}

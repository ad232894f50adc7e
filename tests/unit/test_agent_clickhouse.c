/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which rows the agent sends to ClickHouse, and when again.
 */
#include <stdio.h>

#include "agent/losses.h"
#include "agent/sink.h"
#include "unit/profile_scene.h"

/* Counts rows, and fails at requests of one kind. */
struct requests {
	const char *failing; /* NULL: none */
	uint64_t stacks, samples;
	char others[1024]; /* what the request of `loads` asks; "": nothing */
};

static struct error *take(void *context, const struct sink_request *request)
{
	struct requests *requests = context;

	if (requests->failing && strings_equal(request->what, requests->failing))
		return &error_no_memory;
	if (strings_equal(request->what, "rows of stacks"))
		requests->stacks += request->count;
	if (strings_equal(request->what, "rows of samples"))
		requests->samples += request->count;
	if (strings_equal(request->what, "rows of loads"))
		snprintf(requests->others, sizeof(requests->others), "%s",
			 request->others ? request->others : "");
	else
		assert_null(request->others);
	return NULL;
}

/* `lost`: of this sink, or with OF_OTHER before it of another one. */
#define OF_OTHER "other: "
static struct error *encode(void *sink, const struct profile *profile, uint64_t t, const char *lost,
			    struct requests *requests)
{
	const bool is_other = lost && !strncmp(lost, OF_OTHER, strlen(OF_OTHER));
	const char *what = is_other ? lost + strlen(OF_OTHER) : lost;
	const struct agent_identity identity = { .host = "a", .version = "b", .interval_ns = 1 };
	const struct agent_loss loss = { is_other ? "clickhouse-2" : "clickhouse", what,
					 "spool full", 1 };
	const struct agent_interval interval = {
		.identity = &identity,
		.begun_unix_ns = t * NS_PER_S,
		.ns = NS_PER_S,
		.profile = profile,
		.losses = &loss,
		.loss_count = lost != NULL,
	};

	requests->stacks = requests->samples = 0;
	return sink_clickhouse.encode(sink, &interval, take, requests);
}

/* Stacks are sent once a day, and again if they were lost or not added. */
TEST(stacks_are_sent_again)
{
	const struct sink_options options = { .url = "http://localhost:1/x", .name = "clickhouse" };
	struct profile *profile = build_profile();
	const uint32_t thread = build_profile_thread(profile, 1, 1, "app", "app", "/");
	struct requests requests = { .failing = "rows of stacks" };
	uint64_t t = 1795177800;
	void *sink;

	build_sample(profile, thread, CLASS_ON_CPU, "main;work", 100, 1);
	build_sample(profile, thread, CLASS_ON_CPU, "main;rest", 100, 1);
	expect_ok(sink_clickhouse.open(&options, &sink));
	assert_ptr_equal(encode(sink, profile, t++, NULL, &requests), &error_no_memory);
	requests.failing = NULL;
	expect_ok(encode(sink, profile, t++, NULL, &requests));
	assert_int_equal(requests.stacks, 2);
	expect_ok(encode(sink, profile, t++, NULL, &requests));
	assert_int_equal(requests.stacks, 0);
	assert_int_equal(requests.samples, 2);
	expect_ok(encode(sink, profile, t++, "rows of samples", &requests));
	assert_int_equal(requests.stacks, 0);
	expect_ok(encode(sink, profile, t++, OF_OTHER "rows of stacks", &requests));
	assert_int_equal(requests.stacks, 0);
	expect_ok(encode(sink, profile, t++, "rows of stacks", &requests));
	assert_int_equal(requests.stacks, 2);
	expect_ok(encode(sink, profile, t++, LOSSES_OTHER, &requests));
	assert_int_equal(requests.stacks, 2);
	/* What comes behind the stacks fails: whether they were added is not known. */
	requests.failing = "rows of samples";
	assert_ptr_equal(encode(sink, profile, t++, NULL, &requests), &error_no_memory);
	requests.failing = NULL;
	expect_ok(encode(sink, profile, t++, NULL, &requests));
	assert_int_equal(requests.stacks, 2);
	expect_ok(encode(sink, profile, t + 24 * 3600, NULL, &requests));
	assert_int_equal(requests.stacks, 2);
	sink_clickhouse.close(sink);
	profile_destroy(profile);
}

static bool asks(void *sink, const struct profile *profile, uint64_t t)
{
	struct requests requests = { 0 };

	expect_ok(encode(sink, profile, t, NULL, &requests));
	return requests.others[0];
}

/* How many of the intervals of a second from `t` on ask whether another agent sends as this host; 0
 * or 1. `*ret` is the first that does. */
static size_t count_asking(void *sink, const struct profile *profile, uint64_t t, size_t count,
			   uint64_t *ret)
{
	size_t asking = 0;

	for (size_t i = 0; i < count; i++)
		if (asks(sink, profile, t + i) && !asking++)
			*ret = t + i;
	return asking;
}

/* It is asked of a time that begins with the agent, when that is over for as long; each hour; and
 * not of a time that own rows have twice, as the clock was set back. */
TEST(others_are_looked_for)
{
	const struct sink_options options = { .url = "http://localhost:1/x", .name = "clickhouse" };
	struct profile *profile = build_profile();
	const uint64_t start = 1795177800;
	struct requests requests = { 0 };
	uint64_t asked = 0;
	void *sink;

	expect_ok(sink_clickhouse.open(&options, &sink));
	assert_int_equal(count_asking(sink, profile, start, 20, &asked), 0);
	expect_ok(encode(sink, profile, start + 20, NULL, &requests));
	assert_non_null(strstr(requests.others, "t%20%3E=%20toDateTime(1795177800)"));
	assert_non_null(strstr(requests.others,
			       "if(t%20%3C%20toDateTime(1795177810),%20least(toInt64(ms),"));
	assert_int_equal(count_asking(sink, profile, start + 21, 3700, &asked), 1);
	assert_int_equal(asked, start + 3620);
	/* Set back, just before it would be asked again. */
	assert_int_equal(count_asking(sink, profile, start + 3721, 3499, &asked), 0);
	assert_int_equal(count_asking(sink, profile, start + 6600, 700, &asked), 1);
	assert_int_equal(asked, start + 7240);
	/* Times repeat: the time to ask of begins when those that were there are over. */
	assert_int_equal(count_asking(sink, profile, start + 7300, 3530, &asked), 0);
	assert_int_equal(count_asking(sink, profile, start + 10820, 10, &asked), 0);
	assert_int_equal(count_asking(sink, profile, start + 10830, 100, &asked), 1);
	assert_int_equal(asked, start + 10850);
	sink_clickhouse.close(sink);
	profile_destroy(profile);
}

UNIT_TESTS(cmocka_unit_test(stacks_are_sent_again), cmocka_unit_test(others_are_looked_for))

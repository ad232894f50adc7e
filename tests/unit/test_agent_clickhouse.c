/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which rows the agent sends to ClickHouse, and when again.
 */
#include "agent/losses.h"
#include "agent/sink.h"
#include "unit/profile_scene.h"

/* Counts rows, and fails at requests of one kind. */
struct requests {
	const char *failing; /* NULL: none */
	uint64_t stacks, samples;
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

UNIT_TESTS(cmocka_unit_test(stacks_are_sent_again))

/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/clickhouse.h"

#include "agent/clickhouse_answer.h"
#include "agent/losses.h"
#include "store/address.h"

/* Requests of this sink were lost: what other rows refer to, and is sent once, is sent again. */
static void forget_lost(struct clickhouse *sink, const struct agent_interval *interval)
{
	for (size_t i = 0; i < interval->loss_count; i++) {
		const char *what = interval->losses[i].what, *of = interval->losses[i].sink;
		const bool is_any = strings_equal(what, LOSSES_OTHER);

		/* Losses that are summed up have no name. */
		if (sink->name && *of && !strings_equal(of, sink->name))
			continue;
		if (is_any || strings_equal(what, "rows of stacks"))
			map_deinit(&sink->sent_stacks);
		if (is_any || strings_equal(what, "rows of hosts"))
			sink->host_sent = 0;
	}
}

static struct error *encode_all(struct clickhouse *sink, const struct agent_interval *interval)
{
	struct error *err = NULL;

	if (interval->profile) {
		err = clickhouse_group(sink, interval);
		if (!err)
			err = clickhouse_samples(sink, interval);
		if (!err)
			err = clickhouse_states(sink, interval);
	}
	if (!err && interval->changes)
		err = clickhouse_threads(sink, interval);
	return err ? err : clickhouse_host(sink, interval);
}

static struct error *encode(void *context, const struct agent_interval *interval, sink_emit *emit,
			    void *emit_context)
{
	struct clickhouse *sink = context;
	struct error *err;

	sink->insert.host = text_of(interval->identity->host);
	sink->insert.t = interval->begun_unix_ns / NS_PER_S;
	sink->insert.emit = emit;
	sink->insert.context = emit_context;
	forget_lost(sink, interval);
	clickhouse_set_facts(sink, interval->identity);
	err = encode_all(sink, interval);
	/* Stacks of a request that was not added are marked as sent. */
	if (err)
		map_deinit(&sink->sent_stacks);
	return err;
}

static void destroy(void *context)
{
	struct clickhouse *sink = context;

	if (!sink)
		return;
	insert_deinit(&sink->insert);
	map_deinit(&sink->sent_stacks);
	stack_hashes_deinit(&sink->hashes);
	word_map_deinit(&sink->group_numbers);
	word_map_deinit(&sink->sum_numbers);
	array_deinit(&sink->groups);
	array_deinit(&sink->thread_groups);
	array_deinit(&sink->sums);
	array_deinit(&sink->functions);
	array_deinit(&sink->modules);
	array_deinit(&sink->sources);
	array_deinit(&sink->lines);
	array_deinit(&sink->kinds);
	free(sink->database);
	free(sink);
}

static struct error *create(const struct sink_options *options, void **ret)
{
	struct clickhouse *sink = calloc(1, sizeof(*sink));
	struct store_address address = { 0 };
	struct error *err;

	if (!sink)
		return &error_no_memory;
	sink->name = options->name;
	sink->sent_stacks.most = SENT_STACKS_MOST;
	err = store_address_parse(options->url, STORE_ADDRESS_HTTP, &address);
	if (err) {
		destroy(sink);
		return err;
	}
	free(address.server);
	sink->database = address.database;
	sink->insert.database = sink->database;
	*ret = sink;
	return NULL;
}

static struct error *server_of(const char *url, char **ret)
{
	struct store_address address = { 0 };
	struct error *err = store_address_parse(url, STORE_ADDRESS_HTTP, &address);

	if (err)
		return err;
	free(address.database);
	*ret = address.server;
	return NULL;
}

const struct sink_type sink_clickhouse = {
	.name = "clickhouse",
	.keeps_losses = true,
	.server = server_of,
	.judge = clickhouse_judge,
	.answer_header = CLICKHOUSE_CODE_HEADER,
	.open = create,
	.encode = encode,
	.close = destroy,
};

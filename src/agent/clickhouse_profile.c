/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/clickhouse.h"
#include "base/sum.h"
#include "profile/thread_states.h"

static struct text text_of_class(unsigned class)
{
	return text_of(profile_classes[class].name);
}

/* --- groups --- */

static struct error *group_of(struct clickhouse *sink, const struct profile_thread *thread,
			      uint32_t *ret)
{
	const struct words key = { { (uintptr_t)thread->process, (uintptr_t)thread->name,
				     (uintptr_t)thread->cgroup } };
	uint32_t *number = word_map_at(&sink->group_numbers, key);

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		*number = (uint32_t)sink->groups.count;
		if (!array_push(&sink->groups,
				(struct clickhouse_group){ thread->process, thread->name,
							   thread->cgroup }))
			return &error_no_memory;
	}
	*ret = *number;
	return NULL;
}

struct error *clickhouse_group(struct clickhouse *sink, const struct agent_interval *interval)
{
	const struct profile *profile = interval->profile;

	word_map_deinit(&sink->group_numbers);
	array_clear(&sink->groups);
	array_clear(&sink->thread_groups);
	if (!array_reserve(&sink->thread_groups, profile->threads.count))
		return &error_no_memory;
	for (size_t i = 0; i < profile->threads.count; i++) {
		struct error *err =
			group_of(sink, &profile->threads.items[i], &sink->thread_groups.items[i]);

		if (err)
			return err;
	}
	sink->thread_groups.count = profile->threads.count;
	return NULL;
}

/* --- sums of samples --- */

static struct error *add_sample(struct clickhouse *sink, const struct sample *sample)
{
	const struct clickhouse_sum is_new = {
		.group = sink->thread_groups.items[sample->thread],
		.node = sample->node,
		.class = (uint8_t)sample->class,
		.state = sample->state,
		.stack = stack_hash(&sink->hashes, sample->node),
	};
	const struct words key = { { is_new.group, (uint64_t)is_new.class << 8 | is_new.state,
				     is_new.stack } };
	uint32_t *number = word_map_at(&sink->sum_numbers, key);
	struct clickhouse_sum *sum;

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		*number = (uint32_t)sink->sums.count;
		if (!array_push(&sink->sums, is_new))
			return &error_no_memory;
	}
	sum = &sink->sums.items[*number];
	sum_add(&sum->ns, sample->ns);
	sum_add(&sum->count, sample->count);
	if (sum->longest_ns < sample->longest_ns)
		sum->longest_ns = sample->longest_ns;
	return NULL;
}

static struct error *sum_up(struct clickhouse *sink, const struct profile *profile)
{
	struct error *err = NULL;

	word_map_deinit(&sink->sum_numbers);
	array_clear(&sink->sums);
	for (size_t i = 0; i < profile->samples.count && !err; i++)
		err = add_sample(sink, &profile->samples.items[i]);
	return err;
}

/* --- stacks --- */

static struct error *add_frame(struct clickhouse *sink, const struct frame *frame)
{
	if (array_push(&sink->functions, name_text(frame->name)) &&
	    array_push(&sink->modules, name_text(frame->module)) &&
	    array_push(&sink->sources, name_text(frame->source)) &&
	    array_push(&sink->lines, frame->line) && array_push(&sink->kinds, stack_kind(frame)))
		return NULL;
	return &error_no_memory;
}

static void reverse_texts(struct text *items, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct text other = items[i];

		items[i] = items[count - 1 - i];
		items[count - 1 - i] = other;
	}
}

static void reverse_numbers(uint32_t *items, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t other = items[i];

		items[i] = items[count - 1 - i];
		items[count - 1 - i] = other;
	}
}

/* From the innermost frame on, then the other way round: callers first. */
static struct error *take_frames(struct clickhouse *sink, const struct profile *profile,
				 uint32_t node)
{
	struct error *err = NULL;
	size_t count;

	sink->functions.count = sink->modules.count = sink->sources.count = 0;
	sink->lines.count = sink->kinds.count = 0;
	for (; node != NODE_NONE && !err; node = profile->nodes.items[node].parent)
		err = add_frame(sink, &profile->frames.items[profile->nodes.items[node].frame]);
	count = sink->functions.count;
	reverse_texts(sink->functions.items, count);
	reverse_texts(sink->modules.items, count);
	reverse_texts(sink->sources.items, count);
	reverse_numbers(sink->lines.items, count);
	reverse_numbers(sink->kinds.items, count);
	return err;
}

static struct error *put_stack(struct clickhouse *sink, const struct profile *profile,
			       const struct clickhouse_sum *sum)
{
	struct error *err = take_frames(sink, profile, sum->node);
	union store_value row[STACKS_COUNT] = { 0 };
	size_t count = sink->functions.count;

	if (err)
		return err;
	row[STACKS_hash].number = sum->stack;
	row[STACKS_seen].number = sink->insert.t;
	row[STACKS_functions].texts = (struct store_texts){ sink->functions.items, count };
	row[STACKS_modules].texts = (struct store_texts){ sink->modules.items, count };
	row[STACKS_sources].texts = (struct store_texts){ sink->sources.items, count };
	row[STACKS_lines].numbers = (struct store_numbers){ sink->lines.items, count };
	row[STACKS_kinds].numbers = (struct store_numbers){ sink->kinds.items, count };
	return insert_row(&sink->insert, row);
}

/* Is it to be sent? It counts as sent from now on. */
static bool is_due(struct clickhouse *sink, uint64_t stack)
{
	bool is_new;
	uint32_t *sent = map_add(&sink->sent_stacks, stack, &is_new);

	if (!sent) {
		/* No room: all are sent again, this one now. */
		map_deinit(&sink->sent_stacks);
		return true;
	}
	if (!is_new && sink->insert.t < (uint64_t)*sent + SENT_AGAIN_S)
		return false;
	*sent = (uint32_t)sink->insert.t;
	return true;
}

/* Stacks come in several requests, so that none is large. */
#define STACKS_BODY_MOST ((size_t)256 << 10)

static struct error *put_stacks(struct clickhouse *sink, const struct profile *profile)
{
	struct error *err = insert_begin(&sink->insert, STORE_TABLE_stacks);

	for (size_t i = 0; i < sink->sums.count && !err; i++) {
		const struct clickhouse_sum *sum = &sink->sums.items[i];

		if (!sum->stack || !is_due(sink, sum->stack))
			continue;
		err = put_stack(sink, profile, sum);
		if (err || sink->insert.body.count < STACKS_BODY_MOST)
			continue;
		err = insert_end(&sink->insert);
		if (!err)
			err = insert_begin(&sink->insert, STORE_TABLE_stacks);
	}
	return err ? err : insert_end(&sink->insert);
}

/* --- rows --- */

static struct error *put_sums(struct clickhouse *sink, const struct agent_interval *interval)
{
	struct error *err = insert_begin(&sink->insert, STORE_TABLE_samples);

	for (size_t i = 0; i < sink->sums.count && !err; i++) {
		const struct clickhouse_sum *sum = &sink->sums.items[i];
		const struct clickhouse_group *group = &sink->groups.items[sum->group];
		const union store_value row[SAMPLES_COUNT] = {
			[SAMPLES_host] = { .text = text_of(interval->identity->host) },
			[SAMPLES_t] = { sink->insert.t },
			[SAMPLES_process] = { .text = name_text(group->process) },
			[SAMPLES_comm] = { .text = name_text(group->comm) },
			[SAMPLES_cgroup] = { .text = name_text(group->cgroup) },
			[SAMPLES_class] = { .text = text_of_class(sum->class) },
			[SAMPLES_state] = { .text = sum->state < STATE_COUNT
							    ? text_of(state_rows[sum->state].name)
							    : TEXT("") },
			[SAMPLES_stack] = { sum->stack },
			[SAMPLES_facts] = { sink->facts },
			[SAMPLES_ns] = { sum->ns },
			[SAMPLES_count] = { sum->count },
			[SAMPLES_longest_ns] = { sum->longest_ns },
		};

		err = insert_row(&sink->insert, row);
	}
	return err ? err : insert_end(&sink->insert);
}

struct error *clickhouse_samples(struct clickhouse *sink, const struct agent_interval *interval)
{
	struct error *err = stack_hashes_take(&sink->hashes, interval->profile);

	if (!err)
		err = sum_up(sink, interval->profile);
	if (!err)
		err = put_stacks(sink, interval->profile);
	return err ? err : put_sums(sink, interval);
}

/* --- states --- */

struct group_states {
	uint32_t threads;
	uint64_t ns[STATE_COUNT];
};

static struct error *put_states(struct clickhouse *sink, const struct agent_interval *interval,
				const struct group_states *states)
{
	struct error *err = insert_begin(&sink->insert, STORE_TABLE_states);

	for (size_t i = 0; i < sink->groups.count && !err; i++) {
		const struct clickhouse_group *group = &sink->groups.items[i];
		union store_value row[STATES_COUNT + STATE_COUNT] = {
			[STATES_host] = { .text = text_of(interval->identity->host) },
			[STATES_t] = { sink->insert.t },
			[STATES_ms] = { clickhouse_ms(interval) },
			[STATES_process] = { .text = name_text(group->process) },
			[STATES_comm] = { .text = name_text(group->comm) },
			[STATES_cgroup] = { .text = name_text(group->cgroup) },
			[STATES_facts] = { sink->facts },
			[STATES_threads] = { states[i].threads },
		};

		for (size_t s = 0; s < STATE_COUNT; s++)
			row[STATES_COUNT + s].number = states[i].ns[s];
		err = insert_row(&sink->insert, row);
	}
	return err ? err : insert_end(&sink->insert);
}

struct error *clickhouse_states(struct clickhouse *sink, const struct agent_interval *interval)
{
	const struct profile *profile = interval->profile;
	_cleanup_free_ struct group_states *states =
		calloc(sink->groups.count + 1, sizeof(*states));
	_cleanup_free_ struct state_times *times = NULL;
	struct error *err = states ? profile_thread_states(profile, &times) : &error_no_memory;

	if (err)
		return err;
	for (size_t i = 0; i < profile->threads.count; i++) {
		struct group_states *group = &states[sink->thread_groups.items[i]];

		group->threads++;
		for (size_t s = 0; s < STATE_COUNT; s++)
			sum_add(&group->ns[s], times[i].ns[s]);
	}
	return put_states(sink, interval, states);
}

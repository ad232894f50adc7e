/* SPDX-License-Identifier: BSD-2-Clause */
#include "walk_fuzz.h"

#include <string.h>

#include "unwind/walk_state.h"

/* --- the store --- */

static uint32_t *chunk;
static struct unwind_rule *rules;
static struct unwind_store *store;

static struct error *add_chunk(void *context, uint32_t number, uint32_t **ret)
{
	(void)context;
	must(number == 0);
	*ret = chunk = calloc(1, UNWIND_CHUNK_BYTES);
	must(chunk);
	return NULL;
}

static void make_store(void)
{
	uint32_t place;

	rules = calloc(UNWIND_RULES_MAX, sizeof(*rules));
	must(rules);
	must(!unwind_store_create(
		&(struct unwind_store_options){ .add_chunk = add_chunk, .rules = rules }, &store));
	must(!unwind_store_take(store, 1, &place));
	/* So that these numbers are known; what they mean is the input's to say. */
	for (int i = 0; i < WALK_RULES; i++)
		must(unwind_store_rule(store, &(struct unwind_rule){ .kind = UNWIND_RULE_FRAME,
								     .cfa_offset = 8 * i }) ==
		     UNWIND_NUMBERS_FIXED + (uint32_t)i);
}

/* --- the input --- */

static void take(const uint8_t **data, size_t *size, void *into, size_t wanted)
{
	size_t there = *size < wanted ? *size : wanted;

	memset(into, 0, wanted);
	if (there)
		memcpy(into, *data, there);
	*data += there;
	*size -= there;
}

static void take_tables(const struct walk_head *head, const uint8_t **data, size_t *size)
{
	static uint32_t first, count; /* words that the last input wrote */

	if (!store)
		make_store();
	take(data, size, &rules[UNWIND_NUMBERS_FIXED],
	     head->rule_count % (WALK_RULES + 1) * sizeof(*rules));
	memset(chunk + first, 0, count * sizeof(*chunk));
	first = head->words_at % UNWIND_CHUNK;
	count = head->word_count;
	if (count > UNWIND_CHUNK - first)
		count = UNWIND_CHUNK - first;
	take(data, size, chunk + first, count * sizeof(*chunk));
}

struct walk_input walk_input_of(const uint8_t *data, size_t size)
{
	struct walk_input input = { 0 };
	struct walk_head *head = &input.head;

	take(&data, &size, head, sizeof(*head));
	take_tables(head, &data, &size);
	/* Spaces are at multiples of 8 (unwind/store.h). */
	input.process.space = head->space & ~7u;
	input.process.count = head->count;
	input.registers.ip = head->ip;
	input.registers.sp = head->sp;
	input.registers.bp = head->bp;
	input.registers.bx = head->bx;
	for (size_t i = 0; i < UNWIND_REGISTERS; i++)
		input.registers.others[i] = head->other + i;
	input.registers.has_others = head->flags & WALK_HAS_OTHERS;
	input.only_tables = head->flags & WALK_ONLY_TABLES;
	if (head->flags & WALK_NO_STORE)
		input.process = (struct unwind_process){ 0 };
	else
		input.store = store;
	input.memory = data;
	input.bytes = size;
	return input;
}

bool walk_input_word(const struct walk_input *input, uint64_t address, uint64_t *ret)
{
	const uint64_t start = input->head.memory_start;

	if (input->bytes < 8 || address < start || address - start > input->bytes - 8)
		return false;
	memcpy(ret, input->memory + (address - start), 8);
	return true;
}

void walk_check(const struct walk_input *input, const uint64_t *frames, size_t count, size_t most)
{
	must(count >= 1 && count <= most);
	must(frames[0] == input->registers.ip);
	for (size_t i = 1; i < count; i++)
		must(frames[i] >= UNWIND_USER_LOWEST && frames[i] < USER_SPACE_LIMIT);
}

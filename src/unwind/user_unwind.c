/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/user_unwind.h"

#include "unwind/walk.h"

struct user_unwind_context {
	const struct unwind_store *store;
	const struct unwind_registers *registers;
	const struct unwind_reader *reader;
};

static bool read_word(void *context, __u64 address, __u64 *ret)
{
	const struct user_unwind_context *f = context;
	uint64_t word;

	if (!f->reader->word(f->reader->context, address, &word))
		return false;
	*ret = word;
	return true;
}

static bool read_register(void *context, __u32 number, __u64 *ret)
{
	const struct user_unwind_context *f = context;

	if (!f->registers->has_others || number >= UNWIND_REGISTERS - 1)
		return false;
	*ret = f->registers->others[number];
	return true;
}

static const __u32 *chunk_of(void *context, __u32 location)
{
	const struct user_unwind_context *f = context;
	const __u32 *words = unwind_store_at(f->store, location);

	return words ? words - location % UNWIND_CHUNK : NULL;
}

static const struct unwind_rule *rule_of(void *context, __u32 number)
{
	const struct user_unwind_context *f = context;

	return unwind_store_rule_at(f->store, number);
}

size_t user_unwind(const struct unwind_store *store, const struct unwind_process *process,
		   const struct unwind_registers *registers, const struct unwind_reader *reader,
		   uint64_t *frames, size_t most, enum unwind_stop *ret_stop)
{
	struct user_unwind_context f = { store, registers, reader };
	struct unwind_memory memory = {
		.word = read_word,
		.reg = read_register,
		.chunk = chunk_of,
		.rule = rule_of,
		.context = &f,
	};
	const bool is_known = process->count;
	struct unwind_walk w = {
		.ip = registers->ip,
		.sp = registers->sp,
		.bp = registers->bp,
		.bx = registers->bx,
		.known = UNWIND_KNOWS_ALL,
		.is_exact = 1,
		.space = process->space,
		.count = process->count,
		.only_tables = reader->only_tables,
	};
	size_t count = 0;
	__u32 stop;

	if (!is_known) {
		w.end = USER_SPACE_LIMIT;
		w.kind = UNWIND_MAPPING_POINTER;
	}
	/* The last step is only to see whether there is one more. */
	do {
		if (count == most) {
			stop = UNWIND_TRUNCATED;
			break;
		}
		frames[count++] = w.ip;
		stop = unwind_step(&w, &memory);
	} while (stop == UNWIND_GOES_ON);
	*ret_stop = is_known ? (enum unwind_stop)stop : UNWIND_NO_PROCESS;
	return count;
}

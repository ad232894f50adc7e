/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/inferred.h"

#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/radix.h"
#include "base/text.h"
#include "base/word_map.h"
#include "unwind/frame_state.h"

/* The alignment of functions by compilers. */
#define FUNCTION_ALIGNMENT 16
/* Instructions of one that only jumps on. */
#define STUB_MAX 2

enum mark {
	IS_ENTRY = 1,  /* of a function, for sure */
	IS_TARGET = 2, /* of a jump */
	IS_READ = 4,   /* `operations` has it */
	IS_SWEPT = 8,  /* one instruction behind the other arrives here */
	IS_NEW = 16,   /* reached in this function */
};

struct flow {
	struct decoder *decoder;
	struct word_map numbers; /* of states */
	struct {
		ARRAY(struct frame_state);
	} states;
	uint32_t last_state; /* that was looked for; 0: none */
	/* The range of code being followed; arrays have an element for each byte. */
	uint64_t start;
	const uint8_t *code;
	uint32_t size;
	uint8_t *marks;
	struct operation *operations;
	uint32_t *state_at; /* number, counted from 1; 0: nothing is known */
	/* The function being followed. */
	struct {
		ARRAY(uint32_t);
	} ways, reached;
	/* Calls, of all functions, behind which others jump to. */
	struct {
		ARRAY(uint32_t);
	} later;
	size_t agreed, disagreed;
	/* The budget of the range: following a function costs its size, also in vain. */
	uint64_t steps_left;
	bool no_memory;
};

#define STEPS_OF_BYTE 4

/* The largest file that was seen has some thousand. */
#define STATES_MAX 65536

/* --- states --- */

/* 0: there is no memory, or there are too many. */
static uint32_t state_number(struct flow *flow, const struct frame_state *state)
{
	struct words key = { { 0 } };
	uint32_t *number;

	_Static_assert(sizeof(*state) == 16, "a state is two words of a key");
	/* Most instructions change nothing. */
	if (flow->last_state &&
	    !memcmp(&flow->states.items[flow->last_state - 1], state, sizeof(*state)))
		return flow->last_state;
	memcpy(key.w, state, sizeof(*state));
	if (flow->states.count >= STATES_MAX) {
		const uint32_t known = word_map_find(&flow->numbers, key);

		return flow->last_state = known == WORD_MAP_NEW ? 0 : known;
	}
	number = word_map_at(&flow->numbers, key);
	if (number && *number == WORD_MAP_NEW) {
		if (!array_push(&flow->states, *state))
			number = NULL;
		else
			*number = (uint32_t)flow->states.count;
	}
	flow->no_memory |= !number;
	return flow->last_state = number ? *number : 0;
}

/* --- following --- */

static const struct operation *operation_at(struct flow *flow, uint32_t at)
{
	if (!(flow->marks[at] & IS_READ)) {
		flow->operations[at] =
			decoder_read(flow->decoder, flow->code + at, flow->size - at);
		flow->marks[at] |= IS_READ;
	}
	return &flow->operations[at];
}

static void reach(struct flow *flow, uint32_t at, const struct frame_state *state)
{
	const uint32_t number = state_number(flow, state);

	if (!number) {
		flow->disagreed++;
		return;
	}
	if (!array_push(&flow->reached, at) || !array_push(&flow->ways, at)) {
		flow->no_memory = true;
		return;
	}
	flow->state_at[at] = number;
	flow->marks[at] |= IS_NEW;
}

/* A way arrives. */
static void arrive(struct flow *flow, uint32_t at, const struct frame_state *state, bool jumps)
{
	if (flow->state_at[at]) {
		const bool fit =
			frame_state_agrees(&flow->states.items[flow->state_at[at] - 1], state);

		/* A loop always agrees with itself, so it confirms nothing. */
		flow->agreed += fit && !(flow->marks[at] & IS_NEW);
		/* Nothing is behind a call that does not return, and the next function may be. */
		flow->disagreed += !fit && (jumps || !(flow->marks[at] & IS_ENTRY));
		return;
	}
	/* A tail call, or the end of a function whose last call does not return. */
	if (flow->marks[at] & IS_ENTRY) {
		flow->agreed += jumps && state->sp == frame_at_entry.sp;
		flow->disagreed += jumps && state->sp != frame_at_entry.sp;
		return;
	}
	reach(flow, at, state);
}

static void follow_jump(struct flow *flow, uint32_t at, const struct operation *operation,
			const struct frame_state *state)
{
	const int64_t to = (int64_t)at + operation->value;

	if (to >= 0 && to < flow->size)
		arrive(flow, (uint32_t)to, state, true);
	else
		flow->agreed += operation->kind == OPERATION_JUMP && state->sp == frame_at_entry.sp;
}

static void follow_next(struct flow *flow, uint32_t at, const struct operation *operation,
			const struct frame_state *state)
{
	const uint32_t next = at + operation->length;

	if (next < flow->size)
		arrive(flow, next, state, false);
}

static bool is_aligned(const struct flow *flow, uint32_t at)
{
	return (flow->start + at) % FUNCTION_ALIGNMENT == 0;
}

/* Is what follows a call there because the call does not return? */
static bool is_other_function(struct flow *flow, uint32_t at)
{
	const enum operation_kind kind = operation_at(flow, at)->kind;

	return kind == OPERATION_PAD || (kind == OPERATION_PUSH && is_aligned(flow, at));
}

/* Behind a call that does not return is what others jump to: these say how it is there. */
static void go_on_behind_call(struct flow *flow, uint32_t at, const struct operation *operation,
			      const struct frame_state *state)
{
	const uint32_t next = at + operation->length;

	if (next < flow->size && flow->marks[next] & IS_TARGET && !flow->state_at[next])
		flow->no_memory |= !array_push(&flow->later, at);
	else if (next < flow->size && !is_other_function(flow, next))
		follow_next(flow, at, operation, state);
}

static void follow_one(struct flow *flow, uint32_t at)
{
	const struct operation operation = *operation_at(flow, at);
	struct frame_state state = flow->states.items[flow->state_at[at] - 1];

	frame_state_apply(&state, &operation);
	switch ((enum operation_kind)operation.kind) {
	case OPERATION_NONE:
		flow->disagreed++;
		break;
	case OPERATION_END:
		break;
	case OPERATION_SIGRETURN:
		flow->agreed++;
		break;
	case OPERATION_RETURN:
		if (state.sp != FRAME_UNKNOWN) {
			flow->agreed += state.sp == frame_at_entry.sp;
			flow->disagreed += state.sp != frame_at_entry.sp;
		}
		break;
	case OPERATION_JUMP:
		follow_jump(flow, at, &operation, &state);
		break;
	case OPERATION_JUMP_INDIRECT:
		/* A tail call of a short stub; in a longer function it may be the jump of a switch
		 * statement, which confirms nothing about the stack. */
		flow->agreed += state.sp == frame_at_entry.sp && flow->reached.count <= STUB_MAX;
		break;
	case OPERATION_BRANCH:
		follow_jump(flow, at, &operation, &state);
		follow_next(flow, at, &operation, &state);
		break;
	case OPERATION_CALL:
	case OPERATION_CALL_INDIRECT:
		go_on_behind_call(flow, at, &operation, &state);
		break;
	default:
		follow_next(flow, at, &operation, &state);
	}
}

/* A function from its first instruction, or what an indirect jump leads to. It is forgotten unless
 * its ways agree; `is_sure`: also where no way says so. */
static bool follow_from(struct flow *flow, uint32_t start, const struct frame_state *state,
			bool is_sure)
{
	bool is_fit;

	flow->ways.count = flow->reached.count = 0;
	flow->agreed = flow->disagreed = 0;
	reach(flow, start, state);
	while (!flow->no_memory && flow->ways.count) {
		if (!flow->steps_left) {
			flow->disagreed++;
			break;
		}
		flow->steps_left--;
		follow_one(flow, flow->ways.items[--flow->ways.count]);
	}
	is_fit = !flow->no_memory && !flow->disagreed && (flow->agreed || is_sure);
	for (size_t i = 0; i < flow->reached.count; i++) {
		flow->marks[flow->reached.items[i]] &= (uint8_t)~IS_NEW;
		if (!is_fit)
			flow->state_at[flow->reached.items[i]] = 0;
	}
	return is_fit;
}

/* --- a stretch of code --- */

/* Decode all instructions in order, to find the targets of jumps and calls. */
static void sweep(struct flow *flow)
{
	for (uint32_t at = 0; at < flow->size;) {
		const struct operation *operation = operation_at(flow, at);
		const int64_t to = (int64_t)at + operation->value;

		flow->marks[at] |= IS_SWEPT;
		if (to >= 0 && to < flow->size) {
			if (operation->kind == OPERATION_CALL)
				flow->marks[to] |= IS_ENTRY;
			if (operation->kind == OPERATION_JUMP ||
			    operation->kind == OPERATION_BRANCH)
				flow->marks[to] |= IS_TARGET;
		}
		at += operation->length ? operation->length : 1;
	}
}

/* Does nothing go on to what is behind it? */
static bool is_end(const struct operation *operation)
{
	switch ((enum operation_kind)operation->kind) {
	case OPERATION_NONE:
	case OPERATION_PAD:
	case OPERATION_JUMP:
	case OPERATION_JUMP_INDIRECT:
	case OPERATION_RETURN:
	case OPERATION_END:
	case OPERATION_SIGRETURN:
		return true;
	default:
		return false;
	}
}

/* A function begins so. It may never return, and then no path confirms its state. */
static bool makes_frame(struct flow *flow, uint32_t at)
{
	const struct operation *operation = operation_at(flow, at);

	return is_aligned(flow, at) &&
	       (operation->kind == OPERATION_PUSH ||
		(operation->kind == OPERATION_ADD_SP && operation->value < 0));
}

static bool follow_case(struct flow *flow, uint32_t at, uint32_t jump_state)
{
	const struct frame_state state = flow->states.items[jump_state - 1];

	return follow_from(flow, at, &state, false);
}

/* Follow code that has not been reached: case labels, with the state of the indirect jump before
 * them, and functions without a direct call. */
static void look_at_rest(struct inferred *inferred)
{
	struct flow *flow = inferred->flow;
	uint32_t jump_state = 0; /* of the last one in this function */
	bool may_begin = true, is_behind_pad = true;

	for (uint32_t at = 0; at < flow->size && !flow->no_memory; at++) {
		const struct operation *operation;

		if (!flow->state_at[at] && !(flow->marks[at] & IS_SWEPT))
			continue;
		operation = operation_at(flow, at);
		if (flow->marks[at] & IS_ENTRY)
			jump_state = 0;
		else if (!flow->state_at[at] && may_begin && operation->kind != OPERATION_PAD &&
			 operation->kind != OPERATION_NONE && operation->kind != OPERATION_END) {
			if (!(jump_state && follow_case(flow, at, jump_state)) &&
			    (!jump_state || is_behind_pad || is_aligned(flow, at)) &&
			    follow_from(flow, at, &frame_at_entry,
					!jump_state && makes_frame(flow, at)))
				jump_state = 0;
		}
		if (flow->state_at[at] && operation->kind == OPERATION_JUMP_INDIRECT)
			jump_state = flow->state_at[at];
		may_begin = is_end(operation);
		is_behind_pad = operation->kind == OPERATION_PAD;
	}
}

/* Continue behind calls that may not return, unless a jump has led there. */
static void follow_after_calls(struct flow *flow)
{
	for (size_t i = 0; i < flow->later.count && !flow->no_memory; i++) {
		const uint32_t at = flow->later.items[i], next = at + flow->operations[at].length;

		/* The function may have turned out not to agree. */
		if (flow->state_at[at] && !flow->state_at[next]) {
			const struct frame_state state = flow->states.items[flow->state_at[at] - 1];

			follow_from(flow, next, &state, false);
		}
	}
	flow->later.count = 0;
}

static void look_at(struct inferred *inferred)
{
	struct flow *flow = inferred->flow;

	sweep(flow);
	if (inferred->begin - flow->start < flow->size) {
		const uint32_t at = (uint32_t)(inferred->begin - flow->start);

		flow->marks[at] |= IS_ENTRY;
		follow_from(flow, at, &frame_at_begin, true);
	}
	for (uint32_t at = 0; at < flow->size && !flow->no_memory; at++) {
		if (flow->state_at[at])
			continue;
		if (!(flow->marks[at] & IS_ENTRY))
			continue;
		if (follow_from(flow, at, &frame_at_entry, true))
			inferred->functions++;
		else
			inferred->refused++;
	}
	follow_after_calls(flow);
	look_at_rest(inferred);
}

/* --- rules --- */

/* The rule for a signal handler's return: the kernel has put a struct ucontext below its frame
 * (arch/x86/include/uapi/asm/sigcontext.h). */
static const struct unwind_rule of_signal = {
	.kind = UNWIND_RULE_FRAME,
	.flags = UNWIND_SIGNAL | UNWIND_DEREF,
	.base = UNWIND_BASE_SP,
	.cfa_offset = 160,
	.ra = UNWIND_AT_SP,
	.ra_offset = 21,
	.bp = UNWIND_AT_SP,
	.bp_offset = 15,
	.bx = UNWIND_AT_SP,
	.bx_offset = 16,
};

bool inferred_show(const struct inferred *inferred, uint64_t start, uint64_t end, cfi_visit *visit,
		   void *context)
{
	static const struct unwind_rule none = { .kind = UNWIND_RULE_NONE };
	struct flow *flow = inferred->flow;
	const uint64_t base = flow ? flow->start : 0;
	uint64_t shown = start;

	if (!flow || start < base)
		return true;
	for (uint64_t at = start - base; at < flow->size && base + at < end; at++) {
		const struct operation *operation;
		struct unwind_rule rule;
		uint64_t from = base + at;

		if (!flow->state_at[at])
			continue;
		operation = operation_at(flow, (uint32_t)at);
		rule = frame_state_rule(&flow->states.items[flow->state_at[at] - 1]);
		if (operation->kind == OPERATION_SIGRETURN) {
			rule = of_signal;
			/* A walker looks up a return address one byte before it, so the rule of a
			 * signal trampoline begins one byte early. */
			from -= from > start;
		}
		if ((shown < from && !visit(context, shown, &none)) || !visit(context, from, &rule))
			return false;
		shown = base + at + operation->length;
	}
	return shown >= end || visit(context, shown, &none);
}

/* --- where functions begin --- */

struct entry_symbols {
	uint64_t first; /* address of code; all others are less than 4 GiB behind it */
	struct {
		ARRAY(struct radix_key);
	} by_address; /* how far behind it, and where in `names` */
	struct {
		ARRAY(uint32_t);
	} names;
	/* There are at most two tables of symbols: where the names of each are, and where those of
	 * the second begin in `names`. */
	uint64_t tables[2];
	size_t second;
	bool no_memory;
};

/* Names are read of the few that are in code without a description. */
static bool take_symbol(void *context, const Elf64_Sym *symbol, uint64_t names)
{
	struct entry_symbols *entries = context;
	const unsigned type = ELF64_ST_TYPE(symbol->st_info);
	const bool is_typed = type == STT_FUNC || type == STT_GNU_IFUNC;
	const bool is_global = type == STT_NOTYPE && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL;
	const uint64_t behind = symbol->st_value - entries->first;

	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value || !(is_typed || is_global) ||
	    behind > UINT32_MAX)
		return true;
	if (!entries->names.count)
		entries->tables[0] = names;
	if (entries->tables[0] == names)
		entries->second = entries->names.count + 1;
	else
		entries->tables[1] = names;
	entries->no_memory |= !array_push(&entries->by_address,
					  (struct radix_key){ (uint32_t)behind,
							      (uint32_t)entries->names.count }) ||
			      !array_push(&entries->names, symbol->st_name);
	return !entries->no_memory;
}

static bool sort_entries(struct entry_symbols *entries)
{
	const size_t count = entries->by_address.count;
	struct radix_key *keys = entries->by_address.items, *spare, *sorted;

	spare = calloc(count + 1, sizeof(*spare));
	if (!spare)
		return false;
	sorted = radix_sort(keys, spare, count);
	free(sorted == keys ? spare : keys);
	entries->by_address.items = sorted;
	entries->by_address.room = count;
	return true;
}

/* False without memory. */
static bool read_entries(struct inferred *inferred, uint64_t first)
{
	struct entry_symbols *entries;

	if (inferred->entries)
		return true;
	entries = inferred->entries = calloc(1, sizeof(*entries));
	if (!entries)
		return false;
	entries->first = first;
	elf_each_unnamed_symbol(inferred->elf, take_symbol, entries);
	return !entries->no_memory && sort_entries(entries);
}

/* The first one that is so far behind, or farther. */
static size_t first_entry(const struct entry_symbols *entries, uint64_t behind)
{
	size_t low = 0, high = entries->by_address.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (entries->by_address.items[middle].key < behind)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A part that the compiler has put elsewhere is no function. */
static bool is_function(const struct inferred *inferred, size_t i)
{
	const struct entry_symbols *entries = inferred->entries;
	const char *name = elf_symbol_name(inferred->elf, entries->tables[i >= entries->second],
					   entries->names.items[i]);

	return name && !text_ends(text_of(name), TEXT(".cold"));
}

static void mark_entries(struct inferred *inferred)
{
	const struct entry_symbols *entries = inferred->entries;
	struct flow *flow = inferred->flow;
	const uint64_t from = flow->start - entries->first, end = from + flow->size;

	for (size_t i = first_entry(entries, from);
	     i < entries->by_address.count && entries->by_address.items[i].key < end; i++) {
		const struct radix_key *key = &entries->by_address.items[i];

		if (is_function(inferred, key->index))
			flow->marks[key->key - from] |= IS_ENTRY;
	}
}

static void destroy_entries(struct entry_symbols *entries)
{
	if (!entries)
		return;
	array_deinit(&entries->by_address);
	array_deinit(&entries->names);
	free(entries);
}

/* --- all of it --- */

static void free_stretch(struct flow *flow)
{
	free(flow->marks);
	free(flow->operations);
	free(flow->state_at);
	flow->marks = NULL;
	flow->operations = NULL;
	flow->state_at = NULL;
	flow->size = 0;
	/* Some functions have ten thousand states, and the next stretch has others. */
	word_map_deinit(&flow->numbers);
	array_deinit(&flow->states);
	flow->last_state = 0;
	flow->later.count = 0;
}

static bool prepare(struct inferred *inferred, uint64_t start, const uint8_t *code, uint32_t size)
{
	struct flow *flow = inferred->flow;

	if (!flow) {
		flow = inferred->flow = calloc(1, sizeof(*flow));
		if (flow)
			flow->decoder = decoder_create();
		if (!flow || !flow->decoder)
			return false;
	}
	flow->start = start;
	flow->code = code;
	flow->size = size;
	flow->steps_left = (uint64_t)size * STEPS_OF_BYTE;
	flow->marks = calloc(size, sizeof(*flow->marks));
	flow->operations = calloc(size, sizeof(*flow->operations));
	flow->state_at = calloc(size, sizeof(*flow->state_at));
	if (!flow->marks || !flow->operations || !flow->state_at)
		return false;
	mark_entries(inferred);
	return true;
}

/* Up to 15 bytes between functions are mostly nothing, and there are as many of them as functions.
 */
static bool is_padding(const uint8_t *code, uint64_t size)
{
	for (uint64_t at = 0; at < size;) {
		if (code[at] == 0x66 || code[at] == 0x2e || code[at] == 0x90 || code[at] == 0xcc ||
		    code[at] == 0)
			at++;
		else if (size - at >= 3 && code[at] == 0x0f && code[at + 1] == 0x1f)
			at += 3;
		else
			return false;
	}
	return true;
}

bool inferred_look(struct inferred *inferred, uint64_t start, uint64_t end)
{
	const uint64_t left = INFERRED_BYTES_MAX - inferred->bytes;
	const uint64_t size = end - start < left ? end - start : left;
	const uint8_t *code = size ? (const uint8_t *)elf_at(inferred->elf, start, size) : NULL;

	if (start == inferred->last && end == inferred->last_end)
		return true;
	inferred->last = start;
	inferred->last_end = end;
	if (inferred->flow)
		free_stretch(inferred->flow);
	if (inferred->elf->machine != EM_X86_64 || !code || is_padding(code, size))
		return true;
	inferred->bytes += size;
	if (!read_entries(inferred, start) || !prepare(inferred, start, code, (uint32_t)size))
		return false;
	look_at(inferred);
	return !inferred->flow->no_memory;
}

bool inferred_says(const struct inferred *inferred, uint64_t address)
{
	const struct flow *flow = inferred->flow;

	return flow && address - flow->start < flow->size && flow->state_at[address - flow->start];
}

void inferred_init(struct inferred *inferred, const struct elf *elf, uint64_t begin)
{
	*inferred = (struct inferred){ .elf = elf, .begin = begin };
}

void inferred_deinit(struct inferred *inferred)
{
	struct flow *flow = inferred->flow;

	destroy_entries(inferred->entries);
	inferred->entries = NULL;
	if (flow) {
		free_stretch(flow);
		decoder_destroy(flow->decoder);
		array_deinit(&flow->ways);
		array_deinit(&flow->later);
		array_deinit(&flow->reached);
		free(flow);
	}
	inferred->flow = NULL;
}

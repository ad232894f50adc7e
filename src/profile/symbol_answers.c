/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/symbol_answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct name *intern_string(struct symbol_answers *a, const char *string)
{
	return string ? profile_name(a->profile, string, strlen(string)) : NULL;
}

struct error *symbol_answers_init(struct symbol_answers *a, struct profile *profile)
{
	const size_t count = profile->frames.count * ROLES;

	a->profile = profile;
	a->unknown = intern_string(a, "[unknown]");
	a->by_frame = calloc(profile->frames.count, ROLES * sizeof(*a->by_frame));
	if (!a->unknown || !a->by_frame)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		a->by_frame[i] = PLACE_NONE;
	return NULL;
}

void symbol_answers_deinit(struct symbol_answers *a)
{
	array_deinit(a);
	array_deinit(&a->inlined);
	free(a->by_frame);
}

struct error *symbol_answers_add(struct symbol_answers *a, const struct symbol_answer *answer,
				 const struct place *place)
{
	if (a->count >= PLACE_NONE || !array_push(a, *answer))
		return &error_no_memory;
	a->by_frame[place->frame * ROLES + place->role] = (uint32_t)a->count - 1;
	return NULL;
}

void symbol_answers_share(struct symbol_answers *a, const struct place *place)
{
	a->by_frame[place->frame * ROLES + place->role] = (uint32_t)a->count - 1;
}

/* --- from files --- */

/* The module name of a file or process. */
static const struct name *module_of(struct symbol_answers *a, const struct profile_mapping *mapping)
{
	struct text path = origin_path(mapping);

	return path.length ? profile_name(a->profile, path.bytes, path.length) : NULL;
}

static const struct name *source_name(struct symbol_answers *a, const char *source)
{
	char safe[FUNCTION_NAME_MAX];

	if (!source)
		return NULL;
	snprintf(safe, sizeof(safe), "%s", source);
	text_make_safe(safe);
	return intern_string(a, safe);
}

static struct error *add_inlined(struct symbol_answers *a, const struct inlined_stack *stack,
				 struct symbol_answer *answer)
{
	answer->source = source_name(a, stack->functions[0].source);
	answer->line = stack->functions[0].line;
	answer->first = (uint32_t)a->inlined.count;
	for (size_t i = 1; i < stack->count; i++) {
		const struct inlined_function *function = &stack->functions[i];
		struct inlined_name inlined = { .source = source_name(a, function->source),
						.line = function->line };
		char shown[FUNCTION_NAME_MAX];

		inlined.name = profile_name(a->profile, shown, demangle(function->name, shown));
		if (!inlined.name || !array_push(&a->inlined, inlined))
			return &error_no_memory;
	}
	answer->count = (uint32_t)a->inlined.count - answer->first;
	return NULL;
}

struct error *symbol_answers_find(struct symbol_answers *a, const struct place *place,
				  const struct binary_found *found, uint64_t address,
				  struct symbol_answer *ret)
{
	*ret = (struct symbol_answer){
		.name = profile_name(a->profile, found->name, found->length),
		.module = module_of(a, &a->profile->mappings.items[place->mapping]),
		.address = address,
		.offset = address - found->start,
	};
	if (!ret->name || !ret->module)
		return &error_no_memory;
	return found->inlined.count ? add_inlined(a, &found->inlined, ret) : NULL;
}

struct error *symbol_answers_add_unnamed(struct symbol_answers *a, const struct place *place,
					 uint64_t address)
{
	const struct profile_mapping *mapping = &a->profile->mappings.items[place->mapping];
	struct text path = origin_path(mapping);
	const char *slash = memrchr(path.bytes, '/', path.length);
	struct symbol_answer answer = { .module = module_of(a, mapping), .address = address };
	char name[512];
	int length;

	if (slash)
		path.length -= (size_t)(slash + 1 - path.bytes), path.bytes = slash + 1;
	/* vDSO and the like have brackets already. */
	if (text_starts(path, TEXT("[")) && text_ends(path, TEXT("]")))
		path.bytes++, path.length -= 2;
	length = snprintf(name, sizeof(name), "[%.*s+0x%" PRIx64 "]",
			  path.length < 400 ? (int)path.length : 400, path.bytes,
			  address + (place->role == ROLE_CALLER));
	text_make_safe(name);
	answer.name = profile_name(a->profile, name, (size_t)length);
	if (!answer.name || !answer.module)
		return &error_no_memory;
	return symbol_answers_add(a, &answer, place);
}

static const struct name *name_here(struct symbol_answers *a, const struct name *name)
{
	return name ? profile_name(a->profile, name->bytes, name->length) : NULL;
}

struct error *symbol_answers_add_known(struct symbol_answers *a, const struct place *place,
				       const struct cached_symbol *known)
{
	struct symbol_answer answer = {
		.name = name_here(a, known->name),
		.source = name_here(a, known->source),
		.module = module_of(a, &a->profile->mappings.items[place->mapping]),
		.address = known->address,
		.offset = known->offset,
		.line = known->line,
		.first = (uint32_t)a->inlined.count,
		.count = known->inlined_count,
	};

	if (!known->name)
		return symbol_answers_add_unnamed(a, place, known->address);
	if (!answer.name || !answer.module || (known->source && !answer.source))
		return &error_no_memory;
	for (uint32_t i = 0; i < known->inlined_count; i++) {
		const struct inlined_name inlined = {
			.name = name_here(a, known->inlined[i].name),
			.source = name_here(a, known->inlined[i].source),
			.line = known->inlined[i].line,
		};

		if (!inlined.name || !array_push(&a->inlined, inlined))
			return &error_no_memory;
	}
	return symbol_answers_add(a, &answer, place);
}

/* --- in no file --- */

struct error *symbol_answers_add_unknown(struct symbol_answers *a, const struct place *place)
{
	struct symbol_answer answer = { .name = a->unknown };

	if (place->mapping != PLACE_NONE)
		answer.module = module_of(a, &a->profile->mappings.items[place->mapping]);
	return symbol_answers_add(a, &answer, place);
}

struct error *symbol_answers_add_compiled(struct symbol_answers *a, const struct place *place,
					  const struct perf_map_entry *entry, const char *path)
{
	struct symbol_answer answer = { .module = intern_string(a, path),
					.offset = place->address - entry->start };
	char symbol[FUNCTION_NAME_MAX], shown[FUNCTION_NAME_MAX];
	size_t length =
		entry->name.length < sizeof(symbol) ? entry->name.length : sizeof(symbol) - 1;

	memcpy(symbol, entry->name.bytes, length);
	symbol[length] = 0;
	answer.name = profile_name(a->profile, shown, demangle(symbol, shown));
	if (!answer.name || !answer.module)
		return &error_no_memory;
	return symbol_answers_add(a, &answer, place);
}

/* --- names of frames --- */

static struct error *name_user_frame(void *context, uint32_t number, const struct frame *frame,
				     enum frame_role role, struct rewrite_frames *ret)
{
	const struct symbol_answers *a = context;
	const uint32_t number_of_answer = a->by_frame[number * ROLES + role];
	const struct symbol_answer *answer;
	struct frame named = { .kind = FRAME_USER };
	struct error *err;

	if (!place_is_raw(frame) || number_of_answer == PLACE_NONE)
		return rewrite_push(a->profile, frame, ret);
	answer = &a->items[number_of_answer];
	named.name = answer->name;
	named.module = answer->module;
	named.source = answer->source;
	named.line = answer->line;
	/* Looked up was the call. */
	if (answer->address)
		named.address = answer->address + (role == ROLE_CALLER);
	if (answer->offset || answer->address)
		named.offset = answer->offset + (role == ROLE_CALLER);
	err = rewrite_push(a->profile, &named, ret);
	named.offset = 0;
	named.inlined = true;
	for (uint32_t i = 0; i < answer->count && !err; i++) {
		const struct inlined_name *inlined = &a->inlined.items[answer->first + i];

		named.name = inlined->name;
		named.source = inlined->source;
		named.line = inlined->line;
		err = rewrite_push(a->profile, &named, ret);
	}
	return err;
}

struct error *symbol_answers_apply(struct symbol_answers *a)
{
	return rewrite_stacks(a->profile, name_user_frame, a);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/flame_gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/term.h"
#include "statistics/statistics.h"

static const struct {
	const char *word;
	bool is_group;
	enum flame_time time;
} kinds[] = {
#define KIND(id, word, is_group, time) \
	[FLAME_CONDITION_##id] = { word, is_group, FLAME_TIME_##time },
	FLAME_CONDITION_KINDS(KIND)
#undef KIND
};

/* --- words --- */

#define KIND(id, word, ...) " " word
#define KIND_WORDS          FLAME_CONDITION_KINDS(KIND)

/* "off:" and the rest; a colon may be of the name: "std::sort". */
static struct error *take_kind(struct text *name, enum flame_condition_kind *ret)
{
	const char *colon = memchr(name->bytes, ':', name->length);
	struct text word = { name->bytes, colon ? (size_t)(colon - name->bytes) : 0 };

	*ret = FLAME_CONDITION_FUNC;
	if (!colon)
		return NULL;
	for (size_t i = 0; i < array_length(kinds); i++)
		if (text_equal(word, text_of(kinds[i].word))) {
			*ret = (enum flame_condition_kind)i;
			name->length -= word.length + 1;
			name->bytes = colon + 1;
			*name = text_trim(*name);
			return NULL;
		}
	if (word.length + 1 < name->length && colon[1] == ':')
		return NULL;
	return error_create("unknown kind '%.*s': expected one of" KIND_WORDS, (int)word.length,
			    word.bytes);
}
#undef KIND

static struct error *parse_bound(struct text text, struct amount *ret)
{
	if (!units_parse(text, ret) || ret->dimension == DIMENSION_BYTES)
		return error_create("invalid amount '%.*s': expected e.g. +2%%, 5ms, 1000",
				    (int)text.length, text.bytes);
	return NULL;
}

/* GROUP and NAME of the grammar together: where colons are is the matter of take_kind(). */
static struct text left_side(const struct condition_text *parsed)
{
	const char *begin = parsed->group.length ? parsed->group.bytes : parsed->name.bytes;

	return (struct text){ begin, (size_t)(parsed->name.bytes + parsed->name.length - begin) };
}

struct error *flame_gate_add(struct flame_gate *gate, const char *text)
{
	struct flame_condition condition = { .text = text };
	struct condition_text parsed;
	struct error *err = condition_text_parse(text, &parsed);
	struct text name;

	if (err)
		return err;
	name = left_side(&parsed);
	condition.operator= parsed.operator;
	err = take_kind(&name, &condition.kind);
	if (!err && !name.length)
		err = error_create("missing name in '%s'", text);
	if (!err)
		err = parse_bound(parsed.bound, &condition.bound);
	if (err)
		return err;
	condition.pattern = strndup(name.bytes, name.length);
	err = condition.pattern ? pattern_check(condition.pattern) : &error_no_memory;
	if (!err && !array_push(gate, condition))
		err = &error_no_memory;
	if (err)
		free(condition.pattern);
	return err;
}

static void condition_deinit(struct flame_condition *condition)
{
	free(condition->pattern);
	free(condition->name);
}

void flame_gate_deinit(struct flame_gate *gate)
{
	for (size_t i = 0; i < gate->count; i++)
		condition_deinit(&gate->items[i]);
	array_deinit(gate);
}

/* --- judging --- */

/* The time that the condition is about; FLAME_TIMES: the flame has none of it. */
static unsigned time_of(const struct flame_condition *condition, const struct flame *flame)
{
	const struct flame_changes *changes = flame->changes;
	const enum flame_time time = kinds[condition->kind].time;

	if (time == FLAME_TIME_OFF && !changes->has_off)
		return FLAME_TIMES;
	return changes->has_cpu && changes->has_off ? time : FLAME_TIME_ALL;
}

static bool is_about(const struct flame_condition *condition, const struct flame_subject *subject)
{
	return subject->is_group == kinds[condition->kind].is_group &&
	       term_matches(condition->pattern, name_text(subject->face->name), TERM_WHOLE);
}

/* Of the interval of the change, the end that is nearest to the bound, in its unit. */
static double nearest_end(const struct flame_condition *condition,
			  const struct flame_change *change)
{
	const bool is_upper =
		condition->operator== CONDITION_ABOVE || condition->operator== CONDITION_AT_LEAST;
	const double end = is_upper ? change->low : change->high;

	if (condition->bound.percent)
		return 100 * (end - 1);
	if (change->before > 0)
		return change->before * (end - 1);
	/* It is new: how much it has is not known better. */
	return change->low > 1 ? change->after : 0;
}

static bool is_met(const struct flame_condition *condition, const struct flame_change *change,
		   double q)
{
	return q <= FLAME_RATE &&
	       condition_holds(condition->operator, nearest_end(condition, change),
			       condition->bound.value);
}

/* On the side of the operator. */
static bool is_farther(const struct flame_condition *condition, const struct flame_change *a,
		       const struct flame_change *b)
{
	const double x = nearest_end(condition, a), y = nearest_end(condition, b);

	return condition->operator== CONDITION_ABOVE || condition->operator== CONDITION_AT_LEAST
		       ? x > y
		       : x<y;
}

struct judging {
	struct {
		ARRAY(const struct flame_subject *);
	} subjects;
	struct {
		ARRAY(double);
	} q;
};

static bool find_tested(struct flame_condition *condition, const struct flame *flame, unsigned time,
			struct judging *judging)
{
	const struct flame_changes *changes = flame->changes;

	for (size_t i = 0; i < changes->subjects.count; i++) {
		const struct flame_subject *subject = &changes->subjects.items[i];

		if (!is_about(condition, subject))
			continue;
		condition->matched++;
		if (time == FLAME_TIMES || !subject->changes[time].is_tested)
			continue;
		if (!array_push(&judging->subjects, subject) ||
		    !array_push(&judging->q, subject->changes[time].p))
			return false;
	}
	condition->tested = judging->q.count;
	return benjamini_hochberg(judging->q.items, judging->q.count);
}

static bool judge(struct flame_condition *condition, const struct judging *judging, unsigned time)
{
	const struct flame_subject *farthest = NULL;

	for (size_t i = 0; i < judging->subjects.count; i++) {
		const struct flame_subject *subject = judging->subjects.items[i];
		const struct flame_change *change = &subject->changes[time];
		const bool met = is_met(condition, change, judging->q.items[i]);

		condition->met += met;
		if (!farthest || (met && condition->met == 1) ||
		    (met == (condition->met > 0) &&
		     is_farther(condition, change, &condition->change))) {
			farthest = subject;
			condition->change = *change;
		}
	}
	if (farthest)
		condition->name =
			strndup(farthest->face->name->bytes, farthest->face->name->length);
	condition->verdict = condition->met      ? FLAME_BROKEN
			     : condition->tested ? FLAME_HOLDS
						 : FLAME_UNDECIDED;
	return !farthest || condition->name;
}

struct error *flame_gate_judge(struct flame_gate *gate, const struct flame *flame)
{
	for (size_t i = 0; i < gate->count; i++) {
		struct flame_condition *condition = &gate->items[i];
		const unsigned time = time_of(condition, flame);
		struct judging judging = { 0 };
		bool done;

		condition->matched = condition->tested = condition->met = 0;
		free(condition->name);
		condition->name = NULL;
		done = find_tested(condition, flame, time, &judging) &&
		       judge(condition, &judging, time);
		array_deinit(&judging.subjects);
		array_deinit(&judging.q);
		if (!done)
			return &error_no_memory;
	}
	return NULL;
}

enum flame_verdict flame_gate_verdict(const struct flame_gate *gate)
{
	enum flame_verdict worst = FLAME_HOLDS;

	for (size_t i = 0; i < gate->count; i++) {
		if (gate->items[i].verdict == FLAME_BROKEN)
			return FLAME_BROKEN;
		if (gate->items[i].verdict == FLAME_UNDECIDED)
			worst = FLAME_UNDECIDED;
	}
	return worst;
}

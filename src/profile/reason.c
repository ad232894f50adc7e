/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/reason.h"

#include <string.h>

#include "base/term.h"
#include "profile/profile.h"
#include "state/reading.h"

const struct reason_row reason_rows[REASON_COUNT] = {
#define REASON_ROW(id, name, heading, prose) [REASON_##id] = { name, heading, prose },
	REASONS(REASON_ROW)
#undef REASON_ROW
};

/* Of the parts of a main state that have no row, that of the main state. */
static const struct {
	bool is_known;
	enum reason reason;
} reasons[STATE_COUNT] = {
	[STATE_EXEC] = { true, REASON_ON_CPU },
	[STATE_RUNNABLE] = { true, REASON_CPU_WAIT },
	[STATE_PAGING] = { true, REASON_PAGING },
	[STATE_SLEEP] = { true, REASON_UNKNOWN },
	[STATE_SLEEP_DISK] = { true, REASON_STORAGE },
	[STATE_SLEEP_NETWORK] = { true, REASON_NETWORK },
	[STATE_SLEEP_PIPE] = { true, REASON_PIPE },
	[STATE_SLEEP_TIMER] = { true, REASON_TIMER },
	[STATE_SLEEP_CHILD] = { true, REASON_CHILD },
	[STATE_SLEEP_OTHER] = { true, REASON_OTHER },
	[STATE_LOCK] = { true, REASON_LOCK },
	[STATE_IDLE] = { true, REASON_IDLE },
	[STATE_IDLE_POLL] = { true, REASON_POLL },
	[STATE_IDLE_COND] = { true, REASON_COND },
	[STATE_IDLE_ACCEPT] = { true, REASON_ACCEPT },
	[STATE_STOPPED] = { true, REASON_STOPPED },
};

enum reason reason_of_state(unsigned state)
{
	if (state >= STATE_COUNT)
		return REASON_UNKNOWN;
	return reasons[state].is_known ? reasons[state].reason
				       : reasons[state_rows[state].main].reason;
}

#define BIT(reason) (1u << REASON_##reason)

unsigned reason_weight(enum reason reason, bool lasts_all_the_time)
{
	static const unsigned scarce =
		BIT(ON_CPU) | BIT(CPU_WAIT) | BIT(LOCK) | BIT(STORAGE) | BIT(PAGING) | BIT(STOPPED);
	static const unsigned others =
		BIT(NETWORK) | BIT(PIPE) | BIT(CHILD) | BIT(OTHER) | BIT(UNKNOWN);

	if (scarce >> reason & 1)
		return 100;
	if (reason == REASON_IDLE || lasts_all_the_time)
		return 2;
	return others >> reason & 1 ? 25 : 10;
}

enum state reason_default_state(unsigned class)
{
	const enum state state = class < CLASS_COUNT ? profile_classes[class].state : STATE_COUNT;

	/* An event has no time: it happened while the thread ran. */
	return state == STATE_COUNT ? STATE_EXEC : state;
}

/* --- what is wanted --- */

_Static_assert((int)STATE_COUNT <= 32, "a selection has a bit for each state");

void reason_select_classes(struct reason_selection *selection, unsigned classes)
{
	for (unsigned class = 0; class < CLASS_COUNT; class ++)
		if (classes >> class & 1)
			selection->states[class] = UINT32_MAX;
}

unsigned reason_selected_classes(const struct reason_selection *selection)
{
	unsigned classes = 0;

	for (unsigned class = 0; class < CLASS_COUNT; class ++)
		if (selection->states[class])
			classes |= 1u << class;
	return classes;
}

static void select_state(struct reason_selection *selection, enum state state)
{
	const enum state main = state_rows[state].main;

	for (unsigned class = 0; class < CLASS_EVENT; class ++) {
		const enum state usual = profile_classes[class].state;

		/* The classes of waits may be of any state but the two of threads that can run. */
		if (main == STATE_EXEC || main == STATE_RUNNABLE
			    ? usual == main
			    : usual != STATE_EXEC && usual != STATE_RUNNABLE)
			selection->states[class] |= 1u << state;
	}
}

/* Does a name match: the same, or by a glob? */
typedef bool name_match(const void *context, const char *name);

static bool is_same(const void *context, const char *name)
{
	return text_equal(*(const struct text *)context, text_of(name));
}

static bool matches_glob(const void *context, const char *name)
{
	return term_glob_matches(context, text_of(name));
}

static bool select_by_class(struct reason_selection *selection, name_match *match,
			    const void *context)
{
	bool is_any = false;

	for (unsigned class = 0; class < CLASS_COUNT; class ++)
		if (match(context, profile_classes[class].name)) {
			reason_select_classes(selection, 1u << class);
			is_any = true;
		}
	return is_any;
}

/* "sleep" and "exec" of top are all of these classes, whatever more is known. */
static bool select_by_main(struct reason_selection *selection, name_match *match,
			   const void *context)
{
	bool is_any = false;

	for (unsigned class = 0; class < CLASS_COUNT; class ++) {
		const enum state state = profile_classes[class].state;

		if (state == STATE_COUNT ||
		    (state_rows[state].main != STATE_SLEEP &&
		     state_rows[state].main != STATE_EXEC) ||
		    !match(context, state_rows[state_rows[state].main].name))
			continue;
		reason_select_classes(selection, 1u << class);
		is_any = true;
	}
	return is_any;
}

static bool select_by_state(struct reason_selection *selection, name_match *match,
			    const void *context)
{
	bool is_any = false;

	for (enum state state = 0; state < STATE_COUNT; state++)
		if (match(context, state_rows[state].name) ||
		    match(context, state_rows[state_rows[state].main].name) ||
		    match(context, reason_rows[reason_of_state(state)].name)) {
			select_state(selection, state);
			is_any = true;
		}
	return is_any;
}

/* The first of these that has the name says what it means. */
static bool (*const vocabularies[])(struct reason_selection *selection, name_match *match,
				    const void *context) = { select_by_class, select_by_main,
							     select_by_state };

bool reason_select_named(struct reason_selection *selection, struct text name)
{
	for (size_t i = 0; i < array_length(vocabularies); i++)
		if (vocabularies[i](selection, is_same, &name))
			return true;
	return false;
}

bool reason_select_glob(struct reason_selection *selection, const char *glob)
{
	bool is_any = false;

	for (size_t i = 0; i < array_length(vocabularies); i++)
		is_any |= vocabularies[i](selection, matches_glob, glob);
	return is_any;
}

/* --- names --- */

static bool is_reason_name(const char *name)
{
	for (enum reason reason = 0; reason < REASON_COUNT; reason++)
		if (strcmp(reason_rows[reason].name, name) == 0)
			return true;
	return false;
}

const char *reason_selection_name(size_t number)
{
	if (number < REASON_COUNT)
		return reason_rows[number].name;
	number -= REASON_COUNT;
	for (unsigned class = 0; class < CLASS_EVENT; class ++)
		if (!is_reason_name(profile_classes[class].name) && !number--)
			return profile_classes[class].name;
	return NULL;
}

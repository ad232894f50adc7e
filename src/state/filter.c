/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/term.h"

_Static_assert(STATE_COUNT <= 8 * sizeof(unsigned), "a bit for each state");

static bool is_glob(const char *text)
{
	return term_is_glob(text_of(text), TERM_ANY_CASE);
}

/* --- what alternatives may be --- */

static struct error *check_pattern(const char *alternative)
{
	return is_glob(alternative) ? pattern_check(alternative) : NULL;
}

static struct error *check_pid(const char *alternative)
{
	uint32_t pid;

	if (text_u32(text_of(alternative), &pid))
		return NULL;
	return error_create("'%s' is not a process ID", alternative);
}

/* Itself and its parts. */
static unsigned states_of(enum state state)
{
	unsigned states = 1u << state;

	for (enum state part = 0; part < STATE_COUNT; part++)
		if (state_rows[part].main == state)
			states |= 1u << part;
	return states;
}

static struct error *unknown_state(const char *word)
{
	char mains[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < STATE_MAIN_COUNT && used < sizeof(mains); i++)
		used += (size_t)snprintf(mains + used, sizeof(mains) - used, "%s, ",
					 state_rows[state_mains[i]].name);
	return error_create("unknown state '%s'; expected one of: %sor a part of these", word,
			    mains);
}

static struct error *check_state(struct state_term *term, const char *alternative)
{
	bool glob = is_glob(alternative);
	unsigned states = 0;
	struct error *err = check_pattern(alternative);
	const char *nearest;

	if (err)
		return err;
	for (enum state state = 0; state < STATE_COUNT; state++) {
		const char *name = state_rows[state].name;

		if (glob ? !fnmatch(alternative, name, FNM_CASEFOLD)
			 : !strcasecmp(alternative, name))
			states |= states_of(state);
	}
	term->states |= states;
	if (states)
		return NULL;
	nearest =
		text_nearest(alternative, &state_rows[0].name, STATE_COUNT, sizeof(state_rows[0]));
	if (nearest)
		return error_create("unknown state '%s'; did you mean '%s'?", alternative, nearest);
	return unknown_state(alternative);
}

/* --- parsing --- */

static const char *const words[STATE_TERM_NAME + 1] = {
	[STATE_TERM_USER] = "user",     [STATE_TERM_CGROUP] = "cgroup",
	[STATE_TERM_STATE] = "state",   [STATE_TERM_PID] = "pid",
	[STATE_TERM_THREAD] = "thread", [STATE_TERM_PROCESS] = "process",
};

static struct error *check_alternative(struct state_term *term, const char *alternative)
{
	switch (term->kind) {
	case STATE_TERM_STATE:
		return check_state(term, alternative);
	case STATE_TERM_PID:
		return check_pid(alternative);
	default:
		return check_pattern(alternative);
	}
}

/* Filters are shorter than `bytes`, and no term takes more of it than it has bytes, and a zero. */
static struct error *add_alternatives(struct state_filter *filter, size_t *used, struct text texts,
				      struct state_term *term)
{
	bool more = true;

	term->at = (uint16_t)*used;
	while (more) {
		const char *bar = memchr(texts.bytes, '|', texts.length);
		size_t length = bar ? (size_t)(bar - texts.bytes) : texts.length;
		char *alternative = filter->bytes + *used;
		struct error *err;

		if (!length)
			return error_create("empty alternative beside '|'");
		memcpy(alternative, texts.bytes, length);
		alternative[length] = '\0';
		err = check_alternative(term, alternative);
		if (err)
			return err;
		*used += length + 1;
		term->alternatives++;
		more = bar != NULL;
		texts.bytes += length + more;
		texts.length -= length + more;
	}
	return NULL;
}

/* "lock>50": cut the comparison off. */
static struct error *cut_share(struct text *text, struct state_term *ret)
{
	const char *at = memchr(text->bytes, '>', text->length);
	char number[16], *end;
	size_t length;

	at = at ? at : memchr(text->bytes, '<', text->length);
	if (!at)
		return NULL;
	length = (size_t)(text->bytes + text->length - at - 1);
	ret->compares = *at;
	text->length = (size_t)(at - text->bytes);
	if (!text->length)
		return error_create("missing state before '%c'", *at);
	if (length && at[length] == '%')
		length--;
	if (!length || length >= sizeof(number) || !strchr("0123456789.", at[1]))
		return error_create("expected a percentage after '%c', as state:lock%c50", *at,
				    *at);
	memcpy(number, at + 1, length);
	number[length] = '\0';
	/* strtod() takes hexadecimal numbers and exponents as well. */
	ret->percent = strtod(number, &end);
	if (number[strspn(number, "0123456789.")] || *end ||
	    !(ret->percent >= 0 && ret->percent <= 100))
		return error_create("'%s' is not a percentage from 0 to 100", number);
	return NULL;
}

static struct error *add_term(struct state_filter *filter, size_t *used, struct text text)
{
	struct state_term added = { .kind = STATE_TERM_NAME };
	struct term term;
	struct error *err;

	if (filter->count == STATE_TERMS_MAX)
		return error_create("more than %d terms", STATE_TERMS_MAX);
	err = term_parse(text, words, &term);
	if (err)
		return err;
	if (term.kind != TERM_NAME)
		added.kind = (enum state_term_kind)term.kind;
	added.is_negated = term.is_negated;
	if (added.kind == STATE_TERM_STATE)
		err = cut_share(&term.text, &added);
	if (!err)
		err = add_alternatives(filter, used, term.text, &added);
	if (!err)
		filter->terms[filter->count++] = added;
	return err;
}

struct error *state_filter_parse(struct text text, struct state_filter *ret)
{
	struct state_filter filter = { .count = 0 };
	struct error *err = NULL;
	size_t used = 0;
	struct text word;

	if (text.length >= sizeof(filter.bytes))
		return error_create("filter longer than %zu bytes", sizeof(filter.bytes) - 1);
	if (text.length && memchr(text.bytes, '\0', text.length))
		return error_create("filter can never match");
	while (!err && text_word(&text, &word)) {
		err = add_term(&filter, &used, word);
		if (err)
			err = error_prefix(err, "'%.*s'", (int)word.length, word.bytes);
	}
	if (err)
		return err;
	*ret = filter;
	return NULL;
}

/* --- meeting --- */

static bool text_meets(const char *alternative, const char *text)
{
	return term_matches(alternative, text_of(text), TERM_ANY_CASE);
}

static bool name_meets(const char *alternative, const struct name *name)
{
	return name && text_meets(alternative, name->bytes);
}

static bool user_meets(const char *alternative, const struct thread_facts *facts)
{
	const char *name = facts->user_name ? facts->user_name(facts->context, facts->uid) : NULL;
	char number[16];

	snprintf(number, sizeof(number), "%u", facts->uid);
	return strcmp(alternative, number) == 0 || (name && text_meets(alternative, name));
}

static bool pid_meets(const char *alternative, const struct thread_facts *facts)
{
	uint32_t pid;

	return text_u32(text_of(alternative), &pid) && (pid == facts->tgid || pid == facts->tid);
}

static bool share_meets(const struct state_term *term, const struct thread_facts *facts)
{
	uint64_t ns = 0;
	double percent;

	if (!facts->times || !facts->whole_ns)
		return false;
	for (enum state state = 0; state < STATE_COUNT; state++)
		if (term->states >> state & 1)
			ns += facts->times->ns[state];
	percent = 100 * (double)ns / (double)facts->whole_ns;
	return term->compares == '>' ? percent > term->percent : percent < term->percent;
}

static bool alternative_meets(const struct state_term *term, const char *alternative,
			      const struct thread_facts *facts)
{
	switch (term->kind) {
	case STATE_TERM_NAME:
		return name_meets(alternative, facts->name) ||
		       name_meets(alternative, facts->process);
	case STATE_TERM_THREAD:
		return name_meets(alternative, facts->name);
	case STATE_TERM_PROCESS:
		return name_meets(alternative, facts->process);
	case STATE_TERM_USER:
		return facts->has_uid && user_meets(alternative, facts);
	case STATE_TERM_CGROUP:
		return name_meets(alternative, facts->cgroup);
	case STATE_TERM_PID:
		return pid_meets(alternative, facts);
	case STATE_TERM_STATE:
		return term->compares ? share_meets(term, facts) : term->states & facts->states;
	}
	return false;
}

static bool term_meets(const struct state_filter *filter, const struct state_term *term,
		       const struct thread_facts *facts)
{
	const char *alternative = filter->bytes + term->at;

	for (size_t i = 0; i < term->alternatives; i++, alternative += strlen(alternative) + 1)
		if (alternative_meets(term, alternative, facts))
			return !term->is_negated;
	return term->is_negated;
}

bool state_filter_matches(const struct state_filter *filter, const struct thread_facts *facts)
{
	for (size_t i = 0; i < filter->count; i++)
		if (!term_meets(filter, &filter->terms[i], facts))
			return false;
	return true;
}

/* The states of a thread during the window and now. */
static unsigned states_in(const struct state_delta *delta)
{
	const struct state_thread *thread = delta->thread;
	unsigned states = 0;

	if (!thread->has_ended && thread->state < STATE_COUNT)
		states |= 1u << thread->state;
	for (enum state state = 0; state < STATE_COUNT; state++)
		if (delta->times.ns[state])
			states |= 1u << state;
	return states;
}

bool state_view_shows(const struct state_view *view, const struct state_delta *delta)
{
	const struct state_thread *thread = delta->thread;

	if (view->no_kernel && thread->is_kernel)
		return false;
	if (!view->filter || !view->filter->count)
		return true;
	return state_filter_matches(view->filter, &(struct thread_facts){
							  .tid = thread->tid,
							  .tgid = thread->tgid,
							  .uid = thread->uid,
							  .has_uid = true,
							  .states = states_in(delta),
							  .times = &delta->times,
							  .whole_ns = delta->window_ns,
							  .name = thread->name,
							  .process = thread->process,
							  .cgroup = thread->cgroup,
							  .user_name = view->user_name,
							  .context = view->context,
						  });
}

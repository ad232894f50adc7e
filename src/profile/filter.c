/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/filter.h"

#include <pwd.h>
#include <string.h>

#include "base/term.h"
#include "profile/preset.h"
#include "profile/reason.h"

/* --- terms --- */

/* The first ones are about stacks, the next ones about threads, and the last about what a sample
 * is of. */
#define PLACES(PLACE)             \
	PLACE(MODULE, "module")   \
	PLACE(ONLY, "only")       \
	PLACE(WAITER, "waiter")   \
	PLACE(THREAD, "thread")   \
	PLACE(LEADER, "leader")   \
	PLACE(PROCESS, "process") \
	PLACE(CGROUP, "cgroup")   \
	PLACE(USER, "user")       \
	PLACE(PID, "pid")         \
	PLACE(STATE, "state")

enum place {
#define PLACE(id, word) PLACE_##id,
	PLACES(PLACE)
#undef PLACE
		PLACE_COUNT,
	PLACE_FRAME, /* no word */
};

static const char *const places[PLACE_COUNT + 1] = {
#define PLACE(id, word) [PLACE_##id] = word,
	PLACES(PLACE)
#undef PLACE
};

struct filter_term {
	enum place place;
	bool is_glob, is_negated;
	char *pattern;
	uint32_t pid;                      /* of PLACE_PID */
	struct reason_selection selection; /* of PLACE_STATE */
	struct {
		ARRAY(uint32_t);
	} uids; /* of PLACE_USER */
};

/* A rule matches if all of its terms do. */
struct rule {
	ARRAY(struct filter_term);
};

struct rules {
	ARRAY(struct rule);
};

struct filter {
	struct rules keep, drop;
};

/* A term beyond that matches nothing that there is. */
#define TERM_MAX 4096

/* The users of this host whose name matches, or the one of that number. */
static struct error *find_users(struct filter_term *term)
{
	const struct passwd *entry;
	bool is_stored = true;
	uint32_t uid;

	if (text_u32(text_of(term->pattern), &uid))
		return array_push(&term->uids, uid) ? NULL : &error_no_memory;
	setpwent();
	while (is_stored && (entry = getpwent()))
		if (term_matches(term->pattern, text_of(entry->pw_name), TERM_FUNCTION))
			is_stored = array_push(&term->uids, (uint32_t)entry->pw_uid);
	endpwent();
	if (!is_stored)
		return &error_no_memory;
	return term->uids.count ? NULL : error_create("no user '%s'", term->pattern);
}

static struct error *find_states(struct filter_term *term)
{
	const struct text pattern = text_of(term->pattern);

	if (reason_select_named(&term->selection, pattern) ||
	    (term_is_glob(pattern, TERM_FUNCTION) &&
	     reason_select_glob(&term->selection, term->pattern)))
		return NULL;
#define NAME(id, name, ...) name ", "
	return error_create("unknown state '%s'; expected one of: " REASONS(
				    NAME) "or a state of top or class of the kernel's scheduler",
			    term->pattern);
#undef NAME
}

static struct error *resolve(struct filter_term *term)
{
	switch (term->place) {
	case PLACE_USER:
		return find_users(term);
	case PLACE_STATE:
		return find_states(term);
	case PLACE_PID:
		return text_u32(text_of(term->pattern), &term->pid)
			       ? NULL
			       : error_create("'%s' is not a process ID", term->pattern);
	default:
		return NULL;
	}
}

static void term_deinit(struct filter_term *term)
{
	array_deinit(&term->uids);
	free(term->pattern);
}

static struct error *add_term(struct rule *rule, struct text text)
{
	struct filter_term added = { 0 };
	struct term term;
	struct error *err = term_parse(text, places, &term);

	if (err)
		return err;
	if (term.text.length > TERM_MAX || memchr(term.text.bytes, '\0', term.text.length))
		return error_create("filter term can never match");
	added.place = term.kind == TERM_NAME ? PLACE_FRAME : (enum place)term.kind;
	added.is_negated = term.is_negated;
	added.is_glob = term_is_glob(term.text, TERM_FUNCTION);
	added.pattern = strndup(term.text.bytes, term.text.length);
	err = added.pattern ? resolve(&added) : &error_no_memory;
	if (!err && array_push(rule, added))
		return NULL;
	term_deinit(&added);
	return err ? err : &error_no_memory;
}

static void rule_deinit(struct rule *rule)
{
	for (size_t i = 0; i < rule->count; i++)
		term_deinit(&rule->items[i]);
	array_deinit(rule);
}

static bool name_matches(const struct filter_term *term, const struct name *name)
{
	return name && term_matches(term->pattern, name_text(name), TERM_FUNCTION);
}

/* --- making one --- */

struct error *filter_create(struct filter **ret)
{
	struct filter *filter = calloc(1, sizeof(*filter));

	if (!filter)
		return &error_no_memory;
	*ret = filter;
	return NULL;
}

void filter_destroy(struct filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->keep.count; i++)
		rule_deinit(&filter->keep.items[i]);
	for (size_t i = 0; i < filter->drop.count; i++)
		rule_deinit(&filter->drop.items[i]);
	array_deinit(&filter->keep);
	array_deinit(&filter->drop);
	free(filter);
}

/* Add a rule of one term. */
static struct error *add_rule(struct rules *rules, const char *term)
{
	struct rule rule = { 0 };
	struct error *err = add_term(&rule, text_trim(text_of(term)));

	if (!err && array_push(rules, rule))
		return NULL;
	rule_deinit(&rule);
	return err && err != &error_no_memory ? error_prefix(err, "'%s'", term) : &error_no_memory;
}

struct error *filter_keep(struct filter *filter, const char *term)
{
	return add_rule(&filter->keep, term);
}

struct error *filter_drop(struct filter *filter, const char *term)
{
	return add_rule(&filter->drop, term);
}

/* --- presets --- */

/* Cut the piece before " & " off, since names of C++ have ampersands too. */
static bool cut_term(struct text *rest, struct text *ret)
{
	const char *end;

	if (!rest->bytes)
		return false;
	end = memmem(rest->bytes, rest->length, " & ", 3);
	*ret = *rest;
	if (end) {
		ret->length = (size_t)(end - rest->bytes);
		rest->bytes = end + 3;
		rest->length -= ret->length + 3;
	} else {
		*rest = (struct text){ NULL, 0 };
	}
	*ret = text_trim(*ret);
	return true;
}

/* An ampersand with nothing before or behind it. */
static bool is_half(struct text term)
{
	if (text_starts(term, TEXT("!")))
		term = (struct text){ term.bytes + 1, term.length - 1 };
	return text_equal(term, TEXT("&")) || text_starts(term, TEXT("& ")) ||
	       text_ends(term, TEXT(" &"));
}

static struct error *parse_rule(struct text line, struct rule *rule)
{
	struct text rest = line, word, term;

	if (!text_word(&rest, &word) || !text_equal(word, TEXT("hide")))
		return error_create("expected 'hide TERM & TERM'");
	while (cut_term(&rest, &term)) {
		struct error *err;

		if (is_half(term))
			return error_create("empty term");
		err = add_term(rule, term);
		if (err)
			return err;
	}
	for (size_t i = 0; i < rule->count; i++)
		if (!rule->items[i].is_negated)
			return NULL;
	return error_create("only negated terms, which would hide everything else");
}

/* A comment begins at the front of a line, or behind a space. */
static struct text without_comment(struct text line)
{
	for (size_t i = 0; i < line.length; i++)
		if (line.bytes[i] == '#' &&
		    (!i || line.bytes[i - 1] == ' ' || line.bytes[i - 1] == '\t'))
			line.length = i;
	return text_trim(line);
}

struct error *filter_add_preset(struct filter *filter, struct text lines, const char *name)
{
	struct text line;
	size_t number = 0;

	while (text_cut(&lines, '\n', &line)) {
		struct rule rule = { 0 };
		struct error *err;

		number++;
		line = without_comment(line);
		if (!line.length)
			continue;
		err = parse_rule(line, &rule);
		if (!err && !array_push(&filter->drop, rule))
			err = &error_no_memory;
		if (!err)
			continue;
		rule_deinit(&rule);
		return err == &error_no_memory ? err : error_prefix(err, "%s:%zu", name, number);
	}
	return NULL;
}

struct error *filter_add_preset_named(struct filter *filter, const char *name)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	size_t length;
	struct error *err = preset_read(name, &path, &text, &length);

	return err ? err : filter_add_preset(filter, (struct text){ text, length }, path);
}

/* --- applying it --- */

/* The subject of rules: a stack of a thread. */
struct subject {
	uint32_t thread, node;
	uint16_t class, state;
	bool is_out;     /* some rule has decided so */
	bool is_matched; /* by all terms of the rule under way so far */
};

struct scene {
	const struct profile *profile;
	struct subject *subjects;
	size_t count;
	/* matches of the current term: the frames, the nodes including those below, the threads */
	bool *frames, *nodes, *threads;
};

/* Functions by which others wait: of the C and the C++ libraries. */
static const char *const wait_libraries[] = {
	"libc.so*", "libc-2.*", "libpthread*", "ld-*", "libstdc++.so*", "libc++.so*",
};

static bool is_wait_library(struct text file)
{
	for (size_t i = 0; i < array_length(wait_libraries); i++)
		if (term_glob_matches(wait_libraries[i], file))
			return true;
	return false;
}

static struct text module_file(const struct name *module)
{
	struct text path = name_text(module);
	const char *slash = memrchr(path.bytes, '/', path.length);

	if (!slash)
		return path;
	return (struct text){ slash + 1, path.length - (size_t)(slash + 1 - path.bytes) };
}

static bool module_matches(const struct filter_term *term, const struct name *module)
{
	if (name_matches(term, module))
		return true;
	/* A file by its name alone. */
	return module && term->is_glob && term_glob_matches(term->pattern, module_file(module));
}

/* Does the module match one of "GLOB,GLOB"? */
static bool is_one_of(const struct filter_term *term, const struct name *module)
{
	struct text rest = text_of(term->pattern), word;
	char glob[TERM_MAX + 1];

	while (module && text_cut(&rest, ',', &word)) {
		memcpy(glob, word.bytes, word.length);
		glob[word.length] = '\0';
		if (term_glob_matches(glob, module_file(module)))
			return true;
	}
	return false;
}

static bool frame_matches(const struct filter_term *term, const struct frame *frame)
{
	switch (term->place) {
	case PLACE_MODULE:
		return module_matches(term, frame->module);
	case PLACE_ONLY:
		return frame->kind == FRAME_USER && is_one_of(term, frame->module);
	default:
		return name_matches(term, frame->name);
	}
}

/* Is this frame the waiting function, for "waiter:"? A function includes what is inlined into it.
 */
static bool is_waiter(const struct frame *frame)
{
	return frame->kind == FRAME_USER && !frame->inlined &&
	       !(frame->module && is_wait_library(module_file(frame->module)));
}

/* Does a stack match that ends with this frame, given whether the callers' does? */
static bool stack_matches(const struct scene *s, const struct filter_term *term, uint32_t number,
			  uint32_t parent)
{
	const struct frame *frame = &s->profile->frames.items[number];
	bool below = parent != NODE_NONE && s->nodes[parent];

	switch (term->place) {
	case PLACE_ONLY:
		if (frame->kind == FRAME_KERNEL)
			return below;
		return s->frames[number] && (below || parent == NODE_NONE);
	case PLACE_WAITER:
		return is_waiter(frame) ? s->frames[number] : below;
	default:
		return s->frames[number] || below;
	}
}

static void match_stacks(struct scene *s, const struct filter_term *term)
{
	const struct profile *p = s->profile;

	for (size_t i = 0; i < p->frames.count; i++)
		s->frames[i] = frame_matches(term, &p->frames.items[i]);
	for (size_t i = 0; i < p->nodes.count; i++)
		s->nodes[i] =
			stack_matches(s, term, p->nodes.items[i].frame, p->nodes.items[i].parent);
}

static bool thread_matches(const struct filter_term *term, const struct profile_thread *thread)
{
	switch (term->place) {
	case PLACE_LEADER:
		return thread->tid == thread->tgid && name_matches(term, thread->name);
	case PLACE_PROCESS:
		return name_matches(term, thread->process);
	case PLACE_CGROUP:
		return name_matches(term, thread->cgroup);
	case PLACE_PID:
		return term->pid == thread->tgid || term->pid == thread->tid;
	case PLACE_USER:
		for (size_t i = 0; i < term->uids.count; i++)
			if (term->uids.items[i] == thread->uid)
				return true;
		return false;
	default:
		return name_matches(term, thread->name);
	}
}

static void match_threads(struct scene *s, const struct filter_term *term)
{
	for (size_t i = 0; i < s->profile->threads.count; i++)
		s->threads[i] = thread_matches(term, &s->profile->threads.items[i]);
}

static void match_term(struct scene *s, const struct filter_term *term)
{
	bool of_stack = term->place <= PLACE_WAITER || term->place == PLACE_FRAME;

	if (of_stack)
		match_stacks(s, term);
	else if (term->place != PLACE_STATE)
		match_threads(s, term);
	for (size_t i = 0; i < s->count; i++) {
		struct subject *subject = &s->subjects[i];
		bool found =
			term->place == PLACE_STATE
				? reason_selects(&term->selection, subject->class, subject->state)
			: !of_stack                  ? s->threads[subject->thread]
			: subject->node != NODE_NONE ? s->nodes[subject->node]
						     : false;

		subject->is_matched &= found != term->is_negated;
	}
}

/* Exclude the samples that match, or those that do not. */
static void apply_rule(struct scene *s, const struct rule *rule, bool out_when)
{
	for (size_t i = 0; i < s->count; i++)
		s->subjects[i].is_matched = true;
	for (size_t i = 0; i < rule->count; i++)
		match_term(s, &rule->items[i]);
	for (size_t i = 0; i < s->count; i++)
		s->subjects[i].is_out |= s->subjects[i].is_matched == out_when;
}

static void decide(const struct filter *filter, struct scene *s)
{
	const struct profile *p = s->profile;

	for (size_t i = 0; i < p->samples.count; i++)
		s->subjects[i] = (struct subject){ .thread = p->samples.items[i].thread,
						   .node = p->samples.items[i].node,
						   .class = p->samples.items[i].class,
						   .state = p->samples.items[i].state };
	for (size_t i = 0; i < p->longest.count; i++)
		s->subjects[p->samples.count + i] =
			(struct subject){ .thread = p->longest.items[i].thread,
					  .node = p->longest.items[i].node,
					  .class = p->longest.items[i].class,
					  .state = p->longest.items[i].state };
	for (size_t i = 0; i < filter->keep.count; i++)
		apply_rule(s, &filter->keep.items[i], false);
	for (size_t i = 0; i < filter->drop.count; i++)
		apply_rule(s, &filter->drop.items[i], true);
}

/* The samples that the filter removes, and their sums. */
struct taking_out {
	const struct subject *subjects;
	struct filtered out;
};

static bool is_kept(void *context, size_t number, struct sample *sample)
{
	struct taking_out *taking = context;

	if (!taking->subjects[number].is_out)
		return true;
	taking->out.count += sample->count;
	taking->out.ns += sample->ns;
	return false;
}

static struct error *take_out(struct profile *p, const struct subject *subjects,
			      struct filtered *ret)
{
	const struct subject *of_blocks = subjects + p->samples.count;
	const size_t blocks = p->longest.count;
	struct taking_out taking = { .subjects = subjects };
	struct error *err = profile_keep(p, is_kept, &taking);

	if (err)
		return err;
	p->longest.count = 0;
	for (size_t i = 0; i < blocks; i++)
		if (!of_blocks[i].is_out)
			p->longest.items[p->longest.count++] = p->longest.items[i];
	*ret = taking.out;
	return NULL;
}

struct error *filter_apply(const struct filter *filter, struct profile *profile,
			   struct filtered *ret)
{
	struct scene s = { .profile = profile,
			   .count = profile->samples.count + profile->longest.count };
	struct error *err = &error_no_memory;

	s.subjects = calloc(s.count + 1, sizeof(*s.subjects));
	s.frames = calloc(profile->frames.count + 1, sizeof(*s.frames));
	s.nodes = calloc(profile->nodes.count + 1, sizeof(*s.nodes));
	s.threads = calloc(profile->threads.count + 1, sizeof(*s.threads));
	if (s.subjects && s.frames && s.nodes && s.threads) {
		decide(filter, &s);
		err = take_out(profile, s.subjects, ret);
	}
	free(s.subjects);
	free(s.frames);
	free(s.nodes);
	free(s.threads);
	return err;
}

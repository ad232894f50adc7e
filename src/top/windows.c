/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "os/tasks.h"
#include "security/memory_limit.h"
#include "security/privileges.h"
#include "top/top.h"

/* The privileges of all engines: which of them works is not known before it is tried. */
#define TOP_OPEN_PRIVILEGES \
	(CAPTURE_OPEN_PRIVILEGES | PROFILE_OPEN_PRIVILEGES | PRIVILEGE_COUNT_COST)

/* --- users --- */

const char *top_user_name(void *context, uint32_t uid)
{
	struct users *users = context;
	const struct passwd *entry;
	struct user user = { .uid = uid };

	for (size_t i = 0; i < users->known.count; i++)
		if (users->known.items[i].uid == uid)
			return users->known.items[i].name;
	entry = getpwuid(uid);
	if (entry)
		user.name = strdup(entry->pw_name);
	if (!array_push(&users->known, user)) {
		free(user.name);
		return NULL;
	}
	return user.name;
}

/* Compare as filters do: part of a name is enough. */
static bool is_of_a_user(const char *part)
{
	const struct passwd *entry;
	bool found = getpwnam(part) != NULL;

	setpwent();
	while (!found && (entry = getpwent()))
		found = strcasestr(entry->pw_name, part) != NULL;
	endpwent();
	return found;
}

/* Reject a misspelt user name, which would silently match nothing. Numbers and globs may match
 * users without a name. */
static struct error *check_users(const struct state_filter *filter)
{
	for (size_t i = 0; i < filter->count; i++) {
		const struct state_term *term = &filter->terms[i];
		const char *name = filter->bytes + term->at;

		for (size_t k = 0; k < term->alternatives && term->kind == STATE_TERM_USER; k++) {
			bool is_name = name[strspn(name, "0123456789")] && !strpbrk(name, "*?[");

			if (is_name && !is_of_a_user(name))
				return error_create("--filter: no user '%s'", name);
			name += strlen(name) + 1;
		}
	}
	return NULL;
}

static void users_deinit(struct users *users)
{
	for (size_t i = 0; i < users->known.count; i++)
		free(users->known.items[i].name);
	array_deinit(&users->known);
}

/* --- engines --- */

/* Open the best engine that works, and print why better ones do not: a privilege may help. */
static struct error *open_best(struct top *top, struct engine_options *options)
{
	struct error *err = NULL, *first = NULL;

	for (enum engine_kind kind = 0; kind < ENGINE_COUNT; kind++) {
		options->kind = top->kind = kind;
		err = engine_open(options, &top->engine);
		if (!err)
			break;
		if (first)
			error_destroy(err);
		else
			first = err;
	}
	if (!top->engine)
		return first;
	if (first)
		fprintf(stderr, "ctprof: %s\nctprof: using engine %s: %s\n", first->message,
			engine_names[top->kind], engine_proses[top->kind]);
	error_destroy(first);
	return NULL;
}

static struct error *open_engine(struct top *top, struct engine_options *options)
{
	const struct top_arguments *a = top->arguments;

	PRIVILEGES_RAISED;

	if (a->engine == ENGINE_AUTO)
		return open_best(top, options);
	options->kind = top->kind = a->engine;
	return engine_open(options, &top->engine);
}

/* A thread stands for its process there; those of it that were not asked for have no states. */
static struct error *open_recorder(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	struct top_record_options options = {
		.directory = a->record,
		.engine = engine_names[top->kind],
		.keep = a->keep,
		.capture = {
			.pids = a->tids.count ? a->tids.items : a->target.pids.items,
			.pid_count = a->tids.count ? a->tids.count : a->target.pids.count,
			.cgroup = a->target.cgroup,
			.may_be_gone = true,
		},
	};

	reading_apply(&a->reading, &options.capture);
	return top_recorder_open(&options, &top->recorder);
}

/* Targets must exist: otherwise the table would be empty. */
static struct error *check_there(const struct top *top, struct engine_options *options)
{
	const struct top_arguments *a = top->arguments;
	struct error *err = target_check(&a->target, &a->tids);
	uint64_t cgroup;

	if (!err && options->cgroup)
		err = target_find_cgroup(&options->cgroup, &cgroup);
	return err ? err : check_users(&top->filter);
}

/* The memory of exact states grows with the number of threads. The inspector of the screen, and
 * captures of --record, load programs later. */
static unsigned later_uses(const struct top_arguments *a)
{
	unsigned uses = CAPTURE_READ_PRIVILEGES | PRIVILEGE_GROW_MAPS;

	if (!a->batch || a->inspect)
		uses |= PROFILE_OPEN_PRIVILEGES;
	return a->record ? uses | CAPTURE_OPEN_PRIVILEGES : uses;
}

/* --- what was asked for --- */

/* The name that a thread has now; "": there is none. */
static void find_name(uint32_t number, char *ret, size_t size)
{
	char path[32];
	_cleanup_close_ int fd = -1;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", number);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? 0 : read(fd, ret, size - 1);
	ret[got > 0 ? got : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	text_make_safe(ret);
}

/* Describe one thread or process by number and name, several by their number. A recording is of
 * another time or host, where the number had another name. */
static void describe_numbers(struct top *top, const char *what, const uint32_t *numbers,
			     size_t count)
{
	const size_t at = strlen(top->target);
	char bytes[32] = "";

	if (!count)
		return;
	if (!top->arguments->replay)
		find_name(numbers[0], bytes, sizeof(bytes));
	if (count > 1)
		snprintf(top->target + at, sizeof(top->target) - at, "%s%zu %s%s",
			 at ? " and " : "", count, what, *what == 'p' ? "es" : "s");
	else
		snprintf(top->target + at, sizeof(top->target) - at,
			 *bytes ? "%s%s %" PRIu32 " (%s)" : "%s%s %" PRIu32, at ? " and " : "",
			 what, numbers[0], bytes);
}

static void describe_target(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	const size_t numbers = a->target.pids.count + a->tids.count;

	if (a->target.pids.count == 1 && a->tids.count == 1 &&
	    a->target.pids.items[0] == a->tids.items[0]) {
		describe_numbers(top, "process or thread", a->tids.items, 1);
	} else {
		describe_numbers(top, "process", a->target.pids.items, a->target.pids.count);
		describe_numbers(top, "thread", a->tids.items, a->tids.count);
	}
	if (a->target.cgroup)
		snprintf(top->target + strlen(top->target),
			 sizeof(top->target) - strlen(top->target), "%scgroup %.100s",
			 numbers ? " in " : "", a->target.cgroup);
}

/* Are threads selected by number, and has this reading all of them that the engine sees? In another
 * case, they may have moved to another cgroup, and back. */
static bool has_all_targets(const struct top *top)
{
	const struct top_arguments *a = top->arguments;

	return !top->replay && !a->target.cgroup && (a->target.pids.count || a->tids.count) &&
	       !top->readings[top->now].cost.threads_lost && !top->window.cost.threads_torn;
}

/* An engine may have lost sight of a thread that lives. */
bool top_targets_have_ended(const struct top *top)
{
	const struct state_reading *reading = &top->readings[top->now];

	if (!has_all_targets(top))
		return false;
	for (size_t i = 0; i < reading->threads.count; i++)
		if (!reading->threads.items[i].has_ended)
			return false;
	return !target_alive(&top->arguments->target, &top->arguments->tids);
}

/* Of more the search would take longer than it is worth. */
#define TARGETS_CHECKED 64

/* An exec ends one record and begins the next: both readings of the window have none. */
bool top_is_target_hidden(const struct top *top)
{
	if (!has_all_targets(top) || top->readings[0].threads.count ||
	    top->readings[1].threads.count)
		return false;
	return target_alive(&top->arguments->target, &top->arguments->tids);
}

static bool has_thread(const struct top *top, bool is_process, uint32_t number)
{
	for (size_t k = 0; k < array_length(top->readings); k++)
		for (size_t i = 0; i < top->readings[k].threads.count; i++) {
			const struct state_thread *thread = &top->readings[k].threads.items[i];

			if ((is_process ? thread->tgid : thread->tid) == number)
				return true;
		}
	return false;
}

uint32_t top_missing_target(const struct top *top, bool *ret_is_process)
{
	const struct top_arguments *a = top->arguments;
	const size_t count = a->target.pids.count + a->tids.count;

	for (size_t i = 0; i < count && i < TARGETS_CHECKED && has_all_targets(top); i++) {
		const bool is_process = i < a->target.pids.count;
		const uint32_t number = is_process ? a->target.pids.items[i]
						   : a->tids.items[i - a->target.pids.count];

		*ret_is_process = is_process;
		if (!has_thread(top, is_process, number))
			return number;
	}
	return 0;
}

struct error *top_select(struct top_arguments *arguments, uint32_t number)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct file_buffer buffer = { 0 };
	uint32_t leader = number;
	bool is_done;

	/* Which of the two it is, each capture says. */
	if (arguments->replay)
		return array_push(&arguments->target.pids, number) &&
				       array_push(&arguments->tids, number)
			       ? NULL
			       : &error_no_memory;
	/* One that is not there is reported as a process. */
	if (task_leader(proc, number, &buffer, &leader))
		leader = number;
	file_buffer_deinit(&buffer);
	is_done = leader == number ? array_push(&arguments->target.pids, number)
				   : array_push(&arguments->tids, number);
	return is_done ? NULL : &error_no_memory;
}

/* --- windows --- */

struct error *top_open(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	struct engine_options options = {
		.pids = a->target.pids.items,
		.pid_count = a->target.pids.count,
		.tids = a->tids.items,
		.tid_count = a->tids.count,
		.cgroup = a->target.cgroup,
	};
	struct error *err;

	describe_target(top);
	/* The targets of a recording need not exist any more. */
	if (a->replay) {
		memory_limit_set();
		err = privileges_keep_for_files();
		if (err)
			return err;
		err = a->recording ? replay_open_recording(*a->recording, &options, &top->replay)
				   : replay_open(a->replay, &options, &top->replay);
		if (!err && a->inspect && replay_has_hosts(top->replay))
			err = error_create("--inspect is of one host, and this query selects "
					   "several: add host=NAME");
		return err;
	}
	err = privileges_keep(TOP_OPEN_PRIVILEGES);
	if (!err)
		err = check_there(top, &options);
	if (!err)
		err = open_engine(top, &options);
	if (!err)
		err = privileges_keep(later_uses(a));
	return err || !a->record ? err : open_recorder(top);
}

static struct error *read_engine(struct top *top, struct state_reading *reading)
{
	const bool was_raised = privileges_raise();
	struct error *err = engine_read(top->engine, reading);

	privileges_lower(was_raised);

	if (!err && top->recorder)
		top_recorder_take(top->recorder, reading);
	return err;
}

struct error *top_read_first(struct top *top)
{
	row_reader_begin(&top->rows);
	return top->replay ? NULL : read_engine(top, &top->readings[top->now]);
}

/* Threads whose memory is kept; fewer are not worth giving any back. */
#define KEPT_THREADS 4096
#define FEW_WINDOWS  4

/* The library keeps what was given back to it. Arrays of a window that is filled anew give back
 * what they had for many more threads, so after a few windows all has been. */
static void follow_threads(struct top *top)
{
	const size_t count = top->window.deltas.count;

	if (count > top->most_threads)
		top->most_threads = count;
	if (count > top->most_threads / 4 || top->most_threads < KEPT_THREADS)
		top->few_threads = 0;
	else if (++top->few_threads == FEW_WINDOWS) {
		malloc_trim(0);
		top->most_threads = count;
	}
}

struct error *top_read_window(struct top *top)
{
	const struct state_reading *before = &top->readings[top->now];
	struct error *err;

	if (top->replay) {
		const size_t left_out = replay_facts(top->replay)->left_out;

		err = replay_window(top->replay, &top->window);
		/* Windows have other numbers. */
		if (replay_facts(top->replay)->left_out != left_out)
			top->inspector.past = (struct top_past){ 0 };
		return err;
	}
	top->now = !top->now;
	top->windows++;
	row_reader_begin(&top->rows);
	err = read_engine(top, &top->readings[top->now]);
	if (!err)
		err = state_window_make(&top->window, before, &top->readings[top->now]);
	follow_threads(top);
	return err;
}

void top_read_facts(struct top *top, unsigned wanted, const struct row_subject *subjects,
		    size_t count, struct row_facts *ret)
{
	PRIVILEGES_RAISED;

	row_reader_read(&top->rows, wanted, subjects, count, ret);
}

size_t top_window_number(const struct top *top)
{
	return top->replay ? replay_at(top->replay) : top->windows - 1;
}

void top_close(struct top *top)
{
	top_inspector_deinit(&top->inspector);
	engine_close(top->engine);
	replay_close(top->replay);
	state_list_deinit(&top->list);
	state_window_deinit(&top->window);
	state_reading_deinit(&top->readings[0]);
	state_reading_deinit(&top->readings[1]);
	users_deinit(&top->users);
	row_reader_deinit(&top->rows);
	last_exits_deinit(&top->batch.exits);
	array_deinit(&top->batch.subjects);
	array_deinit(&top->batch.rows);
}

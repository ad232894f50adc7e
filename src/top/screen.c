/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "cli/terminal.h"
#include "os/host_load.h"
#include "os/tasks.h"
#include "security/privileges.h"
#include "top/flame.h"
#include "top/top.h"
#include "tui/screen.h"
#include "tui/settings_file.h"

/* --- the head --- */

static void look_at_load(struct screen_host *ret)
{
	static const enum host_resource shown[] = { HOST_CPU, HOST_MEMORY, HOST_IO };
	struct host_load load;

	host_load_read(&load);
	memcpy(ret->load, load.load, sizeof(ret->load));
	ret->memory_bytes = load.memory_bytes;
	ret->memory_used_bytes = load.memory_bytes - load.memory_available_bytes;
	/* Of the last ten seconds; negative if unknown. */
	for (size_t i = 0; i < array_length(shown); i++) {
		const struct psi_line *some = &load.pressure[shown[i]].some;

		ret->psi[i] = some->measured ? some->avg10 / 100.0 : -1;
	}
}

/* Of several that were asked for, the first that has no row; NULL: none. */
static const char *missing_target(struct top *top)
{
	bool is_process;
	const uint32_t number = top_missing_target(top, &is_process);

	if (!number)
		return NULL;
	snprintf(top->problem, sizeof(top->problem), "%s %" PRIu32 " %s",
		 is_process ? "process" : "thread", number,
		 task_is_alive(number) ? "is hidden from BPF programs: --engine procfs shows it"
				       : "has ended");
	return top->problem;
}

static void look_at_host(struct top *top, struct screen_host *ret)
{
	const struct state_window *window = &top->window;
	const double length = (double)(window->ended_ns - window->begun_ns);
	struct top_recorder_status status;

	*ret = (struct screen_host){
		.cpus = cpus_online(),
		.engine = engine_names[top->kind],
		.target = top->target,
		.cost = length > 0 ? 100 *
					     (double)(window->cost.program_ns +
						      window->cost.own_cpu_ns) /
					     length
				   : -1,
	};
	look_at_load(ret);
	/* What cannot be seen, and what would show it. An engine that was asked for says nothing of
	 * privileges. */
	if (top->kind == ENGINE_PROCFS && top->arguments->engine == ENGINE_AUTO)
		ret->note = "no privileges: most waits are undivided; as root: all states";
	if (window->cost.threads_lost)
		ret->note = "some threads omitted: thread table full";
	if (top_targets_have_ended(top))
		ret->problem = "has ended";
	else if (top_is_target_hidden(top))
		ret->problem = "is hidden from BPF programs: --engine procfs shows it";
	else
		ret->problem = missing_target(top);
	if (!top->recorder)
		return;
	top_recorder_look(top->recorder, &status);
	snprintf(top->note, sizeof(top->note), "recording, %zu capture%s", status.written,
		 plural(status.written));
	ret->note = top->note;
	snprintf(top->problem, sizeof(top->problem), "%zu of %zu captures failed: %s",
		 status.failed, status.failed + status.written, status.problem);
	if (status.failed)
		ret->problem = top->problem;
}

/* The host at the time of the recording. */
static void look_at_recording(struct top *top, struct screen_host *ret)
{
	const struct replay_facts *facts = replay_facts(top->replay);

	*ret = (struct screen_host){
		.cpus = facts->cpus,
		.engine = facts->engine,
		.target = top->target,
		.cost = -1,
		.note = facts->note,
		.window = replay_at(top->replay) + 1,
		.windows = replay_count(top->replay),
	};
	if (facts->left_out) {
		snprintf(top->problem, sizeof(top->problem), "%zu capture%s skipped: %s",
			 facts->left_out, plural(facts->left_out), facts->problem);
		ret->problem = top->problem;
	}
	memcpy(ret->load, facts->load, sizeof(ret->load));
	memcpy(ret->psi, facts->psi, sizeof(ret->psi));
}

/* --- what feeds the screen --- */

static struct error *next_window(void *context, struct state_window *ret, struct screen_host *host)
{
	struct top *top = context;
	struct error *err = top_read_window(top);

	if (err)
		return err;
	if (top->replay)
		look_at_recording(top, host);
	else
		look_at_host(top, host);
	*ret = top->window;
	return NULL;
}

static struct error *tick_screen(void *context)
{
	const struct top *top = context;
	PRIVILEGES_RAISED;

	return top->replay ? NULL : engine_tick(top->engine);
}

/* The narrowest usual terminal: lines of a page are cut, not wrapped. */
#define PAGE_WIDTH 78

static struct error *inspect(void *context, const struct screen_subject *subject, FILE *out)
{
	PRIVILEGES_RAISED;

	return top_inspect(context, subject, PAGE_WIDTH, out);
}

static void look_away(void *context)
{
	struct top *top = context;

	top_inspector_rest(&top->inspector);
}

static void read_facts(void *context, unsigned wanted, const struct row_subject *subjects,
		       size_t count, struct row_facts *ret)
{
	top_read_facts(context, wanted, subjects, count, ret);
}

static bool step_replay(void *context, int by)
{
	const struct top *top = context;

	return replay_step(top->replay, by);
}

static struct error *jump_replay(void *context, const char *to)
{
	const struct top *top = context;

	return replay_jump(top->replay, to);
}

/* --- what is kept from run to run --- */

static void read_file(struct screen_settings *ret, char note[SETTINGS_NOTE_MAX])
{
	char bytes[SETTINGS_BYTES_MAX];

	screen_settings_parse(settings_file_read(SCREEN_SETTINGS_FILE, bytes), ret, note);
}

/* Options come before the file. */
static void read_settings(const struct top_arguments *a, struct screen_settings *ret,
			  char note[SETTINGS_NOTE_MAX])
{
	read_file(ret, note);
	ret->has_columns = ret->has_columns && !a->columns;
	ret->has_sort = ret->has_sort && !a->sort;
	if (a->has_interval)
		ret->interval_ns = 0;
}

/* What was not changed stays in the file as it is. The usual columns need no line. */
static void write_settings(const struct top_arguments *a, const struct screen_result *result)
{
	const bool resets = a->columns && strcmp(a->columns, "default") == 0;
	_cleanup_free_ char *text = NULL;
	struct screen_settings settings;
	char note[SETTINGS_NOTE_MAX];
	struct error *err;

	if (!result->has_new_columns && !result->has_new_sort && !result->has_new_interval &&
	    !resets)
		return;
	read_file(&settings, note);
	if (result->has_new_columns || resets) {
		settings.columns = result->columns;
		settings.has_columns = !column_choice_is_usual(&result->columns);
	}
	if (result->has_new_sort) {
		settings.sort = result->view.sort;
		settings.has_sort = settings.sort.key != STATE_SORT_ACTIVE || settings.sort.reverse;
	}
	if (result->has_new_interval)
		settings.interval_ns = result->interval_ns;
	text = screen_settings_print(&settings);
	err = settings_file_write(SCREEN_SETTINGS_FILE, text);
	if (err)
		fprintf(stderr, "ctprof: settings are not kept: %s\n", err->message);
	error_destroy(err);
}

struct error *top_run_screen(struct top *top, int *ret)
{
	const struct top_arguments *a = top->arguments;
	struct screen_settings settings;
	char note[SETTINGS_NOTE_MAX];
	struct screen_options options = {
		.view = top->view,
		.columns = a->columns,
		.filter = a->filter,
		.interval_ns = a->interval_ns,
		.settings = &settings,
		.note = note,
		.no_colour = !terminal_allows_colour(),
	};
	const struct screen_feed feed = {
		.next = next_window,
		.tick = top->replay ? NULL : tick_screen,
		.inspect = inspect,
		.look_away = look_away,
		.facts = top->replay ? NULL : read_facts,
		.step = top->replay ? step_replay : NULL,
		.jump = top->replay ? jump_replay : NULL,
		.context = top,
	};
	struct screen_result result = { 0 };
	struct error *err = top_read_first(top), *failed;
	bool returns = true;

	read_settings(a, &settings, note);
	while (!err && returns) {
		err = screen_run(&options, &feed, &result);
		options.again = &result;
		returns = false;
		if (err || result.exit != SCREEN_PROFILE)
			continue;
		*note = '\0';
		failed = top_flame(top, &result, &result.signal);
		/* The threads are still there to be seen. */
		if (failed)
			snprintf(note, sizeof(note), "%s", failed->message);
		error_destroy(failed);
		returns = !result.signal;
	}
	if (err)
		return err;
	write_settings(a, &result);
	/* End by the same signal, since shells check that. */
	if (result.signal)
		*ret = 128 + result.signal;
	return NULL;
}

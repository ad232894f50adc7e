/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/units.h"
#include "tui/tui.h"

/* Narrower, states have their short names, and no signs of percent. */
#define WIDE 120
/* Narrower, the first line has no more than what changes. */
#define ROOMY 100

/* A field that does not fit is omitted completely, and false is returned: a number that is cut off
 * is a different number. */
static bool put_field(struct pen *pen, const char *before, const char *value, const char *after)
{
	if (pen->x + (int)(strlen(before) + strlen(value) + strlen(after)) > pen->end)
		return false;
	pen_text(pen, STYLE_DIM, text_of(before));
	pen_text(pen, STYLE_PLAIN, text_of(value));
	pen_text(pen, STYLE_DIM, text_of(after));
	return true;
}

static bool put_count(struct pen *pen, const char *before, uint64_t count, const char *after)
{
	char text[2 * FIT_NUMBER_MAX];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)count);
	return put_field(pen, before, text, after);
}

/* Shares of time in which some thread waited for it. */
static void put_pressure(struct pen *pen, const struct screen_host *host)
{
	static const char *const names[] = { "cpu ", "mem ", "io " };
	const char *head = "  psi% ";
	char before[FIT_NUMBER_MAX], value[2 * FIT_NUMBER_MAX];

	for (size_t i = 0; i < array_length(names); i++) {
		if (host->psi[i] < 0)
			continue;
		snprintf(before, sizeof(before), "%s%s", head, names[i]);
		snprintf(value, sizeof(value), "%.1f", host->psi[i]);
		if (put_field(pen, before, value, ""))
			head = " ";
	}
}

static void put_memory(struct pen *pen, const struct screen_host *host)
{
	const double gib = 1 << 30;
	char used[2 * FIT_NUMBER_MAX], of[2 * FIT_NUMBER_MAX];

	if (!host->memory_bytes)
		return;
	snprintf(used, sizeof(used), "%.1f", (double)host->memory_used_bytes / gib);
	snprintf(of, sizeof(of), "/%.1fG", (double)host->memory_bytes / gib);
	put_field(pen, "  mem ", used, of);
}

/* Several hosts, and how many of them have times in this window. */
static void put_hosts(struct pen *pen, const struct state_hosts *hosts)
{
	char of[40];

	if (!state_hosts_differ(hosts))
		return;
	if (hosts->observed == hosts->count) {
		put_count(pen, "  ", hosts->count, " hosts");
		return;
	}
	snprintf(of, sizeof(of), " of %zu hosts", hosts->count);
	put_count(pen, "  ", hosts->observed, of);
}

static void draw_host(struct tui *tui, int columns, bool is_roomy)
{
	const struct screen_host *host = &tui->model->host;
	struct pen pen = pen_at(&tui->terminal, 0, 0, columns);
	char text[80];

	pen_print(&pen, STYLE_STRONG, "ctprof top");
	if (!tui->has_window)
		return;
	put_hosts(&pen, &tui->model->window.hosts);
	snprintf(text, sizeof(text), " CPU%s", plural(host->cpus));
	/* Where there is room for little: the legend has the number of CPUs, too. */
	if (is_roomy)
		put_count(&pen, "  ", host->cpus, text);
	if (host->load[0] >= 0) {
		snprintf(text, sizeof(text), is_roomy ? "%.2f %.2f %.2f" : "%.2f", host->load[0],
			 host->load[1], host->load[2]);
		put_field(&pen, "  load ", text, "");
	}
	put_memory(&pen, host);
	put_pressure(&pen, host);
}

/* Returns where it begins. */
static int draw_time(struct tui *tui, int columns)
{
	time_t seconds = (time_t)(tui->model->window.at_unix_ns / NS_PER_S);
	struct tm when;
	struct pen pen;
	char text[32];

	if (!tui->has_window || !gmtime_r(&seconds, &when))
		return columns;
	/* In the form of DIR@TIME, and of names in recordings. */
	strftime(text, sizeof(text), columns >= WIDE ? " %F %T UTC" : " %TZ", &when);
	if (columns <= (int)strlen(text))
		return columns;
	pen = pen_at(&tui->terminal, 0, columns - (int)strlen(text), columns);
	pen_text(&pen, STYLE_STRONG, text_of(text));
	return columns - (int)strlen(text);
}

static void put_word(struct pen *pen, enum style style, const char *word)
{
	if (pen->x + 2 + (int)strlen(word) <= pen->end)
		pen_print(pen, style, "  %s", word);
}

/* The window is as long as was asked for, or says how long it is. */
static void put_interval(struct tui *tui, struct pen *pen)
{
	uint64_t ns = tui->model->window.ended_ns - tui->model->window.begun_ns;
	double asked = (double)tui->interval_ns, real = (double)ns;
	char text[FIT_NUMBER_MAX], each[UNITS_TEXT_MAX];

	fit_duration(text, ns);
	if (tui_is_replay(tui)) {
		const struct screen_host *host = &tui->model->host;

		/* The position in the replay, and whether this is the end. */
		snprintf(each, sizeof(each), "%zu/%zu", host->window, host->windows);
		if (host->windows && put_field(pen, "window ", each, ""))
			put_field(pen, " ", text, "");
		else
			put_field(pen, "window ", text, "");
		if (host->windows && host->window == host->windows)
			put_word(pen, STYLE_STRONG, "the last");
		return;
	}
	snprintf(each, sizeof(each), "%gs", asked / 1e9);
	if (asked < 1e9)
		snprintf(each, sizeof(each), "%gms", asked / 1e6);
	/* A bit more or less is how it always is. */
	if (put_field(pen, "every ", each, "") && fabs(real - asked) > asked / 5)
		put_field(pen, " (now ", text, ")");
}

static size_t count_groups(const struct tui *tui)
{
	size_t count = 0;

	for (size_t i = 0; i < tui->model->list.lines.count; i++)
		count += !tui->model->list.lines.items[i].depth;
	return count;
}

static void put_threads(struct tui *tui, struct pen *pen)
{
	const struct state_line *total = &tui->model->list.total;
	size_t groups = count_groups(tui);
	char what[32];

	snprintf(what, sizeof(what), " thread%s", plural(total->threads));
	/* Without this number, the others have no meaning. */
	if (!put_count(pen, "  ", total->threads, what))
		return;
	if (total->ended && !put_count(pen, " +", total->ended, " ended"))
		return;
	if (tui->view.grouping == STATE_BY_THREAD)
		return;
	snprintf(what, sizeof(what), " %s%s",
		 tui->view.grouping == STATE_BY_PROCESS && groups != 1
			 ? "processe"
			 : state_grouping_names[tui->view.grouping],
		 plural(groups));
	put_count(pen, " in ", groups, what);
}

static void put_loss(struct pen *pen, uint64_t count, const char *what)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu %s", (unsigned long long)count, what);
	if (count)
		put_word(pen, STYLE_ERROR, text);
}

/* Settings that differ from the usual. */
static void put_conditions(struct tui *tui, struct pen *pen)
{
	if (tui->is_paused)
		put_word(pen, STYLE_ERROR, tui_is_replay(tui) ? "paused" : "frozen");
	if (tui->model->host.target && *tui->model->host.target)
		put_word(pen, STYLE_STRONG, tui->model->host.target);
	if (tui->follows)
		put_word(pen, STYLE_STRONG, "following");
	if (tui->view.no_kernel)
		put_word(pen, STYLE_DIM, "no kernel threads");
	if (tui->view.no_ended)
		put_word(pen, STYLE_DIM, "none that ended");
	if (tui->view.filter && tui->view.filter->count && tui->edit.length) {
		pen_print(pen, STYLE_DIM, "  filter ");
		pen_text(pen, STYLE_STRONG, line_edit_text(&tui->edit));
	}
	put_loss(pen, tui->model->window.cost.threads_lost, "threads lost");
	put_loss(pen, tui->model->window.cost.threads_torn, "threads unread");
	put_loss(pen, tui->model->window.cost.delays_impossible, "impossible delays");
	/* Print as much of it as fits. */
	if (tui->model->host.problem)
		pen_print(pen, STYLE_ERROR, "  %s", tui->model->host.problem);
	if (tui->model->host.note)
		pen_print(pen, STYLE_STRONG, "  %s", tui->model->host.note);
}

static void draw_engine(struct tui *tui, int columns)
{
	struct pen pen = pen_at(&tui->terminal, 1, 0, columns);
	char cost[2 * FIT_NUMBER_MAX];

	if (!tui->has_window)
		return;
	snprintf(cost, sizeof(cost), " %.1f%%", tui->model->host.cost);
	if (tui->model->host.engine && put_field(&pen, "", tui->model->host.engine, "")) {
		if (tui->model->host.cost >= 0)
			put_field(&pen, "", cost, " of a CPU");
		pen_skip(&pen, STYLE_PLAIN, pen.x + 2);
	}
	put_interval(tui, &pen);
	put_threads(tui, &pen);
	put_conditions(tui, &pen);
}

/* From so many columns on, states have their full names. */
#define NAMES_WIDE 160

/* All have the same place in every window. */
static void format_average(char out[2 * FIT_NUMBER_MAX], const struct tui *tui, enum state state)
{
	const struct state_line *total = &tui->model->list.total;
	const unsigned cpus = tui->model->host.cpus;
	char number[FIT_NUMBER_MAX] = "-";

	if (state_is_measured_in_part(tui->model->window.measured, state) && total->interval_ns)
		fit_average(number,
			    (double)bar_state_ns(&total->times, state) / (double)total->interval_ns,
			    false);
	if (state != STATE_EXEC || !cpus)
		snprintf(out, 2 * FIT_NUMBER_MAX, "%4s", number);
	else
		snprintf(out, 2 * FIT_NUMBER_MAX, "%*s", cpus < 10 ? 3 : 4, number);
}

/* How many threads were in each state, on average: that is what CPUs, disks and locks are to be
 * compared with. What does not fit is left out. */
static void draw_legend(struct tui *tui, int y, int columns)
{
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);
	const bool is_wide = columns >= WIDE, has_space = is_wide || !pen_has_blocks(&pen);
	const unsigned cpus = tui->model->host.cpus;

	for (size_t i = 0; i < BAR_STATES; i++) {
		const enum state state = bar_states[i];
		const struct state_row *row = &state_rows[state];
		const char *label = columns >= NAMES_WIDE ? row->name : row->label;
		char average[2 * FIT_NUMBER_MAX], of[2 * FIT_NUMBER_MAX] = "";

		format_average(average, tui, state);
		if (state == STATE_EXEC && cpus && is_wide)
			snprintf(of, sizeof(of), " of %u CPU%s", cpus, plural(cpus));
		else if (state == STATE_EXEC && cpus)
			snprintf(of, sizeof(of), "/%u", cpus);
		/* A letter needs a space to be none of the name. */
		if (pen.x + 1 + has_space +
			    (int)(strlen(label) + 1 + strlen(average) + strlen(of)) >
		    pen.end)
			continue;
		tui->legend[i] = (struct tui_spot){ .y = y, .x = pen.x };
		pen_swatch(&pen, state);
		pen_print(&pen, STYLE_DIM, has_space ? " %s" : "%s", label);
		pen_print(&pen, strpbrk(average, "123456789") ? STYLE_PLAIN : STYLE_DIM, " %s",
			  average);
		pen_print(&pen, STYLE_DIM, "%s", of);
		tui->legend[i].end = pen.x;
		pen_skip(&pen, STYLE_PLAIN, pen.x + (is_wide ? 2 : 1));
	}
}

void header_draw(struct tui *tui, int columns)
{
	const int lines = tui_head_lines();

	memset(tui->legend, 0, sizeof(tui->legend));
	if (lines > 0)
		draw_host(tui, draw_time(tui, columns), columns >= ROOMY);
	if (lines > 1)
		draw_engine(tui, columns);
	if (tui->has_window && lines > 2) {
		struct pen pen = pen_at(&tui->terminal, 2, 0, columns);

		pen_bar(&pen, &tui->model->list.total.times, tui->model->list.total.whole_ns,
			(unsigned)columns);
	}
	if (tui->has_window && lines > 3)
		draw_legend(tui, 3, columns);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/units.h"
#include "tui/tui.h"

/* Narrower, states have their short names, and no signs of percent. */
#define WIDE 120

static void draw_host(struct tui *tui, int columns)
{
	static const char *const psi[] = { "cpu", "mem", "io" };
	const struct screen_host *host = &tui->host;
	struct pen pen = pen_at(&tui->terminal, 0, 0, columns);

	pen_print(&pen, STYLE_STRONG, "ctprof top");
	if (!tui->has_window)
		return;
	pen_print(&pen, STYLE_PLAIN, "  %u", host->cpus);
	pen_print(&pen, STYLE_DIM, " CPU%s", plural(host->cpus));
	if (host->load[0] >= 0) {
		pen_print(&pen, STYLE_DIM, "  load ");
		pen_print(&pen, STYLE_PLAIN, "%.2f %.2f %.2f", host->load[0], host->load[1],
			  host->load[2]);
	}
	for (size_t i = 0; i < array_length(psi); i++) {
		if (host->psi[i] < 0)
			continue;
		pen_print(&pen, STYLE_DIM, "%s%s ", i ? " " : "  psi% ", psi[i]);
		pen_print(&pen, STYLE_PLAIN, "%.1f", host->psi[i]);
	}
}

static void draw_time(struct tui *tui, int columns)
{
	time_t seconds = (time_t)(tui->window.at_unix_ns / NS_PER_S);
	struct tm when;
	struct pen pen;
	char text[32];

	if (!tui->has_window || !localtime_r(&seconds, &when))
		return;
	/* What is replayed may be of another day. */
	strftime(text, sizeof(text), tui_is_replay(tui) && columns >= WIDE ? " %F %T" : " %T",
		 &when);
	if (columns <= (int)strlen(text))
		return;
	pen = pen_at(&tui->terminal, 0, columns - (int)strlen(text), columns);
	pen_text(&pen, STYLE_STRONG, text_of(text));
}

/* The window is as long as was asked for, or says how long it is. */
static void put_interval(struct tui *tui, struct pen *pen)
{
	uint64_t ns = tui->window.ended_ns - tui->window.begun_ns;
	double asked = (double)tui->options->interval_ns, real = (double)ns;
	char text[FIT_NUMBER_MAX], each[UNITS_TEXT_MAX];

	if (tui_is_replay(tui)) {
		pen_print(pen, STYLE_DIM, "window ");
		pen_print(pen, STYLE_PLAIN, "%s", fit_duration(text, ns));
		return;
	}
	snprintf(each, sizeof(each), "%gs", asked / 1e9);
	if (asked < 1e9)
		snprintf(each, sizeof(each), "%gms", asked / 1e6);
	pen_print(pen, STYLE_DIM, "every ");
	pen_print(pen, STYLE_PLAIN, "%s", each);
	if (fabs(real - asked) > asked / 20)
		pen_print(pen, STYLE_PLAIN, " (now %s)", fit_duration(text, ns));
}

static void put_threads(struct tui *tui, struct pen *pen)
{
	const struct state_line *total = &tui->list.total;

	pen_print(pen, STYLE_PLAIN, "  %u", total->threads);
	pen_print(pen, STYLE_DIM, " thread%s", plural(total->threads));
	if (total->ended) {
		pen_print(pen, STYLE_PLAIN, " +%u", total->ended);
		pen_print(pen, STYLE_DIM, " ended");
	}
	if (tui->view.grouping != STATE_BY_THREAD) {
		pen_print(pen, STYLE_DIM, " in ");
		pen_print(pen, STYLE_PLAIN, "%zu", tui->list.lines.count);
		pen_print(pen, STYLE_DIM, " %s%s",
			  tui->view.grouping == STATE_BY_PROCESS && tui->list.lines.count != 1
				  ? "processe"
				  : state_grouping_names[tui->view.grouping],
			  plural(tui->list.lines.count));
	}
}

/* What is not as it usually is. */
static void put_conditions(struct tui *tui, struct pen *pen)
{
	if (tui->is_paused)
		pen_print(pen, STYLE_ERROR, "  %s", tui_is_replay(tui) ? "paused" : "frozen");
	if (tui->follows)
		pen_print(pen, STYLE_STRONG, "  following");
	if (tui->view.no_kernel)
		pen_print(pen, STYLE_DIM, "  no kernel threads");
	if (tui->view.filter && tui->view.filter->count && tui->edit.length) {
		pen_print(pen, STYLE_DIM, "  filter ");
		pen_text(pen, STYLE_STRONG, line_edit_text(&tui->edit));
	}
	if (tui->window.cost.threads_lost)
		pen_print(pen, STYLE_ERROR, "  %llu threads lost",
			  (unsigned long long)tui->window.cost.threads_lost);
	if (tui->host.note)
		pen_print(pen, STYLE_STRONG, "  %s", tui->host.note);
}

static void draw_engine(struct tui *tui, int columns)
{
	struct pen pen = pen_at(&tui->terminal, 1, 0, columns);

	if (!tui->has_window)
		return;
	if (tui->host.engine)
		pen_print(&pen, STYLE_PLAIN, "%s", tui->host.engine);
	if (tui->host.engine && tui->host.cost >= 0) {
		pen_print(&pen, STYLE_PLAIN, " %.1f%%", tui->host.cost);
		pen_print(&pen, STYLE_DIM, " of a CPU");
	}
	if (tui->host.engine)
		pen_print(&pen, STYLE_DIM, "  ");
	put_interval(tui, &pen);
	put_threads(tui, &pen);
	put_conditions(tui, &pen);
}

/* All have the same place in every window. */
static void put_share(struct pen *pen, double share, bool is_wide)
{
	enum style style = share >= 0.0005 ? STYLE_PLAIN : STYLE_DIM;
	char percent[FIT_NUMBER_MAX];

	if (is_wide)
		pen_print(pen, style, " %5s%%   ", fit_percent(percent, share));
	else if (pen_has_blocks(pen))
		pen_print(pen, style, " %4s ",
			  share < 0.9995 ? fit_percent(percent, share) : "100");
	else
		pen_print(pen, style, " %3.0f ", share * 100);
}

static void draw_legend(struct tui *tui, int y, int columns)
{
	struct pen pen = pen_at(&tui->terminal, y, 0, columns);
	bool is_wide = columns >= WIDE;

	for (size_t i = 0; i < STATE_MAIN_COUNT; i++) {
		const struct state_row *row = &state_rows[state_mains[i]];

		pen_swatch(&pen, state_mains[i]);
		/* A letter needs a space to be none of the name. */
		pen_print(&pen, STYLE_DIM, is_wide || !pen_has_blocks(&pen) ? " %s" : "%s",
			  is_wide ? row->name : row->label);
		put_share(&pen, state_line_share(&tui->list.total, state_mains[i]), is_wide);
	}
}

void header_draw(struct tui *tui, int columns)
{
	draw_host(tui, columns);
	draw_time(tui, columns);
	draw_engine(tui, columns);
	if (tui->has_window) {
		struct pen pen = pen_at(&tui->terminal, 2, 0, columns);

		pen_bar(&pen, &tui->list.total.times, tui->list.total.window_ns, (unsigned)columns);
		draw_legend(tui, 3, columns);
	}
}

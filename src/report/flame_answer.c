/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/flame_answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "profile/known_frames.h"
#include "report/few_samples.h"
#include "report/profile_heading.h"
#include "report/profile_wording.h"
#include "report/visible.h"

/* --- words of one change --- */

/* "5.1", "312": no more digits than say something. */
static int decimals_of(double percent)
{
	return fabs(percent) < 100 ? 1 : 0;
}

static void print_percent(FILE *out, double factor, const char *sign_of_more)
{
	const double percent = 100 * (factor - 1);

	if (isinf(percent))
		fputs("...", out);
	else if (fabs(percent) < 0.05)
		fputs("0.0", out);
	else
		fprintf(out, "%s%.*f", percent >= 0 ? sign_of_more : "", decimals_of(percent),
			percent);
}

static double factor_of(const struct flame_change *change)
{
	return change->before > 0 ? change->after / change->before : INFINITY;
}

static void print_q(FILE *out, double q)
{
	fprintf(out, q < 0.001 ? "%.0e" : "%.3f", q);
}

char *flame_change_text(char *buffer, const struct flame_change *change)
{
	FILE *out = fmemopen(buffer, FLAME_CHANGE_TEXT_MAX, "w");

	*buffer = '\0';
	if (!out)
		return buffer;
	if (change->before > 0) {
		print_percent(out, factor_of(change), "+");
		fputs(" % (", out);
		print_percent(out, change->low, "+");
		fputs(" .. ", out);
		print_percent(out, change->high, "+");
		fputs(" %), q ", out);
	} else {
		fputs("new, q ", out);
	}
	print_q(out, change->q);
	fclose(out);
	return buffer;
}

/* Kinds of time that a flame has only one of are that one. */
static enum flame_time time_in(const struct flame_changes *changes, enum flame_time time)
{
	if (time != FLAME_TIME_ALL || changes->has_cpu == changes->has_off)
		return time;
	return changes->has_cpu ? FLAME_TIME_CPU : FLAME_TIME_OFF;
}

static const char *const time_words[FLAME_TIMES] = {
	[FLAME_TIME_ALL] = "time",
	[FLAME_TIME_CPU] = "CPU time",
	[FLAME_TIME_OFF] = "time off the CPU",
};

static char *value_text(char buffer[UNITS_TEXT_MAX], const struct flame *flame, double value)
{
	return flame_value(buffer, flame, (uint64_t)llrint(value));
}

/* "takes 5.1 % more CPU time (3.9 to 6.4 %)" */
static void print_change(FILE *out, const struct flame *flame, const struct flame_change *change,
			 enum flame_time time)
{
	const bool is_more = change->after >= change->before;
	const char *verb = flame->is_events ? "has" : "takes";
	const char *what = flame->is_events ? "hits" : time_words[time_in(flame->changes, time)];
	double factor = factor_of(change), least = change->low, most = change->high;
	char value[UNITS_TEXT_MAX];

	if (!(change->before > 0)) {
		fprintf(out, "%s %s that it did not have before (%s)", verb, what,
			value_text(value, flame, change->after));
		return;
	}
	if (!(change->after > 0)) {
		fprintf(out, "%s no %s any more (%s before)", verb, what,
			value_text(value, flame, change->before));
		return;
	}
	if (!is_more) {
		/* Less: the sizes, smallest first. */
		factor = 2 - factor;
		least = 2 - change->high;
		most = 2 - change->low;
	}
	fprintf(out, "%s ", verb);
	print_percent(out, factor, "");
	fprintf(out, " %% %s %s (", is_more ? "more" : flame->is_events ? "fewer" : "less", what);
	if (isinf(most))
		fputs("at least ", out);
	print_percent(out, least, "");
	if (!isinf(most)) {
		fputs(" to ", out);
		print_percent(out, most, "");
	}
	fputs(" %)", out);
}

/* --- the answer --- */

/* The node with the largest difference that is known; NODE_NONE: none. */
static uint32_t largest_node(const struct flame *flame)
{
	uint32_t largest = NODE_NONE;
	double most = -1;

	for (uint32_t i = 0; i < flame->nodes.count; i++) {
		const struct flame_change *change = &flame->changes->nodes[i];

		if (!change->is_known || fabs(change->after - change->before) <= most)
			continue;
		most = fabs(change->after - change->before);
		largest = i;
	}
	return largest;
}

static void print_name(FILE *out, const struct flame_face *face)
{
	text_print_visible(out, frame_shown_name(face->name), 0);
}

/* No function differs as a whole, but where something calls it. */
static void print_place(FILE *out, const struct flame *flame, uint32_t number)
{
	const struct flame_node *node = &flame->nodes.items[number];

	print_name(out, flame_face(flame, node));
	if (node->depth > 1) {
		fputs(", called by ", out);
		print_name(out, flame_face(flame, &flame->nodes.items[node->parent]));
		fputc(',', out);
	}
	fputc(' ', out);
	print_change(out, flame, &flame->changes->nodes[number], FLAME_TIME_ALL);
}

static void print_answer(FILE *out, const struct flame *flame)
{
	const struct flame_changes *changes = flame->changes;
	const uint32_t node = largest_node(flame);

	if (changes->findings.count) {
		const struct flame_finding *finding = &changes->findings.items[0];
		const struct flame_subject *subject = &changes->subjects.items[finding->subject];

		print_name(out, subject->face);
		fputc(' ', out);
		print_change(out, flame, &subject->changes[finding->time], finding->time);
		if (changes->findings.count == 1)
			fputs("; nothing else is known to differ", out);
		else
			fprintf(out, "; %zu other difference%s known", changes->findings.count - 1,
				changes->findings.count == 2 ? " is" : "s are");
	} else if (node != NODE_NONE) {
		print_place(out, flame, node);
		fputs("; nothing else is known to differ", out);
	} else {
		fputs("No difference is known to be real", out);
	}
}

char *flame_answer(const struct flame *flame)
{
	char *text = NULL;
	size_t length;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return NULL;
	print_answer(memory, flame);
	return file_close_memory(memory, &text) ? text : NULL;
}

struct error *difference_report(FILE *out, const struct profile_report *report,
				const struct profile_style *style)
{
	const struct flame_changes *changes = report->flame->changes;

	if (style->colour)
		fputs("\033[1m", out);
	print_answer(out, report->flame);
	if (style->colour)
		fputs("\033[0m", out);
	fprintf(out, "\n%zu profile%s before, %zu after. ", changes->before_count,
		plural(changes->before_count), changes->after_count);
	/* One of each side are compared as two counts. */
	if (changes->before_count + changes->after_count > 2)
		few_samples_print(out, changes->before_count, changes->after_count,
				  "profiles of a side", " ");
	return NULL;
}

/* --- the table --- */

struct change_row {
	const struct flame_subject *subject;
	const struct flame_change *change;
	enum flame_time time;
	bool is_finding;
};

struct change_rows {
	const struct flame *flame;
	ARRAY(struct change_row);
};

/* Findings in their order, then what is known by size, then the rest by its time. */
static int by_weight(const void *a, const void *b)
{
	const struct change_row *x = a, *y = b;
	double size_x, size_y;

	if (x->is_finding != y->is_finding)
		return x->is_finding ? -1 : 1;
	if (x->change->is_known != y->change->is_known)
		return x->change->is_known ? -1 : 1;
	size_x = fabs(x->change->after - x->change->before);
	size_y = fabs(y->change->after - y->change->before);
	if (!x->change->is_known) {
		size_x = x->change->after + x->change->before;
		size_y = y->change->after + y->change->before;
	}
	if (size_x != size_y)
		return size_x < size_y ? 1 : -1;
	return name_compare(x->subject->face->name, y->subject->face->name);
}

static bool is_finding(const struct flame_changes *changes, uint32_t subject, unsigned time)
{
	for (size_t i = 0; i < changes->findings.count; i++)
		if (changes->findings.items[i].subject == subject &&
		    changes->findings.items[i].time == time)
			return true;
	return false;
}

/* If there is time on and off the CPU, rows have one of them each. */
static bool find_rows(struct change_rows *rows, bool all)
{
	const struct flame_changes *changes = rows->flame->changes;
	const bool both = changes->has_cpu && changes->has_off;

	for (uint32_t i = 0; i < changes->subjects.count; i++)
		for (unsigned time = both; time < (both ? FLAME_TIMES : 1); time++) {
			const struct flame_subject *subject = &changes->subjects.items[i];
			const struct change_row row = {
				.subject = subject,
				.change = &subject->changes[time],
				.time = (enum flame_time)time,
				.is_finding = is_finding(changes, i, time),
			};

			if ((all ? row.change->is_tested : row.change->is_known) &&
			    !array_push(rows, row))
				return false;
		}
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), by_weight);
	return true;
}

enum change_field { BEFORE, AFTER, CHANGE, INTERVAL, Q, TIME, FUNCTION, FILE_NAME };
#define WHEN_BOTH 1u

static const struct table_column columns[] = {
	{ "before", .right = true, .field = BEFORE, .minor = 2 },
	{ "after", .right = true, .field = AFTER, .minor = 2 },
	{ "change", .right = true, .field = CHANGE },
	{ "95 % interval", .right = true, .field = INTERVAL, .minor = 1 },
	{ "q", .right = true, .field = Q, .minor = 1 },
	{ "time", .type = TABLE_TEXT, .when = WHEN_BOTH, .field = TIME },
	{ "function", .type = TABLE_TEXT, .field = FUNCTION },
	{ "in", .type = TABLE_TEXT, .field = FILE_NAME, .minor = 3 },
};

static void put_text(struct table_cell *cell, void (*print)(FILE *out, const void *context),
		     const void *context)
{
	FILE *out = fmemopen(cell->buffer, sizeof(cell->buffer), "w");

	if (!out) {
		cell->failed = true;
		return;
	}
	print(out, context);
	fclose(out);
	table_string(cell, cell->buffer);
}

static void print_change_cell(FILE *out, const void *context)
{
	const struct flame_change *change = context;

	if (!(change->before > 0)) {
		fputs("new", out);
		return;
	}
	print_percent(out, factor_of(change), "+");
	fputc('%', out);
}

static void print_interval_cell(FILE *out, const void *context)
{
	const struct flame_change *change = context;

	print_percent(out, change->low, "+");
	fputs("% .. ", out);
	print_percent(out, change->high, "+");
	if (!isinf(change->high))
		fputc('%', out);
}

static void print_q_cell(FILE *out, const void *context)
{
	const struct flame_change *change = context;

	print_q(out, change->q);
}

static void get_change_cell(const void *context, const void *row_,
			    const struct table_column *column, struct table_cell *ret)
{
	static const char *const words[FLAME_TIMES] = { "all", "cpu", "off" };
	const struct change_rows *rows = context;
	const struct change_row *row = row_;
	const struct name *module = row->subject->face->module;
	const char *slash = module ? strrchr(module->bytes, '/') : NULL;

	switch ((enum change_field)column->field) {
	case BEFORE:
		table_string(ret, value_text(ret->buffer, rows->flame, row->change->before));
		return;
	case AFTER:
		table_string(ret, value_text(ret->buffer, rows->flame, row->change->after));
		return;
	case CHANGE:
		put_text(ret, print_change_cell, row->change);
		return;
	case INTERVAL:
		if (row->change->before > 0)
			put_text(ret, print_interval_cell, row->change);
		return;
	case Q:
		put_text(ret, print_q_cell, row->change);
		return;
	case TIME:
		table_string(ret, words[row->time]);
		return;
	case FUNCTION:
		table_text(ret, frame_shown_name(row->subject->face->name));
		return;
	case FILE_NAME:
		if (row->subject->is_group)
			table_text(ret, TEXT("(group)"));
		else if (module && module->length)
			table_string(ret, slash ? slash + 1 : module->bytes);
		else if (row->subject->face->kind == FRAME_KERNEL)
			table_text(ret, TEXT("[kernel]"));
		return;
	}
}

static struct error *print_rows(FILE *out, const struct change_rows *rows,
				const struct profile_style *style)
{
	const struct flame_changes *changes = rows->flame->changes;
	struct table_options options = profile_table(out, style, get_change_cell, rows);
	size_t shown = rows_shown(style, rows->count);
	struct table table;

	options.when = changes->has_cpu && changes->has_off ? WHEN_BOTH : 0;
	table_begin(&table, columns, array_length(columns), options);
	for (size_t i = 0; i < shown && table_row(&table, &rows->items[i]); i++)
		;
	if (shown < rows->count) {
		char line[80];

		snprintf(line, sizeof(line), " ... %zu more (--all)", rows->count - shown);
		table_line(&table, line);
	}
	return table_end(&table);
}

struct error *change_report(FILE *out, const struct profile_report *report,
			    const struct profile_style *style)
{
	struct change_rows rows = { .flame = report->flame };
	struct error *err = find_rows(&rows, style->all) ? NULL : &error_no_memory;

	if (!err && rows.count) {
		print_heading(out, style,
			      style->all ? "Functions that were compared"
					 : "Functions that are known to differ");
		err = print_rows(out, &rows, style);
	}
	array_deinit(&rows);
	return err;
}

/* --- the method --- */

struct error *method_report(FILE *out, const struct profile_report *report,
			    const struct profile_style *style)
{
	const struct flame_changes *c = report->flame->changes;

	(void)style;
	if (c->test_count)
		fprintf(out,
			"\n%zu test%s of functions and stacks; of what is called known, at most "
			"%.0f %% "
			"is\nchance (q, Benjamini-Hochberg).\n",
			c->test_count, plural(c->test_count), 100 * FLAME_RATE);
	else
		fputs("\nThere is too little time in these profiles to compare any of it.\n", out);
	if (c->is_approximate)
		fputs("One profile on each side shows only in part how much times vary, so this is "
		      "an\napproximation. Several show more:\n"
		      "  sudo ctprof profile --mode on --interval 10 -d 100 -o before.raw\n"
		      "  ctprof flame --diff --significant before.*.raw -- after.*.raw\n",
		      out);
	return NULL;
}

/* --- conditions --- */

char *flame_condition_text(const struct flame_condition *condition)
{
	_cleanup_free_ char *text = text_visible(text_of(condition->text));
	_cleanup_free_ char *name = NULL;
	char change[FLAME_CHANGE_TEXT_MAX];

	if (condition->name) {
		name = text_visible(text_of(condition->name));
		flame_change_text(change, &condition->change);
	}
	if (!text || (condition->name && !name))
		return NULL;
	switch (condition->verdict) {
	case FLAME_BROKEN:
		return condition->met == 1
			       ? text_print("--fail-if '%s': met by %s: %s", text, name, change)
			       : text_print("--fail-if '%s': met by %zu of %zu: %s: %s", text,
					    condition->met, condition->tested, name, change);
	case FLAME_HOLDS:
		return text_print("--fail-if '%s': not known to be met by any of %zu: %s: %s", text,
				  condition->tested, name, change);
	case FLAME_UNDECIDED:
		break;
	}
	return condition->matched
		       ? text_print("--fail-if '%s': undecided, too little of that time in %zu "
				    "that match%s",
				    text, condition->matched, condition->matched == 1 ? "es" : "")
		       : text_print("--fail-if '%s': undecided, nothing has that name", text);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/display.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/glob.h"
#include "cli/pager.h"
#include "cli/running.h"
#include "cli/terminal.h"
#include "compare/condition.h"
#include "report/wording.h"
#include "state/view.h"

/* --- the values there are --- */

const char *axis_name(size_t number)
{
	return number < GROUP_AXIS_COUNT ? group_axes[number].name : NULL;
}

const char *section_name(size_t number)
{
	return number < SECTION_COUNT ? section_infos[number].name : NULL;
}

/* The derived ones are numbered after the others. */
const char *metric_name(size_t number)
{
	if (number < METRIC_COUNT)
		return metrics[number].name;
	number -= METRIC_COUNT;
	return number < DERIVED_COUNT ? derived_metrics[number].name : NULL;
}

const char *show_sort_name(size_t number)
{
	return metric_name(number);
}

static const struct {
	const char *name;
	enum order order;
} row_orders[] = {
	{ "delta", ORDER_DELTA },
	{ "pct", ORDER_PERCENT },
	{ "share", ORDER_SHARE },
	{ "p", ORDER_SIGNIFICANCE },
};

const char *compare_sort_name(size_t number)
{
	if (number < array_length(row_orders))
		return row_orders[number].name;
	return metric_name(number - array_length(row_orders));
}

const char *normalize_name(size_t number)
{
	static const char *const names[] = { "age", "cpu" };

	return number < array_length(names) ? names[number] : NULL;
}

const char *format_name(size_t number)
{
	return number < REPORT_FORMAT_COUNT ? report_formats[number].name : NULL;
}

const char *display_format_name(size_t number)
{
	return number < DISPLAY_FORMAT_COUNT ? display_format_names[number] : NULL;
}

static const char *column_name(size_t number, bool comparing)
{
	for (enum column i = 0; i < COLUMN_COUNT; i++)
		if ((comparing ? column_infos[i].in_compare : column_infos[i].in_show) &&
		    number-- == 0)
			return column_infos[i].name;
	return NULL;
}

const char *show_column_name(size_t number)
{
	return column_name(number, false);
}

const char *compare_column_name(size_t number)
{
	return column_name(number, true);
}

/* The number of a value by name; -1 with an error when there is none. */
static int find_value(const char *what, const char *wanted, option_values values,
		      struct error **ret)
{
	const char *value;

	for (size_t i = 0; (value = values(i)); i++)
		if (strcmp(value, wanted) == 0)
			return (int)i;
	*ret = unknown_value(what, wanted, values);
	return -1;
}

/* --- which groups and rows --- */

struct error *parse_axis(const char *argument, void *at)
{
	struct display *display = at;
	struct error *err = NULL;
	int found = find_value("axis", argument, axis_name, &err);

	if (found >= 0)
		display->view.axis = &group_axes[found];
	return err;
}

static struct error *take_section(void *context, const char *piece)
{
	struct display *display = context;
	struct error *err = NULL;
	int found = find_value("section", piece, section_name, &err);

	if (found >= 0)
		display->view.sections |= 1u << found;
	return err;
}

struct error *parse_sections(const char *argument, void *at)
{
	struct display *display = at;

	display->view.sections = 0;
	display->view.sections_named = true;
	return each_piece(argument, "section", take_section, at);
}

static struct error *select_matching(const char *glob, struct selection *selection)
{
	struct error *err = pattern_check(glob);
	const char *name;
	size_t count = 0;

	if (err)
		return err;
	for (unsigned i = 0; (name = metric_name(i)); i++)
		if (fnmatch(glob, name, 0) == 0) {
			selection_add(selection, i);
			count++;
		}
	return count ? NULL
		     : error_create("no metric matches '%.80s' (see ctprof metric-list)", glob);
}

struct error *metrics_select(const char *word, struct selection *selection)
{
	struct error *err = NULL;
	int found;

	if (strpbrk(word, "*?["))
		return select_matching(word, selection);
	found = find_value("metric", word, metric_name, &err);
	if (found >= 0)
		selection_add(selection, (unsigned)found);
	return err;
}

static struct error *take_metric(void *context, const char *piece)
{
	return metrics_select(piece, &((struct display *)context)->view.metrics);
}

struct error *parse_metrics(const char *argument, void *at)
{
	struct display *display = at;

	display->view.metrics = (struct selection){ 0 };
	display->view.metrics_named = true;
	return each_piece(argument, "metric", take_metric, at);
}

struct error *parse_thread_filter(const char *argument, void *at)
{
	return state_filter_parse(text_of(argument), at);
}

struct error *parse_pattern(const char *argument, void *at)
{
	struct patterns *patterns = at;
	struct error *err = pattern_check(argument);

	if (err)
		return err;
	return array_push(patterns, argument) ? NULL : &error_no_memory;
}

struct error *parse_flatten(const char *argument, void *at)
{
	struct display *display = at;
	struct error *err = glob_check(argument);

	if (err)
		return error_prefix(err, "'%.80s'", argument);
	return array_push(&display->view.keys.cgroups.flatten, argument) ? NULL : &error_no_memory;
}

struct error *parse_normalize(const char *argument, void *at)
{
	enum normalize *normalize = at;
	struct error *err = NULL;
	int found = find_value("divisor", argument, normalize_name, &err);

	if (found >= 0)
		*normalize = found == 0 ? NORMALIZE_AGE : NORMALIZE_CPU;
	return err;
}

struct error *parse_min_delta(const char *argument, void *at)
{
	struct view *view = &((struct display *)at)->view;
	struct amount amount;

	if (!units_parse(text_of(argument), &amount) || amount.value < 0)
		return error_create("invalid amount '%.40s': expected e.g. 5%%, 10ms, 1MiB, 1000",
				    argument);
	if (amount.percent)
		view->min_percent = amount.value;
	else
		view->min_delta[amount.dimension] = amount.value;
	return NULL;
}

/* --- order --- */

/* "METRIC[:asc|desc]" */
static struct error *parse_direction(const char *piece, struct text *name, bool *ret_ascending)
{
	const char *colon = strchr(piece, ':');
	struct text direction;

	*name = text_of(piece);
	*ret_ascending = false;
	if (!colon)
		return NULL;
	direction = text_trim(text_of(colon + 1));
	*name = text_trim((struct text){ piece, (size_t)(colon - piece) });
	*ret_ascending = direction.length == 3 && strncasecmp(direction.bytes, "asc", 3) == 0;
	if (*ret_ascending ||
	    (direction.length == 4 && strncasecmp(direction.bytes, "desc", 4) == 0))
		return NULL;
	return error_create("invalid direction '%.*s': expected asc or desc", (int)direction.length,
			    direction.bytes);
}

static struct error *add_sort_key(struct view *view, unsigned metric, bool ascending)
{
	if (metric < METRIC_COUNT &&
	    (metrics[metric].family == FAMILY_MODE || metrics[metric].family == FAMILY_NONE))
		return error_create("cannot sort by '%s': not numeric", metrics[metric].name);
	for (size_t i = 0; i < view->sort_count; i++)
		if (view->sort[i].metric == metric)
			return error_create("duplicate sort key '%s'", metric_name(metric));
	if (view->sort_count == SORT_KEYS_MAX)
		return error_create("more than %d metrics", SORT_KEYS_MAX);
	view->sort[view->sort_count++] = (struct sort_key){ metric, ascending };
	return NULL;
}

static struct error *take_sort_key(struct view *view, const char *piece, option_values values)
{
	struct error *err;
	struct text name;
	char copy[128];
	bool ascending;
	int found;

	err = parse_direction(piece, &name, &ascending);
	if (err)
		return err;
	snprintf(copy, sizeof(copy), "%.*s", (int)name.length, name.bytes);
	found = find_value("metric", copy, values, &err);
	if (found < 0)
		return err;
	if (values == compare_sort_name)
		found -= (int)array_length(row_orders);
	if (found < 0)
		return error_create("sort key '%s' cannot be combined with others", copy);
	return add_sort_key(view, (unsigned)found, ascending);
}

static struct error *take_show_key(void *context, const char *piece)
{
	return take_sort_key(&((struct display *)context)->view, piece, show_sort_name);
}

static struct error *take_compare_key(void *context, const char *piece)
{
	return take_sort_key(&((struct display *)context)->view, piece, compare_sort_name);
}

/* An empty text is the usual order. */
static struct error *parse_sort(const char *argument, struct display *display,
				struct error *(*take)(void *context, const char *piece))
{
	display->view.sort_count = 0;
	display->view.order = *argument ? ORDER_GROUPS : ORDER_USUAL;
	return *argument ? each_piece(argument, "metric", take, display) : NULL;
}

struct error *parse_show_sort(const char *argument, void *at)
{
	return parse_sort(argument, at, take_show_key);
}

struct error *parse_compare_sort(const char *argument, void *at)
{
	struct display *display = at;

	for (size_t i = 0; i < array_length(row_orders); i++) {
		if (strcmp(argument, row_orders[i].name) == 0) {
			display->view.order = row_orders[i].order;
			return NULL;
		}
	}
	return parse_sort(argument, display, take_compare_key);
}

struct error *parse_limit(const char *argument, void *at)
{
	struct display *display = at;

	display->has_limit = true;
	return parse_size(argument, &display->view.limit);
}

struct error *parse_all(const char *argument, void *at)
{
	struct display *display = at;

	(void)argument;
	display->has_limit = true;
	display->view.limit = 0;
	return NULL;
}

/* --- how it looks --- */

static struct error *take_column(struct columns *columns, const char *piece, option_values values)
{
	struct error *err = NULL;
	enum column id = 0;

	if (find_value("column", piece, values, &err) < 0)
		return err;
	while (strcmp(column_infos[id].name, piece) != 0)
		id++;
	for (size_t i = 0; i < columns->count; i++)
		if (columns->ids[i] == id)
			return error_create("duplicate column '%s'", piece);
	columns->ids[columns->count++] = id;
	return NULL;
}

static struct error *take_show_column(void *context, const char *piece)
{
	return take_column(&((struct display *)context)->style.columns, piece, show_column_name);
}

static struct error *take_compare_column(void *context, const char *piece)
{
	return take_column(&((struct display *)context)->style.columns, piece, compare_column_name);
}

struct error *parse_show_columns(const char *argument, void *at)
{
	((struct display *)at)->style.columns.count = 0;
	return each_piece(argument, "column", take_show_column, at);
}

struct error *parse_compare_columns(const char *argument, void *at)
{
	((struct display *)at)->style.columns.count = 0;
	return each_piece(argument, "column", take_compare_column, at);
}

struct error *parse_format(const char *argument, void *at)
{
	struct display *display = at;
	struct error *err = NULL;
	int found = find_value("format", argument, format_name, &err);

	if (found >= 0)
		display->format = (enum report_format)found;
	return err;
}

struct error *parse_display_format(const char *argument, void *at)
{
	struct display *display = at;
	struct error *err = NULL;
	int found = find_value("format", argument, display_format_name, &err);

	if (found >= 0)
		display->style.format = (enum display_format)found;
	return err;
}

/* --- conditions --- */

static struct error *find_metric(const char *name, unsigned *ret)
{
	struct error *err = NULL;
	int found = find_value("metric", name, metric_name, &err);

	if (found >= 0)
		*ret = (unsigned)found;
	return err;
}

struct error *parse_fail_if(const char *argument, void *at)
{
	struct view *view = &((struct display *)at)->view;
	struct condition condition;
	struct error *err = condition_parse(argument, find_metric, &condition);

	if (err)
		return err;
	if (array_push(&view->conditions, condition))
		return NULL;
	free(condition.group);
	return &error_no_memory;
}

/* --- all of them together --- */

void display_init(struct display *display)
{
	*display = (struct display){ 0 };
	view_init(&display->view);
}

void display_deinit(struct display *display)
{
	view_deinit(&display->view);
}

static bool has_column(const struct columns *columns, enum column id)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->ids[i] == id)
			return true;
	return false;
}

static void warn_of_sections(const struct view *view)
{
	for (enum section i = 0; view->sections_named && i < SECTION_COUNT; i++)
		if (view->sections >> i & 1 && section_infos[i].subject == SUBJECT_CGROUP &&
		    view->axis != &group_axes[AXIS_CGROUP])
			fprintf(stderr,
				"ctprof: section '%s' requires --group-by cgroup; omitted under "
				"--group-by %s\n",
				section_infos[i].name, view->axis->name);
}

/* Several captures rank rows, by what they are about. */
static struct error *check_order(const struct view *view, enum display_of of)
{
	if (view->order == ORDER_SIGNIFICANCE && of != DISPLAY_SEVERAL)
		return error_create("--sort-by p requires several captures: --baseline FILE... "
				    "--candidate FILE...");
	if (of == DISPLAY_SEVERAL && (view->order == ORDER_GROUPS || view->order == ORDER_SHARE))
		return error_create("--sort-by must be delta, pct or p with several captures");
	return NULL;
}

struct error *display_settle(struct display *display, enum display_of of)
{
	struct view *view = &display->view;
	struct error *err = check_order(view, of);

	if (err)
		return err;
	if (view->normalize != NORMALIZE_NOT &&
	    (view->rate || view->window || view->order == ORDER_SHARE))
		return error_create("--normalize cannot be combined with --window, --rate or "
				    "--sort-by share");
	view->people = report_formats[display->format].people;
	view->keys.kworkers = view->people && !view->conditions.count;
	if (display->lifetime && view->window)
		return error_create("--lifetime and --window exclude each other");
	if (display->wrap && terminal_is_wide())
		return error_create("--wide and --wrap exclude each other");
	if (!display->has_limit)
		view->limit = report_formats[display->format].usual_rows;
	if (of != DISPLAY_ONE)
		view_hide_waits(view);
	view->rates = of == DISPLAY_TWO;
	view->overview = !view->sections_named && !view->metrics_named;
	view->shares = of == DISPLAY_TWO && (view->order == ORDER_SHARE ||
					     has_column(&display->style.columns, COLUMN_SHARE));
	display->style.colour = terminal_wants_colour();
	display->style.wrap = display->wrap;
	display->style.width = display->wrap ? terminal_width() : terminal_table_width();
	warn_of_sections(view);
	return NULL;
}

void display_window_usual(struct display *display)
{
	struct view *view = &display->view;

	view->window |= !display->lifetime && view->normalize == NORMALIZE_NOT;
}

void display_window_of_boot(struct display *display, const struct side *sides, size_t count)
{
	double seconds;

	if (count == 2 && display->view.people && !display->view.conditions.count &&
	    boots_of(sides[0].snapshot, sides[1].snapshot) == BOOTS_SAME &&
	    seconds_between(sides[0].snapshot, sides[1].snapshot, &seconds) && seconds > 0)
		display_window_usual(display);
}

static void print_condition_result(const struct condition_result *result)
{
	_cleanup_free_ char *line = wording_condition_result(result);

	/* Both may go to one terminal. */
	fflush(stdout);
	fprintf(stderr, "ctprof: %s\n", line ? line : "out of memory");
}

struct error *display_print_by(const struct display *display, report_print print, FILE *out,
			       const struct side *sides, size_t baselines, size_t count,
			       enum verdict *ret)
{
	const bool has_results = report_formats[display->format].has_results;
	_cleanup_(report_destroy) struct report *report = NULL;
	struct report_style style = display->style;
	struct sides both;
	struct error *err = sides_init(&both, &display->view, sides, baselines, count);

	if (err)
		return err;
	style.runs = snapshot_process_runs;
	style.has_files = !display->unnamed;
	for (size_t i = 0; i < count; i++)
		style.has_files &= strcmp(sides[i].name, "-") != 0;
	err = report_create(&both, &report);
	if (!err) {
		*ret = condition_verdict(report);
		/* Everything is computed before a pager starts. It makes stdout another stream. */
		if (out == stdout) {
			pager_begin(display->format == REPORT_TABLE ? PAGER_TEXT : PAGER_DATA);
			out = stdout;
		}
		err = print(out, report, &style);
		for (size_t i = 0; !has_results && i < report->results.count; i++)
			print_condition_result(&report->results.items[i]);
	}
	sides_deinit(&both);
	return err;
}

int display_print(const struct display *display, const struct side *sides, size_t baselines,
		  size_t count)
{
	enum verdict verdict = VERDICT_HOLDS;
	struct error *err = display_print_by(display, report_formats[display->format].print, stdout,
					     sides, baselines, count, &verdict);

	if (err)
		return report_error(err, STATUS_FAILED);
	return verdict == VERDICT_BROKEN      ? STATUS_BROKEN
	       : verdict == VERDICT_UNDECIDED ? STATUS_UNDECIDED
					      : STATUS_DONE;
}

void display_rank_by_cpu_time(struct display *display)
{
	struct view *view = &display->view;

	if (!view->people || view->order != ORDER_USUAL)
		return;
	view->order = ORDER_GROUPS;
	view->sort[0] = (struct sort_key){ .metric = METRIC_run_time_ns };
	view->sort_count = 1;
}

void print_remarks(const char *path, const struct ctprof_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->remarks.count; i++)
		fprintf(stderr, "ctprof: %s: %s\n", path, snapshot->remarks.items[i]);
}

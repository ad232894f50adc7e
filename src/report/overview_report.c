/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/overview_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/amount.h"
#include "report/overview_line.h"
#include "report/overview_next.h"
#include "report/overview_reason.h"
#include "report/visible.h"
#include "report/wording.h"

/* --- lines --- */

struct overview_output {
	FILE *out;
	const struct report *report;
	const struct overview *overview;
	const struct report_style *style;
	size_t columns;
	size_t lines;
};

static void put_line(struct overview_output *o, const struct overview_line *line)
{
	fprintf(o->out, "%s\n", line->text);
	o->lines++;
}

/* --- the heading --- */

#define NAME_COLUMNS 30

/* Are totals those of a time? */
static bool is_query(const struct report *report)
{
	return report->candidate->observed_ns;
}

/* The length of a path, or of a URL up to its last slash before the query. */
static size_t folder_length(const char *name, size_t length)
{
	while (length && name[length - 1] != '/')
		length--;
	return name[length] ? length : 0;
}

/* The bytes at the end of a name, from a "&" on, that another has too, beyond the first `same`
 * bytes. */
static size_t same_end(struct text name, struct text other, size_t same)
{
	const size_t most = (name.length < other.length ? name.length : other.length) - same;
	size_t end = 0;

	for (size_t i = 1; i <= most; i++) {
		const char byte = name.bytes[name.length - i];

		if (byte != other.bytes[other.length - i])
			break;
		if (byte == '&')
			end = i;
	}
	return end;
}

/* The parameters of a query that are not those of another: of
 * "ch://store/ctprof?host=web-1&from=-1h", "host=web-1". Where these have no room, bytes at the
 * start that are the same are left out. */
static void add_query_name(struct overview_line *line, struct text name, struct text other)
{
	const size_t folder = folder_length(name.bytes, strcspn(name.bytes, "?"));
	size_t same = 0, start, end, least;

	while (name.bytes[same] && name.bytes[same] == other.bytes[same])
		same++;
	for (start = same; start && name.bytes[start - 1] != '?' && name.bytes[start - 1] != '&';)
		start--;
	if (start <= folder && same >= folder)
		start = folder;
	end = same_end(name, other, same);
	if (text_equal(name, other) || start == name.length) {
		start = folder;
		end = 0;
	}
	least = start + end + NAME_COLUMNS < name.length ? name.length - end - NAME_COLUMNS + 1
							 : start;
	if (start < least && start < same) {
		start = least < same ? least : same;
		while (start && ((unsigned char)name.bytes[start] & 0xc0) == 0x80)
			start--;
		line_add(line, "%s", text_ellipsis());
	}
	line_name(line, (struct text){ name.bytes + start, name.length - end - start },
		  NAME_COLUMNS);
}

static void add_side_name(struct overview_line *line, const struct report *report, size_t side)
{
	const struct sides *sides = report->sides;
	const size_t first = side ? sides->baselines : 0,
		     count = side ? sides->count - first : sides->baselines;
	const struct text name = text_of(sides->items[first].name);
	const size_t folder = folder_length(name.bytes, name.length);

	if (count > 1)
		line_add(line, "%zu captures", count);
	else if (is_query(report) && sides->count == 2)
		add_query_name(line, name, text_of(sides->items[!side].name));
	else
		line_name(line, (struct text){ name.bytes + folder, name.length - folder },
			  NAME_COLUMNS);
}

/* Are both sides queries of times that overlap? The one that ends last is as long as it says. */
static bool is_same_time(const struct report *report)
{
	const struct ctprof_snapshot *last =
		report->elapsed_s < 0 ? report->baseline : report->candidate;

	return is_query(report) &&
	       fabs(report->elapsed_s) * (double)NS_PER_S < (double)last->longest_observed_ns;
}

static void put_heading(struct overview_output *o)
{
	const struct report *report = o->report;
	const struct sides *sides = report->sides;
	const size_t before = sides->baselines;
	const size_t threads = report->candidate->threads.count;
	const char *what = report->candidate->has_programs ? "program" : "thread", *comma = "";
	char time[AMOUNT_MAX];
	struct overview_line line = { .columns = o->columns };

	if (before) {
		add_side_name(&line, report, 0);
		line_add(&line, " -> ");
	}
	add_side_name(&line, report, 1);
	line_add(&line, ": ");
	if (before && report->has_elapsed && !is_same_time(report)) {
		line_add(&line, "%s apart%s", amount_time(time, fabs(report->elapsed_s)),
			 report->boots == BOOTS_DIFFERENT && !is_query(report)
				 ? ", of different boots"
				 : "");
		comma = ", ";
	} else if (!before && o->overview->has_uptime) {
		line_add(&line, "%s%s", is_query(report) ? "" : "host up ",
			 amount_time(time, o->overview->window_s));
		comma = ", ";
	}
	if (before)
		line_add(&line, "%s%zu -> ", comma, report->baseline->threads.count);
	else if (o->overview->named_threads && o->overview->named_threads < threads)
		line_add(&line, "%s%zu of ", comma, o->overview->named_threads);
	else
		line_add(&line, "%s", comma);
	line_add(&line, "%zu %s%s", threads, what, plural(threads));
	put_line(o, &line);
}

/* --- the host --- */

/* Are the numbers before of the life of the host up to the window? */
static bool is_window(const struct overview_output *o)
{
	return o->report->comparing && o->overview->window_s > 0;
}

enum fact_form { FORM_SHARE, FORM_BYTES, FORM_RATE, FORM_PLAIN };

static char *fact_text(char buffer[AMOUNT_MAX], enum fact_form form, double value)
{
	if (form == FORM_SHARE)
		snprintf(buffer, AMOUNT_MAX, value > 0 && value < 0.01 ? "<1 %%" : "%.0f %%",
			 value * 100);
	else if (form == FORM_PLAIN)
		snprintf(buffer, AMOUNT_MAX, "%.2f", value);
	else
		strcat(amount_bytes(buffer, value), form == FORM_RATE ? "/s" : "");
	return buffer;
}

/* "LEAD87 %TAIL (12 % before)"; nothing when it is not known. The first of a line says what is in
 * brackets. */
static bool add_fact(const struct overview_output *o, struct overview_line *line,
		     enum overview_fact fact, enum fact_form form, const char *lead,
		     const char *tail)
{
	const struct overview_host *host = &o->overview->host;
	char now[AMOUNT_MAX], then[AMOUNT_MAX];

	if (isnan(host->after[fact]))
		return false;
	fact_text(now, form, host->after[fact]);
	if (isnan(host->before[fact]))
		return line_add(line, "%s%s%s", lead, now, tail);
	fact_text(then, form, host->before[fact]);
	return line_add(line, "%s%s%s (%s%s)", lead, now, tail, then,
			strchr(line->text, '(') ? ""
			: is_window(o)          ? " since boot"
						: " before");
}

static bool total_text(char buffer[AMOUNT_MAX], const struct overview *overview,
		       enum overview_cause cause)
{
	if (overview->total_metrics[cause] == METRIC_COUNT)
		return false;
	overview_amount(buffer, overview->total_metrics[cause], (double)overview->totals[cause]);
	return true;
}

static void put_cpu(struct overview_output *o)
{
	const struct overview *overview = o->overview;
	struct overview_line line = { .columns = o->columns };
	char cpus[40] = " busy", ran[AMOUNT_MAX], waited[AMOUNT_MAX];
	bool any;

	if (overview->host.cpus)
		snprintf(cpus, sizeof(cpus), " of %llu CPU%s busy",
			 (unsigned long long)overview->host.cpus, plural(overview->host.cpus));

	line_add(&line, "CPU       ");
	any = add_fact(o, &line, FACT_CPU_BUSY, FORM_SHARE, "", cpus);
	if (!total_text(ran, overview, CAUSE_CPU) && !any)
		return;
	if (total_text(ran, overview, CAUSE_CPU))
		line_add(&line, "%s%s ran %s", any ? "; " : "",
			 overview->named_threads ? "the named threads" : "threads", ran);
	if (total_text(waited, overview, CAUSE_CPU_WAIT))
		line_add(&line, ", waited %s for a CPU", waited);
	put_line(o, &line);
}

static void put_pressure(struct overview_output *o)
{
	struct overview_line line = { .columns = o->columns };
	bool any;

	line_add(&line, "pressure  ");
	any = add_fact(o, &line, FACT_CPU_PRESSURE, FORM_SHARE, "CPU ", "");
	any |= add_fact(o, &line, FACT_MEMORY_PRESSURE, FORM_SHARE, any ? ", memory " : "memory ",
			"");
	any |= add_fact(o, &line, FACT_IO_PRESSURE, FORM_SHARE, any ? ", I/O " : "I/O ", "");
	if (any)
		put_line(o, &line);
}

static void put_memory(struct overview_output *o)
{
	const struct overview_host *host = &o->overview->host;
	double now = host->after[FACT_AVAILABLE], then = host->before[FACT_AVAILABLE];
	struct overview_line line = { .columns = o->columns };
	char text[AMOUNT_MAX];

	if (isnan(now))
		return;
	line_add(&line, "memory    %s", amount_bytes(text, now));
	if (host->memory_bytes)
		line_add(&line, " of %s", amount_bytes(text, (double)host->memory_bytes));
	line_add(&line, " available");
	if (!isnan(then) && now != then)
		line_add(&line, " (%c%s)", now < then ? '-' : '+',
			 amount_bytes(text, fabs(now - then)));
	if (host->after[FACT_SWAPPED_IN] > 0 || host->before[FACT_SWAPPED_IN] > 0)
		add_fact(o, &line, FACT_SWAPPED_IN, FORM_RATE, ", swapped in ", "");
	if (host->after[FACT_SWAPPED_OUT] > 0 || host->before[FACT_SWAPPED_OUT] > 0)
		add_fact(o, &line, FACT_SWAPPED_OUT, FORM_RATE, ", out ", "");
	put_line(o, &line);
}

static void put_io(struct overview_output *o)
{
	struct overview_line line = { .columns = o->columns };
	bool any;

	line_add(&line, "I/O       ");
	any = add_fact(o, &line, FACT_DISK_READ, FORM_RATE, "read ", "");
	any |= add_fact(o, &line, FACT_DISK_WRITTEN, FORM_RATE, any ? ", written " : "written ",
			"");
	add_fact(o, &line, FACT_DISK_BUSY, FORM_SHARE, ", disk ", " busy");
	any |= add_fact(o, &line, FACT_NET_RECEIVED, FORM_RATE, any ? ", net in " : "net in ", "");
	if (any)
		put_line(o, &line);
}

/* --- groups --- */

#define GROUP_COLUMNS 26

static void add_label(struct overview_line *line, const struct overview_group *group)
{
	static const char *const words[] = {
		[PRESENCE_BOTH] = "", [PRESENCE_NEW] = " (new)", [PRESENCE_ENDED] = " (ended)"
	};

	line_add(line, "  ");
	line_name(line, name_text(group->label), GROUP_COLUMNS - strlen(words[group->presence]));
	line_add(line, "%s", words[group->presence]);
}

#define STILL_WORDS ": idle, or it waits"

/* "23.1 s (1.5 % of a CPU)", as far as it is known. */
static char *life_text(char buffer[3 * AMOUNT_MAX], const struct overview *overview,
		       const struct overview_group *group)
{
	const struct overview_value *cpu = &group->values[CAUSE_CPU];
	const double ran_s = overview_in_window(overview, cpu->after) / (double)NS_PER_S;
	char time[AMOUNT_MAX], share[AMOUNT_MAX] = "";

	if (cpu->measured)
		snprintf(share, sizeof(share), " (%.*f %% of a CPU)",
			 ran_s < group->age_s / 10 ? 2 : 0, 100 * ran_s / group->age_s);
	snprintf(buffer, 3 * AMOUNT_MAX, "%s%s", amount_time(time, group->age_s), share);
	return buffer;
}

static void put_group(struct overview_output *o, const struct overview_group *group, size_t column)
{
	const char *tail = overview_is_idle(group) ? STILL_WORDS : "";
	struct overview_line line = { .columns = o->columns }, reasons = { 0 };
	char life[3 * AMOUNT_MAX];
	size_t used, count;

	add_label(&line, group);
	line_pad(&line, column);
	if (group->presence == PRESENCE_ENDED)
		line_add(&line, "before: ");
	used = text_width(line.text) + strlen(tail);
	count = overview_add_reasons(o->report, &reasons, group,
				     used > o->columns ? 0 : o->columns - used);
	line_add(&line, "%s%s", count ? reasons.text : "nothing that counts", tail);
	if (o->overview->named_threads && o->overview->groups.count > 1 && group->age_s > 0)
		line_add(&line, ", in %s", life_text(life, o->overview, group));
	put_line(o, &line);
}

#define UNSEEN_LABEL "(ended in between)"

/* A process that began and ended in between is in no capture. */
static void put_unseen(struct overview_output *o, size_t column)
{
	struct overview_line line = { .columns = o->columns };
	char time[AMOUNT_MAX];

	line_add(&line, "  " UNSEEN_LABEL);
	line_pad(&line, column);
	amount_time(time, o->overview->unseen_s);
	if (!line_add(&line, "%s of CPU: threads that are in no capture, and interrupts", time))
		line_add(&line, "%s of CPU: threads in no capture, interrupts", time);
	put_line(o, &line);
}

#define COMMAND_WORD " (the command)"

static void add_command_label(struct overview_line *line, const struct report_command *command)
{
	line_add(line, "  ");
	line_name(line, text_of(command->name), GROUP_COLUMNS - strlen(COMMAND_WORD));
	line_add(line, COMMAND_WORD);
}

/* The command that diff ran comes first, however little it did. */
static void put_command(struct overview_output *o, size_t column)
{
	const struct report_command *command = o->style->command;
	struct overview_line line = { .columns = o->columns };
	char text[AMOUNT_MAX];

	add_command_label(&line, command);
	line_pad(&line, column);
	line_add(&line, "%s of CPU", amount_time(text, command->cpu_s));
	line_add(&line, " in %s", amount_time(text, command->seconds));
	if (command->status)
		line_add(&line, ", ended with %d", command->status);
	if (command->major_faults)
		line_add(&line, ", %s page faults from storage",
			 amount_count(text, (double)command->major_faults));
	line_add(&line, ", %s wait%s", amount_count(text, (double)command->waits),
		 plural(command->waits));
	line_add(&line, ", %s page fault%s", amount_count(text, (double)command->faults),
		 plural(command->faults));
	put_line(o, &line);
}

static void put_groups(struct overview_output *o)
{
	const struct overview *overview = o->overview;
	size_t column = overview->unseen_s > 0 ? strlen("  " UNSEEN_LABEL "  ") : 0;
	char time[AMOUNT_MAX], life[3 * AMOUNT_MAX];
	struct overview_line line = { .columns = o->columns };

	if (overview->why_not) {
		line_add(&line, "No groups are ranked: %s.", overview->why_not);
	} else if (!overview->groups.count) {
		line_add(&line,
			 o->report->comparing
				 ? "No group of threads changed by as much as 1 ms per second."
				 : "No group of threads took as much as 1 ms per second.");
	} else if (overview->named_threads && overview->groups.count > 1) {
		line_add(&line, "What the named groups did in their lives:");
	} else if (overview->named_threads) {
		line_add(&line, "What the named group did in its life");
		if (overview->groups.items[0].age_s > 0)
			line_add(&line, " of %s",
				 life_text(life, overview, &overview->groups.items[0]));
		line_add(&line, ":");
	} else if (!o->report->comparing) {
		line_add(&line, "What took most time%s:", is_query(o->report) ? "" : " since boot");
	} else {
		line_add(&line, "What changed most%s%s, by CPU time, waits, I/O, faults and memory",
			 is_window(o) ? " in " : "",
			 is_window(o) ? amount_time(time, overview->window_s) : "");
		if (is_window(o))
			line_add(&line, " (%% against the time before)");
		line_add(&line, ":");
	}
	put_line(o, &line);
	for (size_t i = 0; i < overview_shown(overview); i++) {
		struct overview_line label = { 0 };

		add_label(&label, &overview->groups.items[i]);
		if (text_width(label.text) + 2 > column)
			column = text_width(label.text) + 2;
	}
	if (o->style->command) {
		struct overview_line label = { 0 };

		add_command_label(&label, o->style->command);
		if (text_width(label.text) + 2 > column)
			column = text_width(label.text) + 2;
		put_command(o, column);
	}
	if (overview_unseen_leads(overview))
		put_unseen(o, column);
	for (size_t i = 0; i < overview_shown(overview); i++)
		put_group(o, &overview->groups.items[i], column);
	if (overview->unseen_s > 0 && !overview_unseen_leads(overview))
		put_unseen(o, column);
}

static void put_own(struct overview_output *o)
{
	const struct overview *overview = o->overview;
	struct overview_line line = { .columns = o->columns };
	char text[AMOUNT_MAX];

	if (!overview->own)
		return;
	line_add(&line, "(ctprof itself, %s of CPU, is left out: --match ctprof shows it)",
		 overview_amount_in_window(text, overview, METRIC_run_time_ns, overview->own_cpu));
	put_line(o, &line);
}

/* Waits that the captures tell nothing about may be the reason all the same. */
static void put_missing(struct overview_output *o)
{
	const bool locks = overview_is_missing(o->overview, CAUSE_LOCK);
	const bool storage = overview_is_missing(o->overview, CAUSE_STORAGE);
	struct overview_line line = { .columns = o->columns };

	if (!locks && !storage)
		return;
	line_add(&line, "(not in captures: waits for %s%s%s", locks ? "locks" : "",
		 locks && storage ? " and " : "", storage ? "storage" : "");
	if (overview_is_here(o->report, o->style))
		line_add(&line, "; see ctprof offcpu -d 5s");
	line_add(&line, ")");
	put_line(o, &line);
}

/* --- the rest of the report --- */

/* Has the limit cut rows of it? */
static bool is_cut(const struct report_section *section)
{
	bool is_cut = section->groups_left_out;

	for (size_t i = 0; i < ROW_GROUP_COUNT; i++)
		is_cut |= section->row_groups[i].left_out > 0;
	return is_cut;
}

static bool has_line(const struct report *report, enum section section)
{
	return section != SECTION_PRIMARY && report_has_section(report, section) &&
	       report->sections[section].telling && is_cut(&report->sections[section]);
}

/* A line for each further section of which the report below has not all rows, as many as `most`;
 * the last then has all others. */
static void put_sections(struct overview_output *o, size_t most)
{
	const struct report *report = o->report;
	const char *what = report->comparing ? " changed" : "";
	size_t count = 0, done = 0;
	struct overview_line rest = { 0 };

	for (enum section i = 0; i < SECTION_COUNT; i++)
		count += has_line(report, i);
	if (count && count < most) {
		put_line(o, &(struct overview_line){ 0 });
		most--;
	}
	for (enum section i = 0; i < SECTION_COUNT; i++) {
		size_t rows = report->sections[i].telling;
		const char *name = section_infos[i].name;
		struct overview_line line = { 0 };

		if (!has_line(report, i))
			continue;
		if (count > most && done + 1 >= most) {
			line_add(&rest, rest.length ? ",%s" : "more rows: --sections %s", name);
			continue;
		}
		line_add(&line, "%s: %zu row%s%s: --sections %s --all", name, rows, plural(rows),
			 what, name);
		put_line(o, &line);
		done++;
	}
	if (!rest.length)
		return;
	line_add(&rest, " --all");
	put_line(o, &rest);
}

/* --- what to do next --- */

/* A line that is wider than the terminal is folded. */
static size_t lines_of(const struct overview_output *o, const struct overview_line *line)
{
	const size_t width = text_width(line->text);

	return width > o->columns ? 1 + width / (o->columns > 4 ? o->columns - 2 : 1) : 1;
}

/* The same where options hide what did not change. */
static bool is_all_same(const struct report *report)
{
	size_t count = report->only_before.count + report->only_after.count;

	for (enum section i = 0; i < SECTION_COUNT; i++)
		count += report->sections[i].telling;
	return report->comparing && !count && report->shared;
}

void overview_print(FILE *out, const struct report *report, const struct report_style *style,
		    size_t columns)
{
	struct overview_output o = {
		.out = out,
		.report = report,
		.overview = report->overview,
		.style = style,
		.columns = columns && columns < OVERVIEW_COLUMNS ? columns : OVERVIEW_COLUMNS,
	};
	struct overview_line next[OVERVIEW_NEXT_MOST];
	size_t used = 0, nexts;

	if (!report->overview || !report->matching)
		return;
	put_heading(&o);
	if (wording_is_all_same(report))
		return;
	if (is_all_same(report)) {
		fputs("Nothing changed.\n\n", out);
		return;
	}
	put_cpu(&o);
	put_pressure(&o);
	put_memory(&o);
	put_io(&o);
	put_line(&o, &(struct overview_line){ 0 });
	put_groups(&o);
	put_own(&o);
	nexts = overview_next(report, style, next);
	for (size_t i = 0; i < nexts; i++)
		used += lines_of(&o, &next[i]);
	if (o.lines + used + 1 < OVERVIEW_LINES)
		put_missing(&o);
	used += o.lines;
	put_sections(&o, used < OVERVIEW_LINES ? OVERVIEW_LINES - used : 1);
	for (size_t i = 0; i < nexts; i++)
		put_line(&o, &next[i]);
	fputc('\n', out);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/findings_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/units.h"
#include "base/word_map.h"
#include "fleet/measures.h"
#include "fleet/query_url.h"
#include "report/visible.h"
#include "store/url.h"

/* --- what is shown --- */

/* Findings of one host and program mostly have one cause, so each host and program has one line:
 * its largest finding, which is the first. */
struct finding_lines {
	struct {
		ARRAY(uint32_t);
	} findings;
	struct {
		ARRAY(uint32_t);
	} also; /* how many more there are, for each */
};

static const struct fleet_measure *measure_of(const struct fleet_report *report,
					      const struct fleet_finding *finding)
{
	return &report->data->measures.items[finding->measure];
}

/* Functions that call each other and do little besides have nearly the same values, so they follow
 * each other in the order of findings. */
#define SAME_PATH 0.02

static bool is_near(double one, double other)
{
	return fabs(one - other) <= SAME_PATH * fmax(fabs(one), fabs(other));
}

static bool is_same_path(const struct fleet_report *report, const struct fleet_finding *finding,
			 const struct fleet_finding *last)
{
	const enum fleet_kind kind = measure_of(report, finding)->kind;

	return (kind == FLEET_CPU || kind == FLEET_OFF) && is_near(finding->value, last->value) &&
	       is_near(finding->other, last->other);
}

struct lines_search {
	const struct fleet_report *report;
	struct finding_lines *lines;
	struct word_map by_program; /* lines by host and program */
	struct word_map last;       /* the last finding by host, program and kind */
};

/* False: no memory. `*ret`: a line has another function of its path. */
static bool find_same_path(struct lines_search *search, uint32_t number, bool *ret)
{
	const struct fleet_report *report = search->report;
	const struct fleet_finding *finding = &report->findings->items[number];
	const struct fleet_measure *measure = measure_of(report, finding);
	const struct words key = { { finding->host, (uintptr_t)measure->program, measure->kind } };
	uint32_t *last = word_map_at(&search->last, key);

	*ret = false;
	if (!last)
		return false;
	if (*last != WORD_MAP_NEW)
		*ret = is_same_path(report, finding, &report->findings->items[*last]);
	if (!*ret)
		*last = number;
	return true;
}

static bool add_to_lines(struct lines_search *search, uint32_t number)
{
	const struct fleet_report *report = search->report;
	const struct fleet_finding *finding = &report->findings->items[number];
	const struct words key = { { finding->host, (uintptr_t)measure_of(report, finding)->program,
				     report->all ? number : 0 } };
	struct finding_lines *lines = search->lines;
	bool is_folded = false;
	uint32_t *line;

	if (report->format == TABLE_AS_TEXT && !find_same_path(search, number, &is_folded))
		return false;
	if (is_folded)
		return true;
	line = word_map_at(&search->by_program, key);
	if (!line)
		return false;
	if (*line != WORD_MAP_NEW) {
		lines->also.items[*line]++;
		return true;
	}
	*line = (uint32_t)lines->findings.count;
	return array_push(&lines->findings, number) && array_push(&lines->also, 0);
}

/* Less waiting, or fewer events, than elsewhere is no fault: for people these come last. */
static bool is_less(const struct fleet_report *report, const struct fleet_finding *finding)
{
	return report->format == TABLE_AS_TEXT && finding->effect < 0;
}

static bool find_lines(const struct fleet_report *report, struct finding_lines *ret)
{
	const struct fleet_findings *findings = report->findings;
	struct lines_search search = { .report = report, .lines = ret };
	bool is_done = true;

	for (unsigned less = 0; less < 2; less++)
		for (size_t i = 0; is_done && i < findings->count; i++)
			if (is_less(report, &findings->items[i]) == less)
				is_done = add_to_lines(&search, (uint32_t)i);
	word_map_deinit(&search.by_program);
	word_map_deinit(&search.last);
	return is_done;
}

static void lines_deinit(struct finding_lines *lines)
{
	array_deinit(&lines->findings);
	array_deinit(&lines->also);
}

/* --- words --- */

static char *safe_host(const struct fleet_report *report, uint32_t host)
{
	char *name = strdup(host == FLEET_NONE ? "" : report->data->hosts.items[host]->bytes);

	if (name)
		text_make_safe(name);
	return name;
}

static char *peers_words(const struct fleet_report *report, const struct fleet_finding *finding,
			 const char *other, const char *low, const char *high)
{
	if (report->comparison == FLEET_OF_HOSTS)
		return text_print("%sits %zu peer%s %s (%s to %s)",
				  finding->effect < 0 ? "less than " : "", finding->peers,
				  plural(finding->peers), other, low, high);
	if (report->comparison == FLEET_OF_GROUPS)
		return text_print("with %s it is %s (%s to %s)", report->first, other, low, high);
	if (finding->host != FLEET_NONE && finding->peers > 1)
		return text_print("had it changed as its %zu peers, it would be %s (%s to %s)",
				  finding->peers, other, low, high);
	return text_print("before, %s", other);
}

/* "web-17: shopd waits 41 % of its busy time for locks; its 99 peers 3.1 % (2.0 % to 5.1 %); q =
 * 1e-09" */
static char *finding_words(const struct fleet_report *report, const struct fleet_finding *finding)
{
	const enum fleet_kind kind = measure_of(report, finding)->kind;
	_cleanup_free_ char *host = safe_host(report, finding->host);
	_cleanup_free_ char *what = fleet_sentence(measure_of(report, finding), finding->value);
	_cleanup_free_ char *other = fleet_value_text(kind, finding->other);
	_cleanup_free_ char *low = fleet_value_text(kind, finding->other_low);
	_cleanup_free_ char *high = fleet_value_text(kind, finding->other_high);
	_cleanup_free_ char *peers = NULL, *of = NULL;

	if (!host || !what || !other || !low || !high)
		return NULL;
	peers = peers_words(report, finding, other, low, high);
	if (finding->host != FLEET_NONE)
		of = text_print("%s", host);
	else if (report->comparison == FLEET_OF_GROUPS)
		of = text_print("%s", report->second);
	else
		of = text_print("%zu hosts", finding->hosts);
	return peers && of ? text_print("%s: %s; %s; q = %.1g", of, what, peers, finding->q) : NULL;
}

static size_t hosts_found(const struct fleet_report *report)
{
	_cleanup_free_ bool *found = calloc(report->data->hosts.count + 1, sizeof(*found));
	size_t count = 0;

	for (size_t i = 0; found && i < report->findings->count; i++) {
		const uint32_t host = report->findings->items[i].host;

		if (host == FLEET_NONE || found[host])
			continue;
		found[host] = true;
		count++;
	}
	return count;
}

static size_t hosts_compared(const struct fleet_report *report)
{
	size_t count = report->data->hosts.count;

	for (size_t i = 0; i < report->partial->count; i++)
		count -=
			fleet_data_find_host(report->data,
					     text_of(report->partial->items[i].name)) != FLEET_NONE;
	return count;
}

/* Hosts that a comparison knows nothing of. */
static void print_left_out(const struct fleet_report *report, FILE *out)
{
	if (report->silent)
		fleet_silent_hosts_print(report->silent, out);
	fleet_partial_hosts_print(report->partial, out);
}

static void print_headline(const struct fleet_report *report, FILE *out)
{
	const size_t found = hosts_found(report), hosts = hosts_compared(report);

	switch (report->comparison) {
	case FLEET_OF_HOSTS:
		if (found)
			fprintf(out, "%zu of %zu hosts %s unlike the others.\n", found, hosts,
				found == 1 ? "is" : "are");
		else
			fprintf(out, "No host of %zu is unlike the others.\n", hosts);
		return;
	case FLEET_OF_GROUPS:
		fprintf(out, "%s (%zu host%s) %s %s (%zu host%s).\n", report->second,
			report->second_hosts, plural(report->second_hosts),
			report->findings->count ? "differs from" : "does not differ from",
			report->first, report->first_hosts, plural(report->first_hosts));
		return;
	case FLEET_OF_TIMES:
		fprintf(out, "%s %s, on %zu host%s.\n",
			report->findings->count ? "Changes" : "No change", report->second, hosts,
			plural(hosts));
		return;
	}
}

/* How many hosts each comparison needs. */
static const char *const needs[] = {
	[FLEET_OF_HOSTS] = "at least 4 hosts are needed that run the same program for long enough: "
			   "from fewer it is not known how much hosts differ by chance",
	[FLEET_OF_GROUPS] = "each group needs at least 2 hosts that run the same program for long "
			    "enough: from fewer it is not known how much hosts differ by chance",
	[FLEET_OF_TIMES] = "there is too little data before the time, or after it",
};

static struct error *nothing_compared(const struct fleet_report *report)
{
	const size_t hosts = hosts_compared(report);

	return error_coded(ENODATA, "nothing could be compared, on %zu host%s: %s", hosts,
			   plural(hosts), needs[report->comparison]);
}

/* What was compared, and what was not. */
static void print_basis(const struct fleet_report *report, FILE *out)
{
	const struct fleet_findings *findings = report->findings;

	fprintf(out,
		"Compared: %zu values of %zu measures; of all findings, at most 1 in 20 is "
		"expected to be chance.\n",
		findings->tests, findings->measures);
	if (findings->measures_too_few)
		fprintf(out, "%zu measures were not compared: too few hosts have them.\n",
			findings->measures_too_few);
	if (findings->too_little)
		fprintf(out,
			"%zu values were left out: the program ran or waited too little on the "
			"host.\n",
			findings->too_little);
	if (report->data->functions_left_out)
		fprintf(out,
			"%zu functions were not compared: those of each program with most time "
			"were.\n",
			report->data->functions_left_out);
}

#define SENTENCES_MOST 5

static bool print_sentences(const struct fleet_report *report, const struct finding_lines *lines,
			    FILE *out)
{
	for (size_t i = 0; i < lines->findings.count && i < SENTENCES_MOST; i++) {
		const size_t also = lines->also.items[i];
		_cleanup_free_ char *words =
			finding_words(report, &report->findings->items[lines->findings.items[i]]);

		if (!words)
			return false;
		fprintf(out, "  %s", words);
		if (also)
			fprintf(out, "; and %zu more", also);
		fprintf(out, "\n");
	}
	return true;
}

/* --- the table --- */

enum field {
	HOST,
	PROGRAM,
	KIND,
	NAME,
	MEASURE,
	VALUE,
	OTHER,
	LOW,
	HIGH,
	EFFECT,
	EFFECT_LOW,
	EFFECT_HIGH,
	RANGE,
	CHANGE,
	HOSTS,
	PEERS,
	P,
	Q,
	ALSO,
};

static const struct table_column columns[] = {
	{ "host", "HOST", .type = TABLE_TEXT, .when = 1, .whole = true, .field = HOST },
	{ "program", "PROGRAM", .type = TABLE_TEXT, .whole = true, .field = PROGRAM },
	{ "kind", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = KIND },
	{ "name", .type = TABLE_TEXT, .formats = TABLE_FOR_PROGRAMS, .field = NAME },
	{ NULL, "MEASURE", .type = TABLE_TEXT, .formats = TABLE_FOR_PEOPLE, .field = MEASURE },
	{ "value", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = VALUE },
	{ NULL, "VALUE", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .field = VALUE },
	{ "other", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = OTHER },
	{ NULL, "OTHERS", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .field = OTHER },
	{ "other_low", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = LOW },
	{ "other_high", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = HIGH },
	{ NULL, "THEIR 95 %", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .minor = 1, .field = RANGE },
	{ "effect", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = EFFECT },
	{ "effect_low", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = EFFECT_LOW },
	{ "effect_high", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = EFFECT_HIGH },
	{ NULL, "DIFFERENCE, 95 %", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .minor = 2, .field = CHANGE },
	{ "hosts", .type = TABLE_COUNT, .formats = TABLE_FOR_PROGRAMS, .field = HOSTS },
	{ "peers", .type = TABLE_COUNT, .formats = TABLE_FOR_PROGRAMS, .field = PEERS },
	{ "p", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = P },
	{ "q", .type = TABLE_REAL, .formats = TABLE_FOR_PROGRAMS, .field = Q },
	{ NULL, "Q", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE, .field = Q },
	{ NULL, "ALSO", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE, .minor = 3,
	  .field = ALSO },
};

struct finding_row {
	const struct fleet_finding *finding;
	size_t also;
};

static void range_cell(struct table_cell *cell, enum fleet_kind kind, double low, double high,
		       bool is_change)
{
	_cleanup_free_ char *first = fleet_value_text(kind, low);
	_cleanup_free_ char *last = fleet_value_text(kind, high);

	if (!first || !last)
		table_owned(cell, NULL);
	else
		table_printf(cell, "%s%s to %s%s", is_change && low > 0 ? "+" : "", first,
			     is_change && high > 0 ? "+" : "", last);
}

static void number_cell(struct table_cell *cell, bool for_people, enum fleet_kind kind,
			double value)
{
	if (for_people)
		table_owned(cell, fleet_value_text(kind, value));
	else
		table_real(cell, TABLE_REAL, value);
}

static void get_cell(const void *context, const void *row, const struct table_column *column,
		     struct table_cell *ret)
{
	const struct fleet_report *report = context;
	const struct fleet_finding *finding = ((const struct finding_row *)row)->finding;
	const struct fleet_measure *measure = measure_of(report, finding);
	const bool for_people = column->formats == TABLE_FOR_PEOPLE;

	switch ((enum field)column->field) {
	case HOST:
		if (finding->host != FLEET_NONE)
			table_text(ret, name_text(report->data->hosts.items[finding->host]));
		return;
	case PROGRAM:
		table_text(ret, name_text(measure->program));
		return;
	case KIND:
		table_string(ret, fleet_kinds[measure->kind].name);
		return;
	case NAME:
		table_text(ret, name_text(measure->name));
		return;
	case MEASURE:
		table_owned(ret, text_print("%s %s", fleet_kinds[measure->kind].name,
					    measure->name->bytes));
		return;
	case VALUE:
		number_cell(ret, for_people, measure->kind, finding->value);
		return;
	case OTHER:
		number_cell(ret, for_people, measure->kind, finding->other);
		return;
	case LOW:
		table_real(ret, TABLE_REAL, finding->other_low);
		return;
	case HIGH:
		table_real(ret, TABLE_REAL, finding->other_high);
		return;
	case RANGE:
		if (finding->other_low < finding->other_high)
			range_cell(ret, measure->kind, finding->other_low, finding->other_high,
				   false);
		return;
	case EFFECT:
		table_real(ret, TABLE_REAL, finding->effect);
		return;
	case EFFECT_LOW:
		table_real(ret, TABLE_REAL, finding->effect_low);
		return;
	case EFFECT_HIGH:
		table_real(ret, TABLE_REAL, finding->effect_high);
		return;
	case CHANGE:
		range_cell(ret, measure->kind, finding->effect_low, finding->effect_high, true);
		return;
	case HOSTS:
		table_count(ret, finding->hosts);
		return;
	case PEERS:
		table_count(ret, finding->peers);
		return;
	case P:
		table_real(ret, TABLE_REAL, finding->p);
		return;
	case Q:
		if (for_people)
			table_printf(ret, "%.1g", finding->q);
		else
			table_real(ret, TABLE_REAL, finding->q);
		return;
	case ALSO:
		if (((const struct finding_row *)row)->also)
			table_printf(ret, "+%zu", ((const struct finding_row *)row)->also);
		return;
	}
}

static bool has_hosts(const struct fleet_report *report)
{
	for (size_t i = 0; i < report->findings->count; i++)
		if (report->findings->items[i].host != FLEET_NONE)
			return true;
	return report->comparison == FLEET_OF_HOSTS;
}

static struct error *print_table(const struct fleet_report *report,
				 const struct finding_lines *lines, size_t limit, FILE *out)
{
	struct table table;

	table_begin(&table, columns, array_length(columns),
		    (struct table_options){ .format = report->format,
					    .out = out,
					    .get = get_cell,
					    .context = report,
					    .when = has_hosts(report) ||
						    report->format != TABLE_AS_TEXT,
					    .width = report->width });
	for (size_t i = 0; i < lines->findings.count && i < limit; i++) {
		const struct finding_row row = {
			.finding = &report->findings->items[lines->findings.items[i]],
			.also = lines->also.items[i],
		};

		if (!table_row(&table, &row))
			break;
	}
	return table_end(&table);
}

/* --- what to run next --- */

/* The peer whose value is nearest to that of the peers together. */
static uint32_t typical_peer(const struct fleet_report *report, const struct fleet_finding *finding)
{
	const size_t hosts = report->data->hosts.count;
	_cleanup_free_ double *values = malloc((hosts + 1) * sizeof(*values));
	uint32_t nearest = FLEET_NONE;

	if (!values)
		return FLEET_NONE;
	fleet_data_values(report->data, finding->measure, 0, report->data->slices, values);
	for (uint32_t i = 0; i < hosts; i++)
		if (i != finding->host && !isnan(values[i]) &&
		    (nearest == FLEET_NONE ||
		     fabs(values[i] - finding->other) < fabs(values[nearest] - finding->other)))
			nearest = i;
	return nearest;
}

/* A URL as one word of a shell. */
static char *word_of(const struct fleet_report *report, const struct fleet_parameters *parameters)
{
	_cleanup_free_ char *url = fleet_url_with(report->url, parameters);

	return url ? text_quoted(text_of(url)) : NULL;
}

/* As URLs have times. */
static char *time_of(uint64_t unix_s)
{
	const time_t time = (time_t)unix_s;
	char text[32];
	struct tm tm;

	if (gmtime_r(&time, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		return strdup(text);
	return text_print("%" PRIu64, unix_s);
}

/* The stacks of a host, beside those of a typical peer. */
static char *diff_of_hosts(const struct fleet_report *report, const struct fleet_finding *finding,
			   const char *program)
{
	const uint32_t peer = typical_peer(report, finding);
	_cleanup_free_ char *first = NULL, *second = NULL;

	if (peer == FLEET_NONE)
		return NULL;
	first = word_of(report,
			&(struct fleet_parameters){ .host = report->data->hosts.items[peer]->bytes,
						    .process = program });
	second = word_of(report, &(struct fleet_parameters){
					 .host = report->data->hosts.items[finding->host]->bytes,
					 .process = program });
	return first && second ? text_print("ctprof flame --diff %s %s", first, second) : NULL;
}

static char *diff_of_groups(const struct fleet_report *report, const char *program)
{
	_cleanup_free_ char *by = text_quoted(text_of(report->by));
	_cleanup_free_ char *url =
		word_of(report, &(struct fleet_parameters){ .process = program });

	return by && url ? text_print("ctprof fleet flame --by %s %s", by, url) : NULL;
}

static char *diff_of_times(const struct fleet_report *report, const struct fleet_finding *finding,
			   const char *program)
{
	_cleanup_free_ char *from = time_of(report->from_s), *cut = time_of(report->cut_s);
	_cleanup_free_ char *to = time_of(report->to_s), *first = NULL, *second = NULL;
	const char *host = finding->host == FLEET_NONE
				   ? NULL
				   : report->data->hosts.items[finding->host]->bytes;

	if (!from || !cut || !to)
		return NULL;
	first = word_of(report,
			&(struct fleet_parameters){
				.host = host, .process = program, .from = from, .to = cut });
	second = word_of(report, &(struct fleet_parameters){
					 .host = host, .process = program, .from = cut, .to = to });
	return first && second ? text_print("ctprof flame --diff %s %s", first, second) : NULL;
}

static char *next_command(const struct fleet_report *report, const struct fleet_finding *finding)
{
	const struct fleet_measure *measure = measure_of(report, finding);
	const char *program = measure->program->length ? measure->program->bytes : NULL;

	switch (report->comparison) {
	case FLEET_OF_HOSTS:
		return diff_of_hosts(report, finding, program);
	case FLEET_OF_GROUPS:
		return diff_of_groups(report, program);
	case FLEET_OF_TIMES:
		return diff_of_times(report, finding, program);
	}
	return NULL;
}

static void print_next(const struct fleet_report *report, const struct finding_lines *lines,
		       FILE *out)
{
	_cleanup_free_ char *command = NULL;

	for (size_t i = 0; i < lines->findings.count && !command; i++)
		command = next_command(report, &report->findings->items[lines->findings.items[i]]);
	if (command)
		fprintf(out, "\nNext: %s\n", command);
}

/* --- all --- */

static struct error *print_for_people(const struct fleet_report *report,
				      const struct finding_lines *lines, FILE *out)
{
	const size_t count = lines->findings.count;
	const size_t limit = report->limit ? report->limit : count;
	struct error *err = NULL;

	print_headline(report, out);
	/* The table has all. */
	if (!report->all && !print_sentences(report, lines, out))
		return &error_no_memory;
	print_left_out(report, out);
	fprintf(out, "\n");
	if (count)
		err = print_table(report, lines, limit, out);
	if (!err && count > limit)
		fprintf(out, "%zu more row%s: --limit 0 shows all\n", count - limit,
			plural(count - limit));
	if (!err && count)
		fprintf(out, "\n");
	if (!err)
		print_basis(report, out);
	if (!err)
		print_next(report, lines, out);
	return err;
}

struct error *fleet_report_print(const struct fleet_report *report, FILE *out)
{
	struct finding_lines lines = { 0 };
	struct error *err = &error_no_memory;
	struct fleet_report whole = *report;

	if (!report->findings->tests) {
		if (report->format == TABLE_AS_TEXT)
			print_left_out(report, out);
		return nothing_compared(report);
	}
	whole.all = report->all || report->format != TABLE_AS_TEXT;
	if (find_lines(&whole, &lines))
		err = report->format == TABLE_AS_TEXT ? print_for_people(&whole, &lines, out)
						      : print_table(&whole, &lines, SIZE_MAX, out);
	lines_deinit(&lines);
	return err;
}

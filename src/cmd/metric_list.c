/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/display.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "metric/derived.h"

struct metric_list_arguments {
	bool markdown, all;
};

static const char *shown_unit(enum unit unit)
{
	static const char *const names[] = { [UNIT_NONE] = "",
					     [UNIT_COUNT] = "count",
					     [UNIT_NS] = "ns",
					     [UNIT_BYTES] = "bytes",
					     [UNIT_TICKS] = "ticks" };

	return names[unit];
}

static const char *rule_prose(enum metric_rule rule)
{
	static const char *const prose[] = {
#define RULE(name, family, words) [RULE_##name] = words,
		RULES(RULE)
#undef RULE
	};

	return prose[rule];
}

/* "/proc/<tid>/status Cpus_allowed_list" */
static void write_source(char *out, size_t size, const struct metric_source *source)
{
	const char *what = metric_source_infos[source->id].what;

	if (source->key && source->less)
		snprintf(out, size, "%s %s - %s", what, source->key, source->less);
	else if (source->key)
		snprintf(out, size, "%s %s", what, source->key);
	else if (source->column)
		snprintf(out, size, "%s column %u", what, source->column);
	else
		snprintf(out, size, "%s", what);
}

/* Best first. */
static void write_sources(char *out, size_t size, const struct metric *metric)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i <= METRIC_SOURCES_MAX && used < size; i++) {
		const struct metric_source *source = i ? &metric->sources[i - 1] : &metric->task;
		char one[128];

		if (source->id == SOURCE_NONE)
			continue;
		write_source(one, sizeof(one), source);
		used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "; else " : "",
					 one);
	}
}

/* --- text for people: what does not fit on a line stands below it --- */

static void print_legend(void)
{
	printf("## Tag legend\n");
	for (size_t i = 1; i < METRIC_CLASS_COUNT; i++)
		printf(" [%s]: %s\n", metric_classes[i].tag, metric_classes[i].prose);
	printf(" [dead]: captured, but the kernel no longer writes it\n");
	for (size_t i = 0; i < GATE_COUNT; i++)
		printf(" [%s]: %s\n", metric_gates[i].name, metric_gates[i].remedy);
}

static void print_sections(void)
{
	printf("\n## Sections\n");
	for (size_t i = 0; i < SECTION_COUNT; i++)
		printf(" %-16s %s, in the table \"%s\"\n", section_infos[i].name,
		       section_infos[i].prose, section_infos[i].heading);
}

static void print_metrics(void)
{
	char tags[METRIC_TAGS_MAX], sources[320];

	printf("\n## Metrics\n");
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric *m = &metrics[i];

		metric_tags(tags, m);
		write_sources(sources, sizeof(sources), m);
		printf(" %s%s%s\n", m->name, *tags ? " " : "", tags);
		printf("     %s\n", m->prose);
		printf("     %s%s%s of a group; section %s\n", shown_unit(m->unit),
		       m->unit == UNIT_NONE ? "" : ", ", rule_prose(m->rule),
		       section_infos[m->section].name);
		printf("     from %s\n", sources);
		if (m->caveat)
			printf("     caveat: %s\n", m->caveat);
	}
}

static const char *derived_unit(const struct derived *d)
{
	return d->is_ratio ? "ratio" : shown_unit(d->unit);
}

static void print_derived(void)
{
	char formula[DERIVED_FORMULA_MAX];

	printf("\n## Derived metrics\n");
	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		const struct derived *d = &derived_metrics[i];

		printf(" %s\n     %s\n", d->name, d->prose);
		printf("     %s = %s; section %s\n", derived_unit(d), derived_formula(formula, d),
		       section_infos[d->section].name);
		if (*d->caveat)
			printf("     caveat: %s\n", d->caveat);
	}
}

/* --- a line each --- */

/* Columns of the names; the longest has as many. */
#define NAME_WIDTH 28

static void print_line(const char *name, const char *unit, const char *prose)
{
	printf("  %-*s  %-6s  %s\n", NAME_WIDTH, name, *unit ? unit : "-", prose);
}

static bool is_of_section(unsigned number, enum section section)
{
	return number < METRIC_COUNT ? metrics[number].section == section
				     : derived_metrics[number - METRIC_COUNT].section == section;
}

/* Metrics of a section under its heading; nothing if none is selected. */
static void print_section_lines(enum section section, const struct selection *selection)
{
	bool any = false;

	for (unsigned i = 0; i < METRIC_COUNT + DERIVED_COUNT; i++) {
		if (!selection_has(selection, i) || !is_of_section(i, section))
			continue;
		if (!any)
			printf("%s: %s (--sections %s)\n", section_infos[section].heading,
			       section_infos[section].prose, section_infos[section].name);
		any = true;
		if (i < METRIC_COUNT)
			print_line(metrics[i].name, shown_unit(metrics[i].unit), metrics[i].prose);
		else
			print_line(derived_metrics[i - METRIC_COUNT].name,
				   derived_unit(&derived_metrics[i - METRIC_COUNT]),
				   derived_metrics[i - METRIC_COUNT].prose);
	}
	if (any)
		putchar('\n');
}

static void print_lines(const struct selection *selection)
{
	for (enum section i = 0; i < SECTION_COUNT; i++)
		print_section_lines(i, selection);
	printf("all about one: ctprof metric-list NAME\n");
}

/* --- a page of one --- */

static void print_fact(const char *what, const char *text)
{
	if (text && *text)
		printf("  %-10s  %s\n", what, text);
}

static void print_section_fact(enum section section)
{
	char text[160];

	snprintf(text, sizeof(text), "%s, in the table \"%s\"", section_infos[section].name,
		 section_infos[section].heading);
	print_fact("section", text);
}

static void print_metric_page(const struct metric *m)
{
	const char *what = "from";

	printf("%s: %s\n\n", m->name, m->prose);
	print_fact("unit", shown_unit(m->unit));
	print_fact("of a group", rule_prose(m->rule));
	print_section_fact(m->section);
	for (size_t i = 0; i <= METRIC_SOURCES_MAX; i++) {
		const struct metric_source *source = i ? &m->sources[i - 1] : &m->task;
		char text[128];

		if (source->id == SOURCE_NONE)
			continue;
		write_source(text, sizeof(text), source);
		print_fact(what, text);
		what = "or";
	}
	for (size_t i = 0; i < GATE_COUNT; i++)
		if (m->gates >> i & 1)
			print_fact("kernel", metric_gates[i].remedy);
	print_fact("threads", metric_classes[m->class].prose);
	if (metric_is_dead(m))
		print_fact("dead", "the kernel no longer writes it");
	print_fact("caveat", m->caveat);
	printf("\nits values: ctprof show SNAPSHOT --metrics %s\n", m->name);
}

static void print_derived_page(const struct derived *d)
{
	char formula[DERIVED_FORMULA_MAX];

	printf("%s: %s\n\n", d->name, d->prose);
	print_fact("unit", derived_unit(d));
	print_fact("formula", derived_formula(formula, d));
	print_section_fact(d->section);
	print_fact("caveat", d->caveat);
	printf("\nits values: ctprof show SNAPSHOT --metrics %s\n", d->name);
}

/* The only one; METRIC_COUNT + DERIVED_COUNT: there are several. */
static unsigned only_one(const struct selection *selection)
{
	unsigned found = METRIC_COUNT + DERIVED_COUNT, count = 0;

	for (unsigned i = 0; i < METRIC_COUNT + DERIVED_COUNT; i++)
		if (selection_has(selection, i)) {
			found = i;
			count++;
		}
	return count == 1 ? found : METRIC_COUNT + DERIVED_COUNT;
}

static void print_selected(const struct selection *selection)
{
	const unsigned one = only_one(selection);

	if (one < METRIC_COUNT)
		print_metric_page(&metrics[one]);
	else if (one < METRIC_COUNT + DERIVED_COUNT)
		print_derived_page(&derived_metrics[one - METRIC_COUNT]);
	else
		print_lines(selection);
}

/* --- Markdown, for doc/metrics.md --- */

/* Bars and angles are Markdown's own. */
static void print_cell(const char *text)
{
	printf(" ");
	for (; *text; text++)
		printf(*text == '|' ? "\\|" : *text == '<' ? "&lt;" : "%c", *text);
	printf(" |");
}

static void print_markdown_row(const char *const *cells, size_t count)
{
	printf("|");
	for (size_t i = 0; i < count; i++)
		print_cell(cells[i]);
	printf("\n");
}

#define ROW(...)                                                 \
	print_markdown_row((const char *const[]){ __VA_ARGS__ }, \
			   array_length(((const char *const[]){ __VA_ARGS__ })))

static void print_markdown(void)
{
	char tags[METRIC_TAGS_MAX], text[320];

	printf("# Metrics\n\n"
	       "Made by `ctprof metric-list --markdown` from src/metric/metrics.def and "
	       "derived.def.\n"
	       "\n## Tags\n\n| tag | means |\n|---|---|\n");
	for (size_t i = 1; i < METRIC_CLASS_COUNT; i++)
		ROW(metric_classes[i].tag, metric_classes[i].prose);
	for (size_t i = 0; i < GATE_COUNT; i++)
		ROW(metric_gates[i].name, metric_gates[i].remedy);
	printf("\n## Of threads\n\n| metric | is | unit | of a group | section | tags | caveat | "
	       "source "
	       "|\n|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric *m = &metrics[i];

		metric_tags(tags, m);
		write_sources(text, sizeof(text), m);
		ROW(m->name, m->prose, shown_unit(m->unit), rule_prose(m->rule),
		    section_infos[m->section].name, tags, m->caveat ? m->caveat : "", text);
	}
	printf("\n## Derived\n\n| metric | is | unit | formula | section | caveat "
	       "|\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		const struct derived *d = &derived_metrics[i];

		ROW(d->name, d->prose, derived_unit(d), derived_formula(text, d),
		    section_infos[d->section].name, d->caveat);
	}
}

static struct error *select_operands(int count, char **operands, struct selection *selection)
{
	struct error *err = NULL;

	if (!count)
		err = metrics_select("*", selection);
	for (int i = 0; i < count && !err; i++)
		err = metrics_select(operands[i], selection);
	return err;
}

static int run_metric_list(const struct command *command, int argc, char **argv)
{
	struct metric_list_arguments arguments = { 0 };
	struct selection selection = { 0 };
	struct error *err;
	int status, first = options_parse(command, argc, argv, &arguments, &status);

	if (first < 0)
		return status;
	err = select_operands(argc - first, argv + first, &selection);
	if (!err && first < argc && (arguments.markdown || arguments.all))
		err = error_create("--markdown and --all list every metric");
	if (err)
		return usage_error(command, err);
	pager_begin(arguments.markdown ? PAGER_DATA : PAGER_TEXT);
	if (arguments.markdown) {
		print_markdown();
	} else if (arguments.all) {
		print_legend();
		print_sections();
		print_metrics();
		print_derived();
	} else {
		print_selected(&selection);
	}
	return STATUS_DONE;
}

static const struct option_row metric_list_options[] = {
	{ "all", 0, NULL, parse_flag, offsetof(struct metric_list_arguments, all),
	  "Print everything: all about every metric, the tags, and the sections.", NULL, false },
	{ "markdown", 0, NULL, parse_flag, offsetof(struct metric_list_arguments, markdown),
	  "Print Markdown tables.", NULL, false },
	TERMINAL_OPTIONS
};

const struct command metric_list_command = {
	.name = "metric-list",
	.run = run_metric_list,
	.summary = "list every metric, or explain one: meaning, source, caveats",
	.operands = "[NAME|GLOB...]",
	.operands_most = INT32_MAX,
	.needs = "",
	.examples = { "ctprof metric-list", "ctprof metric-list 'cpu_delay*'",
		      "ctprof metric-list run_time_ns" },
	.options = metric_list_options,
	.option_count = array_length(metric_list_options),
};

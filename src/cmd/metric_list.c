/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "cmd/commands.h"
#include "metric/derived.h"
#include "report/table.h"

struct metric_list_arguments {
	bool markdown;
};

static const char *unit_name(enum unit unit)
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

static void write_sources(char *out, size_t size, const struct metric *metric)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < METRIC_SOURCES_MAX && used < size; i++) {
		char one[128];

		if (metric->sources[i].id == SOURCE_NONE)
			continue;
		write_source(one, sizeof(one), &metric->sources[i]);
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "; else " : "", one);
	}
}

/* --- as text for people, as Markdown for doc/metrics.md: the same cells --- */

struct listing {
	bool markdown;
	const char *const *headings;
	size_t columns, cells;
	struct table table;
	struct table_column heads[8];
};

static void begin(struct listing *l, const char *title, const char *const *headings, size_t columns)
{
	l->headings = headings;
	l->columns = columns;
	l->cells = 0;
	printf("## %s\n", title);
	if (!l->markdown) {
		for (size_t i = 0; i < columns; i++)
			l->heads[i] = (struct table_column){ .heading = headings[i] };
		table_init(&l->table, l->heads, columns);
		return;
	}
	printf("\n|");
	for (size_t i = 0; i < columns; i++)
		printf(" %s |", headings[i]);
	printf("\n|");
	for (size_t i = 0; i < columns; i++)
		printf("---|");
	printf("\n");
}

static void add(struct listing *l, const char *cell)
{
	if (!l->markdown) {
		if (!table_add(&l->table, text_of(cell)))
			l->columns = 0;
		return;
	}
	printf("%s", l->cells % l->columns ? " " : "| ");
	for (; *cell; cell++)
		printf(*cell == '|' ? "\\|" : *cell == '<' ? "&lt;" : "%c", *cell);
	printf(++l->cells % l->columns ? " |" : " |\n");
}

static void end(struct listing *l)
{
	if (!l->markdown && l->columns)
		table_print(&l->table, stdout, false);
	if (!l->markdown)
		table_deinit(&l->table);
	printf("\n");
}

static void list_legend(struct listing *l)
{
	static const char *const headings[] = { "tag", "means" };
	char tag[64];

	begin(l, "Tag legend", headings, array_length(headings));
	for (size_t i = 1; i < CLASS_COUNT; i++) {
		snprintf(tag, sizeof(tag), "[%s]", metric_classes[i].tag);
		add(l, tag);
		add(l, metric_classes[i].prose);
	}
	add(l, "[dead]");
	add(l, "captured, but nothing in the kernel writes it any more");
	for (size_t i = 0; i < GATE_COUNT; i++) {
		snprintf(tag, sizeof(tag), "[%s]", metric_gates[i].name);
		add(l, tag);
		add(l, metric_gates[i].remedy);
	}
	end(l);
}

static void list_sections(struct listing *l)
{
	static const char *const headings[] = { "section", "heading", "holds" };

	begin(l, "Sections", headings, array_length(headings));
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		add(l, metric_sections[i].name);
		add(l, metric_sections[i].heading);
		add(l, metric_sections[i].prose);
	}
	end(l);
}

static void list_metrics(struct listing *l)
{
	static const char *const headings[] = { "metric", "section", "unit",   "of a group",
						"tags",   "is",      "caveat", "source" };
	char tags[METRIC_TAGS_MAX], sources[320];

	begin(l, "Metrics", headings, array_length(headings));
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric *m = &metrics[i];

		write_sources(sources, sizeof(sources), m);
		add(l, m->name);
		add(l, metric_sections[m->section].name);
		add(l, unit_name(m->unit));
		add(l, rule_prose(m->rule));
		add(l, metric_tags(tags, m));
		add(l, m->prose);
		add(l, m->caveat ? m->caveat : "");
		add(l, sources);
	}
	end(l);
}

static void list_derived(struct listing *l)
{
	static const char *const headings[] = { "metric",  "section", "unit",
						"formula", "is",      "caveat" };
	char formula[DERIVED_FORMULA_MAX];

	begin(l, "Derived metrics", headings, array_length(headings));
	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		const struct derived *d = &derived_metrics[i];

		add(l, d->name);
		add(l, metric_sections[d->section].name);
		add(l, d->is_ratio ? "ratio" : unit_name(d->unit));
		add(l, derived_formula(formula, d));
		add(l, d->prose);
		add(l, d->caveat);
	}
	end(l);
}

static int run_metric_list(const struct command *command, int argc, char **argv)
{
	struct metric_list_arguments arguments = { 0 };
	struct listing listing = { 0 };
	int status;

	if (options_parse(command, argc, argv, &arguments, &status) < 0)
		return status;
	listing.markdown = arguments.markdown;
	list_legend(&listing);
	list_sections(&listing);
	list_metrics(&listing);
	list_derived(&listing);
	return STATUS_DONE;
}

static const struct option_row metric_list_options[] = {
	{ "markdown", 0, NULL, parse_flag, offsetof(struct metric_list_arguments, markdown),
	  "As tables of Markdown.", NULL },
};

const struct command metric_list_command = {
	.name = "metric-list",
	.run = run_metric_list,
	.summary = "list every metric: meaning, tags, caveats, sources",
	.operands = "",
	.needs = "",
	.options = metric_list_options,
	.option_count = array_length(metric_list_options),
};

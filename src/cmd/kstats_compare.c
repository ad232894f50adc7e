/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: what moved between two readings, and whether it may.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/pager.h"
#include "cli/terminal.h"
#include "cmd/kstats.h"
#include "report/kstats_shift_overview.h"
#include "report/kstats_shift_report.h"
#include "report/kstats_values.h"
#include "report/stream.h"
#include "report/visible.h"

/* --- conditions --- */

/* A condition, and how many metrics it was judged of. */
struct judged {
	const struct kstats_condition *condition;
	size_t metrics, broken, undecided;
};

/* The words of reports, and of JSON (as of ctprof compare). */
static const struct {
	const char *prose, *name;
} condition_words[] = {
	[KSTATS_KEPT] = { "not met", "holds" },
	[KSTATS_BROKEN] = { "met", "broken" },
	[KSTATS_UNDECIDED] = { "undecided", "undecided" },
};

/* A metric that both sides have. */
struct pair {
	struct kstats_table *before, *after;
};

struct comparison {
	const struct kstats_showing *showing;
	struct json_writer *json;
	struct judged *judged; /* as many as there are conditions */
	size_t judged_count;
	struct {
		ARRAY(struct pair);
	} pairs;
};

static void print_change(const struct kstats_condition *condition, const char *title,
			 const struct kstats_table *table, enum kstats_verdict verdict,
			 const struct kstats_measured *change)
{
	const bool is_number = kstats_aspect_is_number(&condition->aspect);
	_cleanup_free_ char *visible = text_visible(text_of(title));
	_cleanup_free_ char *text = text_visible(text_of(condition->text));
	char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];

	fprintf(stderr, "ctprof: %s: --fail-if '%s': %s", visible ? visible : "?",
		text ? text : "?", condition_words[verdict].prose);
	if (isnan(change->low)) {
		fputs(" (too few values, or another unit)\n", stderr);
		return;
	}
	if (condition->bound.percent) {
		fprintf(stderr, " (%s)\n",
			kstats_format_shares(low, (struct kstats_shares){ change->low / 100,
									  change->high / 100 }));
		return;
	}
	if (is_number) {
		units_grouped(low, (__int128)change->low, "+");
		units_grouped(high, (__int128)change->high, "+");
	} else {
		kstats_format_signed(low, table, change->low);
		kstats_format_signed(high, table, change->high);
	}
	fprintf(stderr, " (%s%s%s)\n", low, strcmp(low, high) ? ".." : "",
		strcmp(low, high) ? high : "");
}

static void judge_one(struct judged *judged, const char *title, const struct kstats_table *before,
		      const struct kstats_table *after, const struct kstats_distribution *old,
		      const struct kstats_distribution *new)
{
	struct kstats_measured change;
	enum kstats_verdict verdict;

	if (!kstats_condition_is_about(judged->condition, title))
		return;
	verdict = kstats_condition_judge(judged->condition, before, after, old, new, &change);
	judged->metrics++;
	judged->broken += verdict == KSTATS_BROKEN;
	judged->undecided += verdict == KSTATS_UNDECIDED;
	print_change(judged->condition, title, after, verdict, &change);
}

static struct error *judge_pair(struct comparison *c, const struct kstats_table *before,
				const struct kstats_table *after)
{
	_cleanup_free_ char *title = kstats_table_title(after);
	struct kstats_distribution old = { 0 }, new = { 0 };
	struct error *err = title ? NULL : &error_no_memory;

	if (!err)
		err = kstats_distribution_of(before, NULL, &old);
	if (!err)
		err = kstats_distribution_of(after, NULL, &new);
	for (size_t i = 0; !err && i < c->judged_count; i++)
		judge_one(&c->judged[i], title, before, after, &old, &new);
	kstats_distribution_clear(&old);
	kstats_distribution_clear(&new);
	return err;
}

static enum kstats_verdict verdict_of(const struct judged *judged)
{
	if (judged->broken)
		return KSTATS_BROKEN;
	return judged->undecided || !judged->metrics ? KSTATS_UNDECIDED : KSTATS_KEPT;
}

static void finish_conditions(const struct comparison *c, int *status)
{
	for (size_t i = 0; i < c->judged_count; i++) {
		const struct judged *judged = &c->judged[i];

		if (!judged->metrics) {
			_cleanup_free_ char *text = text_visible(text_of(judged->condition->text));

			fprintf(stderr,
				"ctprof: --fail-if '%s': undecided, no such metric is on both "
				"sides\n",
				text ? text : "?");
		}
		kstats_count_verdict(verdict_of(judged), status);
	}
}

/* --- pairs --- */

/* Both are as coarse as the coarser one afterwards. */
static struct error *add_pair(struct comparison *c, struct kstats_table *before,
			      struct kstats_table *after)
{
	struct error *err = NULL;

	if (strcmp(before->unit, after->unit) != 0)
		return error_create("%s: cannot compare values in different units", after->name);
	if (before->frac_bits > after->frac_bits)
		err = kstats_table_coarsen(before, after->frac_bits);
	else
		err = kstats_table_coarsen(after, before->frac_bits);
	if (err)
		return err;
	return array_push(&c->pairs, (struct pair){ before, after }) ? NULL : &error_no_memory;
}

/* If each file has one metric, compare these, whatever their names; otherwise pair metrics by name.
 */
static struct error *find_pairs(struct comparison *c, const struct kstats_tables *before,
				const struct kstats_tables *after)
{
	struct error *err = NULL;

	if (before->count == 1 && after->count == 1)
		return add_pair(c, before->items[0], after->items[0]);
	for (size_t i = 0; !err && i < after->count; i++) {
		struct kstats_table *old = kstats_tables_match(before, after, after->items[i]);

		if (old)
			err = add_pair(c, old, after->items[i]);
	}
	if (!err && !c->pairs.count)
		return error_create("no metric matches: none has the same name on both sides, or "
				    "several programs have it (combine these with kstats merge)");
	return err;
}

/* --- text --- */

/* So many metrics are shown in full, and of more of them a table of the first ten. */
#define FULL_PAIRS     2
#define OVERVIEW_PAIRS 10

static struct error *print_pairs(const struct kstats_shift_line *lines, size_t count)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < count; i++) {
		if (i)
			putchar('\n');
		err = kstats_shift_text(stdout, lines[i].before, lines[i].after,
					terminal_table_width());
	}
	return err;
}

static struct error *print_lines(const struct comparison *c, struct kstats_shift_line *lines)
{
	const bool all = c->showing->all_rows;
	const size_t count = c->pairs.count;
	struct error *err;

	if (count <= FULL_PAIRS)
		return print_pairs(lines, count);
	kstats_shift_sort(lines, count);
	err = kstats_shift_overview(stdout, lines, count, all ? count : OVERVIEW_PAIRS,
				    terminal_table_width());
	putchar('\n');
	return err ? err : print_pairs(lines, all ? count : FULL_PAIRS);
}

static struct error *compare_as_text(const struct comparison *c)
{
	const size_t count = c->pairs.count;
	_cleanup_free_ struct kstats_shift_line *lines = calloc(count, sizeof(*lines));
	struct error *err = lines ? NULL : &error_no_memory;

	for (size_t i = 0; !err && i < count; i++)
		err = kstats_shift_line_of(c->pairs.items[i].before, c->pairs.items[i].after,
					   &lines[i]);
	if (!err)
		err = print_lines(c, lines);
	for (size_t i = 0; lines && i < count; i++)
		kstats_shift_line_clear(&lines[i]);
	return err;
}

/* --- metrics that only one side has --- */

static bool is_only(const struct kstats_tables *in, const struct kstats_tables *other, size_t i)
{
	const bool are_single = in->count == 1 && other->count == 1;

	return !are_single && !kstats_tables_match(other, in, in->items[i]);
}

/* In one line; nothing if there are none. */
static void print_only(const char *where, const struct kstats_tables *in,
		       const struct kstats_tables *other)
{
	_cleanup_free_ char *place = text_visible(text_of(where));
	size_t count = 0;

	for (size_t i = 0; i < in->count; i++) {
		_cleanup_free_ char *title = kstats_table_title(in->items[i]);
		_cleanup_free_ char *name = title ? text_visible(text_of(title)) : NULL;

		if (!is_only(in, other, i))
			continue;
		if (!count++)
			printf("\nonly in %s: ", place ? place : "?");
		else
			fputs(", ", stdout);
		fputs(name ? name : "?", stdout);
	}
	if (count)
		putchar('\n');
}

static void write_only(struct json_writer *w, const char *key, const struct kstats_tables *in,
		       const struct kstats_tables *other)
{
	json_key(w, key);
	json_array_begin(w);
	for (size_t i = 0; i < in->count; i++) {
		_cleanup_free_ char *title = kstats_table_title(in->items[i]);

		if (is_only(in, other, i))
			json_string(w, title);
	}
	json_array_end(w);
}

/* --- all of it --- */

static void write_conditions(const struct comparison *c)
{
	struct json_writer *w = c->json;

	json_key(w, "fail_if");
	json_array_begin(w);
	for (size_t i = 0; i < c->judged_count; i++) {
		json_line(w);
		json_object_begin(w);
		json_key(w, "expression");
		json_string(w, c->judged[i].condition->text);
		json_key(w, "verdict");
		json_string(w, condition_words[verdict_of(&c->judged[i])].name);
		json_key(w, "metrics");
		json_u64(w, c->judged[i].metrics);
		json_key(w, "broken_metrics");
		json_u64(w, c->judged[i].broken);
		json_key(w, "undecided_metrics");
		json_u64(w, c->judged[i].undecided);
		json_object_end(w);
	}
	json_array_end(w);
}

static struct error *compare_as_json(struct comparison *c, const struct kstats_tables *before,
				     const struct kstats_tables *after)
{
	struct json_writer writer;
	struct error *err = json_writer_init(&writer, stream_to_file, stdout);

	if (err)
		return err;
	c->json = &writer;
	json_object_begin(&writer);
	json_key(&writer, "metrics");
	json_array_begin(&writer);
	for (size_t i = 0; !err && i < c->pairs.count; i++)
		err = kstats_shift_json(&writer, c->pairs.items[i].before, c->pairs.items[i].after);
	json_array_end(&writer);
	write_only(&writer, "only_before", before, after);
	write_only(&writer, "only_after", after, before);
	write_conditions(c);
	json_object_end(&writer);
	/* Output that an error cut short is not finished: it must not look like a valid document.
	 */
	if (!err)
		err = json_writer_finish(&writer);
	json_writer_deinit(&writer);
	if (!err)
		putchar('\n');
	return err;
}

static struct error *compare_as_csv(const struct comparison *c)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < c->pairs.count; i++)
		err = kstats_shift_csv(stdout, c->pairs.items[i].before, c->pairs.items[i].after,
				       i != 0);
	return err;
}

static struct error *print_all(struct comparison *c, const struct kstats_tables *before,
			       const struct kstats_tables *after, char **words)
{
	struct error *err;

	if (c->showing->format == KSTATS_FORMAT_JSON)
		return compare_as_json(c, before, after);
	if (c->showing->format == KSTATS_FORMAT_CSV)
		return compare_as_csv(c);
	err = compare_as_text(c);
	if (!err) {
		print_only(words[0], before, after);
		print_only(words[1], after, before);
	}
	return err;
}

static struct error *judge_pairs(struct comparison *c)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < c->pairs.count; i++)
		err = judge_pair(c, c->pairs.items[i].before, c->pairs.items[i].after);
	return err;
}

/* Verdicts stand below what they judge; JSON has them in it. */
static struct error *compare_all(struct comparison *c, const struct kstats_tables *before,
				 const struct kstats_tables *after, char **words)
{
	const bool is_json = c->showing->format == KSTATS_FORMAT_JSON;
	struct error *err = find_pairs(c, before, after);

	if (!err && is_json)
		err = judge_pairs(c);
	if (!err)
		err = print_all(c, before, after, words);
	fflush(stdout);
	return err || is_json ? err : judge_pairs(c);
}

static struct error *prepare(const struct kstats_arguments *arguments, struct comparison *ret)
{
	const struct kstats_conditions *conditions = &arguments->conditions;

	*ret = (struct comparison){ .showing = &arguments->showing,
				    .judged_count = conditions->count };
	if (!conditions->count)
		return NULL;
	ret->judged = calloc(conditions->count, sizeof(*ret->judged));
	if (!ret->judged)
		return &error_no_memory;
	for (size_t i = 0; i < conditions->count; i++)
		ret->judged[i].condition = &conditions->items[i];
	return NULL;
}

struct error *kstats_compare(const struct kstats_arguments *arguments, char **words,
			     int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via);
	struct kstats_tables before = { 0 }, after = { 0 };
	struct comparison comparison;
	struct error *err = prepare(arguments, &comparison);

	if (!err)
		err = kstats_gather(&search, words[0], &before);
	if (!err)
		err = kstats_gather(&search, words[1], &after);
	if (!err)
		pager_begin(arguments->showing.format == KSTATS_FORMAT_TEXT ? PAGER_TEXT
									    : PAGER_DATA);
	if (!err)
		err = compare_all(&comparison, &before, &after, words);
	if (!err)
		finish_conditions(&comparison, ret_status);
	free(comparison.judged);
	array_deinit(&comparison.pairs);
	kstats_tables_clear(&before);
	kstats_tables_clear(&after);
	return err;
}

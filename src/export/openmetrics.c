/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/openmetrics.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "kstats/distribution.h"

static bool is_time(const struct kstats_table *table)
{
	return strcmp(table->unit, unit_name(UNIT_NS)) == 0;
}

/* Letters, digits and "_", which is all that names of metrics may have. */
static void print_name(FILE *out, const struct kstats_table *table)
{
	fputs("ctprof_kstats_", out);
	for (const char *at = table->name; *at; at++)
		fputc(isascii(*at) && isalnum(*at) ? *at : '_', out);
	if (is_time(table))
		fputs("_seconds", out);
}

static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', out);
		if (*text == '\n')
			fputs("\\n", out);
		else
			fputc(*text, out);
	}
}

/* Labels that tell hosts apart, and what more stands before the closing brace. */
static void print_labels(FILE *out, const struct kstats_table *table, const char *more)
{
	if (!table->host && !*more)
		return;
	fputc('{', out);
	if (table->host) {
		fputs("host=\"", out);
		print_escaped(out, table->host);
		fprintf(out, "\"%s", *more ? "," : "");
	}
	fprintf(out, "%s}", more);
}

/* Whole ns in seconds, to the last digit. */
static void format_value(char buffer[UNITS_TEXT_MAX], const struct kstats_table *table,
			 uint64_t value)
{
	if (is_time(table))
		snprintf(buffer, UNITS_TEXT_MAX, "%" PRIu64 ".%09" PRIu64, value / NS_PER_S,
			 value % NS_PER_S);
	else
		snprintf(buffer, UNITS_TEXT_MAX, "%" PRIu64 ".0", value);
}

static double sum_of(const struct kstats_table *table, const struct kstats_distribution *all)
{
	double sum = kstats_mean(all) * (double)all->count;

	return is_time(table) ? sum / NS_PER_S : sum;
}

static void print_head(FILE *out, const struct kstats_table *table, const char *note)
{
	fputs("# TYPE ", out);
	print_name(out, table);
	fputs(" histogram\n", out);
	if (is_time(table)) {
		fputs("# UNIT ", out);
		print_name(out, table);
		fputs(" seconds\n", out);
	}
	fputs("# HELP ", out);
	print_name(out, table);
	fputc(' ', out);
	print_escaped(out, table->start ? table->start : table->name);
	if (table->end) {
		fputs(" to ", out);
		print_escaped(out, table->end);
	}
	fprintf(out, "%s\n", note);
}

static void print_sample(FILE *out, const struct kstats_table *table, const char *suffix,
			 const char *labels)
{
	print_name(out, table);
	fputs(suffix, out);
	print_labels(out, table, labels);
	fputc(' ', out);
}

/* --- buckets with bounds --- */

static void print_classic(FILE *out, const struct kstats_table *table,
			  const struct kstats_distribution *all)
{
	char labels[UNITS_TEXT_MAX + 8], bound[UNITS_TEXT_MAX], sum[UNITS_TEXT_MAX];
	uint64_t passed = 0;

	print_head(out, table, "");
	for (unsigned slot = 0; slot < BUCKET_SLOTS(all->frac_bits); slot++) {
		if (!all->slots[slot].count)
			continue;
		passed += all->slots[slot].count;
		format_value(bound, table, bucket_high(slot, all->frac_bits));
		snprintf(labels, sizeof(labels), "le=\"%s\"", bound);
		print_sample(out, table, "_bucket", labels);
		fprintf(out, "%" PRIu64 "\n", passed);
	}
	print_sample(out, table, "_bucket", "le=\"+Inf\"");
	fprintf(out, "%" PRIu64 "\n", passed);
	print_sample(out, table, "_sum", "");
	fprintf(out, "%s\n", units_real_digits(sum, sum_of(table, all)));
	print_sample(out, table, "_count", "");
	fprintf(out, "%" PRIu64 "\n", passed);
}

/* --- native histograms --- */

/* Bucket `i` of schema s is from 2^((i - 1) / 2^s), exclusive, to 2^(i / 2^s). */
static int native_bucket(const struct kstats_table *table, uint64_t value, unsigned schema)
{
	double amount = is_time(table) ? (double)value / NS_PER_S : (double)value;

	return (int)ceil(log2(amount) * (double)(1u << schema));
}

struct native {
	int at;         /* the bucket that is added up; INT32_MIN: none yet */
	uint64_t count; /* in it */
	int last;       /* that was printed */
	bool is_first;
};

/* "offset:length" for each run of buckets; each is a run of its own, unless it follows the last. */
static void print_natives(FILE *out, const struct kstats_table *table,
			  const struct kstats_distribution *all, bool spans)
{
	struct native n = { .at = INT32_MIN, .is_first = true };

	for (unsigned slot = 1; slot <= BUCKET_SLOTS(all->frac_bits); slot++) {
		bool is_end = slot == BUCKET_SLOTS(all->frac_bits);
		int bucket;

		if (!is_end && !all->slots[slot].count)
			continue;
		bucket = is_end ? INT32_MAX
				: native_bucket(table, bucket_high(slot, all->frac_bits),
						all->frac_bits);
		if (bucket != n.at && n.at != INT32_MIN) {
			if (spans)
				fprintf(out, "%s%d:1", n.is_first ? "" : ",",
					n.is_first ? n.at : n.at - n.last - 1);
			else
				fprintf(out, "%s%" PRIu64, n.is_first ? "" : ",", n.count);
			n = (struct native){ .at = n.at, .last = n.at };
		}
		if (bucket != n.at)
			n.at = bucket;
		if (!is_end)
			n.count += all->slots[slot].count;
	}
}

static void print_native(FILE *out, const struct kstats_table *table,
			 const struct kstats_distribution *all)
{
	char sum[UNITS_TEXT_MAX];

	print_head(out, table, "; by the upper end of slots: up to one bucket too high");
	print_sample(out, table, "", "");
	fprintf(out,
		"{count:%" PRIu64 ",sum:%s,schema:%u,zero_threshold:0,zero_count:%" PRIu64
		",positive_spans:[",
		all->count, units_real_digits(sum, sum_of(table, all)), all->frac_bits,
		all->slots[0].count);
	print_natives(out, table, all, true);
	fputs("],positive_buckets:[", out);
	print_natives(out, table, all, false);
	fputs("]}\n", out);
}

struct error *openmetrics_print(FILE *out, const struct kstats_tables *tables, bool native)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < tables->count; i++) {
		struct kstats_distribution all = { 0 };

		err = kstats_distribution_of(tables->items[i], NULL, &all);
		if (!err && native)
			print_native(out, tables->items[i], &all);
		else if (!err)
			print_classic(out, tables->items[i], &all);
		kstats_distribution_clear(&all);
	}
	if (!err)
		fputs("# EOF\n", out);
	return err;
}

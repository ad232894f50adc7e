/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/openmetrics.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/utf8.h"
#include "kstats/distribution.h"

static bool is_time(const struct kstats_table *table)
{
	return strcmp(table->unit, unit_name(UNIT_NS)) == 0;
}

/* --- names --- */

/* A metric under the name that it has there; those of the same name are a family. */
struct series {
	const struct kstats_table *table;
	char *family;
	/* Its name, its process and its host as they can be printed; NULL: none, unknown. */
	char *metric, *pid, *host;
	bool is_renamed; /* the name says no longer which metric it is */
};

/* What stands at the end of names of samples and of units: a family that ended so could be taken
 * for a part of another one. */
static const struct text reserved[] = {
	{ "_bucket", 7 }, { "_count", 6 },   { "_sum", 4 },  { "_created", 8 },
	{ "_total", 6 },  { "_seconds", 8 }, { "_info", 5 },
};

static const char *suffix_of(const struct kstats_table *table, const char *family)
{
	if (is_time(table))
		return "_seconds";
	for (size_t i = 0; i < array_length(reserved); i++)
		if (text_ends(text_of(family), reserved[i]))
			return "_values";
	return "";
}

/* Of a character: a control byte, for which there is no escape, or none at all. */
static bool is_printable(const char *character, size_t wide)
{
	const unsigned char first = (unsigned char)character[0],
			    second = wide > 1 ? (unsigned char)character[1] : 0;

	if (wide == 1)
		return first == '\n' || (first >= ' ' && first != 0x7f);
	return wide && !(first == 0xc2 && second < 0xa0);
}

/* UTF-8 without other control characters than newlines: what they and bytes of no character are
 * is replaced. NULL: no memory. */
static char *clean(const char *text)
{
	const struct text all = text_of(text);
	char *cleaned = malloc(all.length * UTF8_REPLACEMENT_LENGTH + 1), *end = cleaned;
	size_t wide;

	if (!cleaned)
		return NULL;
	for (size_t i = 0; i < all.length; i += wide ? wide : 1) {
		wide = utf8_sequence(all.bytes + i, all.length - i);
		if (is_printable(all.bytes + i, wide))
			end = mempcpy(end, all.bytes + i, wide);
		else
			end = stpcpy(end, UTF8_REPLACEMENT);
	}
	*end = '\0';
	return cleaned;
}

/* "PID:NAME" of a program: how long the number is, or 0. */
static size_t pid_length(const char *name)
{
	size_t length = strspn(name, "0123456789");

	return name[length] == ':' && name[length + 1] ? length : 0;
}

static struct error *take_words(const struct kstats_table *table, size_t pid, struct series *s)
{
	s->metric = clean(table->name + (pid ? pid + 1 : 0));
	s->pid = pid ? strndup(table->name, pid) : NULL;
	s->host = table->host ? clean(table->host) : NULL;
	return !s->metric || (pid && !s->pid) || (table->host && !s->host) ? &error_no_memory
									   : NULL;
}

/* Letters, digits and "_", which is all that names of metrics may have. */
static struct error *name_series(const struct kstats_table *table, struct series *ret)
{
	const size_t pid = pid_length(table->name);
	_cleanup_free_ char *family = NULL;
	bool is_renamed = false;
	struct error *err;

	if (asprintf(&family, "ctprof_kstats_%s", table->name + (pid ? pid + 1 : 0)) < 0)
		return &error_no_memory;
	for (char *at = family; *at; at++)
		if (!isascii(*at) || !(isalnum(*at) || *at == '_')) {
			*at = '_';
			is_renamed = true;
		}
	*ret = (struct series){
		.table = table,
		.is_renamed = is_renamed,
	};
	err = take_words(table, pid, ret);
	if (err)
		return err;
	if (asprintf(&ret->family, "%s%s", family, suffix_of(table, family)) < 0) {
		ret->family = NULL;
		return &error_no_memory;
	}
	ret->is_renamed |= !is_time(table) && strlen(family) < strlen(ret->family);
	return NULL;
}

static int compare_words(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* By family; the same metric of the same host is the same series. */
static int compare_series(const void *left, const void *right)
{
	const struct series *a = left, *b = right;
	int order = strcmp(a->family, b->family);

	if (!order)
		order = strcmp(a->metric, b->metric);
	if (!order)
		order = compare_words(a->host, b->host);
	return order ? order : compare_words(a->pid, b->pid);
}

/* --- words --- */

static void print_escaped(FILE *out, const char *cleaned)
{
	for (const char *text = cleaned; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', out);
		if (*text == '\n')
			fputs("\\n", out);
		else
			fputc(*text, out);
	}
}

static void print_label(FILE *out, const char *name, const char *value, bool *is_first)
{
	fprintf(out, "%s%s=\"", *is_first ? "{" : ",", name);
	print_escaped(out, value);
	fputc('"', out);
	*is_first = false;
}

/* The name of a sample, and the labels that tell it from others; `bound` may be NULL. */
static void print_sample(FILE *out, const struct series *s, const char *suffix, const char *bound)
{
	bool is_first = true;

	fprintf(out, "%s%s", s->family, suffix);
	if (s->is_renamed)
		print_label(out, "metric", s->metric, &is_first);
	if (s->host)
		print_label(out, "host", s->host, &is_first);
	if (s->pid)
		print_label(out, "pid", s->pid, &is_first);
	if (bound)
		print_label(out, "le", bound, &is_first);
	fputs(is_first ? " " : "} ", out);
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

static char *format_sum(char buffer[UNITS_TEXT_MAX], const struct kstats_table *table,
			const struct kstats_distribution *all)
{
	double sum = (double)kstats_sum(all);

	return units_real_digits(buffer, is_time(table) ? sum / NS_PER_S : sum);
}

/* Of places, in a line that is for people. */
static void print_help(FILE *out, const char *text)
{
	_cleanup_free_ char *cleaned = clean(text);

	print_escaped(out, cleaned ? cleaned : "?");
}

static void print_head(FILE *out, const struct series *s, bool native)
{
	const struct kstats_table *table = s->table;

	fprintf(out, "# TYPE %s histogram\n", s->family);
	if (is_time(table))
		fprintf(out, "# UNIT %s seconds\n", s->family);
	fprintf(out, "# HELP %s ", s->family);
	print_help(out, table->start ? table->start : s->metric);
	if (table->end) {
		fputs(" to ", out);
		print_help(out, table->end);
	}
	if (native)
		fputs("; by the middle of slots: at most one bucket from where it belongs", out);
	fputc('\n', out);
}

/* --- buckets with bounds --- */

static void print_classic(FILE *out, const struct series *s, const struct kstats_distribution *all)
{
	char bound[UNITS_TEXT_MAX], sum[UNITS_TEXT_MAX];
	uint64_t passed = 0;

	for (unsigned slot = 0; slot < BUCKET_SLOTS(all->frac_bits); slot++) {
		if (!all->slots[slot].count)
			continue;
		passed += all->slots[slot].count;
		format_value(bound, s->table, bucket_high(slot, all->frac_bits));
		print_sample(out, s, "_bucket", bound);
		fprintf(out, "%" PRIu64 "\n", passed);
	}
	print_sample(out, s, "_bucket", "+Inf");
	fprintf(out, "%" PRIu64 "\n", passed);
	print_sample(out, s, "_sum", NULL);
	fprintf(out, "%s\n", format_sum(sum, s->table, all));
	print_sample(out, s, "_count", NULL);
	fprintf(out, "%" PRIu64 "\n", passed);
}

/* --- native histograms --- */

/* Those that count something, in their order. */
struct native {
	unsigned count;
	struct {
		int at;
		uint64_t values;
	} buckets[BUCKET_SLOTS(BUCKET_FRAC_BITS_MAX)];
};

/*
 * Bucket `i` of schema s is from 2^((i - 1) / 2^s), exclusive, to 2^(i / 2^s). A slot is up to one
 * and a half of them wide: only from its middle is no value of it further than to the next one.
 */
static int native_bucket(const struct kstats_table *table, unsigned slot, unsigned frac_bits)
{
	double low = (double)bucket_low(slot, frac_bits);
	double high = (double)bucket_high(slot, frac_bits);
	double unit = is_time(table) ? NS_PER_S : 1;

	return (int)ceil((log2(low / unit) + log2(high / unit)) / 2 * (double)(1u << frac_bits));
}

static void add_natives(const struct kstats_table *table, const struct kstats_distribution *all,
			struct native *n)
{
	for (unsigned slot = 1; slot < BUCKET_SLOTS(all->frac_bits); slot++) {
		int at;

		if (!all->slots[slot].count)
			continue;
		at = native_bucket(table, slot, all->frac_bits);
		if (!n->count || n->buckets[n->count - 1].at != at)
			n->buckets[n->count++].at = at;
		n->buckets[n->count - 1].values += all->slots[slot].count;
	}
}

/* "OFFSET:LENGTH" of each run of buckets; the first from bucket 0, others from the end of the one
 * before. */
static void print_spans(FILE *out, const struct native *n)
{
	int end = 0;

	for (unsigned first = 0, next; first < n->count; first = next) {
		int at = n->buckets[first].at;

		for (next = first + 1; next < n->count; next++)
			if (n->buckets[next].at != at + (int)(next - first))
				break;
		fprintf(out, "%s%d:%u", first ? "," : "", at - end, next - first);
		end = at + (int)(next - first);
	}
}

static void print_natives(FILE *out, const struct native *n)
{
	if (!n->count)
		return;
	fputs(",positive_spans:[", out);
	print_spans(out, n);
	fputs("],positive_buckets:[", out);
	for (unsigned i = 0; i < n->count; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", n->buckets[i].values);
	fputc(']', out);
}

static void print_native(FILE *out, const struct series *s, const struct kstats_distribution *all)
{
	struct native natives = { 0 };
	char sum[UNITS_TEXT_MAX];

	add_natives(s->table, all, &natives);
	print_sample(out, s, "", NULL);
	fprintf(out, "{count:%" PRIu64 ",sum:%s,schema:%u,zero_threshold:0,zero_count:%" PRIu64,
		all->count, format_sum(sum, s->table, all), all->frac_bits, all->slots[0].count);
	print_natives(out, &natives);
	fputs("}\n", out);
}

/* --- all of them --- */

static struct error *print_series(FILE *out, const struct series *s, bool native)
{
	struct kstats_distribution all = { 0 };
	struct error *err = kstats_distribution_of(s->table, NULL, &all);

	if (!err && native)
		print_native(out, s, &all);
	else if (!err)
		print_classic(out, s, &all);
	kstats_distribution_clear(&all);
	return err;
}

static struct error *check_series(const struct series *series, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (compare_series(&series[i - 1], &series[i]) == 0)
			return error_create("%s stands twice%s%s: merge them first",
					    series[i].table->name,
					    series[i].table->host ? " for host " : "",
					    series[i].table->host ? series[i].table->host : "");
	return NULL;
}

/* What is in no bucket, by cause, where anybody counts it. */
static void print_losses(FILE *out, const struct series *series, size_t count)
{
	bool has_head = false;

	for (size_t i = 0; i < count; i++)
		for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++) {
			bool is_first = true;

			if (!(series[i].table->losses_known & 1u << loss))
				continue;
			if (!has_head)
				fputs("# TYPE ctprof_kstats_lost counter\n"
				      "# HELP ctprof_kstats_lost events that are in no bucket\n",
				      out);
			has_head = true;
			fputs("ctprof_kstats_lost_total", out);
			print_label(out, "metric", series[i].metric, &is_first);
			if (series[i].host)
				print_label(out, "host", series[i].host, &is_first);
			if (series[i].pid)
				print_label(out, "pid", series[i].pid, &is_first);
			print_label(out, "cause", kstats_losses[loss].name, &is_first);
			fprintf(out, "} %" PRIu64 "\n", series[i].table->losses[loss]);
		}
}

static struct error *print_all(FILE *out, const struct series *series, size_t count, bool native)
{
	struct error *err = check_series(series, count);

	for (size_t i = 0; !err && i < count; i++) {
		if (!i || strcmp(series[i - 1].family, series[i].family) != 0)
			print_head(out, &series[i], native);
		err = print_series(out, &series[i], native);
	}
	if (!err) {
		print_losses(out, series, count);
		fputs("# EOF\n", out);
	}
	return err;
}

struct error *openmetrics_print(FILE *out, const struct kstats_tables *tables, bool native)
{
	struct series *series = calloc(tables->count ? tables->count : 1, sizeof(*series));
	struct error *err = series ? NULL : &error_no_memory;
	size_t count = 0;

	for (; !err && count < tables->count; count++)
		err = name_series(tables->items[count], &series[count]);
	if (!err) {
		qsort(series, count, sizeof(*series), compare_series);
		err = print_all(out, series, count, native);
	}
	for (size_t i = 0; series && i < tables->count; i++) {
		free(series[i].family);
		free(series[i].metric);
		free(series[i].pid);
		free(series[i].host);
	}
	free(series);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/v3.h"

#include <inttypes.h>

#include "kstats/distribution.h"
#include "kstats/spec.h"

/* --- lines --- */

struct v3_line {
	uint32_t slot, id;
	bool is_total; /* of all CPUs */
	uint64_t count, average;
};

/* Names of a row; the second is the name of all rows together. */
static const struct {
	const char *one, *all;
} row_words[] = { { "CPU", "CPUS" }, { "TABLE", "TABLES" } };

static bool take_row_word(struct text word, bool *ret_is_total)
{
	for (size_t i = 0; i < array_length(row_words); i++) {
		*ret_is_total = text_equal(word, text_of(row_words[i].all));
		if (*ret_is_total || text_equal(word, text_of(row_words[i].one)))
			return true;
	}
	return false;
}

/* "WORD NUMBER" */
static bool take_word_number(struct text *rest, struct text word, uint64_t *ret)
{
	struct text got;

	return text_word(rest, &got) && text_equal(got, word) && text_word(rest, &got) &&
	       text_u64(got, ret);
}

static bool take_u32(struct text *rest, uint32_t *ret)
{
	struct text word;

	return text_word(rest, &word) && text_u32(word, ret);
}

/* "p 0.027613": it follows from the counts. */
static bool take_share(struct text *rest)
{
	struct text word, whole;
	uint64_t number;

	return text_word(rest, &word) && text_equal(word, TEXT("p")) && text_word(rest, &word) &&
	       text_cut(&word, '.', &whole) && text_u64(whole, &number) && number <= 1 &&
	       text_u64(word, &number);
}

static bool parse_slot(struct text rest, struct v3_line *ret)
{
	struct text word;

	return text_word(&rest, &word) && text_equal(word, TEXT("slot")) &&
	       take_u32(&rest, &ret->slot) && text_word(&rest, &word) &&
	       take_row_word(word, &ret->is_total) && take_u32(&rest, &ret->id) &&
	       take_word_number(&rest, TEXT("count"), &ret->count) &&
	       take_word_number(&rest, TEXT("avg"), &ret->average) && take_share(&rest);
}

/* Lines of later formats that are about the table, and are no slots. */
static bool is_about_table(struct text line)
{
	return text_starts(line, TEXT("slot CFG ")) || text_starts(line, TEXT("slot ERRS "));
}

struct v3_reader {
	struct text rest;
	size_t number; /* of the line, from 1 */
};

/* The next line that is a slot's; false at the end, and on an error. */
static bool next_line(struct v3_reader *reader, struct v3_line *ret, struct error **ret_err)
{
	struct text line;

	while (text_cut(&reader->rest, '\n', &line)) {
		reader->number++;
		if (is_about_table(line))
			continue;
		if (parse_slot(line, ret))
			return true;
		*ret_err = error_create("line %zu is not a kstats line: '%.*s'", reader->number,
					line.length < 60 ? (int)line.length : 60, line.bytes);
		text_make_safe((*ret_err)->message);
		return false;
	}
	return false;
}

/* --- how many bits --- */

/* The last slot is for values that do not fit: there are none. */
static bool may_be_in(const struct v3_line *line, unsigned frac_bits)
{
	return line->slot < BUCKET_SLOTS(frac_bits) - 1 &&
	       line->average >= bucket_low(line->slot, frac_bits) &&
	       line->average <= bucket_high(line->slot, frac_bits);
}

#define ALL_BITS ((1u << (BUCKET_FRAC_BITS_MAX + 1)) - 1)

static struct error *find_bits(struct text text, uint32_t *ret_possible)
{
	struct v3_reader reader = { .rest = text };
	uint32_t possible = ALL_BITS;
	struct error *err = NULL;
	struct v3_line line;

	while (next_line(&reader, &line, &err)) {
		for (unsigned bits = 0; bits <= BUCKET_FRAC_BITS_MAX; bits++)
			if (!may_be_in(&line, bits))
				possible &= ~(1u << bits);
		if (!possible)
			return error_create("line %zu: slot %u with a mean of %" PRIu64 " fits no "
					    "number of bits, given the lines before",
					    reader.number, line.slot, line.average);
	}
	*ret_possible = possible;
	return err;
}

static unsigned choose_bits(uint32_t possible)
{
	unsigned most = BUCKET_FRAC_BITS_MAX;

	if (possible >> KSTATS_BITS_DEFAULT & 1)
		return KSTATS_BITS_DEFAULT;
	while (!(possible >> most & 1))
		most--;
	return most;
}

/* --- a table of lines --- */

static struct error *wrong_line(const struct v3_reader *reader, const struct v3_line *line,
				const char *what)
{
	return error_create("line %zu: slot %u of %u %s", reader->number, line->slot, line->id,
			    what);
}

/* Values of a line; `all` are those of the lines of its kind, which are no more than can be
 * counted. */
static struct error *take_values(const struct kstats_table *table, const struct v3_reader *reader,
				 const struct v3_line *line, struct kstats_slot *all,
				 struct kstats_slot *ret)
{
	uint64_t mean = line->average >> bucket_shift(line->slot, table->frac_bits), sum;

	if (!line->count)
		return wrong_line(reader, line, "has no values");
	if (__builtin_mul_overflow(mean, line->count, &sum) ||
	    __builtin_add_overflow(all->count, line->count, &all->count) ||
	    __builtin_add_overflow(all->sum, sum, &all->sum))
		return wrong_line(reader, line, "has too many values: counter overflow");
	/* From here on, no row has a count of 0. */
	if (ret->count)
		return wrong_line(reader, line, "is duplicated");
	*ret = (struct kstats_slot){ line->count, sum };
	return NULL;
}

/* Totals are kept apart until all lines of CPUs are known: some formats have them in other orders.
 */
struct sums {
	struct kstats_slot *totals; /* of each slot */
	struct kstats_slot all_rows, all_totals;
};

static struct error *add_slot_line(struct kstats_table *table, const struct v3_reader *reader,
				   const struct v3_line *line, struct sums *sums)
{
	struct kstats_row *row;
	struct error *err;

	if (line->is_total) {
		table->cpus = line->id;
		return take_values(table, reader, line, &sums->all_totals,
				   &sums->totals[line->slot]);
	}
	err = kstats_table_row(table, line->id, NULL, &row);
	return err ? err
		   : take_values(table, reader, line, &sums->all_rows, &row->slots[line->slot]);
}

static struct error *add_lines(struct text text, struct kstats_table *table, struct sums *sums)
{
	struct v3_reader reader = { .rest = text };
	struct error *err = NULL;
	struct v3_line line;

	while (!err && next_line(&reader, &line, &err))
		err = add_slot_line(table, &reader, &line, sums);
	return err;
}

/* The sum of a slot over the rows. */
static struct kstats_slot rows_of(const struct kstats_table *table, unsigned slot)
{
	struct kstats_slot all = { 0 };

	for (size_t i = 0; i < table->rows.count; i++) {
		all.count += table->rows.items[i].slots[slot].count;
		all.sum += table->rows.items[i].slots[slot].sum;
	}
	return all;
}

/*
 * Means are integers, rounded down, so the total loses less than its rows do. Give the difference
 * back to rows whose mean does not change by it.
 */
static void give_back(struct kstats_table *table, unsigned slot, uint64_t lost)
{
	for (size_t i = 0; i < table->rows.count && lost; i++) {
		struct kstats_slot *values = &table->rows.items[i].slots[slot];
		uint64_t most = values->count ? values->count - 1 : 0;
		uint64_t part = lost < most ? lost : most;

		values->sum += part;
		lost -= part;
	}
}

/* The difference of two rounded sums may lie outside the bounds of the slot, so clamp it to them.
 * The result does not exceed the sum of the total, whose mean is within the slot. */
static struct kstats_slot rest_of(unsigned frac_bits, unsigned slot, struct kstats_slot total,
				  struct kstats_slot known)
{
	struct kstats_slot rest = { .count = total.count - known.count };

	if (total.sum > known.sum)
		rest.sum = total.sum - known.sum;
	rest.sum = (uint64_t)(kstats_slot_sum(&rest, slot, frac_bits) >>
			      bucket_shift(slot, frac_bits));
	return rest;
}

static struct error *add_rest(struct kstats_table *table, const struct kstats_slot *totals)
{
	for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++) {
		struct kstats_slot known = rows_of(table, slot), total = totals[slot];
		struct kstats_row *row;
		struct error *err;

		if (total.count == known.count && total.sum > known.sum)
			give_back(table, slot, total.sum - known.sum);
		if (!total.count || total.count == known.count)
			continue;
		if (total.count < known.count)
			return error_create("slot %u has %" PRIu64 " values, and its CPUs %" PRIu64,
					    slot, total.count, known.count);
		err = kstats_table_row(table, table->cpus, KSTATS_V3_REST, &row);
		if (err)
			return err;
		row->slots[slot] = rest_of(table->frac_bits, slot, total, known);
	}
	return NULL;
}

struct error *kstats_v3_parse_bits(struct text text, const char *name, uint32_t *ret_possible,
				   struct kstats_table **ret)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *table = NULL;
	_cleanup_free_ struct kstats_slot *totals = NULL;
	struct sums sums = { 0 };
	uint32_t possible;
	struct error *err = find_bits(text, &possible);

	if (!err)
		err = kstats_table_create(name, choose_bits(possible), "", &table);
	if (err)
		return err;
	totals = calloc(BUCKET_SLOTS(table->frac_bits), sizeof(*totals));
	if (!totals)
		return &error_no_memory;
	sums.totals = totals;
	err = add_lines(text, table, &sums);
	if (!err)
		err = add_rest(table, totals);
	if (err)
		return err;
	*ret_possible = possible;
	*ret = take_ptr(table);
	return NULL;
}

struct error *kstats_v3_parse(struct text text, const char *name, struct kstats_table **ret)
{
	uint32_t possible;

	return kstats_v3_parse_bits(text, name, &possible, ret);
}

/* --- printing --- */

#define MILLION 1000000

/* Without the bits that sums do not have. */
static uint64_t mean_of(const struct kstats_slot *values, unsigned slot, unsigned frac_bits)
{
	unsigned shift = bucket_shift(slot, frac_bits);
	uint64_t mean = (uint64_t)(kstats_slot_sum(values, slot, frac_bits) / values->count);

	return mean >> shift << shift;
}

/* `below`: values of the row up to this slot; `all`: of all slots. */
static void print_slot(const struct kstats_table *table, struct kstats_slot values, unsigned slot,
		       const char *what, uint64_t id, uint64_t below, uint64_t all, FILE *out)
{
	/* A returned value may be negative. */
	const bool is_negative = table->by == KSTATS_BY_RETVAL && (int64_t)id < 0;
	bool is_last = below >= all;
	char number[24];
	uint64_t share = is_last ? 0 : (uint64_t)((unsigned __int128)below * MILLION / all);

	snprintf(number, sizeof(number), "%s%" PRIu64, is_negative ? "-" : "",
		 is_negative ? -id : id);
	fprintf(out, "slot %-3u %s %-4s count %8" PRIu64 " avg %8" PRIu64 " p %c.%06" PRIu64 "\n",
		slot, what, number, values.count, mean_of(&values, slot, table->frac_bits),
		is_last ? '1' : '0', share);
}

/* Values of a row up to this slot. Counted anew for each line: there is no memory to fail for. */
static uint64_t count_to(const struct kstats_row *row, unsigned slot)
{
	uint64_t count = 0;

	for (unsigned i = 0; i <= slot; i++)
		count += row->slots[i].count;
	return count;
}

static bool is_rest(const struct kstats_row *row)
{
	return row->label && strcmp(row->label, KSTATS_V3_REST) == 0;
}

static void print_slot_rows(const struct kstats_table *table, unsigned slot, FILE *out)
{
	const char *what = table->by == KSTATS_BY_CPU ? "CPU " : "TABLE ";

	for (size_t i = 0; i < table->rows.count; i++) {
		const struct kstats_row *row = &table->rows.items[i];

		if (row->slots[slot].count && !is_rest(row))
			print_slot(table, row->slots[slot], slot, what, row->id,
				   count_to(row, slot),
				   count_to(row, BUCKET_SLOTS(table->frac_bits) - 1), out);
	}
}

void kstats_v3_print(const struct kstats_table *table, FILE *out)
{
	bool is_by_cpu = table->by == KSTATS_BY_CPU;
	uint64_t id = is_by_cpu && table->cpus ? table->cpus : table->rows.count;
	uint64_t below = 0, all = 0;

	for (size_t i = 0; i < table->rows.count; i++)
		all += count_to(&table->rows.items[i], BUCKET_SLOTS(table->frac_bits) - 1);
	for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++) {
		struct kstats_slot values = rows_of(table, slot);

		if (!values.count)
			continue;
		below += values.count;
		print_slot_rows(table, slot, out);
		print_slot(table, values, slot, is_by_cpu ? "CPUS" : "TABLES", id, below, all, out);
	}
}

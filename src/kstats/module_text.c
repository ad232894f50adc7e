/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/module_text.h"

/* The fields of the head. Texts point into it, and are empty if it does not have them. */
struct module_head {
	struct text name, start, end, unit;
	uint64_t bits, cpus, count, overhead_ns;
	bool is_active;
	uint64_t losses[KSTATS_LOSS_COUNT];
	uint32_t losses_known;
	uint64_t earlier;
	bool earlier_known;
};

static const struct {
	struct text key;
	size_t at;
} text_keys[] = {
	{ TEXT("name"), offsetof(struct module_head, name) },
	{ TEXT("start"), offsetof(struct module_head, start) },
	{ TEXT("end"), offsetof(struct module_head, end) },
	{ TEXT("unit"), offsetof(struct module_head, unit) },
}, number_keys[] = {
	{ TEXT("bits"), offsetof(struct module_head, bits) },
	{ TEXT("cpus"), offsetof(struct module_head, cpus) },
	{ TEXT("count"), offsetof(struct module_head, count) },
	{ TEXT("overhead"), offsetof(struct module_head, overhead_ns) },
};

static struct error *line_error(struct text line)
{
	struct error *err = error_create("malformed kstats line: '%.*s'",
					 line.length < 60 ? (int)line.length : 60, line.bytes);

	text_make_safe(err->message);
	return err;
}

/* False: a number is invalid. */
static bool set_head_value(struct text key, struct text value, struct module_head *head)
{
	bool is_number = true;

	for (size_t i = 0; i < array_length(text_keys); i++)
		if (text_equal(key, text_keys[i].key))
			*(struct text *)((char *)head + text_keys[i].at) = value;
	for (size_t i = 0; i < array_length(number_keys); i++)
		if (text_equal(key, number_keys[i].key))
			is_number = text_u64(value, (uint64_t *)((char *)head + number_keys[i].at));
	if (text_equal(key, TEXT("state")))
		head->is_active = text_equal(value, TEXT("active"));
	if (text_equal(key, TEXT("earlier"))) {
		is_number = text_u64(value, &head->earlier);
		head->earlier_known = true;
	}
	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++) {
		if (!text_equal(key, text_of(kstats_losses[loss].name)))
			continue;
		is_number = text_u64(value, &head->losses[loss]);
		head->losses_known |= 1u << loss;
	}
	return is_number;
}

static bool is_slot(struct text line)
{
	return text_starts(line, TEXT("slot "));
}

/* Lines before the first slot; `rest` begins with that afterwards. */
static struct error *parse_head(struct text *rest, struct module_head *ret)
{
	struct text line, key, value;

	while (rest->length && !is_slot(*rest) && text_cut(rest, '\n', &line)) {
		struct text words = line;

		if (!text_word(&words, &key) || !text_word(&words, &value) ||
		    !set_head_value(key, value, ret))
			return line_error(line);
	}
	if (!ret->name.length || ret->bits > BUCKET_FRAC_BITS_MAX || ret->cpus > UINT32_MAX)
		return error_create("not a metric of ctprof's kernel module");
	return NULL;
}

/* --- slots --- */

static bool take_pair_number(struct text *rest, struct text key, uint64_t *ret)
{
	struct text word;

	return text_word(rest, &word) && text_equal(word, key) && text_word(rest, &word) &&
	       text_u64(word, ret);
}

/* `all`: how many values the lines before it have, which with its own are no more than can be
 * counted. */
static struct error *parse_slot(struct text line, struct kstats_table *table, uint64_t *all)
{
	struct kstats_slot values;
	struct text rest = line;
	struct kstats_row *row;
	uint64_t slot, cpu;
	struct error *err;

	if (!take_pair_number(&rest, TEXT("slot"), &slot) ||
	    !take_pair_number(&rest, TEXT("cpu"), &cpu) ||
	    !take_pair_number(&rest, TEXT("count"), &values.count) ||
	    !take_pair_number(&rest, TEXT("sum"), &values.sum) ||
	    slot >= BUCKET_SLOTS(table->frac_bits) || cpu >= table->cpus)
		return line_error(line);
	if (__builtin_add_overflow(*all, values.count, all))
		return error_create("too many values: counter overflow");
	err = kstats_table_row(table, cpu, NULL, &row);
	if (err)
		return err;
	row->slots[slot] = values;
	return NULL;
}

/* An empty text becomes NULL. */
static bool copy_value(struct text text, char **ret)
{
	if (!text.length)
		return true;
	*ret = strndup(text.bytes, text.length);
	return *ret;
}

/* The key of a metric of the module: pairs are matched by CPU; a call keeps its start with it, as
 * threads do. */
static struct text key_by_end(const struct module_head *head)
{
	if (!head->start.length)
		return (struct text){ 0 };
	return text_of(kstats_keys[head->end.length ? KSTATS_KEY_CPU : KSTATS_KEY_TASK].name);
}

static struct error *table_of(const struct module_head *head, struct kstats_table **ret)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *table = NULL;
	_cleanup_free_ char *name = strndup(head->name.bytes, head->name.length);
	_cleanup_free_ char *unit =
		strndup(head->unit.length ? head->unit.bytes : "", head->unit.length);
	struct error *err;

	if (!name || !unit)
		return &error_no_memory;
	err = kstats_table_create(name, (unsigned)head->bits, unit, &table);
	if (err)
		return err;
	if (!copy_value(head->start, &table->start) || !copy_value(head->end, &table->end) ||
	    !copy_value(key_by_end(head), &table->scope.key))
		return &error_no_memory;
	table->cpus = (unsigned)head->cpus;
	table->is_active = head->is_active;
	table->overhead_ns = head->overhead_ns;
	table->losses_known = head->losses_known;
	table->earlier = head->earlier;
	table->earlier_known = head->earlier_known;
	memcpy(table->losses, head->losses, sizeof(table->losses));
	*ret = take_ptr(table);
	return NULL;
}

struct error *kstats_module_parse(struct text text, struct kstats_table **ret)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *table = NULL;
	struct module_head head = { 0 };
	struct error *err = parse_head(&text, &head);
	struct text line;
	uint64_t all = 0;

	if (!err)
		err = table_of(&head, &table);
	while (!err && text_cut(&text, '\n', &line))
		err = parse_slot(line, table, &all);
	if (err)
		return err;
	*ret = take_ptr(table);
	return NULL;
}

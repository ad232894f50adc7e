/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/counters.h"

#include "base/array.h"

static void add_counter(struct counter_row *row, struct text key, uint64_t value)
{
	row->items[row->count++] = (struct counter){ key, value };
}

/* The numbers of a line under these keys, in order, as many as there are; further ones are of a
 * later kernel. False when there are fewer than `least`, or one is not a number. */
static bool cut_numbers(struct text line, const struct text *keys, size_t count, size_t least,
			struct counter_row *row)
{
	struct text word;
	uint64_t value;
	size_t i = 0;

	for (; i < count && text_word(&line, &word); i++) {
		if (!text_u64(word, &value))
			return false;
		add_counter(row, keys[i], value);
	}
	return i >= least;
}

/* --- /proc/stat and /proc/schedstat --- */

bool counters_cpu_number(struct text name, uint32_t *ret)
{
	return text_starts(name, TEXT("cpu")) &&
	       text_u32((struct text){ name.bytes + 3, name.length - 3 }, ret);
}

/* The next line that starts with the name of a CPU; `line` gets what follows. */
static bool next_cpu(struct text *rest, struct text *name, struct text *line)
{
	uint32_t number;

	while (text_cut(rest, '\n', line))
		if (text_word(line, name) && counters_cpu_number(*name, &number))
			return true;
	return false;
}

/* Add up the times in which a CPU was busy. */
static bool add_busy(struct counter_row *row)
{
	static const bool busy[] = { true, true, true, false, false, true, true, true };
	uint64_t sum = 0;

	for (size_t i = 0; i < array_length(busy) && i < row->count; i++)
		if (busy[i] && __builtin_add_overflow(sum, row->items[i].value, &sum))
			return false;
	add_counter(row, TEXT("busy_ticks"), sum);
	return true;
}

enum row_found counters_next_cpu(struct text *rest, struct counter_row *ret)
{
	static const struct text keys[] = {
		TEXT("user_ticks"),       TEXT("nice_ticks"),   TEXT("system_ticks"),
		TEXT("idle_ticks"),       TEXT("iowait_ticks"), TEXT("irq_ticks"),
		TEXT("softirq_ticks"),    TEXT("steal_ticks"),  TEXT("guest_ticks"),
		TEXT("guest_nice_ticks"),
	};
	struct text line;

	ret->count = 0;
	if (!next_cpu(rest, &ret->name, &line))
		return ROW_NONE;
	return cut_numbers(line, keys, array_length(keys), 4, ret) && add_busy(ret) ? ROW_GOOD
										    : ROW_BAD;
}

bool counters_schedstat_begin(struct text *rest)
{
	struct text line, word;
	uint32_t version;

	return text_cut(rest, '\n', &line) && text_word(&line, &word) &&
	       text_equal(word, TEXT("version")) && text_word(&line, &word) &&
	       text_u32(word, &version) && version >= 15;
}

enum row_found counters_next_schedstat(struct text *rest, struct counter_row *ret)
{
	static const struct text keys[] = { TEXT("run_ns"), TEXT("wait_ns"), TEXT("timeslices") };
	struct text line, word;

	ret->count = 0;
	if (!next_cpu(rest, &ret->name, &line))
		return ROW_NONE;
	for (int i = 0; i < 6; i++)
		if (!text_word(&line, &word))
			return ROW_BAD;
	return cut_numbers(line, keys, array_length(keys), 3, ret) ? ROW_GOOD : ROW_BAD;
}

bool counters_parse_stat(struct text bytes, struct counter_row *ret)
{
	static const struct {
		struct text name, key;
	} keys[] = {
		{ TEXT("intr"), TEXT("interrupts") },
		{ TEXT("softirq"), TEXT("softirqs") },
		{ TEXT("ctxt"), TEXT("context_switches") },
		{ TEXT("processes"), TEXT("forks") },
		{ TEXT("procs_running"), TEXT("running") },
		{ TEXT("procs_blocked"), TEXT("blocked") },
	};
	bool known = false, understood = true;
	unsigned seen = 0;
	struct text line, word;
	uint64_t value;

	ret->count = 0;
	ret->name = TEXT("");
	while (text_cut(&bytes, '\n', &line)) {
		if (!text_word(&line, &word))
			continue;
		known |= text_equal(word, TEXT("cpu"));
		for (size_t i = 0; i < array_length(keys); i++) {
			if (!text_equal(word, keys[i].name))
				continue;
			if (seen >> i & 1 || !text_word(&line, &word) || !text_u64(word, &value))
				understood = false;
			else
				add_counter(ret, keys[i].key, value);
			seen |= 1u << i;
			break;
		}
	}
	return known && understood;
}

/* --- /proc/loadavg --- */

bool counters_hundredths(struct text text, uint64_t *ret)
{
	const char *dot = memchr(text.bytes, '.', text.length);
	uint64_t whole, fraction;

	if (!dot || text.bytes + text.length - dot != 3 ||
	    !text_u64((struct text){ text.bytes, text.length - 3 }, &whole) ||
	    !text_u64((struct text){ dot + 1, 2 }, &fraction) ||
	    __builtin_mul_overflow(whole, 100, &whole) ||
	    __builtin_add_overflow(whole, fraction, &whole))
		return false;
	*ret = whole;
	return true;
}

/* "0.20 0.18 0.12 1/80 11206": the threads stand after the slash. */
bool counters_parse_loadavg(struct text bytes, struct counter_row *ret)
{
	static const struct text loads[] = { TEXT("load1_x100"), TEXT("load5_x100"),
					     TEXT("load15_x100") };
	struct counter_row row = { .name = TEXT("") };
	struct text word, running;
	uint64_t value;

	ret->count = 0;
	ret->name = TEXT("");
	for (size_t i = 0; i < array_length(loads); i++) {
		if (!text_word(&bytes, &word) || !counters_hundredths(word, &value))
			return false;
		add_counter(&row, loads[i], value);
	}
	if (!text_word(&bytes, &word) || !text_cut(&word, '/', &running) || !text_u64(word, &value))
		return false;
	add_counter(&row, TEXT("threads"), value);
	*ret = row;
	return true;
}

bool counters_parse_threads(struct text loadavg, uint64_t *ret_runnable, uint64_t *ret_all)
{
	struct text all = { 0 }, running;
	uint64_t runnable, threads;

	for (size_t i = 0; i < 4; i++)
		if (!text_word(&loadavg, &all))
			return false;
	if (!memchr(all.bytes, '/', all.length) || !text_cut(&all, '/', &running) ||
	    !text_u64(running, &runnable) || !text_u64(all, &threads))
		return false;
	*ret_runnable = runnable;
	*ret_all = threads;
	return true;
}

/* --- /proc/diskstats --- */

static bool is_idle(const struct counter_row *row)
{
	for (size_t i = 0; i < row->count; i++)
		if (row->items[i].value)
			return false;
	return true;
}

static bool sectors_as_bytes(struct counter_row *row)
{
	static const size_t sectors[] = { 2, 6, 13 };

	for (size_t i = 0; i < array_length(sectors) && sectors[i] < row->count; i++) {
		uint64_t *value = &row->items[sectors[i]].value;

		if (__builtin_mul_overflow(*value, 512, value))
			return false;
	}
	return true;
}

enum row_found counters_next_block(struct text *rest, struct counter_row *ret)
{
	static const struct text keys[] = {
		TEXT("reads"),           TEXT("reads_merged"),    TEXT("read_bytes"),
		TEXT("read_ms"),         TEXT("writes"),          TEXT("writes_merged"),
		TEXT("written_bytes"),   TEXT("write_ms"),        TEXT("in_flight"),
		TEXT("io_ms"),           TEXT("io_weighted_ms"),  TEXT("discards"),
		TEXT("discards_merged"), TEXT("discarded_bytes"), TEXT("discard_ms"),
		TEXT("flushes"),         TEXT("flush_ms"),
	};
	struct text line, word;
	uint64_t number;

	while (text_cut(rest, '\n', &line)) {
		ret->count = 0;
		if (!text_word(&line, &word))
			continue;
		if (!text_u64(word, &number) || !text_word(&line, &word) ||
		    !text_u64(word, &number) || !text_word(&line, &ret->name) ||
		    !cut_numbers(line, keys, array_length(keys), 11, ret) || !sectors_as_bytes(ret))
			return ROW_BAD;
		if (!is_idle(ret))
			return ROW_GOOD;
	}
	return ROW_NONE;
}

/* --- /proc/net/dev --- */

/* A name may hold anything but white space and '/', and of old even ':': numbers do not. */
static bool cut_name(struct text *line, struct text *ret)
{
	const char *colon = memrchr(line->bytes, ':', line->length);
	struct text before, more;

	if (!colon)
		return false;
	before = (struct text){ line->bytes, (size_t)(colon - line->bytes) };
	*line = (struct text){ colon + 1, line->length - before.length - 1 };
	return text_word(&before, ret) && !text_word(&before, &more);
}

enum row_found counters_next_net(struct text *rest, struct counter_row *ret)
{
	static const struct text keys[] = {
		TEXT("received_bytes"),       TEXT("received_packets"),
		TEXT("received_errors"),      TEXT("received_drops"),
		TEXT("received_fifo_errors"), TEXT("received_frame_errors"),
		TEXT("received_compressed"),  TEXT("received_multicast"),
		TEXT("sent_bytes"),           TEXT("sent_packets"),
		TEXT("sent_errors"),          TEXT("sent_drops"),
		TEXT("sent_fifo_errors"),     TEXT("collisions"),
		TEXT("carrier_errors"),       TEXT("sent_compressed"),
	};
	struct text line;

	while (text_cut(rest, '\n', &line)) {
		ret->count = 0;
		/* The two lines of the heading have bars and no colon. */
		if (!text_trim(line).length ||
		    (!memchr(line.bytes, ':', line.length) && memchr(line.bytes, '|', line.length)))
			continue;
		return cut_name(&line, &ret->name) && cut_numbers(line, keys, array_length(keys),
								  array_length(keys), ret)
			       ? ROW_GOOD
			       : ROW_BAD;
	}
	return ROW_NONE;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/counters.h"

#include "base/utf8.h"
#include "capture/session.h"
#include "os/pairs.h"

/* A file of the host, below /proc. False when there is none; one that cannot be read is counted. */
static bool read_host_file(struct capture *c, const char *path, struct text *ret)
{
	int failed = file_read(c->proc, path, &c->buffer, ret);

	if (failed && !capture_is_absent(failed))
		capture_count(c, FILE_HOST, failed);
	return !failed;
}

static bool is_full(const struct capture *c)
{
	return c->snapshot->counters.count >= SNAPSHOT_COUNTER_SETS_MAX;
}

/* Names of interfaces may hold any byte. In a file they are UTF-8, so they are made that here,
 * where it shows whether they are still different. NULL without memory. */
static struct counter_set *add_set(struct capture *c, enum counter_kind kind, struct text name)
{
	_cleanup_free_ char *clean = malloc(name.length * UTF8_REPLACEMENT_LENGTH + 1);

	if (!clean)
		return NULL;
	return snapshot_add_counters(c->snapshot, kind,
				     (struct text){ clean, utf8_clean(name, clean) });
}

static bool add_counter_row(struct capture *c, struct counter_set *set,
			    const struct counter_row *row)
{
	for (size_t i = 0; i < row->count; i++)
		if (!counts_add(c->snapshot, &set->counts, row->items[i].key, row->items[i].value))
			return false;
	return true;
}

/* The number of last sets that are of this kind. */
static size_t count_last(const struct ctprof_snapshot *s, enum counter_kind kind)
{
	size_t count = 0;

	while (count < s->counters.count &&
	       s->counters.items[s->counters.count - count - 1].kind == kind)
		count++;
	return count;
}

/* Two sets of one name would be ambiguous, and readers refuse such a file. */
static bool drop_ambiguous(struct capture *c, enum counter_kind kind)
{
	struct ctprof_snapshot *s = c->snapshot;
	size_t count = count_last(s, kind);
	_cleanup_error_ struct error *twice =
		count ? counter_sets_check(&s->counters.items[s->counters.count - count], count)
		      : NULL;

	if (twice)
		s->counters.count -= count;
	return !twice;
}

/* The rows of a file, each a set of its own. */
static struct error *take_rows(struct capture *c, struct text bytes, enum counter_kind kind,
			       enum row_found (*next)(struct text *, struct counter_row *))
{
	bool understood = true;
	struct counter_row row;
	enum row_found found;

	while ((found = next(&bytes, &row)) != ROW_NONE) {
		struct counter_set *set;

		understood &= found == ROW_GOOD && !is_full(c);
		if (is_full(c))
			break;
		if (found == ROW_BAD)
			continue;
		set = add_set(c, kind, row.name);
		if (!set || !add_counter_row(c, set, &row))
			return &error_no_memory;
	}
	understood &= drop_ambiguous(c, kind);
	c->counts.failed[FILE_HOST] += !understood;
	return NULL;
}

static struct error *read_rows(struct capture *c, const char *path, enum counter_kind kind,
			       enum row_found (*next)(struct text *, struct counter_row *))
{
	struct text bytes;

	return read_host_file(c, path, &bytes) ? take_rows(c, bytes, kind, next) : NULL;
}

/* /proc/stat is dear on large hosts: it is read once. */
static struct error *read_stat(struct capture *c)
{
	struct counter_row kernel = { 0 }, loads = { 0 };
	struct text bytes;
	bool is_there;

	if (read_host_file(c, "loadavg", &bytes))
		c->counts.failed[FILE_HOST] += !counters_parse_loadavg(bytes, &loads);
	is_there = read_host_file(c, "stat", &bytes);
	if (is_there)
		c->counts.failed[FILE_HOST] += !counters_parse_stat(bytes, &kernel);
	if (kernel.count || loads.count) {
		struct counter_set *set = add_set(c, COUNTERS_KERNEL, TEXT(""));

		if (!set || !add_counter_row(c, set, &kernel) || !add_counter_row(c, set, &loads))
			return &error_no_memory;
	}
	return is_there ? take_rows(c, bytes, COUNTERS_CPU, counters_next_cpu) : NULL;
}

/* The scheduler's numbers of the CPUs that are there already. Both files are ascending by CPU; one
 * that came or went between them has its numbers from one of them. */
static struct error *read_schedstat(struct capture *c)
{
	struct ctprof_snapshot *s = c->snapshot;
	size_t at = s->counters.count - count_last(s, COUNTERS_CPU);
	struct counter_row row;
	enum row_found found;
	struct text bytes;
	bool understood;

	if (!read_host_file(c, "schedstat", &bytes))
		return NULL;
	understood = counters_schedstat_begin(&bytes);
	if (!understood)
		bytes.length = 0;
	while ((found = counters_next_schedstat(&bytes, &row)) != ROW_NONE) {
		uint32_t wanted = 0, number = 0;

		understood &= found == ROW_GOOD;
		if (found == ROW_BAD || !counters_cpu_number(row.name, &wanted))
			continue;
		while (at < s->counters.count &&
		       counters_cpu_number(name_text(s->counters.items[at].name), &number) &&
		       number < wanted)
			at++;
		if (at == s->counters.count || number != wanted)
			continue;
		if (!add_counter_row(c, &s->counters.items[at++], &row))
			return &error_no_memory;
	}
	c->counts.failed[FILE_HOST] += !understood;
	return NULL;
}

static struct error *read_vmstat(struct capture *c)
{
	_cleanup_error_ struct error *twice = NULL;
	struct text bytes, key, value;
	struct counter_set *set;
	bool understood = true;
	uint64_t number;
	size_t count;

	if (!read_host_file(c, "vmstat", &bytes))
		return NULL;
	if (is_full(c)) {
		c->counts.failed[FILE_HOST]++;
		return NULL;
	}
	set = add_set(c, COUNTERS_VMSTAT, TEXT(""));
	if (!set)
		return &error_no_memory;
	while (pairs_next(&bytes, ' ', &key, &value)) {
		bool sound = text_u64(value, &number) && utf8_is_valid(key);

		understood &= sound;
		if (sound && !counts_add(c->snapshot, &set->counts, key, number))
			return &error_no_memory;
	}
	twice = counts_check(&set->counts);
	count = set->counts.count;
	if (twice || !count)
		c->snapshot->counters.count--;
	c->counts.failed[FILE_HOST] += !understood || twice || !count;
	return NULL;
}

struct error *capture_counters(struct capture *c)
{
	struct error *err = read_stat(c);

	if (!err)
		err = read_schedstat(c);
	if (!err)
		err = read_vmstat(c);
	if (!err)
		err = read_rows(c, "diskstats", COUNTERS_BLOCK, counters_next_block);
	if (!err)
		err = read_rows(c, "net/dev", COUNTERS_NET, counters_next_net);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/cgroup_files.h"

#include "base/sum.h"
#include "base/utf8.h"
#include "os/pairs.h"
#include "os/psi.h"

/* Parses the bytes of a file into `at`, a struct reading or a struct counts. */
typedef bool (*take_fn)(struct ctprof_snapshot *snapshot, struct text bytes, void *at);

static bool take_count(struct ctprof_snapshot *snapshot, struct text bytes, void *at)
{
	uint64_t value;

	(void)snapshot;
	if (!text_u64(text_trim(bytes), &value))
		return false;
	*(struct reading *)at = reading_of(value);
	return true;
}

static bool take_signed(struct ctprof_snapshot *snapshot, struct text bytes, void *at)
{
	int64_t value;

	(void)snapshot;
	if (!text_i64(text_trim(bytes), &value))
		return false;
	*(struct reading *)at = reading_of((uint64_t)value);
	return true;
}

/* A limit: "max" is none. */
static bool set_limit(struct ctprof_snapshot *snapshot, struct text bytes, void *at)
{
	if (!text_equal(text_trim(bytes), TEXT("max")))
		return take_count(snapshot, bytes, at);
	*(struct reading *)at = (struct reading){ .measured = true, .unlimited = true };
	return true;
}

/* A floor of protection: "max" protects everything. */
static bool take_floor(struct ctprof_snapshot *snapshot, struct text bytes, void *at)
{
	if (!text_equal(text_trim(bytes), TEXT("max")))
		return take_count(snapshot, bytes, at);
	*(struct reading *)at = reading_of(UINT64_MAX);
	return true;
}

/* cpu.max: "quota period", quota perhaps "max". */
static bool take_cpu_max(struct ctprof_snapshot *snapshot, struct text bytes, void *at)
{
	struct cgroup_cpu *cpu = at;
	struct text quota, period;

	return text_word(&bytes, &quota) && set_limit(snapshot, quota, &cpu->max_quota_us) &&
	       text_word(&bytes, &period) && take_count(snapshot, period, &cpu->max_period_us);
}

static bool take_cpu_stat(struct ctprof_snapshot *snapshot, struct text bytes, void *at)
{
	struct cgroup_cpu *cpu = at;
	const struct {
		struct text key;
		struct reading *reading;
	} keys[] = {
		{ TEXT("usage_usec"), &cpu->usage_usec },
		{ TEXT("nr_throttled"), &cpu->nr_throttled },
		{ TEXT("throttled_usec"), &cpu->throttled_usec },
	};
	struct text key, value;
	bool understood = true;

	while (pairs_next(&bytes, ' ', &key, &value))
		for (size_t i = 0; i < array_length(keys); i++)
			if (text_equal(key, keys[i].key))
				understood &= take_count(snapshot, value, keys[i].reading);
	return understood;
}

/* memory.stat and memory.events: every "key number" line. */
static bool take_counts(struct ctprof_snapshot *snapshot, struct text bytes, void *at)
{
	_cleanup_error_ struct error *twice = NULL;
	struct counts *counts = at;
	struct text key, value;
	bool understood = true;
	uint64_t number;

	while (pairs_next(&bytes, ' ', &key, &value))
		understood &= text_u64(value, &number) && utf8_is_valid(key) &&
			      counts_add(snapshot, counts, key, number);
	twice = counts_check(counts);
	if (!twice)
		return understood;
	*counts = (struct counts){ 0 };
	return false;
}

/* The sum over devices of one key of io.stat. */
struct io_sum {
	struct text key;
	struct reading *reading;
};

/* Adds the words "key=value" of a device; keys of other policies (cost.usage) have no sum. */
static bool add_device(struct text words, struct io_sum *sums, size_t count)
{
	struct text value, key;
	uint64_t number;

	while (text_word(&words, &value)) {
		text_cut(&value, '=', &key);
		for (size_t i = 0; i < count; i++) {
			if (!text_equal(key, sums[i].key))
				continue;
			if (!text_u64(value, &number))
				return false;
			sums[i].reading->measured = true;
			sum_add(&sums[i].reading->value, number);
		}
	}
	return true;
}

/*
 * io.stat, a line for each device: "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6". Devices
 * that were not used have no line, or one without these keys: if no line has any, there was no I/O.
 */
static bool take_io_stat(struct ctprof_snapshot *snapshot, struct text bytes, void *at)
{
	struct cgroup_io io = { 0 };
	struct io_sum sums[] = {
		{ TEXT("rbytes"), &io.rbytes }, { TEXT("wbytes"), &io.wbytes },
		{ TEXT("rios"), &io.rios },     { TEXT("wios"), &io.wios },
		{ TEXT("dbytes"), &io.dbytes }, { TEXT("dios"), &io.dios },
	};
	struct text device, words;
	bool any = false;

	(void)snapshot;
	while (pairs_next(&bytes, ' ', &device, &words))
		if (!add_device(words, sums, array_length(sums)))
			return false;
	for (size_t i = 0; i < array_length(sums); i++)
		any |= sums[i].reading->measured;
	for (size_t i = 0; !any && i < array_length(sums); i++)
		*sums[i].reading = reading_of(0);
	*(struct cgroup_io *)at = io;
	return true;
}

#define AT(member) offsetof(struct cgroup_counters, member)

static const struct {
	const char *name;
	take_fn take;
	size_t offset;
} files[] = {
	{ "cpu.stat", take_cpu_stat, AT(cpu) },
	{ "cpu.max", take_cpu_max, AT(cpu) },
	{ "cpu.weight", take_count, AT(cpu.weight) },
	{ "cpu.weight.nice", take_signed, AT(cpu.weight_nice) },
	{ "memory.current", take_count, AT(memory.current) },
	{ "memory.max", set_limit, AT(memory.max) },
	{ "memory.high", set_limit, AT(memory.high) },
	{ "memory.low", take_floor, AT(memory.low) },
	{ "memory.min", take_floor, AT(memory.min) },
	{ "memory.stat", take_counts, AT(memory.stat) },
	{ "memory.events", take_counts, AT(memory.events) },
	{ "pids.current", take_count, AT(pids.current) },
	{ "pids.max", set_limit, AT(pids.max) },
	{ "memory.peak", take_count, AT(memory.peak) },
	{ "memory.swap.current", take_count, AT(memory.swap.current) },
	{ "memory.swap.max", set_limit, AT(memory.swap.max) },
	{ "memory.swap.peak", take_count, AT(memory.swap.peak) },
	{ "io.stat", take_io_stat, AT(io) },
};

const char *cgroup_file_name(size_t number)
{
	return number < array_length(files) ? files[number].name : NULL;
}

bool cgroup_take_file(struct ctprof_snapshot *snapshot, size_t number, struct text bytes,
		      struct cgroup_counters *cgroup)
{
	return files[number].take(snapshot, bytes, (char *)cgroup + files[number].offset);
}

static struct psi_half half_of(const struct psi_line *line)
{
	if (!line->measured)
		return (struct psi_half){ 0 };
	return (struct psi_half){
		.avg10 = reading_of(line->avg10),
		.avg60 = reading_of(line->avg60),
		.avg300 = reading_of(line->avg300),
		.total_usec = reading_of(line->total_usec),
	};
}

bool psi_take_file(struct text bytes, struct psi_resource *ret)
{
	struct psi_lines lines;

	psi_parse(bytes, &lines);
	ret->some = half_of(&lines.some);
	ret->full = half_of(&lines.full);
	return lines.some.measured || lines.full.measured;
}

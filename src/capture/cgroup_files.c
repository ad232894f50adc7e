/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/cgroup_files.h"

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

#define AT(member) offsetof(struct cgroup, member)

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
};

const char *cgroup_file_name(size_t number)
{
	return number < array_length(files) ? files[number].name : NULL;
}

bool cgroup_take_file(struct ctprof_snapshot *snapshot, size_t number, struct text bytes,
		      struct cgroup *cgroup)
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

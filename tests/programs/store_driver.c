/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the agent does with a ClickHouse server, without the agent:
 *
 *	store_driver schema URL DATABASE [DAYS]
 *	store_driver interval URL HOST TIME DIR [INTERVALS [VERSION [NUMBER]]]
 *	store_driver rows TABLE < FILE
 *	store_driver reencode PROFILE SNAPSHOT1 SNAPSHOT2 URL HOST TIME DIR
 *
 * The first creates or upgrades the tables, with a lifetime of so many days for raw rows. The
 * second encodes intervals of a host with label version=VERSION, the first of which begins at TIME,
 * with names that break whatever pastes them; an agent with another NUMBER (default 0) has measured
 * other values. Each request becomes DIR/NUMBER.target, .check and .body. The third prints each row
 * of a table in RowBinary as a line of hexadecimal digits. The last encodes one interval of files
 * that ctprof wrote.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/clickhouse.h"
#include "agent/counters.h"
#include "base/hex.h"
#include "net/http_client.h"
#include "profile/files.h"
#include "snapshot/file.h"
#include "store/schema.h"

/* --- schema --- */

static struct error *create_schema(int count, char **words)
{
	_cleanup_(http_client_close) struct http_client *client = NULL;
	struct schema_wanted wanted = { .program = "test" };
	struct schema_made made;
	struct error *err;

	if (count < 2)
		return error_create("usage: schema URL DATABASE [DAYS]");
	wanted.database = words[1];
	wanted.days[STORE_KEEP_RAW] = count > 2 ? (unsigned)atoi(words[2]) : 0;
	err = http_client_open(&(struct http_client_options){ 0 }, &client);
	if (!err)
		err = store_schema_create(client, words[0], &wanted, &made);
	if (err)
		return err;
	printf("%s %s %s: %zu tables, %zu columns\n", made.version,
	       made.is_current ? "current" : "old", made.was_empty ? "new" : "upgraded",
	       made.created, made.added);
	return NULL;
}

/* --- requests as files --- */

struct directory {
	const char *path;
	unsigned count;
};

static struct error *write_file(const struct directory *directory, const char *suffix,
				struct text text)
{
	_cleanup_free_ char *path =
		text_print("%s/%04u.%s", directory->path, directory->count, suffix);
	FILE *file = path ? fopen(path, "we") : NULL;

	if (!file)
		return error_create("%s: cannot be written", directory->path);
	fwrite(text.bytes, 1, text.length, file);
	return fclose(file) ? error_create("%s: cannot be written", path) : NULL;
}

static struct error *keep_request(void *context, const struct sink_request *request)
{
	struct directory *directory = context;
	struct error *err;

	directory->count++;
	printf("%04u %s: %" PRIu64 ", %zu bytes\n", directory->count, request->what, request->count,
	       request->body.length);
	err = write_file(directory, "target", text_of(request->target));
	if (!err && request->check)
		err = write_file(directory, "check", text_of(request->check));
	return err ? err : write_file(directory, "body", request->body);
}

/* --- an interval --- */

/* It is in every row, so that those of another agent differ. */
static uint64_t agent_number;

/* What a program or a user may call a thing. */
static struct text hostile_name(size_t number)
{
	static char longest[65536];
	const struct text names[] = {
		TEXT("postgres"),
		TEXT("it's"),
		TEXT("a\\'b\\\\\"c`"),
		TEXT("'); DROP TABLE samples; --"),
		TEXT("\xff\xfe\xc3("),
		TEXT("tab\there\nand a line"),
		TEXT("%27%00{host:String}"),
		{ "nul\0inside", 10 },
		TEXT("\xe2\x82\xac \xf0\x9f\x94\xa5"),
		{ longest, sizeof(longest) },
	};

	memset(longest, 'x', sizeof(longest));
	return names[number % array_length(names)];
}
#define HOSTILE_NAMES 10

static const struct name *profile_name_of(struct profile *profile, size_t number)
{
	struct text text = hostile_name(number);

	return profile_name(profile, text.bytes, text.length);
}

/* A stack of `depth` frames, whose names begin with that number. */
static struct error *add_stack(struct profile *profile, size_t depth, size_t number, uint32_t *ret)
{
	struct error *err = NULL;

	*ret = NODE_NONE;
	for (size_t i = 0; i < depth && !err; i++) {
		struct frame frame = {
			.kind = i + 1 == depth ? FRAME_KERNEL : FRAME_USER,
			.inlined = i == 1,
			.name = profile_name_of(profile, number + i),
			.module = i % 3 ? profile_name_of(profile, number + 2 * i) : NULL,
			.line = (uint32_t)(100 * i),
		};
		uint32_t number_of_frame;

		err = profile_frame(profile, &frame, &number_of_frame);
		if (!err)
			err = profile_node(profile, *ret, number_of_frame, ret);
	}
	return err;
}

/* A thread with each hostile name, 10 s long: 1 s on a CPU, 2 s runnable, 7 s asleep. */
static struct error *add_profile_thread(struct profile *profile, size_t number)
{
	const uint64_t s = 1000000000;
	struct profile_thread thread = {
		.tid = (uint32_t)(100 + number),
		.tgid = (uint32_t)(100 + number / 2),
		.name = profile_name_of(profile, number),
		.process = profile_name_of(profile, number / 2),
		.cgroup = number % 4 ? profile_name_of(profile, number + 1) : NULL,
		.ended_ns = 10 * s,
		.ns = { [CLASS_ON_CPU] = s,
			[CLASS_RUNNABLE] = 2 * s,
			[CLASS_INTERRUPTIBLE] = 7 * s },
	};
	struct sample sample = { .thread = (uint32_t)profile->threads.count,
				 .class = CLASS_INTERRUPTIBLE,
				 .state = STATE_LOCK_FUTEX,
				 .cpu = CPU_ANY,
				 .ns = 3 * s + number + agent_number,
				 .count = 5,
				 .longest_ns = s };
	struct error *err;

	if (!array_push(&profile->threads, thread))
		return &error_no_memory;
	err = add_stack(profile, 1 + number, number, &sample.node);
	if (!err)
		err = profile_add(profile, &sample);
	sample.class = CLASS_ON_CPU;
	sample.state = STATE_EXEC;
	sample.ns = s;
	sample.node = NODE_NONE;
	return err ? err : profile_add(profile, &sample);
}

static struct error *add_changes(struct ctprof_snapshot *changes, size_t number, uint64_t seed)
{
	struct ctprof_thread *thread = snapshot_add_thread(changes);
	struct text name = hostile_name(number);

	if (!thread)
		return &error_no_memory;
	thread->tid = (uint32_t)(100 + number);
	thread->tgid = (uint32_t)(100 + number / 2);
	thread->comm = thread->pcomm = thread->cgroup =
		names_intern(&changes->names, name.bytes, name.length);
	thread->start_time_clock_ticks = reading_of(UINT64_MAX - number - agent_number);
	for (size_t id = 0; id < METRIC_COUNT; id++) {
		const struct metric *metric = &metrics[id];
		const uint32_t cpus[] = { 0, 1, 2, 7 };

		/* Each metric is missing in some thread. */
		if ((id + number) % 7 == 0)
			continue;
		metric_set_add(&thread->record.measured, (enum metric_id)id);
		if (metric->type == VALUE_cpu_set)
			metric_store_name(&thread->record.values, metric,
					  names_intern(&changes->names, cpus, sizeof(cpus)));
		else if (metric->type == VALUE_label)
			metric_store_name(&thread->record.values, metric, thread->comm);
		else if (metric->type == VALUE_ordinal_i32)
			(void)metric_store_i64(&thread->record.values, metric, -(int64_t)id);
		else if (!metric_store_u64(&thread->record.values, metric,
					   seed + 1000 * id + number))
			(void)metric_store_u64(&thread->record.values, metric, 1);
	}
	return NULL;
}

static struct error *add_host(struct ctprof_snapshot *changes)
{
	struct host_context *host = arena_alloc(&changes->arena, sizeof(*host));
	struct cgroup_counters cgroup = {
		.path = names_intern(&changes->names, "/a'b", 4),
		.cpu.usage_usec = reading_of(1500000 + agent_number),
		.memory.current = reading_of(1 << 20),
		.memory.max = { .measured = true, .unlimited = true, .value = UINT64_MAX },
		.psi.io.full.total_usec = reading_of(7),
	};

	if (!host || !array_push(&changes->cgroups, cgroup) ||
	    !array_push(&changes->processes,
			((struct process){ .tgid = 100, .uid = reading_of(1000) })))
		return &error_no_memory;
	host->boot_id = names_intern(&changes->names, "boot-1", 6);
	host->kernel_release = names_intern(&changes->names, "6.1.0'", 6);
	host->online_cpus = reading_of(8);
	host->total_memory_kib = reading_of(1 << 20);
	changes->host = host;
	return NULL;
}

static struct error *encode_interval(void *sink, const struct agent_identity *identity,
				     uint64_t time, struct directory *directory)
{
	const struct agent_loss losses[] = { { "clickhouse", "rows of threads", "it's full",
					       3 + agent_number },
					     { "", "intervals", "x", 1 } };
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *changes = NULL;
	struct agent_place place = { .cgroup = TEXT("/a'b"), .labels = { .pod = "p'\\" } };
	struct agent_interval interval = {
		.identity = identity,
		.begun_unix_ns = time * 1000000000,
		.ns = 10000000000,
		.load = { .cpu_ns = 5,
			  .memory_available = TICK_UNMEASURED,
			  .load_hundredths = 123 },
		.agent_cpu_ns = 77 + agent_number,
		.places = &place,
		.place_count = 1,
		.losses = losses,
		.loss_count = array_length(losses),
	};
	struct error *err = profile_create(&profile);

	if (!err)
		err = snapshot_create(&changes);
	if (!err)
		err = add_host(changes);
	for (size_t i = 0; i < HOSTILE_NAMES && !err; i++) {
		err = add_profile_thread(profile, i);
		if (!err)
			err = add_changes(changes, i, time);
	}
	interval.profile = profile;
	interval.changes = changes;
	return err ? err : sink_clickhouse.encode(sink, &interval, keep_request, directory);
}

static struct error *encode_intervals(int count, char **words)
{
	const struct agent_label labels[] = { { "version", count > 5 ? words[5] : "1.4" },
					      { "it's", "\\'" } };
	struct agent_identity identity = {
		.version = "test", .interval_ns = 10000000000, .labels = labels, .label_count = 2
	};
	struct directory directory = { 0 };
	struct sink_options options;
	struct error *err;
	void *sink;

	if (count < 4)
		return error_create(
			"usage: interval URL HOST TIME DIR [INTERVALS [VERSION [NUMBER]]]");
	options = (struct sink_options){ .url = words[0] };
	identity.host = words[1];
	directory.path = words[3];
	agent_number = count > 6 ? strtoull(words[6], NULL, 10) : 0;
	err = sink_clickhouse.open(&options, &sink);
	for (int i = 0; i < (count > 4 ? atoi(words[4]) : 1) && !err; i++)
		err = encode_interval(sink, &identity,
				      strtoull(words[2], NULL, 10) + 10 * (unsigned)i, &directory);
	sink_clickhouse.close(sink);
	return err;
}

/* --- an interval of files --- */

static struct error *reencode(int count, char **words)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *before = NULL, *after = NULL;
	_cleanup_(counters_destroy) struct agent_counters *counters = NULL;
	struct agent_identity identity = { .version = "test", .interval_ns = 10000000000 };
	struct agent_interval interval = { .identity = &identity };
	struct directory directory = { 0 };
	struct sink_options options = { 0 };
	struct counters_outcome outcome;
	struct error *err;
	void *sink;

	if (count < 7)
		return error_create(
			"usage: reencode PROFILE SNAPSHOT1 SNAPSHOT2 URL HOST TIME DIR");
	options.url = words[3];
	identity.host = words[4];
	interval.begun_unix_ns = strtoull(words[5], NULL, 10) * 1000000000;
	directory.path = words[6];
	err = profile_load(words[0], &profile);
	if (!err)
		err = snapshot_load(words[1], &before);
	if (!err)
		err = snapshot_load(words[2], &after);
	if (!err)
		err = counters_create(&counters);
	if (!err)
		err = counters_take(counters, before, &outcome);
	if (!err)
		err = counters_put_states(profile, after);
	if (!err)
		err = counters_take(counters, after, &outcome);
	if (!err)
		err = sink_clickhouse.open(&options, &sink);
	if (err)
		return err;
	interval.ns = profile->meta.duration_ns;
	interval.profile = profile;
	interval.changes = after;
	err = sink_clickhouse.encode(sink, &interval, keep_request, &directory);
	sink_clickhouse.close(sink);
	return err;
}

/* --- rows --- */

static struct error *print_row(void *context, const union store_value *values)
{
	const struct store_table *table = context;
	struct rows rows = { 0 };
	struct error *err = rows_append(&rows, table->columns, table->count, values);
	char *digits = err ? NULL : malloc(2 * rows.count + 1);

	if (digits) {
		hex_write(digits, rows.items, rows.count);
		puts(digits);
	}
	free(digits);
	array_deinit(&rows);
	return err;
}

static struct error *print_rows(int count, char **words)
{
	const struct store_table *table = NULL;
	struct rows_reader reader;
	struct error *err;
	char piece[4096];
	size_t length;

	for (unsigned id = 0; id < STORE_TABLE_COUNT; id++)
		if (count && strcmp(store_table(id)->name, words[0]) == 0)
			table = store_table(id);
	if (!table)
		return error_create("usage: rows TABLE < FILE");
	err = rows_reader_init(&reader, table->columns, table->count, print_row,
			       (void *)(uintptr_t)table);
	while (!err && (length = fread(piece, 1, sizeof(piece), stdin)) > 0)
		err = rows_reader_feed(&reader, (struct text){ piece, length });
	if (!err)
		err = rows_reader_finish(&reader);
	rows_reader_deinit(&reader);
	return err;
}

static struct error *print_columns(int count, char **words)
{
	for (unsigned id = 0; id < STORE_TABLE_COUNT; id++) {
		const struct store_table *table = store_table(id);

		if (!count || strcmp(table->name, words[0]) != 0)
			continue;
		for (size_t i = 0; i < table->count; i++)
			printf("%s%s", i ? ", " : "", table->columns[i].name);
		puts("");
	}
	return NULL;
}

static const struct {
	const char *name;
	struct error *(*run)(int count, char **words);
} commands[] = {
	{ "schema", create_schema },  { "interval", encode_intervals }, { "rows", print_rows },
	{ "columns", print_columns }, { "reencode", reencode },
};

int main(int argc, char **argv)
{
	struct error *err = NULL;

	for (size_t i = 0; i < array_length(commands); i++) {
		if (argc < 2 || strcmp(argv[1], commands[i].name) != 0)
			continue;
		err = commands[i].run(argc - 2, argv + 2);
		if (err)
			fprintf(stderr, "store_driver: %s\n", err->message);
		error_destroy(err);
		return err ? 1 : 0;
	}
	fputs("store_driver: no such command\n", stderr);
	return 2;
}

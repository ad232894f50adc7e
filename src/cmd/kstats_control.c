/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: making metrics, telling of them, and keeping them.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "cmd/kstats.h"
#include "report/csv_text.h"
#include "report/stream.h"

/* --- trace --- */

/* "arg2", "arg2,arg1": from 1 to 6. */
static bool take_arguments(const char *key, struct kstats_spec *spec)
{
	const char *name = "arg";
	size_t length = strlen(name);
	unsigned *places[] = { &spec->argument, &spec->end_argument };
	size_t place = 0;

	for (; place < array_length(places); place++) {
		if (strncmp(key, name, length) != 0 || key[length] < '1' || key[length] > '6')
			return false;
		*places[place] = (unsigned)(key[length] - '0');
		key += length + 1;
		if (!*key)
			break;
		if (*key++ != ',')
			return false;
	}
	if (place == array_length(places))
		return false;
	if (!spec->end_argument)
		spec->end_argument = spec->argument;
	spec->key = KSTATS_KEY_ARGUMENT;
	return true;
}

static struct error *take_key(const char *key, struct kstats_spec *spec)
{
	if (!key || strcmp(key, "task") == 0)
		spec->key = KSTATS_KEY_TASK;
	else if (strcmp(key, "cpu") == 0)
		spec->key = KSTATS_KEY_CPU;
	else if (!take_arguments(key, spec))
		return error_create("--key is task, cpu, argN or argN,argM (1 to 6), not '%.40s'",
				    key);
	return NULL;
}

static struct error *copy(const char *word, char **ret)
{
	*ret = word ? strdup(word) : NULL;
	return word && !*ret ? &error_no_memory : NULL;
}

static struct error *settle(const struct kstats_recording *r, struct kstats_spec *spec)
{
	struct error *err = take_key(r->key, spec);

	for (unsigned by = 0; r->by && by < KSTATS_BY_COUNT; by++)
		if (strcmp(kstats_bys[by].name, r->by) == 0)
			spec->by = by;
	if (r->pid > INT32_MAX)
		return error_create("--pid: no process has the number %zu", r->pid);
	spec->tgid = (uint32_t)r->pid;
	spec->is_stopped = r->is_stopped;
	if (!err)
		err = copy(r->cgroup, &spec->cgroup);
	if (!err)
		err = copy(r->comm, &spec->comm);
	if (!err)
		err = copy(r->cpus, &spec->cpus);
	return err;
}

/* A name is unique across recorders, so that it says which metric is meant. */
static struct error *check_free(const char *name)
{
	const struct kstats_recorder *recorder;
	struct kstats_search everywhere;
	struct error *err = kstats_search(NULL, &everywhere);

	if (!err)
		err = kstats_find(&everywhere, name, &recorder);
	if (!err)
		return error_system(EEXIST, "a metric '%s' is there (--via %s)", name,
				    recorder->name);
	if (err->errnum != ENOENT)
		return err;
	error_destroy(err);
	return NULL;
}

struct error *kstats_trace(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	struct kstats_spec spec = { 0 };
	struct kstats_search search;
	struct error *err = kstats_search(arguments->via ? arguments->via : "bpf", &search);

	(void)ret_status;
	if (!err)
		err = kstats_spec_parse(words, &spec);
	if (!err)
		err = settle(&arguments->recording, &spec);
	if (!err && !search.recorders[0]->trace)
		err = error_create("programs make their metrics themselves");
	if (!err)
		err = check_free(spec.name);
	if (!err)
		err = search.recorders[0]->trace(&spec);
	kstats_spec_clear(&spec);
	return err;
}

/* --- commands --- */

/* What is not done for one name is said, and the others are done all the same. */
static struct error *for_each(const struct kstats_arguments *arguments, char **words,
			      int *ret_status,
			      struct error *(*act)(const struct kstats_recorder *recorder,
						   const char *name, enum kstats_command command),
			      enum kstats_command command)
{
	struct kstats_search search;
	struct error *err = kstats_search(arguments->via, &search);

	if (err)
		return err;
	for (; *words; words++) {
		const struct kstats_recorder *recorder;

		err = kstats_find(&search, *words, &recorder);
		if (!err)
			err = act(recorder, *words, command);
		if (err)
			*ret_status = report_error(err, STATUS_FAILED);
	}
	return NULL;
}

static struct error *order(const struct kstats_recorder *recorder, const char *name,
			   enum kstats_command command)
{
	return recorder->command(name, command);
}

struct error *kstats_control(const struct kstats_arguments *arguments, char **words,
			     int *ret_status)
{
	enum kstats_command command = KSTATS_START;

	while (strcmp(kstats_commands[command], words[-1]) != 0)
		command++;
	return for_each(arguments, words, ret_status, order, command);
}

static struct error *remove_one(const struct kstats_recorder *recorder, const char *name,
				enum kstats_command command)
{
	(void)command;
	if (!recorder->remove)
		return error_create("%s goes with its program", name);
	return recorder->remove(name);
}

struct error *kstats_remove(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	return for_each(arguments, words, ret_status, remove_one, KSTATS_COMMAND_COUNT);
}

/* --- list --- */

typedef struct error *list_each(void *context, const struct kstats_recorder *recorder,
				const struct kstats_entry *entry);

static struct error *each_entry(const char *via, list_each *visit, void *context)
{
	struct kstats_search search;
	struct error *err = kstats_search(via, &search);

	for (size_t i = 0; !err && search.recorders[i]; i++) {
		struct kstats_entries entries = { 0 };

		err = search.recorders[i]->list(&entries);
		for (size_t e = 0; !err && e < entries.count; e++)
			err = visit(context, search.recorders[i], &entries.items[e]);
		kstats_entries_clear(&entries);
	}
	return err;
}

static const char *word_or(const char *word, const char *otherwise)
{
	return word ? word : otherwise;
}

static struct error *print_line(void *context, const struct kstats_recorder *recorder,
				const struct kstats_entry *entry)
{
	bool *is_first = context;

	if (*is_first)
		printf("%-24s %-7s %-7s %14s  %s\n", "NAME", "VIA", "STATE", "COUNT", "WHAT");
	*is_first = false;
	printf("%-24s %-7s %-7s %14" PRIu64 "  %s%s%s\n", entry->name, recorder->name,
	       entry->is_active ? "active" : "stopped", entry->count,
	       word_or(entry->start, "a program's own"), entry->end ? " to " : "",
	       word_or(entry->end, ""));
	return NULL;
}

static struct error *print_csv(void *context, const struct kstats_recorder *recorder,
			       const struct kstats_entry *entry)
{
	(void)context;
	csv_text(stdout, text_of(entry->name));
	printf(",%s,%s,%" PRIu64 ",", recorder->name, entry->is_active ? "active" : "stopped",
	       entry->count);
	csv_text(stdout, text_of(word_or(entry->start, "")));
	putchar(',');
	csv_text(stdout, text_of(word_or(entry->end, "")));
	putchar('\n');
	return NULL;
}

static void put_word(struct json_writer *w, const char *key, const char *word)
{
	json_key(w, key);
	if (word)
		json_text(w, text_of(word));
	else
		json_null(w);
}

static struct error *put_entry(void *context, const struct kstats_recorder *recorder,
			       const struct kstats_entry *entry)
{
	struct json_writer *w = context;

	json_line(w);
	json_object_begin(w);
	put_word(w, "name", entry->name);
	put_word(w, "via", recorder->name);
	json_key(w, "active");
	json_bool(w, entry->is_active);
	json_key(w, "count");
	json_u64(w, entry->count);
	put_word(w, "start", entry->start);
	put_word(w, "end", entry->end);
	json_object_end(w);
	return NULL;
}

static struct error *list_json(const char *via)
{
	struct json_writer writer;
	struct error *err = json_writer_init(&writer, stream_to_file, stdout);

	if (err)
		return err;
	json_array_begin(&writer);
	err = each_entry(via, put_entry, &writer);
	json_array_end(&writer);
	err = error_first(err, json_writer_finish(&writer));
	json_writer_deinit(&writer);
	putchar('\n');
	return err;
}

struct error *kstats_list(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	bool is_first = true;
	struct error *err;

	(void)words;
	(void)ret_status;
	switch (arguments->showing.format) {
	case KSTATS_FORMAT_JSON:
		return list_json(arguments->via);
	case KSTATS_FORMAT_CSV:
		puts("name,via,state,count,start,end");
		return each_entry(arguments->via, print_csv, NULL);
	case KSTATS_FORMAT_TEXT:
		err = each_entry(arguments->via, print_line, &is_first);
		if (!err && is_first)
			fputs("ctprof: no metrics; ctprof kstats trace NAME makes one\n", stderr);
		return err;
	default:
		return error_create("a list is text, json or csv");
	}
}

/* --- files --- */

static struct error *gather_entry(void *context, const struct kstats_recorder *recorder,
				  const struct kstats_entry *entry)
{
	struct kstats_tables *tables = context;
	struct kstats_table *table;
	struct error *err = recorder->read(entry->name, &table);

	if (err && err->errnum == ENOENT) {
		/* It was removed, or its program ended, since the list. */
		error_destroy(err);
		return NULL;
	}
	if (err)
		return err;
	if (array_push(tables, table))
		return NULL;
	kstats_table_destroy(table);
	return &error_no_memory;
}

struct error *kstats_save(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	struct kstats_tables tables = { 0 };
	struct kstats_search search;
	struct error *err = kstats_search(arguments->via, &search);

	(void)ret_status;
	if (!err && !*words)
		err = each_entry(arguments->via, gather_entry, &tables);
	for (; !err && *words; words++)
		err = kstats_gather(&search, *words, &tables);
	if (!err && !tables.count)
		err = error_create("there are no metrics to save");
	if (!err)
		err = kstats_file_save(arguments->output, &tables);
	kstats_tables_clear(&tables);
	return err;
}

/* Metrics of the same name become one. */
static struct error *fold(struct kstats_tables *tables)
{
	size_t kept = 0;
	struct error *err = NULL;

	for (size_t i = 0; i < tables->count; i++) {
		struct kstats_table *table = tables->items[i], *same = NULL;

		for (size_t k = 0; k < kept && !same; k++)
			if (strcmp(tables->items[k]->name, table->name) == 0)
				same = tables->items[k];
		if (!same || err) {
			tables->items[kept++] = table;
			continue;
		}
		err = kstats_table_merge(same, table);
		kstats_table_destroy(table);
	}
	tables->count = kept;
	return err;
}

struct error *kstats_merge(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	struct kstats_tables tables = { 0 };
	struct kstats_search search;
	struct error *err = kstats_search(arguments->via, &search);

	(void)ret_status;
	for (; !err && *words; words++)
		err = kstats_gather(&search, *words, &tables);
	if (!err)
		err = fold(&tables);
	if (!err)
		err = kstats_file_save(arguments->output, &tables);
	kstats_tables_clear(&tables);
	return err;
}

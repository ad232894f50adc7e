/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats: which metrics there are.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/json_writer.h"
#include "cmd/kstats.h"
#include "report/csv_text.h"
#include "report/stream.h"
#include "report/table.h"

static const char *word_or(const char *word, const char *otherwise)
{
	return word ? word : otherwise;
}

static struct error *print_line(void *context, const struct kstats_recorder *recorder,
				const struct kstats_entry *entry)
{
	_cleanup_free_ char *scope = NULL;
	bool *is_first = context;

	if (*is_first)
		printf("%-24s %-7s %-7s %14s  %s\n", "NAME", "VIA", "STATE", "COUNT", "WHAT");
	*is_first = false;
	text_print_visible(stdout, text_of(entry->name), -24);
	printf(" %-7s %-7s %14" PRIu64 "  ", recorder->name,
	       entry->is_active ? "active" : "stopped", entry->count);
	/* One that cannot be read says why there. */
	text_print_visible(
		stdout,
		text_of(entry->start ? entry->start : word_or(entry->how, "a program's own")), 0);
	if (entry->end) {
		fputs(" to ", stdout);
		text_print_visible(stdout, text_of(entry->end), 0);
	}
	if (entry->by != KSTATS_BY_CPU)
		printf(", rows by %s", kstats_bys[entry->by].name);
	scope = kstats_scope_text(&entry->scope);
	text_print_visible(stdout, text_of(scope ? scope : ", ?"), 0);
	putchar('\n');
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
	printf(",%s,", kstats_bys[entry->by].name);
	csv_text(stdout, text_of(word_or(entry->scope.key, "")));
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++) {
		putchar(',');
		csv_text(stdout, text_of(word_or(entry->scope.only[i], "")));
	}
	putchar('\n');
	return NULL;
}

static void print_csv_heading(void)
{
	fputs("name,via,state,count,start,end,by,key", stdout);
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++)
		printf(",%s", kstats_filters[i]);
	putchar('\n');
}

static void put_word(struct json_writer *w, const char *key, const char *word)
{
	json_key(w, key);
	json_string(w, word);
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
	put_word(w, "by", kstats_bys[entry->by].name);
	kstats_scope_write(w, &entry->scope);
	json_object_end(w);
	return NULL;
}

static struct error *list_json(const struct kstats_search *search, int *ret_status)
{
	struct json_writer writer;
	struct error *err = json_writer_init(&writer, stream_to_file, stdout);

	if (err)
		return err;
	json_array_begin(&writer);
	err = kstats_each(search, put_entry, &writer, NULL, ret_status);
	json_array_end(&writer);
	err = error_first(err, json_writer_finish(&writer));
	json_writer_deinit(&writer);
	putchar('\n');
	return err;
}

struct error *kstats_list(const struct kstats_arguments *arguments, char **words, int *ret_status)
{
	const struct kstats_search search = kstats_search(arguments->via);
	bool is_first = true, is_whole;
	struct error *err;

	(void)words;
	switch (arguments->showing.format) {
	case KSTATS_FORMAT_JSON:
		return list_json(&search, ret_status);
	case KSTATS_FORMAT_CSV:
		print_csv_heading();
		return kstats_each(&search, print_csv, NULL, NULL, ret_status);
	case KSTATS_FORMAT_TEXT:
		err = kstats_each(&search, print_line, &is_first, &is_whole, ret_status);
		if (!err && is_first && is_whole)
			fputs("ctprof: no metrics; use ctprof kstats trace NAME to create one\n",
			      stderr);
		return err;
	default:
		*ret_status = STATUS_USAGE;
		return error_create("list supports --format text, json and csv");
	}
}

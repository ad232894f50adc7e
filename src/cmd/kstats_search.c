/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "cmd/kstats.h"
#include "trace/kstats_recorder.h"

/* A name is looked for in this order. */
static const struct kstats_recorder *const recorders[] = {
	&kstats_bpf,
	&kstats_module,
	&kstats_user,
};

struct error *kstats_search(const char *via, struct kstats_search *ret)
{
	size_t count = 0;

	*ret = (struct kstats_search){ 0 };
	for (size_t i = 0; i < array_length(recorders); i++)
		if (!via || strcmp(via, recorders[i]->name) == 0)
			ret->recorders[count++] = recorders[i];
	return NULL;
}

static bool is_of_program(const char *name)
{
	return strchr(name, ':') != NULL;
}

static bool has(const struct kstats_entries *entries, const char *name)
{
	for (size_t i = 0; i < entries->count; i++)
		if (strcmp(entries->items[i].name, name) == 0)
			return true;
	return false;
}

struct error *kstats_find(const struct kstats_search *search, const char *name,
			  const struct kstats_recorder **ret)
{
	for (size_t i = 0; search->recorders[i]; i++) {
		struct kstats_entries entries = { 0 };
		struct error *err;
		bool found;

		if ((search->recorders[i] == &kstats_user) != is_of_program(name))
			continue;
		err = search->recorders[i]->list(&entries);
		found = !err && has(&entries, name);
		kstats_entries_clear(&entries);
		if (err)
			return err;
		if (found) {
			*ret = search->recorders[i];
			return NULL;
		}
	}
	return error_system(ENOENT, "no metric '%.80s' (ctprof kstats list)", name);
}

struct error *kstats_read(const struct kstats_search *search, const char *name,
			  struct kstats_table **ret)
{
	const struct kstats_recorder *recorder;
	struct error *err = kstats_find(search, name, &recorder);

	return err ? err : recorder->read(name, ret);
}

bool kstats_is_file(const char *word)
{
	return strchr(word, '/') || strchr(word, '.') || strcmp(word, "-") == 0;
}

struct error *kstats_gather(const struct kstats_search *search, const char *word,
			    struct kstats_tables *tables)
{
	struct kstats_table *table;
	struct error *err;

	if (kstats_is_file(word))
		return kstats_file_load(word, tables);
	err = kstats_read(search, word, &table);
	if (err)
		return err;
	if (array_push(tables, table))
		return NULL;
	kstats_table_destroy(table);
	return &error_no_memory;
}

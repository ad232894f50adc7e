/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/kstats.h"
#include "kstats/bpf_recorder.h"
#include "report/visible.h"

/* The order in which recorders are searched for a name. */
static const struct kstats_recorder *const recorders[] = {
	&kstats_bpf,
	&kstats_module,
	&kstats_user,
};

struct kstats_search kstats_search(const char *via)
{
	struct kstats_search search = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < array_length(recorders); i++)
		if (!via || strcmp(via, recorders[i]->name) == 0)
			search.recorders[count++] = recorders[i];
	return search;
}

/* --- by name --- */

static bool is_of_program(const char *name)
{
	return strchr(name, ':') != NULL;
}

/* Keep the error of a recorder without the metric only if it is the only one that was asked. */
static struct error *first_of(struct error *first, struct error *next)
{
	if (!first)
		return next;
	if (first->errnum == ENOENT && next->errnum != ENOENT) {
		error_destroy(first);
		return next;
	}
	error_destroy(next);
	return first;
}

struct error *kstats_with(const struct kstats_search *search, const char *name, kstats_act *act,
			  void *context)
{
	struct error *refused = NULL;
	size_t asked = 0;

	for (size_t i = 0; search->recorders[i]; i++) {
		struct error *err;

		if ((search->recorders[i] == &kstats_user) != is_of_program(name))
			continue;
		err = act(search->recorders[i], name, context);
		if (!err) {
			error_destroy(refused);
			return NULL;
		}
		refused = first_of(refused, err);
		asked++;
	}
	if (refused && (asked == 1 || refused->errnum != ENOENT))
		return refused;
	error_destroy(refused);
	return error_coded(ENOENT, "no metric '%.80s' (see ctprof kstats list)", name);
}

static struct error *read_one(const struct kstats_recorder *recorder, const char *name,
			      void *context)
{
	return recorder->read(name, context);
}

struct error *kstats_read(const struct kstats_search *search, const char *name,
			  struct kstats_table **ret)
{
	return kstats_with(search, name, read_one, ret);
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

void kstats_gather_each(const struct kstats_search *search, char **words,
			struct kstats_tables *tables, int *ret_status)
{
	for (; *words; words++) {
		const size_t before = tables->count;
		struct error *err = kstats_gather(search, *words, tables);

		if (!err)
			continue;
		*ret_status = report_error(err, STATUS_FAILED);
		while (tables->count > before)
			kstats_table_destroy(tables->items[--tables->count]);
	}
}

/* --- all --- */

/* The metrics that a recorder omitted, and why. */
static void print_notes(const struct kstats_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++) {
		_cleanup_free_ char *visible = text_visible(text_of(notes->items[i]));

		fprintf(stderr, "ctprof: %s\n", visible ? visible : "?");
	}
}

/* A walk over all metrics: `visit` is called for each entry. With `tables`, a recorder that can
 * read all metrics at once puts them there instead. */
struct visit_request {
	kstats_visit *visit;
	void *context;
	struct kstats_tables *tables;
};

static struct error *visit_all(const struct kstats_recorder *recorder,
			       const struct visit_request *request, bool *ret_answered)
{
	struct kstats_entries entries = { 0 };
	struct error *err;

	if (request->tables && recorder->read_all)
		err = recorder->read_all(request->tables, &entries.notes);
	else
		err = recorder->list(&entries);
	*ret_answered = !err;
	for (size_t i = 0; !err && i < entries.count; i++)
		err = request->visit(request->context, recorder, &entries.items[i]);
	print_notes(&entries.notes);
	kstats_entries_clear(&entries);
	return err;
}

static bool is_permission(const struct error *err)
{
	return err->errnum == EACCES || err->errnum == EPERM;
}

/* Missing permission is not a failure, but a note names what is omitted. */
static void report_missing(const struct kstats_recorder *recorder, struct error *err,
			   int *ret_status)
{
	_cleanup_error_ struct error *missing =
		error_prefix(err, "metrics of %s are not included", recorder->name);

	if (is_permission(missing))
		fprintf(stderr, "ctprof: note: %s\n", missing->message);
	else
		*ret_status = report_error(take_ptr(missing), STATUS_FAILED);
}

static struct error *each(const struct kstats_search *search, const struct visit_request *request,
			  bool *ret_is_whole, int *ret_status)
{
	struct error *refused[array_length(recorders)] = { 0 }, *first = NULL, *err = NULL;
	bool has_answer = false, is_whole = true;

	for (size_t i = 0; !err && search->recorders[i]; i++) {
		bool answered;

		err = visit_all(search->recorders[i], request, &answered);
		has_answer |= answered;
		is_whole &= answered;
		if (!answered) {
			refused[i] = err;
			err = NULL;
		}
	}
	for (size_t i = 0; i < array_length(refused); i++) {
		if (refused[i] && !err && has_answer)
			report_missing(search->recorders[i], refused[i], ret_status);
		else if (refused[i])
			first = first_of(first, refused[i]);
	}
	if (err) {
		error_destroy(first);
		return err;
	}
	if (ret_is_whole)
		*ret_is_whole = is_whole;
	return first;
}

struct error *kstats_each(const struct kstats_search *search, kstats_visit *visit, void *context,
			  bool *ret_is_whole, int *ret_status)
{
	const struct visit_request request = { visit, context, NULL };

	return each(search, &request, ret_is_whole, ret_status);
}

/* Reads metrics; one that cannot be read is reported and skipped. */
struct gathering {
	struct kstats_tables *tables;
	int *status;
};

static struct error *gather_entry(void *context, const struct kstats_recorder *recorder,
				  const struct kstats_entry *entry)
{
	struct gathering *gathering = context;
	struct kstats_table *table;
	struct error *err = recorder->read(entry->name, &table);

	/* The metric was removed, or its program ended, since it was listed. */
	if (err && err->errnum == ENOENT)
		error_destroy(err);
	else if (err)
		*gathering->status = report_error(err, STATUS_FAILED);
	if (err)
		return NULL;
	if (array_push(gathering->tables, table))
		return NULL;
	kstats_table_destroy(table);
	return &error_no_memory;
}

struct error *kstats_gather_all(const struct kstats_search *search, struct kstats_tables *tables,
				int *ret_status)
{
	struct gathering gathering = { tables, ret_status };
	const struct visit_request request = { gather_entry, &gathering, tables };

	return each(search, &request, NULL, ret_status);
}

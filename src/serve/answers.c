/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/answers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "profile/files.h"
#include "profile/filter.h"
#include "profile/idle.h"
#include "report/page.h"
#include "report/profile_report.h"
#include "serve/query.h"
#include "serve/web.h"
#include "state/reading.h"

/* Readers of pprof who do not say how long expect half a minute. */
#define PPROF_SECONDS 30
/* Of /api: what the page shows first. */
#define API_SECONDS 60

/* --- parameters --- */

/* The words that `mode` may have, and which classes each means. */
static const struct {
	const char *name;
	unsigned classes;
} modes[] = { { "wall", FLAME_ALL }, { "on", FLAME_ON_CPU }, { "off", FLAME_OFF_CPU } };

static struct error *query_mode(const struct http_exchange *exchange, unsigned *ret_classes)
{
	const char *given = http_query(exchange, "mode");

	if (!given)
		return NULL;
	for (size_t i = 0; i < array_length(modes); i++)
		if (strcmp(given, modes[i].name) == 0) {
			*ret_classes = modes[i].classes;
			return NULL;
		}
	return query_wrong("mode", given, "wall, on or off");
}

static struct error *check_measured(const struct web *web, unsigned classes)
{
	if (classes & web->options->classes)
		return NULL;
	return error_coded(ENOENT, "times %s CPUs are not measured: serve runs with --mode %s",
			   classes & FLAME_ON_CPU ? "on" : "off",
			   classes & FLAME_ON_CPU ? "off" : "on");
}

/* --- the time that is meant --- */

/* Indices of ticks. */
struct span {
	size_t first, end;
};

/* `from` and `to` in Unix milliseconds, or the last `seconds`. */
static struct error *query_span(const struct http_exchange *exchange,
				const struct tick_store *store, struct span *ret)
{
	const struct store_tick *newest = &store->ticks.items[store->ticks.count - 1];
	const uint64_t now = newest->begun_unix_ns + newest->ns;
	const uint64_t most = UINT64_MAX / 1000000;
	uint64_t from = 0, to = most, seconds = API_SECONDS;
	struct error *err = query_number(exchange, "from", most, &from);

	if (!err)
		err = query_number(exchange, "to", most, &to);
	if (!err)
		err = query_number(exchange, "seconds", UINT64_MAX / NS_PER_S, &seconds);
	if (err)
		return err;
	from *= 1000000;
	if (!http_query(exchange, "from") && now > seconds * NS_PER_S)
		from = now - seconds * NS_PER_S;
	store_range(store, from, to == most ? UINT64_MAX : to * 1000000, &ret->first, &ret->end);
	return NULL;
}

/* --- samples that are not wanted --- */

static void keep_classes(struct profile *profile, unsigned classes)
{
	size_t kept = 0;

	for (size_t i = 0; i < profile->samples.count; i++)
		if (classes >> profile->samples.items[i].class & 1)
			profile->samples.items[kept++] = profile->samples.items[i];
	profile->samples.count = kept;
}

static struct error *drop_idle(struct profile *profile)
{
	_cleanup_(idle_deinit) struct idle idle = { 0 };
	struct error *err = idle_find(profile, &idle);
	size_t kept = 0;

	for (size_t i = 0; !err && i < profile->samples.count; i++) {
		const struct sample sample = profile->samples.items[i];

		if (!idle_has(&idle, sample.thread, sample.class, sample.state))
			profile->samples.items[kept++] = sample;
	}
	if (!err)
		profile->samples.count = kept;
	return err;
}

/* `idle=0` and `filter=TERM`. */
static struct error *select_samples(const struct http_exchange *exchange, struct profile *profile,
				    unsigned classes)
{
	_cleanup_(filter_destroy) struct filter *filter = NULL;
	const char *idle = http_query(exchange, "idle");
	const char *term = http_query(exchange, "filter");
	struct filtered filtered;
	struct error *err = NULL;

	if (idle && strcmp(idle, "0") != 0 && strcmp(idle, "1") != 0)
		return query_wrong("idle", idle, "0 or 1");
	if (idle && *idle == '0')
		err = drop_idle(profile);
	keep_classes(profile, classes);
	if (err || !term)
		return err;
	err = filter_create(&filter);
	if (!err) {
		err = filter_keep(filter, term);
		if (err)
			err->errnum = EINVAL;
	}
	return err ? err : filter_apply(filter, profile, &filtered);
}

/* --- pprof of the time to come --- */

/* A client that waits for the end of its time. */
struct pprof_request {
	uint64_t from_ns, to_ns; /* of store_now() */
};

/* The state of a reader that has just come. */
static struct error *begin_waiting(struct http_exchange *exchange, const struct web *web,
				   struct pprof_request **ret)
{
	const uint64_t most = web->store->options.kept_ns / NS_PER_S;
	uint64_t seconds = PPROF_SECONDS < most ? PPROF_SECONDS : most;
	struct error *err = query_number(exchange, "seconds", most, &seconds);
	struct pprof_request *waiting;

	if (err)
		return err;
	waiting = calloc(1, sizeof(*waiting));
	if (!waiting)
		return &error_no_memory;
	waiting->from_ns = store_now(web->store);
	waiting->to_ns = waiting->from_ns + seconds * NS_PER_S;
	http_keep(exchange, waiting, free);
	*ret = waiting;
	return NULL;
}

/* The readings that touch the time, once they are there. A reading is not divided, so there is up
 * to one more. */
static bool find_span(const struct tick_store *store, const struct pprof_request *waiting,
		      struct span *ret)
{
	const size_t count = store->ticks.count;
	const struct store_tick *ticks = store->ticks.items;

	if (!count || ticks[count - 1].begun_unix_ns + ticks[count - 1].ns < waiting->to_ns)
		return false;
	*ret = (struct span){ 0, count };
	while (ret->first < count &&
	       ticks[ret->first].begun_unix_ns + ticks[ret->first].ns <= waiting->from_ns)
		ret->first++;
	while (ret->end > ret->first && ticks[ret->end - 1].begun_unix_ns >= waiting->to_ns)
		ret->end--;
	return true;
}

static struct error *send_pprof(struct http_exchange *exchange, const struct tick_store *store,
				const struct span *span, unsigned classes)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	struct error *err = store_profile(store, span->first, span->end, &profile);

	if (!err)
		err = select_samples(exchange, profile, classes);
	if (!err)
		err = http_add_header(exchange, "Content-Disposition",
				      "attachment; filename=\"ctprof.pb.gz\"");
	if (err)
		return err;
	http_type(exchange, "application/octet-stream");
	http_is_compressed(exchange);
	return profile_write_pprof(profile, http_write, exchange);
}

static struct error *answer_pprof(struct http_exchange *exchange, const struct web *web,
				  unsigned classes, enum http_step *ret)
{
	struct pprof_request *waiting = http_kept(exchange);
	struct error *err = check_measured(web, classes);
	struct span span;

	*ret = HTTP_DONE;
	if (!err && !waiting)
		err = begin_waiting(exchange, web, &waiting);
	if (err)
		return err;
	if (find_span(web->store, waiting, &span))
		return send_pprof(exchange, web->store, &span, classes);
	*ret = HTTP_LATER;
	return NULL;
}

struct error *answer_pprof_on(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	return answer_pprof(exchange, context, FLAME_ON_CPU, ret);
}

struct error *answer_pprof_off(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	return answer_pprof(exchange, context, FLAME_OFF_CPU, ret);
}

struct error *answer_pprof_wall(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	return answer_pprof(exchange, context, FLAME_ALL, ret);
}

/* --- /api of the time that has been --- */

/* Media types of formats; the others are text. */
static const char *const types[PROFILE_FORMAT_COUNT] = {
	[PROFILE_FORMAT_SVG] = "image/svg+xml",
	[PROFILE_FORMAT_HTML] = "text/html; charset=utf-8",
	[PROFILE_FORMAT_JSON] = "application/json",
	[PROFILE_FORMAT_SPEEDSCOPE] = "application/json",
	[PROFILE_FORMAT_PPROF] = "application/octet-stream",
	[PROFILE_FORMAT_RAW] = "application/octet-stream",
};

static struct error *query_format(const struct http_exchange *exchange, enum profile_format *ret)
{
	const char *given = http_query(exchange, "format");
	struct error *err;

	*ret = PROFILE_FORMAT_JSON;
	if (!given)
		return NULL;
	err = profile_format_named(given, ret);
	if (err)
		err->errnum = EINVAL;
	return err;
}

static struct error *query_group(const struct http_exchange *exchange, enum flame_group *ret)
{
	const char *given = http_query(exchange, "group_by");

	for (size_t i = 0; given && i < FLAME_GROUP_COUNT; i++)
		if (strcmp(given, flame_group_names[i]) == 0) {
			*ret = (enum flame_group)i;
			return NULL;
		}
	return given ? query_wrong("group_by", given, "a group of ctprof flame --group-by") : NULL;
}

/* Profiles as pages contain scripts, which the policy of all other answers forbids. */
static struct error *allow_scripts(struct http_exchange *exchange, const struct page_policy *policy)
{
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *memory = open_memstream(&text, &length);

	if (!memory)
		return &error_no_memory;
	page_print_policy(memory, policy);
	fputs("; frame-ancestors 'none'", memory);
	if (!file_close_memory(memory, &text))
		return &error_no_memory;
	return http_add_header(exchange, "Content-Security-Policy", text);
}

static struct error *send_profile(struct http_exchange *exchange, struct profile *profile,
				  enum profile_format format, const struct flame_view *view)
{
	_cleanup_(flame_destroy) struct flame *flame = NULL;
	struct profile_report report = { .profile = profile, .view = view };
	struct error *err = flame_create(profile, NULL, view, &flame);
	char name[96];

	if (err)
		return err;
	report.flame = flame;
	snprintf(name, sizeof(name), "inline; filename=\"ctprof.%s\"",
		 profile_formats[format].extension);
	err = http_add_header(exchange, "Content-Disposition", name);
	if (!err && profile_format_policy(format))
		err = allow_scripts(exchange, profile_format_policy(format));
	if (err)
		return err;
	http_type(exchange, types[format] ? types[format] : "text/plain; charset=utf-8");
	if (format == PROFILE_FORMAT_PPROF || format == PROFILE_FORMAT_RAW)
		http_is_compressed(exchange);
	return profile_formats[format].print(&report, http_write, exchange);
}

/* The profile of the requested span, with all samples, and the requested classes. HTTP_LATER: there
 * is no reading yet. */
static struct error *find_profile(struct http_exchange *exchange, const struct web *web,
				  enum http_step *ret_step, unsigned *ret_classes,
				  struct profile **ret)
{
	struct span span;
	struct error *err;

	*ret_step = web->store->ticks.count ? HTTP_DONE : HTTP_LATER;
	if (*ret_step == HTTP_LATER)
		return NULL;
	*ret_classes = FLAME_ALL;
	err = query_mode(exchange, ret_classes);
	if (!err)
		err = check_measured(web, *ret_classes);
	if (!err)
		err = query_span(exchange, web->store, &span);
	if (!err)
		err = store_profile(web->store, span.first, span.end, ret);
	return err;
}

struct error *answer_profile(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	struct flame_view view = { .group_by = FLAME_BY_NONE };
	enum profile_format format;
	unsigned classes;
	struct error *err = query_format(exchange, &format);

	if (!err)
		err = query_group(exchange, &view.group_by);
	if (!err)
		err = find_profile(exchange, context, ret, &classes, &profile);
	if (err || *ret == HTTP_LATER)
		return err;
	err = select_samples(exchange, profile, classes);
	return err ? err : send_profile(exchange, profile, format, &view);
}

/* --- threads --- */

/* Sum the samples by thread and state. Samples on CPUs count for STATE_EXEC. */
static uint64_t (*sum_states(const struct profile *profile))[STATE_COUNT]
{
	uint64_t(*sums)[STATE_COUNT] = calloc(profile->threads.count + 1, sizeof(*sums));

	for (size_t i = 0; sums && i < profile->samples.count; i++) {
		const struct sample *sample = &profile->samples.items[i];

		if (profile_classes[sample->class].is_off_cpu)
			sums[sample->thread][sample->state] += sample->ns;
		else if (sample->class == CLASS_ON_CPU)
			sums[sample->thread][STATE_EXEC] += sample->ns;
	}
	return sums;
}

static bool has_time(const uint64_t sums[STATE_COUNT])
{
	for (size_t s = 0; s < STATE_COUNT; s++)
		if (sums[s])
			return true;
	return false;
}

/* Replace the sampled time on CPUs in `sums` by the exact one, for threads of which the filter kept
 * all samples on CPUs (`all`). With `only_timed`, leave threads without any time as they are. */
static void put_exact(const struct profile *profile, uint64_t (*all)[STATE_COUNT],
		      uint64_t (*sums)[STATE_COUNT], bool only_timed)
{
	for (size_t i = 0; i < profile->threads.count; i++)
		if (sums[i][STATE_EXEC] == all[i][STATE_EXEC] && (!only_timed || has_time(sums[i])))
			sums[i][STATE_EXEC] = profile->threads.items[i].ns[CLASS_ON_CPU];
}

static void put_thread(struct json_writer *w, const struct profile_thread *thread,
		       const uint64_t sums[STATE_COUNT])
{
	json_line(w);
	json_object_begin(w);
	json_key(w, "tid");
	json_u64(w, thread->tid);
	json_key(w, "tgid");
	json_u64(w, thread->tgid);
	json_key(w, "name");
	json_text(w, name_text(thread->name));
	json_key(w, "process");
	json_text(w, name_text(thread->process));
	json_key(w, "cgroup");
	json_name(w, thread->cgroup);
	json_key(w, "kernel");
	json_bool(w, thread->is_kernel);
	json_key(w, "ns");
	json_object_begin(w);
	for (size_t s = 0; s < STATE_COUNT; s++)
		if (sums[s]) {
			json_key(w, state_rows[s].name);
			json_u64(w, sums[s]);
		}
	json_object_end(w);
	json_object_end(w);
}

/* With `only_timed`, threads without any time in `sums` are left out. */
static void put_threads(struct json_writer *w, const struct profile *profile,
			const uint64_t (*sums)[STATE_COUNT], bool only_timed)
{
	json_object_begin(w);
	json_key(w, "begin_ms");
	json_u64(w, profile->meta.captured_at_unix_ns / 1000000);
	json_key(w, "ns");
	json_u64(w, profile->meta.duration_ns);
	json_key(w, "threads");
	json_array_begin(w);
	for (size_t i = 0; i < profile->threads.count; i++)
		if (!only_timed || has_time(sums[i]))
			put_thread(w, &profile->threads.items[i], sums[i]);
	json_array_end(w);
	json_object_end(w);
	json_document_end(w);
}

struct error *answer_threads(struct http_exchange *exchange, void *context, enum http_step *ret)
{
	_cleanup_(profile_destroy) struct profile *profile = NULL;
	_cleanup_free_ uint64_t(*all)[STATE_COUNT] = NULL, (*sums)[STATE_COUNT] = NULL;
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };
	const bool is_filtered = http_query(exchange, "filter") != NULL;
	unsigned classes;
	struct error *err = find_profile(exchange, context, ret, &classes, &profile);

	if (err || *ret == HTTP_LATER)
		return err;
	all = sum_states(profile);
	err = all ? select_samples(exchange, profile, classes) : &error_no_memory;
	if (err)
		return err;
	sums = sum_states(profile);
	err = sums ? json_writer_init(&w, http_write, exchange) : &error_no_memory;
	if (err)
		return err;
	if (classes & FLAME_ON_CPU)
		put_exact(profile, all, sums, is_filtered);
	put_threads(&w, profile, (const uint64_t(*)[STATE_COUNT])sums, is_filtered);
	return json_writer_finish(&w);
}

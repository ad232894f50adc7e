/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/points.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/search.h"

/* The limit of the names of points and of near matches. */
#define NAME_BYTES_MAX ((size_t)256 << 20)

struct error *probe_points_create(struct probe_points **ret)
{
	struct probe_points *points = calloc(1, sizeof(*points));

	if (!points)
		return &error_no_memory;
	arena_init(&points->arena, NAME_BYTES_MAX);
	names_init(&points->names, &points->arena);
	*ret = points;
	return NULL;
}

void probe_points_destroy(struct probe_points *points)
{
	if (!points)
		return;
	for (size_t i = 0; i < points->files.count; i++)
		close(points->files.items[i].fd);
	array_deinit(&points->files);
	array_deinit(points);
	array_deinit(&points->events);
	word_map_deinit(&points->seen);
	word_map_deinit(&points->event_numbers);
	names_deinit(&points->names);
	arena_deinit(&points->arena);
	free(points);
}

/* --- searching --- */

typedef struct error *search_kind(const struct probe_search *search);

static search_kind *const searches[PROBE_KIND_COUNT] = {
	[PROBE_KPROBE] = probe_search_kernel, [PROBE_KRETPROBE] = probe_search_kernel,
	[PROBE_UPROBE] = probe_search_file,   [PROBE_URETPROBE] = probe_search_file,
	[PROBE_URET] = probe_search_file,     [PROBE_TRACEPOINT] = probe_search_tracepoints,
	[PROBE_USDT] = probe_search_file,
};

static struct error *search_for(const struct probe_spec *spec, struct probe_search *search)
{
	_cleanup_(probe_pattern_destroy) struct probe_pattern *group = NULL, *name = NULL;
	struct error *err = probe_pattern_create(spec->group, &group);

	if (!err)
		err = probe_pattern_create(spec->name, &name);
	if (err)
		return err;
	search->spec = spec;
	search->group = group;
	search->name = name;
	return searches[spec->kind](search);
}

/* The displayed name; NULL without memory. */
static char *display_name(const struct probe_place *place)
{
	const char *end = place->function ? place->function : place->symbol;
	char offset[24] = "", *name;

	if (place->from_start)
		snprintf(offset, sizeof(offset), "+%" PRIu64, place->from_start);
	if (asprintf(&name, "%s:%s%s%s%s", probe_kinds[place->kind].word, place->where,
		     end ? ":" : "", end ? end : "", offset) < 0)
		return NULL;
	return name;
}

/* --- adding --- */

struct adding {
	struct probe_points *points;
	size_t found; /* known ones too */
	struct error *err;
	struct {
		ARRAY(const char *);
	} passed; /* names in the arena */
};

static const struct name *intern_text(struct probe_points *points, const char *text)
{
	return names_intern(&points->names, text, strlen(text));
}

/* The number of the event with that name. NULL without memory. */
static const uint32_t *event_of(struct probe_points *points, const struct name *name)
{
	uint32_t *number =
		word_map_at(&points->event_numbers, (struct words){ { (uintptr_t)name } });

	if (number && *number == WORD_MAP_NEW) {
		if (!array_push(&points->events, name))
			return NULL;
		*number = (uint32_t)points->events.count - 1;
	}
	return number;
}

/* The path of the file by a descriptor of our own. NULL without memory or descriptors. */
static const struct name *keep_open(struct probe_points *points, int fd)
{
	struct probe_opened file = { .fd = -1 };
	struct stat stat;
	char path[32];

	if (fstat(fd, &stat))
		return NULL;
	for (size_t i = 0; i < points->files.count; i++)
		if (points->files.items[i].device == stat.st_dev &&
		    points->files.items[i].inode == stat.st_ino)
			return points->files.items[i].path;
	file.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (file.fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file.fd);
	file.path = intern_text(points, path);
	file.device = stat.st_dev;
	file.inode = stat.st_ino;
	if (file.path && array_push(&points->files, file))
		return file.path;
	close(file.fd);
	return NULL;
}

static bool is_in_file(enum probe_kind kind)
{
	return searches[kind] == probe_search_file;
}

static bool make_point(struct probe_points *points, const struct probe_place *place,
		       struct probe_point *ret)
{
	_cleanup_free_ char *name = display_name(place);
	const uint32_t *event;

	*ret = (struct probe_point){
		.kind = place->kind,
		.code = place->code,
		.event = PROBE_EVENT_RESTART,
		.offset = place->offset,
		.semaphore = place->semaphore,
		.argument = place->argument ? *place->argument : (struct usdt_argument){ 0 },
		.where = intern_text(points, place->where),
		.symbol = place->symbol ? intern_text(points, place->symbol) : NULL,
		.name = name ? intern_text(points, name) : NULL,
	};
	if (!ret->where || !ret->name || (place->symbol && !ret->symbol))
		return false;
	if (is_in_file(place->kind)) {
		ret->opened = keep_open(points, place->file);
		if (!ret->opened)
			return false;
	}
	if (place->is_restart)
		return true;
	event = event_of(points, ret->name);
	if (event)
		ret->event = *event;
	return event;
}

static struct error *add_point(struct probe_points *points, const struct probe_place *place)
{
	const struct name *where = intern_text(points, place->where),
			  *symbol = place->symbol ? intern_text(points, place->symbol) : NULL;
	const struct words key = { { (uintptr_t)where << 3 | place->kind, (uintptr_t)symbol,
				     place->offset } };
	struct probe_point point;
	uint32_t *seen;

	if (!where || (place->symbol && !symbol))
		return &error_no_memory;
	/* Several names of one function, and of several files of one function in the kernel. */
	seen = word_map_at(&points->seen, key);
	if (!seen)
		return &error_no_memory;
	if (*seen != WORD_MAP_NEW)
		return NULL;
	if (points->count == PROBE_POINTS_MAX)
		return error_create("more than %d probe locations match; narrow the pattern",
				    PROBE_POINTS_MAX);
	if (!make_point(points, place, &point) || !array_push(points, point))
		return &error_no_memory;
	*seen = 1;
	return NULL;
}

static bool take_place(void *context, const struct probe_place *place)
{
	struct adding *adding = context;

	adding->found++;
	adding->err = add_point(adding->points, place);
	return !adding->err;
}

/* More names are not compared with the wrong one. */
#define PASSED_MAX 1000000

static void take_passed(void *context, const char *name)
{
	struct adding *adding = context;
	const struct name *kept;

	if (adding->passed.count == PASSED_MAX)
		return;
	kept = intern_text(adding->points, name);
	/* Without memory nothing is near. */
	if (kept && array_reserve(&adding->passed, 1))
		adding->passed.items[adding->passed.count++] = kept->bytes;
}

/* The name most similar to the wrong one, among those that were passed; or NULL. */
static const char *near_of(const struct adding *adding, const struct probe_spec *spec)
{
	_cleanup_free_ char *wrong = strndup(spec->name.bytes, spec->name.length);

	return wrong && adding->passed.count
		       ? text_nearest(wrong, adding->passed.items, adding->passed.count,
				      sizeof(*adding->passed.items))
		       : NULL;
}

static struct error *nothing(const struct adding *adding, const struct probe_host *host,
			     const struct probe_spec *spec, struct text text)
{
	const char *near = near_of(adding, spec);
	const char *where = "";

	if (is_in_file(spec->kind) && !spec->file.length)
		where = host->program || host->pid ? " in the program and its libraries"
						   : " in libc; name the file, e.g. "
						     "uprobe:libz:deflate";
	return error_create("'%.*s' matches nothing%s%s%s%s",
			    text.length < 200 ? (int)text.length : 200, text.bytes, where,
			    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

struct error *probe_points_add(struct probe_points *points, const struct probe_host *host,
			       struct text text)
{
	struct adding adding = { .points = points };
	struct probe_search search = { .host = host, .found = take_place, .context = &adding };
	struct probe_spec spec;
	struct error *err = probe_spec_parse(text, &spec);

	if (err)
		return err;
	if (probe_pattern_form(spec.name) == PATTERN_NAME)
		search.passed = take_passed;
	err = search_for(&spec, &search);
	if (!err)
		err = adding.err;
	else
		error_destroy(adding.err);
	if (err)
		err = error_prefix(err, "%.*s", text.length < 200 ? (int)text.length : 200,
				   text.bytes);
	else if (!adding.found)
		err = nothing(&adding, host, &spec, text);
	array_deinit(&adding.passed);
	return err;
}

static bool take_found(void *context, const struct probe_place *place)
{
	struct adding *adding = context;

	(void)place;
	adding->found++;
	return false;
}

struct error *probe_function_exists(const struct probe_host *host, const char *function,
				    bool *ret_exists, char **ret_near)
{
	_cleanup_(probe_points_destroy) struct probe_points *points = NULL;
	_cleanup_free_ char *text = text_print("kprobe:%s", function);
	struct error *err = text ? probe_points_create(&points) : &error_no_memory;
	struct adding adding = { .points = points };
	struct probe_search search = {
		.host = host,
		.found = take_found,
		.passed = take_passed,
		.context = &adding,
	};
	struct probe_spec spec;
	const char *near;

	if (!err)
		err = probe_spec_parse(text_of(text), &spec);
	if (!err)
		err = search_for(&spec, &search);
	if (!err) {
		near = adding.found ? NULL : near_of(&adding, &spec);
		*ret_exists = adding.found;
		*ret_near = near ? strdup(near) : NULL;
	}
	array_deinit(&adding.passed);
	return err;
}

/* --- listing --- */

struct listing {
	probe_visit *visit;
	void *context;
	char *last; /* name; a function that two tables of symbols have comes twice */
	bool is_over;
	struct error *err;
};

static bool list_place(void *context, const struct probe_place *place)
{
	struct listing *listing = context;
	_cleanup_free_ char *name = NULL;

	if (place->is_further)
		return true;
	name = display_name(place);
	if (!name) {
		listing->err = &error_no_memory;
		return false;
	}
	if (listing->last && strcmp(listing->last, name) == 0)
		return true;
	listing->is_over = !listing->visit(listing->context, name);
	free(listing->last);
	listing->last = take_ptr(name);
	return !listing->is_over;
}

static struct error *list_points(const struct probe_host *host, const struct probe_spec *spec,
				 struct listing *listing)
{
	struct probe_search search = { .host = host, .found = list_place, .context = listing };
	struct error *err = search_for(spec, &search);

	free(take_ptr(listing->last));
	return err ? err : listing->err;
}

static bool has_kind(struct text text)
{
	struct text word;

	if (!text_cut(&text, ':', &word))
		return false;
	for (size_t i = 0; i < PROBE_KIND_COUNT; i++)
		if (text_equal(word, text_of(probe_kinds[i].word)))
			return true;
	return false;
}

struct error *probe_list(const struct probe_host *host, struct text text, probe_visit *visit,
			 void *context)
{
	struct listing listing = { .visit = visit, .context = context };
	struct probe_spec spec = { .kind = PROBE_KPROBE, .name = text };
	struct error *err;

	if (has_kind(text)) {
		err = probe_spec_parse(text, &spec);
		return err ? err : list_points(host, &spec, &listing);
	}
	err = list_points(host, &spec, &listing);
	spec.kind = PROBE_TRACEPOINT;
	return err || listing.is_over ? err : list_points(host, &spec, &listing);
}

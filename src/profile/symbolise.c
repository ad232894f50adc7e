/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/symbolise.h"

#include "base/clock.h"
#include "os/process_user.h"
#include "profile/binary_cache.h"
#include "profile/symbol_answers.h"
#include "profile/symbol_files.h"

struct symboliser {
	struct profile *profile;
	const struct symbolise_options *options;
	struct guard *guard;
	size_t without_thread; /* of the guard, so far */
	struct places places;
	struct symbol_files files;
	struct symbol_answers answers;
	size_t done;
};

static void progress(struct symboliser *s, size_t done)
{
	s->done += done;
	if (s->options->progress && done)
		s->options->progress(s->options->progress_context, s->done, s->places.count);
}

static bool is_ended(struct symboliser *s)
{
	if (!s->options->is_over || !s->options->is_over(s->options->is_over_context))
		return false;
	if (s->options->left)
		s->options->left->ended++;
	return true;
}

/* --- answers of earlier profiles --- */

/* The cache for addresses of the file of a place; NULL: there is none. */
static struct symbol_cache *cache_for(const struct symboliser *s, const struct place *place)
{
	const struct profile_mapping *mapping;

	if (!s->options->cache || s->options->symfs || s->options->is_elsewhere ||
	    place->file == PLACE_NONE)
		return NULL;
	mapping = &s->profile->mappings.items[place->mapping];
	return s->places.files.items[place->file].identity.is_trusted && mapping->build_id_length &&
			       !place_is_vdso(mapping)
		       ? s->options->cache
		       : NULL;
}

static struct symbol_place cache_place(const struct symboliser *s, const struct place *place)
{
	return (struct symbol_place){ &s->profile->mappings.items[place->mapping], place->offset,
				      place->role };
}

static void keep_answer(const struct symboliser *s, const struct place *place,
			const struct symbol_answer *answer)
{
	struct symbol_cache *cache = cache_for(s, place);
	const struct symbol_place at = cache_place(s, place);

	/* Without work left, it may lack what was inlined there. */
	if (!cache || (!s->options->no_inline && !s->files.inlined_work))
		return;
	symbol_cache_add(
		cache, &at,
		&(struct cached_symbol){ .name = answer->name,
					 .source = answer->source,
					 .address = answer->address,
					 .offset = answer->offset,
					 .line = answer->line,
					 .inlined_count = answer->count,
					 .inlined = s->answers.inlined.items + answer->first });
}

/* Answer what earlier profiles had. The places that are left go to `ret`, which has room for all,
 * in their order. */
static struct error *answer_all_known(struct symboliser *s, const struct place *places,
				      size_t count, struct place *ret, size_t *ret_count)
{
	struct error *err = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < count && !err; i++) {
		const struct symbol_place at = cache_place(s, &places[i]);
		struct cached_symbol known;

		if (symbol_cache_find(s->options->cache, &at, &known))
			err = symbol_answers_add_known(&s->answers, &places[i], &known);
		else
			ret[(*ret_count)++] = places[i];
	}
	return err;
}

/* --- files --- */

/* Places that belong together, `count` from `places` on, and what is open while they are named. */
struct lookup {
	struct symboliser *s;
	const struct place *places;
	size_t count;
	const struct place_owner *owner; /* of the file */
	struct symbol_binary opened;
	struct symbol_map compiled;
	struct binary_found found;
	struct error *err;
};

/* A signal handler returns to the start of a function that was not called (__restore_rt of libc),
 * so the byte before belongs to another function. */
static bool find_name(struct binary *binary, const struct place *place, uint64_t address,
		      struct binary_found *found)
{
	if (binary_find(binary, address, found))
		return true;
	return place->role == ROLE_CALLER && binary_find(binary, address + 1, found) &&
	       found->start == address + 1;
}

static bool address_of(const struct symboliser *s, const struct binary *binary,
		       const struct place *place, uint64_t *ret)
{
	const struct profile_mapping *mapping = &s->profile->mappings.items[place->mapping];

	return binary_address(binary, place->offset, mapping->file_offset, ret);
}

static struct error *answer_found(struct symboliser *s, const struct place *place,
				  const struct binary_found *found, uint64_t address)
{
	struct symbol_answer answer;
	struct error *err = symbol_answers_find(&s->answers, place, found, address, &answer);

	if (!err)
		keep_answer(s, place, &answer);
	return err ? err : symbol_answers_add(&s->answers, &answer, place);
}

static struct error *answer_place(struct symboliser *s, struct binary *binary,
				  const struct place *place, struct binary_found *found)
{
	uint64_t address = place->offset;

	if (binary && address_of(s, binary, place, &address) &&
	    find_name(binary, place, address, found))
		return answer_found(s, place, found, address);
	if (binary)
		keep_answer(s, place, &(struct symbol_answer){ .address = address });
	return symbol_answers_add_unnamed(&s->answers, place, address);
}

/* Without memory, all of the binary is read when it is searched. */
static void prepare_binary(const struct symboliser *s, struct lookup *l)
{
	_cleanup_free_ uint64_t *addresses = malloc(l->count * sizeof(*addresses));
	struct dwarf_addresses wanted = { .items = addresses };
	uint64_t address;

	for (size_t i = 0; addresses && i < l->count; i++)
		if ((!i || l->places[i].offset != l->places[i - 1].offset) &&
		    address_of(s, l->opened.binary, &l->places[i], &address))
			addresses[wanted.count++] = address;
	if (wanted.count)
		binary_prepare(l->opened.binary, &wanted);
}

/* Is it still open from an earlier profile? */
static bool take_open(struct symboliser *s, struct lookup *l)
{
	struct symbol_cache *cache = cache_for(s, l->places);
	struct symbol_binary *opened = &l->opened;

	if (!cache || !binary_cache_take(symbol_cache_binaries(cache),
					 cache_place(s, l->places).mapping, opened))
		return false;
	if (!binary_is_current(opened->binary)) {
		symbol_binary_close(opened);
		*opened = SYMBOL_BINARY_CLOSED;
		return false;
	}
	binary_restart(opened->binary, s->options->no_inline ? NULL : &s->files.inlined_work);
	return true;
}

/* After a look-up that did not hang. */
static void leave_open(struct symboliser *s, struct lookup *l)
{
	struct symbol_cache *cache = l->opened.binary ? cache_for(s, l->places) : NULL;

	if (cache)
		binary_cache_put(symbol_cache_binaries(cache), cache_place(s, l->places).mapping,
				 &l->opened);
}

/* All places of one file. */
static struct error *answer_file(struct symboliser *s, struct lookup *l)
{
	struct symbol_binary *opened = &l->opened;
	struct error *err = NULL;

	if (!is_ended(s) && !take_open(s, l))
		symbol_files_open_binary(&s->files, l->places->file, l->owner, opened);
	if (opened->binary)
		prepare_binary(s, l);
	for (size_t i = 0; i < l->count && !err; i++) {
		const struct place *place = &l->places[i];

		/* A name that has a number in it is of its role. */
		if (i && place[-1].offset == place->offset && place[-1].role == place->role)
			symbol_answers_share(&s->answers, place);
		else
			err = answer_place(s, opened->binary, place, &l->found);
	}
	/* Names are read while they are looked up, so charge for the reading now. */
	if (opened->binary)
		symbol_files_charge(&s->files, opened->user, binary_copied(opened->binary));
	return err;
}

/* --- in no file --- */

/* All places of one process that are in no file. */
static struct error *answer_process(struct symboliser *s, struct lookup *l)
{
	const uint32_t image = l->places->image;
	struct error *err = NULL;

	if (image && image <= s->profile->images.count)
		guard_about(s->profile->images.items[image - 1].pid);
	if (!is_ended(s))
		symbol_files_open_map(&s->files, image, &l->compiled);
	for (size_t i = 0; i < l->count && !err; i++) {
		const struct place *place = &l->places[i];
		const struct perf_map_entry *entry =
			perf_map_find(&l->compiled.map, place->address);

		err = entry ? symbol_answers_add_compiled(&s->answers, place, entry,
							  l->compiled.path)
			    : symbol_answers_add_unknown(&s->answers, place);
	}
	return err;
}

/* --- all of it --- */

static bool belong_together(const struct place *a, const struct place *b)
{
	return a->file == b->file && (a->file != PLACE_NONE || a->image == b->image);
}

static void look_up(void *job)
{
	struct lookup *l = job;

	l->err = l->places->file == PLACE_NONE ? answer_process(l->s, l) : answer_file(l->s, l);
}

static void release_lookup(void *job)
{
	struct lookup *l = job;

	symbol_binary_close(&l->opened);
	symbol_map_close(&l->compiled);
	free(l);
}

static void drop_told(size_t *left, size_t *told)
{
	if (*left > *told)
		*told = *left;
	else
		*left = 0;
}

void symbolise_left_drop_told(struct symbolise_left *left, struct symbolise_left *told)
{
	drop_told(&left->beyond, &told->beyond);
	drop_told(&left->ended, &told->ended);
	drop_told(&left->hangs, &told->hangs);
	drop_told(&left->without_thread, &told->without_thread);
	drop_told(&left->without_memory, &told->without_memory);
}

/* Treat it as a file that cannot be read; parts of it may have been read. */
static struct error *answer_without_file(struct symboliser *s, const struct place *places,
					 size_t count)
{
	struct error *err = NULL;

	if (s->options->left && guard_without_thread(s->guard) > s->without_thread)
		s->options->left->without_thread++;
	else if (s->options->left)
		s->options->left->hangs++;
	s->without_thread = guard_without_thread(s->guard);
	for (size_t i = 0; i < count && !err; i++)
		err = places[i].file == PLACE_NONE
			      ? symbol_answers_add_unknown(&s->answers, &places[i])
			      : answer_place(s, NULL, &places[i], NULL);
	return err;
}

static struct error *look_up_together(struct symboliser *s, const struct place_owner *owner,
				      const struct place *places, size_t count)
{
	struct lookup *l = calloc(1, sizeof(*l));
	struct error *err;

	if (!l)
		return &error_no_memory;
	l->s = s;
	l->places = places;
	l->count = count;
	l->owner = owner;
	l->opened = SYMBOL_BINARY_CLOSED;
	l->compiled = SYMBOL_MAP_CLOSED;
	if (!guard_run(s->guard, look_up, l, release_lookup))
		return answer_without_file(s, places, count);
	err = l->err;
	leave_open(s, l);
	release_lookup(l);
	return err;
}

static struct error *answer_together(struct symboliser *s, const struct place_owner *owner,
				     const struct place *places, size_t count)
{
	_cleanup_free_ struct place *left = NULL;
	struct error *err;

	if (!cache_for(s, places))
		return look_up_together(s, owner, places, count);
	left = calloc(count, sizeof(*left));
	if (!left)
		return &error_no_memory;
	err = answer_all_known(s, places, count, left, &count);
	return err || !count ? err : look_up_together(s, owner, left, count);
}

static struct error *answer_all(struct symboliser *s)
{
	const struct place_owner *owner = s->places.owners.items,
				 *owners = owner ? owner + s->places.owners.count : NULL;
	struct error *err = NULL;

	for (size_t i = 0, next; i < s->places.count && !err; i = next) {
		const struct place *place = &s->places.items[i];

		for (next = i + 1;
		     next < s->places.count && belong_together(place, &s->places.items[next]);)
			next++;
		while (owner < owners && owner->file < place->file)
			owner++;
		err = answer_together(s, owner, place, next - i);
		progress(s, next - i);
	}
	return err;
}

static struct error *symbolise(struct symboliser *s)
{
	struct error *err = places_collect(s->profile, s->options, s->guard, &s->places);

	if (err || !s->places.count)
		return err;
	err = symbol_answers_init(&s->answers, s->profile);
	if (!err)
		err = answer_all(s);
	return err ? err : symbol_answers_apply(&s->answers);
}

/* Wait for files on slow disks; for those of strangers only for a limited time in sum. */
struct guard *symbolise_guard(void)
{
	return guard_create(&(struct guard_options){
		.subject_of = process_user_subject,
		.patience_ns = 5 * NS_PER_S,
		.part = 2,
		.advance_ns = 10 * NS_PER_S,
		.kind = THREAD_PARSER,
	});
}

struct error *symbolise_user(struct profile *profile, const struct symbolise_options *options)
{
	struct symboliser s = { .profile = profile, .options = options };
	struct error *err = symbol_files_init(&s.files, profile, options, &s.places);

	if (options->cache)
		binary_cache_forget_old(symbol_cache_binaries(options->cache));
	if (!err) {
		s.guard = options->guard ? options->guard : symbolise_guard();
		s.without_thread = guard_without_thread(s.guard);
		err = s.guard ? symbolise(&s) : &error_no_memory;
	}
	if (s.guard != options->guard)
		guard_destroy(s.guard);
	places_deinit(&s.places);
	symbol_answers_deinit(&s.answers);
	symbol_files_deinit(&s.files);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/symbolise.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "elf/binary.h"
#include "elf/perf_map.h"
#include "elf/vdso.h"
#include "os/process_user.h"
#include "profile/origin.h"
#include "profile/places.h"
#include "profile/rewrite.h"

/* The result for all locations with the same address of a file. */
struct answer {
	const struct name *name, *module, *source;
	uint64_t address; /* as it was looked up */
	uint64_t offset;
	uint32_t line;
	uint32_t first, count; /* of what was inlined there, in `inlined`, from outside in */
};

struct symboliser {
	struct profile *profile;
	const struct symbolise_options *options;
	struct guard *guard;
	size_t without_thread; /* of the guard, so far */
	int symfs;
	uint64_t ended_unix_ns;                    /* 0: unknown */
	uint64_t inlined_work, users_inlined_work; /* left: of trusted files, of all others */
	struct word_map users;                     /* whose files were read, in `spent` */
	struct {
		ARRAY(uint64_t);
	} spent; /* bytes */
	uint64_t spent_by_all;
	struct places places;
	struct {
		ARRAY(struct answer);
	} answers;
	struct {
		ARRAY(struct inlined_name);
	} inlined;
	uint32_t *by_frame; /* the answer of each frame in each role */
	const struct name *unknown;
	size_t done;
};

static const struct name *intern_string(struct symboliser *s, const char *string)
{
	return string ? profile_name(s->profile, string, strlen(string)) : NULL;
}

static void progress(struct symboliser *s, size_t done)
{
	s->done += done;
	if (s->options->progress && done)
		s->options->progress(s->options->progress_context, s->done, s->places.count);
}

/* --- answers --- */

static struct error *add_answer(struct symboliser *s, const struct answer *answer,
				const struct place *place)
{
	if (s->answers.count >= PLACE_NONE || !array_push(&s->answers, *answer))
		return &error_no_memory;
	s->by_frame[place->frame * ROLES + place->role] = (uint32_t)s->answers.count - 1;
	return NULL;
}

static void share_answer(struct symboliser *s, const struct place *place)
{
	s->by_frame[place->frame * ROLES + place->role] = (uint32_t)s->answers.count - 1;
}

/* The module name of a file or process. */
static const struct name *module_of(struct symboliser *s, const struct profile_mapping *mapping)
{
	struct text path = origin_path(mapping);

	return path.length ? profile_name(s->profile, path.bytes, path.length) : NULL;
}

/* "[file+0x1234]". */
static struct error *answer_unnamed(struct symboliser *s, const struct place *place,
				    uint64_t address)
{
	const struct profile_mapping *mapping = &s->profile->mappings.items[place->mapping];
	struct text path = origin_path(mapping);
	const char *slash = memrchr(path.bytes, '/', path.length);
	struct answer answer = { .module = module_of(s, mapping), .address = address };
	char name[512];
	int length;

	if (slash)
		path.length -= (size_t)(slash + 1 - path.bytes), path.bytes = slash + 1;
	/* vDSO and the like have brackets already. */
	if (text_starts(path, TEXT("[")) && text_ends(path, TEXT("]")))
		path.bytes++, path.length -= 2;
	length = snprintf(name, sizeof(name), "[%.*s+0x%" PRIx64 "]",
			  path.length < 400 ? (int)path.length : 400, path.bytes,
			  address + (place->role == ROLE_CALLER));
	text_make_safe(name);
	answer.name = profile_name(s->profile, name, (size_t)length);
	if (!answer.name || !answer.module)
		return &error_no_memory;
	return add_answer(s, &answer, place);
}

static const struct name *source_name(struct symboliser *s, const char *source)
{
	char safe[FUNCTION_NAME_MAX];

	if (!source)
		return NULL;
	snprintf(safe, sizeof(safe), "%s", source);
	text_make_safe(safe);
	return intern_string(s, safe);
}

static struct error *add_inlined(struct symboliser *s, const struct inlined_stack *stack,
				 struct answer *answer)
{
	answer->source = source_name(s, stack->functions[0].source);
	answer->line = stack->functions[0].line;
	answer->first = (uint32_t)s->inlined.count;
	for (size_t i = 1; i < stack->count; i++) {
		const struct inlined_function *function = &stack->functions[i];
		struct inlined_name inlined = { .source = source_name(s, function->source),
						.line = function->line };
		char shown[FUNCTION_NAME_MAX];

		inlined.name = profile_name(s->profile, shown, demangle(function->name, shown));
		if (!inlined.name || !array_push(&s->inlined, inlined))
			return &error_no_memory;
	}
	answer->count = (uint32_t)s->inlined.count - answer->first;
	return NULL;
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
			const struct answer *answer)
{
	struct symbol_cache *cache = cache_for(s, place);
	const struct symbol_place at = cache_place(s, place);

	/* Without work left, it may lack what was inlined there. */
	if (!cache || (!s->options->no_inline && !s->inlined_work))
		return;
	symbol_cache_add(cache, &at,
			 &(struct cached_symbol){ .name = answer->name,
						  .source = answer->source,
						  .address = answer->address,
						  .offset = answer->offset,
						  .line = answer->line,
						  .inlined_count = answer->count,
						  .inlined = s->inlined.items + answer->first });
}

static const struct name *name_here(struct symboliser *s, const struct name *name)
{
	return name ? profile_name(s->profile, name->bytes, name->length) : NULL;
}

static struct error *answer_known(struct symboliser *s, const struct place *place,
				  const struct cached_symbol *known)
{
	struct answer answer = {
		.name = name_here(s, known->name),
		.source = name_here(s, known->source),
		.module = module_of(s, &s->profile->mappings.items[place->mapping]),
		.address = known->address,
		.offset = known->offset,
		.line = known->line,
		.first = (uint32_t)s->inlined.count,
		.count = known->inlined_count,
	};

	if (!known->name)
		return answer_unnamed(s, place, known->address);
	if (!answer.name || !answer.module || (known->source && !answer.source))
		return &error_no_memory;
	for (uint32_t i = 0; i < known->inlined_count; i++) {
		const struct inlined_name inlined = {
			.name = name_here(s, known->inlined[i].name),
			.source = name_here(s, known->inlined[i].source),
			.line = known->inlined[i].line,
		};

		if (!inlined.name || !array_push(&s->inlined, inlined))
			return &error_no_memory;
	}
	return add_answer(s, &answer, place);
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
			err = answer_known(s, &places[i], &known);
		else
			ret[(*ret_count)++] = places[i];
	}
	return err;
}

static struct error *answer_found(struct symboliser *s, const struct place *place,
				  const struct binary_found *found, uint64_t address)
{
	struct answer answer = {
		.name = profile_name(s->profile, found->name, found->length),
		.module = module_of(s, &s->profile->mappings.items[place->mapping]),
		.address = address,
		.offset = address - found->start,
	};
	struct error *err = NULL;

	if (!answer.name || !answer.module)
		return &error_no_memory;
	if (found->inlined.count)
		err = add_inlined(s, &found->inlined, &answer);
	if (!err)
		keep_answer(s, place, &answer);
	return err ? err : add_answer(s, &answer, place);
}

/* --- how much of it --- */

static uint64_t *spent_by(struct symboliser *s, uint32_t user)
{
	uint32_t *number = word_map_at(&s->users, (struct words){ { user } });

	if (!number)
		return NULL;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&s->spent, 0))
			return NULL;
		*number = (uint32_t)s->spent.count - 1;
	}
	return &s->spent.items[*number];
}

/* Is there budget to read so many bytes for a process of that user? Processes that are gone, whose
 * user is unknown, share one budget. */
static bool has_budget(struct symboliser *s, uint32_t user, uint64_t bytes)
{
	const uint64_t *spent;

	if (!process_user_is_stranger(user))
		return true;
	spent = spent_by(s, user);
	if (spent && *spent < SYMBOLISE_USER_BYTES && bytes <= SYMBOLISE_USER_BYTES - *spent &&
	    s->spent_by_all < SYMBOLISE_USERS_BYTES &&
	    bytes <= SYMBOLISE_USERS_BYTES - s->spent_by_all)
		return true;
	if (s->options->left)
		s->options->left->beyond++;
	return false;
}

static void spend_share(struct symboliser *s, uint32_t user, uint64_t bytes)
{
	uint64_t *spent = process_user_is_stranger(user) ? spent_by(s, user) : NULL;

	if (!spent)
		return;
	*spent += bytes;
	s->spent_by_all += bytes;
}

static uint32_t user_of(const struct symboliser *s, uint32_t image)
{
	const struct profile_image *i = &s->profile->images.items[image - 1];

	/* A user who names a tree trusts its files. */
	if (s->options->symfs)
		return 0;
	return s->options->is_elsewhere || i->is_over || !i->pid ? UINT32_MAX
								 : process_user(i->pid);
}

static bool is_ended(struct symboliser *s)
{
	if (!s->options->is_over || !s->options->is_over(s->options->is_over_context))
		return false;
	if (s->options->left)
		s->options->left->ended++;
	return true;
}

/* --- files --- */

/* An open binary, and what must stay open with it. */
struct opened {
	struct origin origin;
	struct binary *binary; /* NULL: there is none */
	uint32_t user;         /* the user whose budget it uses */
};

/* A map with what its entries point into. */
struct compiled {
	int fd;
	struct image image;
	struct perf_map map;
	char path[64];
};

/* Places that belong together, `count` from `places` on, and what is open while they are named. */
struct lookup {
	struct symboliser *s;
	const struct place *places;
	size_t count;
	const struct place_owner *owner; /* of the file */
	struct opened opened;
	struct compiled compiled;
	struct binary_found found;
	struct error *err;
};

static void open_vdso(struct symboliser *s, const struct profile_mapping *mapping,
		      struct opened *opened)
{
	const struct binary_options options = { 0 };
	struct text bytes = vdso_bytes(), id;
	bool is_known = mapping->build_id_length != 0;

	if (!bytes.length || (s->options->is_elsewhere && !is_known) ||
	    binary_open_bytes(bytes, &options, &opened->binary)) {
		opened->binary = NULL;
		return;
	}
	/* 32-bit processes have another vDSO. */
	id = binary_build_id(opened->binary);
	if (is_known ? !origin_has_build_id(mapping, id)
		     : mapping->end - mapping->start < bytes.length ||
			       mapping->end - mapping->start > bytes.length + 4096) {
		binary_destroy(opened->binary);
		opened->binary = NULL;
	}
}

static bool open_binary(struct symboliser *s, const struct place_owner *owner,
			struct opened *opened)
{
	const struct profile *profile = s->profile;
	const struct profile_mapping *mapping = &profile->mappings.items[owner->mapping];
	char path[4096];
	struct text as_mapped = origin_path(mapping);
	struct binary_options options = {
		.path = path,
		.open = origin_open_debug,
		.context = &opened->origin,
	};
	bool is_trusted;

	if (as_mapped.length >= sizeof(path) ||
	    !origin_open(s->options, s->symfs, s->ended_unix_ns, profile->kept,
			 &profile->images.items[owner->image - 1], mapping, &opened->origin))
		return false;
	/* The process may have mapped another file there since it was asked. */
	if (mapping->build_id_length && s->places.asked &&
	    !origin_may_name(&s->places.files.items[owner->file].identity, opened->origin.fd)) {
		origin_close(&opened->origin);
		return false;
	}
	memcpy(path, as_mapped.bytes, as_mapped.length);
	path[as_mapped.length] = 0;
	is_trusted = origin_is_trusted_file(opened->origin.fd);
	opened->user = is_trusted ? 0 : user_of(s, owner->image);
	if (!has_budget(s, opened->user, 0))
		return true;
	if (!s->options->no_inline)
		options.inlined_work = is_trusted ? &s->inlined_work : &s->users_inlined_work;
	if (binary_open(opened->origin.fd, &options, &opened->binary))
		opened->binary = NULL;
	/* All processes have the same file: if it is not a binary here, it is none there. */
	return true;
}

/* Open a file through any process that has mapped it. */
static void open_file_of(struct symboliser *s, uint32_t file, const struct place_owner *owner,
			 struct opened *opened)
{
	const struct profile_mapping *mapping =
		&s->profile->mappings.items[s->places.files.items[file].mapping];

	if (place_is_vdso(mapping)) {
		open_vdso(s, mapping, opened);
		return;
	}
	for (; owner < s->places.owners.items + s->places.owners.count && owner->file == file;
	     owner++) {
		guard_about(s->profile->images.items[owner->image - 1].pid);
		if (open_binary(s, owner, opened))
			return;
	}
}

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

static struct error *answer_place(struct symboliser *s, struct binary *binary,
				  const struct place *place, struct binary_found *found)
{
	uint64_t address = place->offset;

	if (binary && address_of(s, binary, place, &address) &&
	    find_name(binary, place, address, found))
		return answer_found(s, place, found, address);
	if (binary)
		keep_answer(s, place, &(struct answer){ .address = address });
	return answer_unnamed(s, place, address);
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

/* All places of one file. */
static struct error *answer_file(struct symboliser *s, struct lookup *l)
{
	struct opened *opened = &l->opened;
	struct error *err = NULL;

	if (!is_ended(s))
		open_file_of(s, l->places->file, l->owner, opened);
	if (opened->binary)
		prepare_binary(s, l);
	for (size_t i = 0; i < l->count && !err; i++) {
		const struct place *place = &l->places[i];

		/* A name that has a number in it is of its role. */
		if (i && place[-1].offset == place->offset && place[-1].role == place->role)
			share_answer(s, place);
		else
			err = answer_place(s, opened->binary, place, &l->found);
	}
	/* Names are read while they are looked up, so charge for the reading now. */
	if (opened->binary)
		spend_share(s, opened->user, binary_copied(opened->binary));
	return err;
}

/* --- what is in no file --- */

static struct error *answer_unknown(struct symboliser *s, const struct place *place)
{
	struct answer answer = { .name = s->unknown };

	if (place->mapping != PLACE_NONE)
		answer.module = module_of(s, &s->profile->mappings.items[place->mapping]);
	return add_answer(s, &answer, place);
}

static struct error *answer_compiled(struct symboliser *s, const struct place *place,
				     const struct perf_map_entry *entry, const char *path)
{
	struct answer answer = { .module = intern_string(s, path),
				 .offset = place->address - entry->start };
	char symbol[FUNCTION_NAME_MAX], shown[FUNCTION_NAME_MAX];
	size_t length =
		entry->name.length < sizeof(symbol) ? entry->name.length : sizeof(symbol) - 1;

	memcpy(symbol, entry->name.bytes, length);
	symbol[length] = 0;
	answer.name = profile_name(s->profile, shown, demangle(symbol, shown));
	if (!answer.name || !answer.module)
		return &error_no_memory;
	return add_answer(s, &answer, place);
}

static void open_compiled(struct symboliser *s, uint32_t image, struct compiled *compiled)
{
	struct text bytes = { 0 };
	uint32_t user;

	if (s->options->is_elsewhere || !image || image > s->profile->images.count)
		return;
	compiled->fd = origin_open_perf_map(&s->profile->images.items[image - 1], s->profile->kept,
					    compiled->path);
	if (compiled->fd < 0 || image_open(compiled->fd, &compiled->image))
		return;
	if (!compiled->image.size || compiled->image.size > PERF_MAP_SIZE_MAX)
		return;
	user = user_of(s, image);
	if (has_budget(s, user, compiled->image.size))
		bytes = image_bytes(&compiled->image, 0, compiled->image.size);
	spend_share(s, user, bytes.length);
	if (bytes.bytes)
		error_destroy(perf_map_parse(bytes, &compiled->map));
}

static void close_compiled(struct compiled *compiled)
{
	perf_map_deinit(&compiled->map);
	image_close(&compiled->image);
	if (compiled->fd >= 0)
		close(compiled->fd);
}

/* All places of one process that are in no file. */
static struct error *answer_process(struct symboliser *s, struct lookup *l)
{
	const uint32_t image = l->places->image;
	struct error *err = NULL;

	if (image && image <= s->profile->images.count)
		guard_about(s->profile->images.items[image - 1].pid);
	if (!is_ended(s))
		open_compiled(s, image, &l->compiled);
	for (size_t i = 0; i < l->count && !err; i++) {
		const struct place *place = &l->places[i];
		const struct perf_map_entry *entry =
			perf_map_find(&l->compiled.map, place->address);

		err = entry ? answer_compiled(s, place, entry, l->compiled.path)
			    : answer_unknown(s, place);
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

	binary_destroy(l->opened.binary);
	origin_close(&l->opened.origin);
	close_compiled(&l->compiled);
	free(l);
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
		err = places[i].file == PLACE_NONE ? answer_unknown(s, &places[i])
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
	l->opened.origin = (struct origin){ .fd = -1, .process = -1, .symfs = -1 };
	l->compiled.fd = l->compiled.image.fd = -1;
	if (!guard_run(s->guard, look_up, l, release_lookup))
		return answer_without_file(s, places, count);
	err = l->err;
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

static struct error *name_user_frame(void *context, uint32_t number, const struct frame *frame,
				     enum frame_role role, struct rewrite_frames *ret)
{
	const struct symboliser *s = context;
	const uint32_t number_of_answer = s->by_frame[number * ROLES + role];
	const struct answer *answer;
	struct frame named = { .kind = FRAME_USER };
	struct error *err;

	if (!place_is_raw(frame) || number_of_answer == PLACE_NONE)
		return rewrite_push(s->profile, frame, ret);
	answer = &s->answers.items[number_of_answer];
	named.name = answer->name;
	named.module = answer->module;
	named.source = answer->source;
	named.line = answer->line;
	/* Looked up was the call. */
	if (answer->address)
		named.address = answer->address + (role == ROLE_CALLER);
	if (answer->offset || answer->address)
		named.offset = answer->offset + (role == ROLE_CALLER);
	err = rewrite_push(s->profile, &named, ret);
	named.offset = 0;
	named.inlined = true;
	for (uint32_t i = 0; i < answer->count && !err; i++) {
		const struct inlined_name *inlined = &s->inlined.items[answer->first + i];

		named.name = inlined->name;
		named.source = inlined->source;
		named.line = inlined->line;
		err = rewrite_push(s->profile, &named, ret);
	}
	return err;
}

static struct error *symbolise(struct symboliser *s)
{
	struct error *err = places_collect(s->profile, s->options, s->guard, &s->places);

	if (err || !s->places.count)
		return err;
	s->unknown = intern_string(s, "[unknown]");
	s->by_frame = calloc(s->profile->frames.count, ROLES * sizeof(*s->by_frame));
	if (!s->unknown || !s->by_frame)
		return &error_no_memory;
	for (size_t i = 0; i < s->profile->frames.count * ROLES; i++)
		s->by_frame[i] = PLACE_NONE;
	err = answer_all(s);
	return err ? err : rewrite_stacks(s->profile, name_user_frame, s);
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
	struct symboliser s = { .profile = profile,
				.options = options,
				.symfs = -1,
				.inlined_work = INLINED_WORK_MAX,
				.users_inlined_work = INLINED_WORK_MAX };
	struct error *err;

	if (profile->meta.captured_at_unix_ns &&
	    __builtin_add_overflow(profile->meta.captured_at_unix_ns, profile->meta.duration_ns,
				   &s.ended_unix_ns))
		s.ended_unix_ns = 0;
	if (options->symfs) {
		s.symfs = open(options->symfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (s.symfs < 0)
			return error_system(errno, "%s", options->symfs);
	}
	s.guard = options->guard ? options->guard : symbolise_guard();
	s.without_thread = guard_without_thread(s.guard);
	err = s.guard ? symbolise(&s) : &error_no_memory;
	if (s.guard != options->guard)
		guard_destroy(s.guard);
	places_deinit(&s.places);
	word_map_deinit(&s.users);
	array_deinit(&s.spent);
	array_deinit(&s.answers);
	array_deinit(&s.inlined);
	free(s.by_frame);
	if (s.symfs >= 0)
		close(s.symfs);
	return err;
}

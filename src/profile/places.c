/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/places.h"

#include <stdlib.h>

#include "profile/kept.h"
#include "profile/origin.h"

/* The largest number of earlier mappings that are checked for whether they reach an address;
 * earlier mappings of the same range may be listed too. */
#define OVERLAPS_MAX 16

/* The largest number of processes through which a file is tried. */
#define OWNERS_MAX 64

/* The mapping that has the address, or PLACE_NONE. */
static uint32_t find_mapping(const struct profile *profile, uint32_t image, uint64_t address)
{
	const struct profile_image *i =
		image && image <= profile->images.count ? &profile->images.items[image - 1] : NULL;
	size_t low, high, first;

	if (!i || i->first_mapping > profile->mappings.count ||
	    i->mapping_count > profile->mappings.count - i->first_mapping)
		return PLACE_NONE;
	first = low = i->first_mapping;
	high = low + i->mapping_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (profile->mappings.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; back < OVERLAPS_MAX && low > first; back++)
		if (address < profile->mappings.items[--low].end)
			return (uint32_t)low;
	return PLACE_NONE;
}

/* --- which file it is --- */

struct question {
	uint32_t image, mapping;
};

/* All questions go to the guard's thread in one job: a switch to that thread and back takes longer
 * than an answer. */
struct questions {
	ARRAY(struct question);
	size_t next;
	const struct profile *profile;
	struct places *places;
};

static struct origin_identity answer_of(const struct questions *q, const struct question *question)
{
	const struct profile_image *image = &q->profile->images.items[question->image - 1];
	const struct profile_mapping *mapping = &q->profile->mappings.items[question->mapping];
	const bool is_elsewhere = q->places->is_elsewhere;
	const uint32_t pid = is_elsewhere || image->is_over ? 0 : image->pid;
	struct origin_identity identity = { 0 };

	guard_about(pid);
	if (pid)
		identity = origin_ask(pid, mapping);
	if (!identity.inode)
		identity = origin_ask_kept(is_elsewhere ? NULL : q->profile->kept, image->pid,
					   mapping);
	return identity.inode ? identity : origin_ask_here(mapping);
}

/* One that hangs is not asked again: its identity stays empty. */
static void answer_rest(void *job)
{
	struct questions *q = job;

	while (q->next < q->count) {
		const struct question *question = &q->items[q->next++];
		const struct origin_identity identity = answer_of(q, question);

		q->places->asked[question->mapping].identity = identity;
	}
}

static bool has_file(const struct places *places, const struct profile_mapping *mapping)
{
	return place_is_vdso(mapping) || (origin_is_file(mapping) && !places->only_vdso);
}

/* In a copied tree only the build-id can be checked; a user who names a tree trusts it. */
static struct error *ask_all(const struct profile *profile, struct places *places)
{
	struct questions q = { .profile = profile, .places = places };
	struct error *err = NULL;

	for (size_t i = 0; places->asked && i < places->count && !err; i++) {
		const struct place *place = &places->items[i];
		const struct profile_mapping *mapping;

		if (place->mapping == PLACE_NONE || places->asked[place->mapping].is_asked)
			continue;
		mapping = &profile->mappings.items[place->mapping];
		if (!has_file(places, mapping) || !mapping->build_id_length)
			continue;
		places->asked[place->mapping].is_asked = true;
		if (!array_push(&q, (struct question){ place->image, place->mapping }))
			err = &error_no_memory;
	}
	if (!err && q.count)
		(void)guard_run_whole(places->guard, answer_rest, &q);
	array_deinit(&q);
	return err;
}

/* A build-id alone tells files that are trusted. Others have their inode too, or their path if
 * nothing is there now. */
static struct error *file_key(struct profile *profile, const struct profile_mapping *mapping,
			      const struct origin_identity *identity, bool is_in_tree,
			      struct words *ret)
{
	const struct name *id;

	if (!mapping->build_id_length || mapping->build_id_length > BUILD_ID_MAX) {
		*ret = (struct words){ { (uintptr_t)mapping->path, mapping->inode,
					 (uint64_t)mapping->major << 32 | mapping->minor } };
		return NULL;
	}
	id = profile_name(profile, mapping->build_id, mapping->build_id_length);
	if (!id)
		return &error_no_memory;
	*ret = (struct words){ { (uintptr_t)id, UINT64_MAX, UINT64_MAX } };
	if (identity->is_trusted || is_in_tree)
		return NULL;
	ret->w[1] = identity->inode ? identity->inode : (uintptr_t)mapping->path;
	ret->w[2] = identity->inode ? identity->device : UINT64_MAX;
	return NULL;
}

static struct error *mapped_file_of(struct profile *profile, struct places *places, uint32_t image,
				    uint32_t mapping, uint32_t *ret)
{
	const struct origin_identity identity =
		places->asked ? places->asked[mapping].identity : (struct origin_identity){ 0 };
	struct words key;
	struct error *err = file_key(profile, &profile->mappings.items[mapping], &identity,
				     !places->asked, &key);
	uint32_t *number;
	struct place_file *file;

	if (err)
		return err;
	number = word_map_at(&places->file_numbers, key);
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&places->files,
				(struct place_file){ .mapping = mapping, .identity = identity }))
			return &error_no_memory;
		*number = (uint32_t)places->files.count - 1;
	}
	*ret = *number;
	file = &places->files.items[*number];
	if (file->last_image == image || file->owners >= OWNERS_MAX)
		return NULL;
	file->last_image = image;
	file->owners++;
	return array_push(&places->owners, (struct place_owner){ *number, image, mapping })
		       ? NULL
		       : &error_no_memory;
}

static struct error *add_place(const struct profile *profile, struct places *places,
			       uint32_t number, enum frame_role role)
{
	const struct frame *frame = &profile->frames.items[number];
	struct place place = { .address = rewrite_address(frame, role),
			       .frame = number,
			       .image = frame->image,
			       .file = PLACE_NONE,
			       .role = role };

	place.mapping = find_mapping(profile, frame->image, place.address);
	if (place.mapping != PLACE_NONE) {
		const struct profile_mapping *mapping = &profile->mappings.items[place.mapping];

		place.offset = place.address - mapping->start + mapping->file_offset;
	}
	return array_push(places, place) ? NULL : &error_no_memory;
}

static struct error *find_files(struct profile *profile, struct places *places)
{
	struct error *err = ask_all(profile, places);
	size_t kept = 0;

	for (size_t i = 0; i < places->count && !err; i++) {
		struct place place = places->items[i];

		if (place.mapping != PLACE_NONE &&
		    has_file(places, &profile->mappings.items[place.mapping]))
			err = mapped_file_of(profile, places, place.image, place.mapping,
					     &place.file);
		if (places->only_vdso && place.file == PLACE_NONE)
			continue;
		places->items[kept++] = place;
	}
	places->count = kept;
	return err;
}

/* Order by file and offset; without a file, by process. */
static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->file != PLACE_NONE && x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static int compare_owners(const void *a, const void *b)
{
	const struct place_owner *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->mapping > y->mapping) - (x->mapping < y->mapping);
}

struct error *places_collect(struct profile *profile, const struct symbolise_options *options,
			     struct guard *guard, struct places *places)
{
	_cleanup_free_ uint8_t *roles = NULL;
	struct error *err = rewrite_roles(profile, &roles);

	places->guard = guard;
	places->is_elsewhere = options->is_elsewhere;
	places->only_vdso = options->only_vdso;
	if (!err && !options->symfs) {
		places->asked = calloc(profile->mappings.count + 1, sizeof(*places->asked));
		if (!places->asked)
			return &error_no_memory;
	}
	for (uint32_t i = 0; i < profile->frames.count && !err; i++)
		for (enum frame_role role = 0; role < ROLES && !err; role++)
			if (place_is_raw(&profile->frames.items[i]) && roles[i] >> role & 1)
				err = add_place(profile, places, i, role);
	if (!err)
		err = find_files(profile, places);
	if (err || !places->count)
		return err;
	qsort(places->items, places->count, sizeof(*places->items), compare_places);
	if (places->owners.count)
		qsort(places->owners.items, places->owners.count, sizeof(*places->owners.items),
		      compare_owners);
	return NULL;
}

void places_deinit(struct places *places)
{
	array_deinit(places);
	array_deinit(&places->files);
	array_deinit(&places->owners);
	word_map_deinit(&places->file_numbers);
	free(places->asked);
}

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

struct question {
	uint32_t pid; /* 0: it is not there any more */
	uint32_t was;
	struct kept *kept;
	struct profile_mapping mapping;
	struct origin_identity identity;
};

static void answer_question(void *job)
{
	struct question *question = job;

	guard_about(question->pid);
	if (question->pid)
		question->identity = origin_ask(question->pid, &question->mapping);
	if (!question->identity.inode)
		question->identity =
			origin_ask_kept(question->kept, question->was, &question->mapping);
	if (!question->identity.inode)
		question->identity = origin_ask_here(&question->mapping);
}

static void release_question(void *job)
{
	struct question *question = job;

	kept_release(question->kept);
	free(question);
}

/* An empty identity if the file system does not answer. */
static struct origin_identity answer_of(struct guard *guard, struct kept *kept,
					const struct profile_image *image, bool is_there,
					const struct profile_mapping *mapping)
{
	struct origin_identity identity = { 0 };
	struct question *question = calloc(1, sizeof(*question));

	if (!question)
		return identity;
	question->pid = is_there ? image->pid : 0;
	question->was = image->pid;
	question->kept = kept_share(kept);
	question->mapping = *mapping;
	if (!guard_run(guard, answer_question, question, release_question))
		return identity;
	identity = question->identity;
	release_question(question);
	return identity;
}

/* In a copied tree only the build-id can be checked; a user who names a tree trusts it. */
static struct origin_identity identity_of(const struct profile *profile, struct places *places,
					  uint32_t image, uint32_t number)
{
	const struct profile_mapping *mapping = &profile->mappings.items[number];
	const struct profile_image *i = &profile->images.items[image - 1];
	struct place_asked *asked = places->asked ? &places->asked[number] : NULL;

	if (!asked || !mapping->build_id_length)
		return (struct origin_identity){ 0 };
	if (!asked->is_asked)
		asked->identity =
			answer_of(places->guard, places->is_elsewhere ? NULL : profile->kept, i,
				  !places->is_elsewhere && !i->is_over, mapping);
	asked->is_asked = true;
	return asked->identity;
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
	const struct origin_identity identity = identity_of(profile, places, image, mapping);
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

static struct error *add_place(struct profile *profile, struct places *places, uint32_t number,
			       enum frame_role role)
{
	const struct frame *frame = &profile->frames.items[number];
	struct place place = { .address = rewrite_address(frame, role),
			       .frame = number,
			       .image = frame->image,
			       .file = PLACE_NONE,
			       .role = role };
	struct error *err = NULL;

	place.mapping = find_mapping(profile, frame->image, place.address);
	if (place.mapping != PLACE_NONE) {
		const struct profile_mapping *mapping = &profile->mappings.items[place.mapping];

		place.offset = place.address - mapping->start + mapping->file_offset;
		if (place_is_vdso(mapping) || (origin_is_file(mapping) && !places->only_vdso))
			err = mapped_file_of(profile, places, place.image, place.mapping,
					     &place.file);
	}
	if (err || (places->only_vdso && place.file == PLACE_NONE))
		return err;
	return array_push(places, place) ? NULL : &error_no_memory;
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

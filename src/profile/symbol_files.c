/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/symbol_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "elf/vdso.h"
#include "os/process_user.h"

struct error *symbol_files_init(struct symbol_files *f, const struct profile *profile,
				const struct symbolise_options *options,
				const struct places *places)
{
	*f = (struct symbol_files){ .profile = profile,
				    .options = options,
				    .places = places,
				    .symfs = -1,
				    .inlined_work = INLINED_WORK_MAX,
				    .users_inlined_work = INLINED_WORK_MAX };
	if (profile->meta.captured_at_unix_ns &&
	    __builtin_add_overflow(profile->meta.captured_at_unix_ns, profile->meta.duration_ns,
				   &f->ended_unix_ns))
		f->ended_unix_ns = 0;
	if (options->symfs) {
		f->symfs = open(options->symfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (f->symfs < 0)
			return error_system(errno, "%s", options->symfs);
	}
	return NULL;
}

void symbol_files_deinit(struct symbol_files *f)
{
	word_map_deinit(&f->users);
	array_deinit(&f->spent);
	if (f->symfs >= 0)
		close(f->symfs);
}

/* --- budgets --- */

static uint64_t *spent_by(struct symbol_files *f, uint32_t user)
{
	uint32_t *number = word_map_at(&f->users, (struct words){ { user } });

	if (!number)
		return NULL;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&f->spent, 0))
			return NULL;
		*number = (uint32_t)f->spent.count - 1;
	}
	return &f->spent.items[*number];
}

/* Is there budget to read so many bytes for a process of that user? Processes that are gone, whose
 * user is unknown, share one budget. */
static bool has_budget(struct symbol_files *f, uint32_t user, uint64_t bytes)
{
	const uint64_t *spent;

	if (!process_user_is_stranger(user))
		return true;
	spent = spent_by(f, user);
	if (spent && *spent < SYMBOLISE_USER_BYTES && bytes <= SYMBOLISE_USER_BYTES - *spent &&
	    f->spent_by_all < SYMBOLISE_USERS_BYTES &&
	    bytes <= SYMBOLISE_USERS_BYTES - f->spent_by_all)
		return true;
	if (f->options->left)
		f->options->left->beyond++;
	return false;
}

void symbol_files_charge(struct symbol_files *f, uint32_t user, uint64_t bytes)
{
	uint64_t *spent = process_user_is_stranger(user) ? spent_by(f, user) : NULL;

	if (!spent)
		return;
	*spent += bytes;
	f->spent_by_all += bytes;
}

static uint32_t user_of(const struct symbol_files *f, uint32_t image)
{
	const struct profile_image *i = &f->profile->images.items[image - 1];

	/* A user who names a tree trusts its files. */
	if (f->options->symfs)
		return 0;
	return f->options->is_elsewhere || i->is_over || !i->pid ? UINT32_MAX
								 : process_user(i->pid);
}

/* --- binaries --- */

static void open_vdso(struct symbol_files *f, const struct profile_mapping *mapping,
		      struct symbol_binary *opened)
{
	const struct binary_options options = { 0 };
	struct text bytes = vdso_bytes(), id;
	bool is_known = mapping->build_id_length != 0;

	if (!bytes.length || (f->options->is_elsewhere && !is_known) ||
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

/* 0: any. */
static uint64_t memory_for_symbols(const struct symbol_files *f)
{
	const uint64_t left = memory_limit_left(f->options->limit);

	return left == UINT64_MAX ? 0 : left ? left : 1;
}

static bool open_binary(struct symbol_files *f, const struct place_owner *owner,
			struct symbol_binary *opened)
{
	const struct profile *profile = f->profile;
	const struct profile_mapping *mapping = &profile->mappings.items[owner->mapping];
	char path[4096];
	struct text as_mapped = origin_path(mapping);
	struct binary_options options = {
		.path = path,
		.open = origin_open_debug,
		.context = &opened->origin,
	};
	bool is_trusted;
	int failed;

	if (as_mapped.length >= sizeof(path) ||
	    !origin_open(f->options, f->symfs, f->ended_unix_ns, profile->kept,
			 &profile->images.items[owner->image - 1], mapping, &opened->origin))
		return false;
	/* The process may have mapped another file there since it was asked. */
	if (mapping->build_id_length && f->places->asked &&
	    !origin_may_name(&f->places->files.items[owner->file].identity, opened->origin.fd)) {
		origin_close(&opened->origin);
		return false;
	}
	memcpy(path, as_mapped.bytes, as_mapped.length);
	path[as_mapped.length] = 0;
	is_trusted = origin_is_trusted_file(opened->origin.fd);
	opened->user = is_trusted ? 0 : user_of(f, owner->image);
	if (!has_budget(f, opened->user, 0))
		return true;
	if (!f->options->no_inline)
		options.inlined_work = is_trusted ? &f->inlined_work : &f->users_inlined_work;
	options.memory = memory_for_symbols(f);
	failed = binary_open(opened->origin.fd, &options, &opened->binary);
	if (failed)
		opened->binary = NULL;
	if (failed == ENOMEM && f->options->left)
		f->options->left->without_memory++;
	/* All processes have the same file: if it is not a binary here, it is none there. */
	return true;
}

void symbol_files_open_binary(struct symbol_files *f, uint32_t file,
			      const struct place_owner *owner, struct symbol_binary *opened)
{
	const struct profile_mapping *mapping =
		&f->profile->mappings.items[f->places->files.items[file].mapping];

	if (place_is_vdso(mapping)) {
		open_vdso(f, mapping, opened);
		return;
	}
	for (; owner < f->places->owners.items + f->places->owners.count && owner->file == file;
	     owner++) {
		guard_about(f->profile->images.items[owner->image - 1].pid);
		if (open_binary(f, owner, opened))
			return;
	}
}

void symbol_binary_close(struct symbol_binary *opened)
{
	binary_destroy(opened->binary);
	opened->binary = NULL;
	origin_close(&opened->origin);
}

/* --- compiled functions --- */

void symbol_files_open_map(struct symbol_files *f, uint32_t image, struct symbol_map *compiled)
{
	struct text bytes = { 0 };
	uint32_t user;

	if (f->options->is_elsewhere || !image || image > f->profile->images.count)
		return;
	compiled->fd = origin_open_perf_map(&f->profile->images.items[image - 1], f->profile->kept,
					    compiled->path);
	if (compiled->fd < 0 || image_open(compiled->fd, &compiled->image))
		return;
	if (!compiled->image.size || compiled->image.size > PERF_MAP_SIZE_MAX)
		return;
	user = user_of(f, image);
	if (has_budget(f, user, compiled->image.size))
		bytes = image_bytes(&compiled->image, 0, compiled->image.size);
	symbol_files_charge(f, user, bytes.length);
	if (bytes.bytes)
		error_destroy(perf_map_parse(bytes, &compiled->map));
}

void symbol_map_close(struct symbol_map *compiled)
{
	perf_map_deinit(&compiled->map);
	image_close(&compiled->image);
	if (compiled->fd >= 0)
		close(compiled->fd);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/report_inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/zstream.h"
#include "cli/display.h"
#include "cmd/inputs.h"
#include "cmd/profile_beside.h"
#include "profile/files.h"
#include "snapshot/file.h"
#include "snapshot/recording.h"

enum input_kind { INPUT_SNAPSHOT, INPUT_PROFILE, INPUT_KSTATS };

/* --- what it is --- */

/* ctprof writes the member that identifies a file within its first bytes; whitespace may precede
 * it. */
#define HEAD_MAX 4096

/* Is there a member of this name? Quotes within JSON strings are escaped, so no string matches. */
static bool has_member(struct text head, const char *quoted)
{
	return memmem(head.bytes, head.length, quoted, strlen(quoted)) != NULL;
}

static enum input_kind kind_of_json(struct text head)
{
	if (head.length > HEAD_MAX)
		head.length = HEAD_MAX;
	if (has_member(head, "\"ctprof_profile\":"))
		return INPUT_PROFILE;
	return has_member(head, "\"ctprof-kstats\"") ? INPUT_KSTATS : INPUT_SNAPSHOT;
}

/* The kind of an open file. A member identifies JSON files, compressed by zstd or not; everything
 * else is read as a profile. */
static struct error *kind_of_file(const struct named_file *file, enum input_kind *ret)
{
	struct zstream_reader zstd;
	struct text head;
	struct error *err = zstream_reader_init(&zstd, file->fd);

	if (!err)
		err = zstream_read(&zstd, &head);
	*ret = err ? INPUT_PROFILE : kind_of_json(head);
	zstream_reader_deinit(&zstd);
	if (err && err->errnum)
		return error_prefix(err, "%s", file->name);
	error_destroy(err);
	return NULL;
}

static struct error *kind_of_path(const char *path, enum input_kind *ret)
{
	_cleanup_close_ int fd = -1;
	struct error *err = file_open_input(path, &fd);

	return err ? err : kind_of_file(&(struct named_file){ fd, path }, ret);
}

static struct error *input_kind_of(const char *path, enum input_kind *ret)
{
	const char *timestamp;
	char *recording;

	if (strcmp(path, "-") == 0)
		return error_create("report reads files, not standard input");
	recording = recording_split(path, &timestamp);
	if (!recording)
		return kind_of_path(path, ret);
	free(recording);
	*ret = INPUT_SNAPSHOT;
	return NULL;
}

/* --- loading --- */

static struct error *load_snapshot(struct report_inputs *inputs, const struct named_file *file)
{
	struct ctprof_snapshot *snapshot = NULL;
	struct error *err = snapshot_load_fd(file->fd, file->name, &snapshot);

	if (err)
		return err;
	print_remarks(file->name, snapshot);
	if (array_push(&inputs->snapshots, (struct side){ snapshot, file->name }))
		return NULL;
	snapshot_destroy(snapshot);
	return &error_no_memory;
}

static struct error *load_profile(struct report_inputs *inputs, const struct named_file *file)
{
	struct named_profile input = { .path = file->name };
	struct error *err = profile_load_fd(file->fd, file->name, &input.profile);

	if (!err && array_push(&inputs->profiles, input))
		return NULL;
	profile_destroy(input.profile);
	return err ? err : &error_no_memory;
}

static struct error *load_kstats(struct report_inputs *inputs, const struct named_file *file)
{
	struct report_kstats input = { .path = file->name };
	struct error *err = kstats_file_load_fd(file->fd, file->name, &input.tables);

	if (!err && array_push(&inputs->kstats, input))
		return NULL;
	kstats_tables_clear(&input.tables);
	return err ? err : &error_no_memory;
}

static struct error *load_file(struct report_inputs *inputs, enum input_kind kind,
			       const struct named_file *file)
{
	switch (kind) {
	case INPUT_SNAPSHOT:
		return load_snapshot(inputs, file);
	case INPUT_PROFILE:
		return load_profile(inputs, file);
	case INPUT_KSTATS:
		return load_kstats(inputs, file);
	}
	return NULL;
}

/* --- files by path --- */

/* `path` must last as long as the inputs. */
static struct error *load_path(struct report_inputs *inputs, enum input_kind kind, const char *path)
{
	_cleanup_close_ int fd = -1;
	struct error *err = file_open_input(path, &fd);

	return err ? err : load_file(inputs, kind, &(struct named_file){ fd, path });
}

/* The same for a path that the inputs then own. */
static struct error *load_owned(struct report_inputs *inputs, enum input_kind kind, char *path)
{
	if (array_push(&inputs->paths, path))
		return load_path(inputs, kind, path);
	free(path);
	return &error_no_memory;
}

static struct error *load_capture(struct report_inputs *inputs, const char *path)
{
	char *found = NULL;
	struct error *err = recording_find(path, &found);

	return err ? err : load_owned(inputs, INPUT_SNAPSHOT, found);
}

/* A query is of a snapshot and of a profile: one of them may have no rows. */
static struct error *load_query(struct report_inputs *inputs, const char *query)
{
	struct named_profile profile = { .path = query };
	struct ctprof_snapshot *snapshot = NULL;
	_cleanup_error_ struct error *none = NULL;
	bool is_folded;
	char *name = NULL;
	struct error *err = input_snapshot(query, NULL, &snapshot, &name);

	if (err && err->errnum == ENODATA)
		none = take_ptr(err);
	if (err)
		return err;
	if (name && !array_push(&inputs->paths, name)) {
		free(name);
		snapshot_destroy(snapshot);
		return &error_no_memory;
	}
	if (snapshot && !array_push(&inputs->snapshots, (struct side){ snapshot, name })) {
		snapshot_destroy(snapshot);
		return &error_no_memory;
	}
	err = input_profile(query, FOLDED_SAMPLES, &profile.profile, &is_folded);
	if (!err && !array_push(&inputs->profiles, profile)) {
		profile_destroy(profile.profile);
		return &error_no_memory;
	}
	if (err && err->errnum == ENODATA && !none) {
		error_destroy(err);
		err = NULL;
	}
	return err;
}

static struct error *load(struct report_inputs *inputs, const char *path)
{
	enum input_kind kind;
	struct error *err;

	if (input_is_query(path))
		return load_query(inputs, path);
	err = input_kind_of(path, &kind);
	if (err)
		return err;
	return kind == INPUT_SNAPSHOT ? load_capture(inputs, path) : load_path(inputs, kind, path);
}

/* A recording that is the only snapshot: load its first and its last capture. */
static struct error *load_span(struct report_inputs *inputs, const char *path, bool *ret_done)
{
	_cleanup_free_ char *from = NULL, *to = NULL;
	struct error *err = recording_span(path, &from, &to);

	*ret_done = !err && from;
	if (*ret_done)
		err = load_capture(inputs, from);
	if (*ret_done && !err)
		err = load_capture(inputs, to);
	return err;
}

static bool has_profile(const struct report_inputs *inputs, const char *path)
{
	for (size_t i = 0; i < inputs->profiles.count; i++)
		if (strcmp(inputs->profiles.items[i].path, path) == 0)
			return true;
	return false;
}

static struct error *load_beside(struct report_inputs *inputs)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < inputs->snapshots.count; i++) {
		char *path = profile_beside_find(inputs->snapshots.items[i].name);

		if (path && !has_profile(inputs, path))
			err = load_owned(inputs, INPUT_PROFILE, path);
		else
			free(path);
	}
	return err;
}

static struct error *count_snapshots(char **paths, size_t count, size_t *ret_last, size_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < count; i++) {
		enum input_kind kind = INPUT_SNAPSHOT;
		struct error *err =
			input_is_query(paths[i]) ? NULL : input_kind_of(paths[i], &kind);

		if (err)
			return err;
		if (kind == INPUT_SNAPSHOT)
			*ret_last = i;
		*ret += kind == INPUT_SNAPSHOT;
	}
	return NULL;
}

struct error *report_inputs_load(struct report_inputs *inputs, char **paths, size_t count)
{
	size_t snapshots, last = 0;
	struct error *err = count_snapshots(paths, count, &last, &snapshots);

	for (size_t i = 0; !err && i < count; i++) {
		bool done = false;

		if (snapshots == 1 && i == last && !input_is_query(paths[i]))
			err = load_span(inputs, paths[i], &done);
		if (!err && !done)
			err = load(inputs, paths[i]);
	}
	if (!err)
		err = inputs_equalise(inputs->snapshots.items, inputs->snapshots.count, stderr);
	/* One line for both of a query. */
	if (!err)
		inputs_equalise_profiles(inputs->profiles.items, inputs->profiles.count,
					 inputs->snapshots.count > 1 ? NULL : stderr);
	return err ? err : load_beside(inputs);
}

struct error *report_inputs_load_files(struct report_inputs *inputs, const struct named_file *files,
				       size_t count)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < count; i++) {
		enum input_kind kind;

		err = kind_of_file(&files[i], &kind);
		if (!err && lseek(files[i].fd, 0, SEEK_SET))
			err = error_system(errno, "%s", files[i].name);
		if (!err)
			err = load_file(inputs, kind, &files[i]);
	}
	return err;
}

void report_inputs_deinit(struct report_inputs *inputs)
{
	for (size_t i = 0; i < inputs->snapshots.count; i++)
		snapshot_destroy(
			(struct ctprof_snapshot *)(uintptr_t)inputs->snapshots.items[i].snapshot);
	for (size_t i = 0; i < inputs->profiles.count; i++)
		profile_destroy(inputs->profiles.items[i].profile);
	for (size_t i = 0; i < inputs->kstats.count; i++)
		kstats_tables_clear(&inputs->kstats.items[i].tables);
	for (size_t i = 0; i < inputs->paths.count; i++)
		free(inputs->paths.items[i]);
	array_deinit(&inputs->snapshots);
	array_deinit(&inputs->profiles);
	array_deinit(&inputs->kstats);
	array_deinit(&inputs->paths);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "base/file.h"
#include "base/handover.h"
#include "base/outfile.h"
#include "snapshot/timestamp.h"

/* --- names --- */

#define SNAPSHOT_SUFFIX ".ctprof.zst"
#define STAMP_LENGTH    (sizeof("20261120T123005.250Z") - 1)
#define NAME_MAX_SIZE   (STAMP_LENGTH + RECORDING_SUFFIX_SIZE)
/* The last second of the year 9999. */
#define SECONDS_END UINT64_C(253402300799)

/* With the suffix behind it. */
static void print_name(char *name, size_t size, uint64_t at_ms, const char *suffix)
{
	time_t seconds = (time_t)(at_ms / 1000 < SECONDS_END ? at_ms / 1000 : SECONDS_END);
	char stamp[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
	snprintf(name, size, "%.15s.%03uZ%s", stamp, (unsigned)(at_ms % 1000), suffix);
}

void recording_name(char name[RECORDING_NAME_SIZE], uint64_t at_ms)
{
	print_name(name, RECORDING_NAME_SIZE, at_ms, SNAPSHOT_SUFFIX);
}

/* A number of just these digits. */
static bool digits_of(struct text text, size_t from, size_t count, int *ret)
{
	uint32_t value;

	if (!text_u32((struct text){ text.bytes + from, count }, &value))
		return false;
	*ret = (int)value;
	return true;
}

static bool parse_name(struct text name, const char *suffix, uint64_t *ret_at_ms)
{
	char again[NAME_MAX_SIZE];
	struct tm tm = { 0 };
	int64_t seconds;
	uint64_t at_ms;
	int ms;

	if (name.length != STAMP_LENGTH + strlen(suffix) || !text_ends(name, text_of(suffix)))
		return false;
	if (!digits_of(name, 0, 4, &tm.tm_year) || !digits_of(name, 4, 2, &tm.tm_mon) ||
	    !digits_of(name, 6, 2, &tm.tm_mday) || !digits_of(name, 9, 2, &tm.tm_hour) ||
	    !digits_of(name, 11, 2, &tm.tm_min) || !digits_of(name, 13, 2, &tm.tm_sec) ||
	    !digits_of(name, 16, 3, &ms))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	seconds = timegm(&tm);
	if (seconds < 0)
		return false;
	at_ms = (uint64_t)seconds * 1000 + (uint64_t)ms;
	/* The 31st of November has no name, and one timestamp has one. */
	print_name(again, sizeof(again), at_ms, suffix);
	if (!text_equal(name, text_of(again)))
		return false;
	*ret_at_ms = at_ms;
	return true;
}

bool recording_parse_name(struct text name, uint64_t *ret_at_ms)
{
	return parse_name(name, SNAPSHOT_SUFFIX, ret_at_ms);
}

/* --- a directory --- */

static void file_name(const struct recording *recording, char name[NAME_MAX_SIZE], uint64_t at_ms)
{
	print_name(name, NAME_MAX_SIZE, at_ms, recording->suffix);
}

static char *capture_path(const struct recording *recording, uint64_t at_ms)
{
	size_t length = strlen(recording->path);
	char name[NAME_MAX_SIZE], *path = NULL;
	bool slash = length && recording->path[length - 1] == '/';

	file_name(recording, name, at_ms);
	return asprintf(&path, "%s%s%s", recording->path, slash ? "" : "/", name) < 0 ? NULL : path;
}

/* A file that goes while we look was not there. */
static struct error *take_name(struct recording *recording, const char *name)
{
	struct capture_kept capture = { 0 };
	struct stat st;

	if (!parse_name(text_of(name), recording->suffix, &capture.at_ms) ||
	    fstatat(recording->dir, name, &st, 0) || !S_ISREG(st.st_mode))
		return NULL;
	capture.size = (uint64_t)st.st_size;
	return captures_add(&recording->captures, capture) ? NULL : &error_no_memory;
}

static struct error *list_captures(struct recording *recording)
{
	/* A stream owns its descriptor. */
	int fd = openat(recording->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct error *err = NULL;
	struct dirent *entry;
	int failed;

	if (!stream) {
		err = error_system(errno, "%s", recording->path);
		if (fd >= 0)
			close(fd);
		return err;
	}
	errno = 0;
	while (!err && (entry = readdir(stream))) {
		err = take_name(recording, entry->d_name);
		errno = 0;
	}
	failed = errno;
	closedir(stream);
	captures_sort(&recording->captures);
	return err || !failed ? err : error_system(failed, "%s", recording->path);
}

static struct error *open_files(const char *path, const char *suffix, struct recording *ret)
{
	struct recording recording = { .path = strdup(path), .dir = -1, .suffix = suffix };
	struct error *err = recording.path ? file_open_dir(path, &recording.dir) : &error_no_memory;

	if (!err)
		err = list_captures(&recording);
	if (err) {
		recording_close(&recording);
		return err;
	}
	*ret = recording;
	return NULL;
}

struct error *recording_open(const char *path, struct recording *ret)
{
	return open_files(path, SNAPSHOT_SUFFIX, ret);
}

struct error *recording_create(const char *path, struct recording *ret)
{
	return recording_create_of(path, SNAPSHOT_SUFFIX, ret);
}

struct error *recording_create_of(const char *path, const char *suffix, struct recording *ret)
{
	struct recording recording;
	struct error *err;

	if (handover_mkdir(path, 0700) && errno != EEXIST)
		return error_system(errno, "%s", path);
	err = open_files(path, suffix, &recording);
	if (err)
		return err;
	if (faccessat(recording.dir, ".", W_OK | X_OK, AT_EACCESS)) {
		err = error_system(errno, "%s", path);
		recording_close(&recording);
		return err;
	}
	*ret = recording;
	return NULL;
}

/* The name of a timestamp may be in use, if the clock was set back or a second recorder runs. */
static uint64_t unused_timestamp(const struct recording *recording, uint64_t at_ms)
{
	char name[NAME_MAX_SIZE];

	for (unsigned tries = 0; tries < 1000; tries++, at_ms++) {
		file_name(recording, name, at_ms);
		if (faccessat(recording->dir, name, F_OK, AT_SYMLINK_NOFOLLOW))
			break;
	}
	return at_ms;
}

static struct error *write_file(const struct recording *recording, uint64_t at_ms,
				struct text packed)
{
	_cleanup_free_ char *path = capture_path(recording, at_ms);
	char name[NAME_MAX_SIZE];
	struct outfile file;
	struct error *err;

	if (!path)
		return &error_no_memory;
	file_name(recording, name, at_ms);
	err = outfile_open_at(&file, recording->dir, name, path);
	if (!err)
		err = outfile_write(&file, packed.bytes, packed.length);
	if (!err)
		err = outfile_sync(&file);
	if (!err)
		err = outfile_commit(&file);
	outfile_close(&file);
	return err;
}

/* Would so many bytes leave others less of the disk than they are to have? */
static struct error *check_room(const struct recording *recording, size_t bytes)
{
	struct statvfs disk;
	unsigned __int128 needed;

	if (!recording->spared_percent || fstatvfs(recording->dir, &disk) || !disk.f_frsize)
		return NULL;
	/* In blocks, for a file has no part of one. */
	needed = (unsigned __int128)disk.f_blocks * recording->spared_percent / 100 +
		 bytes / disk.f_frsize + 1;
	if (disk.f_bavail >= needed)
		return NULL;
	return error_system(ENOSPC, "%s: %u %% of the disk stay free", recording->path,
			    recording->spared_percent);
}

struct error *recording_add(struct recording *recording, uint64_t at_ms, struct text packed)
{
	struct capture_kept capture = { .at_ms = unused_timestamp(recording, at_ms),
					.size = packed.length };
	struct error *err = check_room(recording, packed.length);

	if (!err)
		err = write_file(recording, capture.at_ms, packed);
	if (err)
		return err;
	return captures_add(&recording->captures, capture) ? NULL : &error_no_memory;
}

static bool is_full(const struct error *err)
{
	return err && (err->errnum == ENOSPC || err->errnum == EDQUOT);
}

struct error *recording_add_within(struct recording *recording, const struct keep *keep,
				   uint64_t at_ms, struct text packed, size_t *ret_removed)
{
	struct error *err = recording_add(recording, at_ms, packed);

	while (is_full(err) && keep->bytes && recording->captures.count > 1) {
		size_t removed = 0;

		error_destroy(err);
		err = recording_remove_oldest(recording, 1, &removed);
		*ret_removed += removed;
		if (!err)
			err = recording_add(recording, at_ms, packed);
	}
	return err;
}

struct error *recording_sync(const struct recording *recording)
{
	/* Not all file systems support this. */
	if (!fsync(recording->dir) || errno == EINVAL)
		return NULL;
	return error_system(errno, "%s", recording->path);
}

struct error *recording_remove_oldest(struct recording *recording, size_t count,
				      size_t *ret_removed)
{
	size_t removed = 0, done = 0;
	struct error *err = NULL;

	for (; done < count; done++) {
		char name[NAME_MAX_SIZE];

		file_name(recording, name, recording->captures.items[done].at_ms);
		if (unlinkat(recording->dir, name, 0) == 0) {
			removed++;
		} else if (errno != ENOENT) {
			err = error_system(errno, "%s/%s", recording->path, name);
			break;
		}
	}
	captures_drop(&recording->captures, done);
	*ret_removed = removed;
	return err;
}

struct error *recording_prune(struct recording *recording, const struct keep *keep, uint64_t now_ms,
			      size_t *ret_removed)
{
	return recording_remove_oldest(
		recording, captures_surplus(&recording->captures, keep, now_ms), ret_removed);
}

void recording_close(struct recording *recording)
{
	captures_deinit(&recording->captures);
	if (recording->source.close)
		recording->source.close(recording->source.context);
	if (recording->dir >= 0)
		close(recording->dir);
	free(recording->path);
	*recording = (struct recording){ .dir = -1 };
}

/* --- what users write --- */

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *recording_split(const char *snapshot, const char **ret_timestamp)
{
	const char *at = strrchr(snapshot, '@');
	char *dir;

	*ret_timestamp = NULL;
	if (access(snapshot, F_OK) == 0)
		return is_directory(snapshot) ? strdup(snapshot) : NULL;
	dir = at ? strndup(snapshot, (size_t)(at - snapshot)) : NULL;
	if (!dir || !is_directory(dir)) {
		free(dir);
		return NULL;
	}
	*ret_timestamp = at + 1;
	return dir;
}

struct error *recording_pick(const struct recording *recording, const char *written, size_t *ret)
{
	struct timestamp timestamp = { .kind = TIMESTAMP_LAST };
	char begin[TIMESTAMP_TEXT_SIZE], end[TIMESTAMP_TEXT_SIZE];
	enum timestamp_picked picked;
	uint64_t first, last;

	if (written && !timestamp_parse(text_of(written), &timestamp))
		return error_create("invalid time '%.60s': expected 12:30, 12:30:05, "
				    "2026-11-20T12:30:05 (UTC), -5m, first or last",
				    written);
	if (!recording->captures.count)
		return error_create("no captures in this directory");
	picked = timestamp_pick(&timestamp, &recording->captures, ret);
	if (picked != TIMESTAMP_PICKED) {
		captures_range(&recording->captures, &first, &last);
		timestamp_print(begin, first);
		timestamp_print(end, last);
		return error_create("too %s: this recording covers %s to %s",
				    picked == TIMESTAMP_TOO_EARLY ? "early" : "late", begin, end);
	}
	return NULL;
}

struct error *recording_find(const char *snapshot, char **ret)
{
	const char *timestamp;
	_cleanup_free_ char *dir = recording_split(snapshot, &timestamp);
	struct recording recording;
	struct error *err;
	size_t picked;

	if (!dir) {
		*ret = strdup(snapshot);
		return *ret ? NULL : &error_no_memory;
	}
	err = recording_open(dir, &recording);
	if (err)
		return err;
	err = recording.captures.count ? recording_put_in_order(&recording) : NULL;
	if (!err)
		err = recording_pick(&recording, timestamp, &picked);
	if (!err)
		*ret = capture_path(&recording, recording.captures.items[picked].at_ms);
	if (!err && !*ret)
		err = &error_no_memory;
	recording_close(&recording);
	return err ? error_prefix(err, "%s", snapshot) : NULL;
}

struct error *recording_span(const char *snapshot, char **ret_from, char **ret_to)
{
	const char *timestamp;
	_cleanup_free_ char *dir = recording_split(snapshot, &timestamp);
	char *from = NULL, *to = NULL;

	if (dir && (asprintf(&from, "%s@%s", dir, timestamp ? timestamp : "first") < 0 ||
		    asprintf(&to, "%s@last", dir) < 0)) {
		free(from);
		return &error_no_memory;
	}
	*ret_from = from;
	*ret_to = to;
	return NULL;
}

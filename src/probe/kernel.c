/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/kallsyms.h"
#include "probe/search.h"

static const char *const tracefs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/* Mount tracefs detached: no other process sees the mount, and it ends when it is closed. Many
 * hosts mount tracefs on first access, and the smallest never (fsopen(2), fsmount(2)). */
static int mount_tracing(void)
{
	_cleanup_close_ int fs = fsopen("tracefs", FSOPEN_CLOEXEC);

	if (fs < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -1;
	return fsmount(fs, FSMOUNT_CLOEXEC,
		       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

static int open_tracing(const struct probe_host *host)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int fd = -1;

	if (host->tracing)
		return open(host->tracing, flags);
	for (size_t i = 0; i < array_length(tracefs) && fd < 0; i++) {
		fd = open(tracefs[i], flags);
		/* The directory is there where nothing is mounted on it. */
		if (fd >= 0 && faccessat(fd, "events", F_OK, 0)) {
			close(fd);
			fd = -1;
		}
	}
	return fd < 0 ? mount_tracing() : fd;
}

/* --- functions --- */

static void fclose_guard(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* "name" or "name [module]". Where a function was left out of the kernel there may be a name that
 * says so (kernel/trace/ftrace.c: FTRACE_INVALID_FUNCTION). */
static bool traceable_name(struct text line, struct text *ret)
{
	return text_word(&line, ret) && !text_starts(*ret, TEXT("__ftrace_invalid_address"));
}

/* Room in front of functions, which compilers leave (-fpatchable-function-entry, -fsanitize=kcfi),
 * is no code that runs. */
static bool kallsyms_name(struct text line, struct text *ret)
{
	struct kallsym symbol;

	if (!kallsym_parse(line, &symbol) || !strchr("tTwW", symbol.type) ||
	    text_starts(symbol.name, TEXT("__pfx_")) || text_starts(symbol.name, TEXT("__cfi_")))
		return false;
	*ret = symbol.name;
	return true;
}

static void search_lines(const struct probe_search *search, FILE *file,
			 bool (*name_of)(struct text line, struct text *ret))
{
	struct probe_place place = { .kind = search->spec->kind,
				     .from_start = search->spec->offset,
				     .offset = search->spec->offset };
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	ssize_t length;

	while ((length = getline(&line, &room, file)) > 0) {
		struct text name;
		char *end;

		if (!name_of(text_trim((struct text){ line, (size_t)length }), &name))
			continue;
		end = line + (name.bytes - line) + name.length;
		*end = 0;
		place.where = name.bytes;
		if (probe_wants(search, name.bytes) && !search->found(search->context, &place))
			return;
	}
}

struct error *probe_search_kernel(const struct probe_search *search)
{
	const char *path = search->host->kallsyms ? search->host->kallsyms : "/proc/kallsyms";
	_cleanup_close_ int dir = open_tracing(search->host);
	__attribute__((cleanup(fclose_guard))) FILE *file = NULL;
	int fd = dir < 0 ? -1 : openat(dir, "available_filter_functions", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		file = fdopen(fd, "r");
		if (!file)
			close(fd);
	}
	if (file) {
		search_lines(search, file, traceable_name);
		return NULL;
	}
	file = fopen(path, "re");
	if (!file)
		return error_system(errno, "%s", path);
	search_lines(search, file, kallsyms_name);
	return NULL;
}

/* --- tracepoints --- */

static int entry_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* "enable" and "filter" are files. */
static int is_group(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type != DT_REG;
}

/* The number of a kernel event; 0: there is no such event. */
static uint64_t event_number(int events, const char *category, const char *name)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	char digits[24] = "";

	if (asprintf(&path, "%s/%s/id", category, name) < 0)
		path = NULL;
	if (path)
		fd = openat(events, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, digits, sizeof(digits) - 1) <= 0)
		return 0;
	return strtoull(digits, NULL, 10);
}

/* Search a category. Returns false to end the search. */
static bool search_category(const struct probe_search *search, int events, const char *category)
{
	struct probe_place place = { .kind = PROBE_TRACEPOINT, .where = category };
	struct dirent **entries;
	int count = scandirat(events, category, &entries, is_group, entry_by_name);
	bool goes_on = true;

	for (int i = 0; i < count; i++) {
		place.symbol = entries[i]->d_name;
		place.offset = 0;
		if (goes_on && probe_wants(search, place.symbol))
			place.offset = event_number(events, category, place.symbol);
		if (place.offset)
			goes_on = search->found(search->context, &place);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return goes_on;
}

struct error *probe_search_tracepoints(const struct probe_search *search)
{
	_cleanup_close_ int dir = open_tracing(search->host), events = -1;
	struct dirent **entries;
	bool goes_on = true;
	int count;

	if (dir >= 0)
		events = openat(dir, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (events < 0)
		return error_system(errno, "cannot read tracefs, which lists tracepoints");
	count = scandirat(events, ".", &entries, is_group, entry_by_name);
	if (count < 0)
		return error_system(errno, "events of tracefs");
	for (int i = 0; i < count; i++) {
		if (goes_on && probe_pattern_matches(search->group, entries[i]->d_name))
			goes_on = search_category(search, events, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/losses.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"

#define FILE_NAME  "losses"
#define NEW_NAME   "losses.new"
#define FIRST_LINE "ctprof-losses 1"
/* LOSSES_MOST lines, of texts that are bounded. */
#define TEXT_MOST ((size_t)127)

/* --- sums --- */

static bool is_text(struct text text)
{
	for (size_t i = 0; i < text.length; i++)
		if ((unsigned char)text.bytes[i] < 0x20)
			return false;
	return text.length <= TEXT_MOST;
}

static struct agent_loss *find(struct losses *losses, const char *sink, struct text what,
			       struct text why)
{
	for (size_t i = 0; i < losses->count; i++) {
		struct agent_loss *loss = &losses->items[i];

		if (strings_equal(loss->sink, sink) && text_equal(text_of(loss->what), what) &&
		    text_equal(text_of(loss->why), why))
			return loss;
	}
	return NULL;
}

static void free_texts(const struct agent_loss *loss)
{
	free((void *)(uintptr_t)loss->sink);
	free((void *)(uintptr_t)loss->what);
	free((void *)(uintptr_t)loss->why);
}

static struct agent_loss *create(struct losses *losses, const char *sink, struct text what,
				 struct text why)
{
	const struct agent_loss loss = {
		.sink = strdup(sink),
		.what = strndup(what.bytes, what.length),
		.why = strndup(why.bytes, why.length),
	};

	if (loss.sink && loss.what && loss.why && array_push(losses, loss))
		return &losses->items[losses->count - 1];
	free_texts(&loss);
	return NULL;
}

static bool add(struct losses *losses, const char *sink, struct text what, struct text why,
		uint64_t count)
{
	struct agent_loss *loss = find(losses, sink, what, why);

	if (!loss && losses->count >= LOSSES_MOST - 1) {
		sink = "";
		what = TEXT(LOSSES_OTHER);
		why = TEXT("several reasons");
		loss = find(losses, sink, what, why);
	}
	if (!loss)
		loss = create(losses, sink, what, why);
	if (loss && __builtin_add_overflow(loss->count, count, &loss->count))
		loss->count = UINT64_MAX;
	return loss;
}

bool losses_add(struct losses *losses, const char *sink, struct text what, const char *why,
		uint64_t count)
{
	if (!is_text(what))
		what = TEXT("requests");
	return add(losses, sink, what, text_of(why), count);
}

bool losses_add_removal(struct losses *losses, const char *sink, uint64_t id)
{
	const struct losses_removal removal = { strdup(sink), id };

	if (removal.sink && array_push(&losses->removals, removal))
		return true;
	free(removal.sink);
	return false;
}

void losses_subtract(struct losses *losses, const uint64_t *numbers, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < losses->count; i++) {
		if (i < count)
			losses->items[i].count -= numbers[i];
		if (losses->items[i].count)
			losses->items[kept++] = losses->items[i];
		else
			free_texts(&losses->items[i]);
	}
	losses->count = kept;
}

void losses_forget_removals(struct losses *losses)
{
	for (size_t i = 0; i < losses->removals.count; i++)
		free(losses->removals.items[i].sink);
	array_deinit(&losses->removals);
}

void losses_deinit(struct losses *losses)
{
	for (size_t i = 0; i < losses->count; i++)
		free_texts(&losses->items[i]);
	array_deinit(losses);
	losses_forget_removals(losses);
}

/* --- the file --- */

static bool print(const struct losses *losses, FILE *out)
{
	fputs(FIRST_LINE "\n", out);
	for (size_t i = 0; i < losses->count; i++)
		fprintf(out, "lost\t%" PRIu64 "\t%s\t%s\t%s\n", losses->items[i].count,
			losses->items[i].sink, losses->items[i].what, losses->items[i].why);
	for (size_t i = 0; i < losses->removals.count; i++)
		fprintf(out, "removed\t%" PRIu64 "\t%s\n", losses->removals.items[i].id,
			losses->removals.items[i].sink);
	fputs("end\n", out);
	return fflush(out) == 0 && !ferror(out);
}

struct error *losses_write(const struct losses *losses, int dir)
{
	FILE *out = NULL;
	bool is_printed;
	int fd;

	unlinkat(dir, NEW_NAME, 0);
	fd = openat(dir, NEW_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		out = fdopen(fd, "w");
	if (!out)
		return error_system(errno, "cannot write the losses");
	is_printed = print(losses, out);
	if (!fclose(out) && is_printed && !renameat(dir, NEW_NAME, dir, FILE_NAME))
		return NULL;
	return error_system(errno, "cannot write the losses");
}

static bool take_loss(struct losses *losses, struct text rest)
{
	struct text count, sink, what, why = rest;
	_cleanup_free_ char *name = NULL;
	uint64_t number;

	if (!text_cut(&why, '\t', &count) || !text_cut(&why, '\t', &sink) ||
	    !text_cut(&why, '\t', &what) || !text_u64(count, &number) || !number ||
	    !is_text(sink) || !is_text(what) || !is_text(why))
		return false;
	name = strndup(sink.bytes, sink.length);
	return name && add(losses, name, what, why, number);
}

static bool take_removal(struct losses *losses, struct text rest)
{
	struct text id, sink = rest;
	_cleanup_free_ char *name = NULL;
	uint64_t number;

	if (!text_cut(&sink, '\t', &id) || !text_u64(id, &number) || !is_text(sink))
		return false;
	name = strndup(sink.bytes, sink.length);
	return name && losses_add_removal(losses, name, number);
}

static bool take_lines(struct losses *losses, struct text rest)
{
	struct text line, word;

	if (memchr(rest.bytes, '\0', rest.length) || !text_cut(&rest, '\n', &line) ||
	    !text_equal(line, TEXT(FIRST_LINE)))
		return false;
	while (text_cut(&rest, '\n', &line)) {
		if (text_equal(line, TEXT("end")))
			return !rest.length;
		if (!text_cut(&line, '\t', &word))
			return false;
		if (text_equal(word, TEXT("lost"))      ? !take_loss(losses, line)
		    : text_equal(word, TEXT("removed")) ? !take_removal(losses, line)
							: true)
			return false;
	}
	return false;
}

struct error *losses_parse(struct losses *losses, struct text bytes)
{
	struct losses read = { 0 };

	if (!bytes.length || !take_lines(&read, bytes)) {
		losses_deinit(&read);
		return error_create("the file of losses is damaged");
	}
	losses_deinit(losses);
	*losses = read;
	return NULL;
}

struct error *losses_read(struct losses *losses, int dir)
{
	struct file_buffer buffer = { 0 };
	struct error *err = NULL;
	struct text bytes;
	struct stat st;
	int failed;

	/* Whatever else has that name, as a FIFO, is replaced. */
	if (fstatat(dir, FILE_NAME, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return NULL;
	failed = file_read(dir, FILE_NAME, &buffer, &bytes);
	err = failed ? error_system(failed, "cannot read the losses") : losses_parse(losses, bytes);
	file_buffer_deinit(&buffer);
	return err;
}

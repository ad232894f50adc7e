/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_tables ROUNDS FILE...: make the unwind table of each file, ROUNDS times, and print of the
 * fastest
 *
 *	FILE mb_per_s N scan_mb_per_s N rows N bytes_per_row N rules N ...
 *
 * where mb_per_s counts bytes of .eh_frame, and scan_mb_per_s the same when they are only stepped
 * through. The last line, "all", has the sums. Files are in memory when the time starts.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "scan_frames.h"
#include "unwind/build.h"

struct result {
	double seconds, scan_seconds, bytes;
	size_t rows, words, rules, functions, overlapping, refused, other;
};

static double now(void)
{
	struct timespec time;

	/* CPU time, so that other programs on a busy host do not count. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t count_other(const struct unwind_table *table)
{
	size_t count = 0;

	for (size_t b = 0; b < table->blocks.count; b++) {
		const uint32_t *block;

		if (!unwind_is_block(table->blocks.items[b]))
			continue;
		block = table->words.items + table->blocks.items[b];
		for (size_t i = UNWIND_BLOCK_HEAD; i < unwind_block_words(block); i++)
			count += UNWIND_ROW_RULE(block[i]) == UNWIND_NUMBER_OTHER;
	}
	return count;
}

static void build_once(const struct elf *elf, const char *path, struct result *best)
{
	struct unwind_table table;
	double start = now(), seconds;
	struct error *failed = unwind_build(elf, &table);

	seconds = now() - start;
	if (failed)
		errx(1, "%s: %s", path, failed->message);
	if (!best->rows || seconds < best->seconds)
		*best = (struct result){ .seconds = seconds,
					 .scan_seconds = best->scan_seconds,
					 .bytes = (double)elf_section(elf, ".eh_frame").length,
					 .rows = table.rows,
					 .words = table.words.count,
					 .rules = table.rules.count,
					 .functions = table.functions,
					 .overlapping = table.overlapping,
					 .refused = table.refused,
					 .other = count_other(&table) };
	unwind_table_deinit(&table);
}

static void scan_once(const struct elf *elf, struct result *best)
{
	struct text frames = elf_section(elf, ".eh_frame");
	static volatile size_t instructions;
	double start = now(), seconds;

	instructions = scan_frames((const unsigned char *)frames.bytes, frames.length);
	(void)instructions;
	seconds = now() - start;
	if (!best->scan_seconds || seconds < best->scan_seconds)
		best->scan_seconds = seconds;
}

static struct result measure(const char *path, int rounds)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct result best = { 0 };
	struct image image;
	struct elf elf;

	if (fd < 0 || image_open(fd, &image))
		err(1, "%s", path);
	if (!elf_open(&image, &elf))
		errx(1, "%s is no ELF file", path);
	for (int i = 0; i <= rounds; i++) {
		build_once(&elf, path, &best);
		scan_once(&elf, &best);
	}
	elf_close(&elf);
	image_close(&image);
	return best;
}

static double per_second(const struct result *result, double seconds)
{
	return seconds > 0 ? result->bytes / 1e6 / seconds : 0;
}

static void show(const char *name, const struct result *result)
{
	printf("%s mb_per_s %.1f scan_mb_per_s %.1f rows %zu bytes_per_row %.2f rules %zu "
	       "functions %zu "
	       "overlapping %zu refused %zu other %zu\n",
	       name, per_second(result, result->seconds), per_second(result, result->scan_seconds),
	       result->rows, result->rows ? (double)result->words * 4 / (double)result->rows : 0,
	       result->rules, result->functions, result->overlapping, result->refused,
	       result->other);
}

int main(int argc, char **argv)
{
	struct result all = { 0 };

	if (argc < 3)
		errx(2, "usage: unwind_tables ROUNDS FILE...");
	for (int i = 2; i < argc; i++) {
		struct result one = measure(argv[i], atoi(argv[1]));

		show(argv[i], &one);
		all.seconds += one.seconds;
		all.scan_seconds += one.scan_seconds;
		all.bytes += one.bytes;
		all.rows += one.rows;
		all.words += one.words;
		all.rules += one.rules;
		all.functions += one.functions;
		all.overlapping += one.overlapping;
		all.refused += one.refused;
		all.other += one.other;
	}
	show("all", &all);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * KSTATS_SAVE=DIR: all metrics of a program in a file, when it exits. The file is that of
 * `ctprof kstats save` (doc/format.md), as plain JSON.
 *
 * Metrics of a process that forked are shared by both: the one that made a metric writes it, so
 * that no value is in two files. What was deleted before the exit is kept as text until then.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metric.h"

/* The texts of deleted metrics. */
static struct deleted {
	struct deleted *next;
	pid_t maker;
	char *text;
} * deleted;

/* NULL: nothing is to be saved. Not for programs that have more privileges than their user. */
static const char *directory(void)
{
	const char *name = secure_getenv("KSTATS_SAVE");

	return name && *name ? name : NULL;
}

/* --- a metric --- */

/* Names that the kernel or the user chose may have any bytes. */
static void write_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (const char *at = text; *at; at++) {
		const unsigned char c = (unsigned char)*at;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ' || c > '~')
			fputc('?', out);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void write_slots(FILE *out, const struct kstats *key, const struct kstats_shared_slot *slots)
{
	const char *separator = "";

	for (unsigned slot = 0; slot < BUCKET_SLOTS(key->frac_bits); slot++) {
		if (!slots[slot].count)
			continue;
		fprintf(out, "%s[%u,%" PRIu64 ",%" PRIu64 "]", separator, slot, slots[slot].count,
			slots[slot].sum);
		separator = ",";
	}
}

static bool has_counted(const struct kstats *key, const struct kstats_shared_slot *slots)
{
	for (unsigned slot = 0; slot < BUCKET_SLOTS(key->frac_bits); slot++)
		if (slots[slot].count)
			return true;
	return false;
}

static void write_rows(FILE *out, const struct kstats *key)
{
	struct kstats_shared_slot *slots = calloc(BUCKET_SLOTS(key->frac_bits), sizeof(*slots));
	const char *separator = "";

	for (unsigned cpu = 0; slots && cpu < key->cpus; cpu++) {
		if (kstats_read_cpus(key, cpu, 1, slots) < 0 || !has_counted(key, slots))
			continue;
		fprintf(out, "%s\n{\"id\":%u,\"slots\":[", separator, cpu);
		write_slots(out, key, slots);
		fputs("]}", out);
		separator = ",";
	}
	free(slots);
}

static void write_metric(FILE *out, const struct kstats *key)
{
	const struct kstats_shared_header *header = key->header;
	const struct kstats_recorded_time time = kstats_shared_recorded(header);
	const struct kstats_now now = kstats_clock();
	char host[256] = "", labels[sizeof(header->labels)], unit[sizeof(header->unit)];

	gethostname(host, sizeof(host) - 1);
	/* Others may write them meanwhile. */
	snprintf(labels, sizeof(labels), "%.*s", (int)sizeof(labels) - 1, header->labels);
	snprintf(unit, sizeof(unit), "%.*s", (int)sizeof(unit) - 1, header->unit);
	fprintf(out, "{\"name\":\"%s\",\"unit\":", key->name);
	write_string(out, header->is_time ? "ns" : unit);
	fprintf(out,
		",\"bits\":%u,\"by\":\"cpu\",\"instance\":\"%d\",\"recorder\":\"user\",\"host\":",
		key->frac_bits, (int)getpid());
	write_string(out, host);
	if (*labels) {
		fputs(",\"labels\":", out);
		write_string(out, labels);
	}
	fprintf(out,
		",\"cpus\":%u,\"active\":false,\"taken_ns\":%" PRIu64 ",\"overhead_ns\":%u,"
		"\"earlier\":0,\"began_ns\":%" PRIu64 ",\"recorded_ns\":%" PRIu64
		",\"losses\":{\"missed\":0,\"unmatched\":0,\"replaced\":0,\"recursive\":0,"
		"\"backwards\":0,\"full\":0},\"rows\":[",
		key->cpus, (uint64_t)now.epoch_ns, header->overhead_ns, (uint64_t)time.began_ns,
		(uint64_t)kstats_recorded_ns(&time, now));
	write_rows(out, key);
	fputs("]}", out);
}

void kstats_save_deleted(const struct kstats *key)
{
	struct deleted *kept;
	size_t length;
	FILE *out;

	if (!directory() || key->maker != getpid())
		return;
	kept = calloc(1, sizeof(*kept));
	out = kept ? open_memstream(&kept->text, &length) : NULL;
	if (!out) {
		free(kept);
		return;
	}
	write_metric(out, key);
	fclose(out);
	kept->maker = key->maker;
	kstats_metrics_lock();
	kept->next = deleted;
	deleted = kept;
	kstats_metrics_unlock();
}

/* --- the file --- */

static bool has_any(void)
{
	for (const struct kstats *key = kstats_metrics_first(); key; key = key->next)
		if (key->maker == getpid())
			return true;
	return deleted && deleted->maker == getpid();
}

static void write_all(FILE *out)
{
	const char *separator = "";

	fputs("{\"format\":\"ctprof-kstats\",\"version\":1,\"metrics\":[", out);
	for (const struct kstats *key = kstats_metrics_first(); key; key = key->next) {
		if (key->maker != getpid())
			continue;
		fprintf(out, "%s\n", separator);
		write_metric(out, key);
		separator = ",";
	}
	for (const struct deleted *at = deleted; at; at = at->next) {
		if (at->maker != getpid() || !at->text)
			continue;
		fprintf(out, "%s\n%s", separator, at->text);
		separator = ",";
	}
	fputs("]}\n", out);
}

/* A name of a program may hold whatever a file name may. */
static void safe_name(char *name)
{
	for (char *at = name; *at; at++)
		if (*at == '/' || *at < ' ')
			*at = '_';
}

/* Whole or not at all: under another name first. */
static int save(const char *where)
{
	char program[64], path[4096], unfinished[4096 + 8];
	FILE *out;
	int fd, failed;

	snprintf(program, sizeof(program), "%s", program_invocation_short_name);
	safe_name(program);
	snprintf(path, sizeof(path), "%s/%s-%d.kstats.json", where, program, (int)getpid());
	snprintf(unfinished, sizeof(unfinished), "%s.part", path);
	fd = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	write_all(out);
	failed = ferror(out);
	failed |= fclose(out);
	if (!failed && rename(unfinished, path) == 0)
		return 0;
	unlink(unfinished);
	return -1;
}

static __attribute__((destructor)) void save_at_exit(void)
{
	const char *where = directory();

	if (!where)
		return;
	kstats_metrics_lock();
	if (has_any() && save(where) < 0)
		fprintf(stderr, "libkstats: cannot save metrics to %s: %s\n", where,
			strerror(errno));
	kstats_metrics_unlock();
}

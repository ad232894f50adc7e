/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * push_bodies SINK PROFILE DIRECTORY [LABEL=VALUE...]: what an agent sends of an interval.
 *
 * SINK is "pyroscope", "otlp" or "parca", PROFILE a profile with names. Each request becomes the
 * file DIRECTORY/N.body, and N.json with its other members. Prints how many there were, their
 * bytes, and the CPU time of encoding in milliseconds. "REPEAT=N" in the environment: so often; the
 * files are those of the last.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/sink.h"
#include "base/json_writer.h"
#include "profile/files.h"

static const struct sink_type *const types[] = { &sink_pyroscope, &sink_otlp, &sink_parca };

struct bodies {
	const char *directory;
	size_t count;
	uint64_t bytes;
};

static void check(struct error *err)
{
	if (err) {
		fprintf(stderr, "%s\n", err->message);
		exit(1);
	}
}

static FILE *file_for(const struct bodies *bodies, const char *suffix)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%zu.%s", bodies->directory, bodies->count, suffix);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static struct error *write_file(void *file, const void *bytes, size_t length)
{
	fwrite(bytes, 1, length, file);
	return NULL;
}

static struct error *emit(void *context, const struct sink_request *request)
{
	struct bodies *bodies = context;
	FILE *file = file_for(bodies, "body");
	struct json_writer w;

	fwrite(request->body.bytes, 1, request->body.length, file);
	fclose(file);
	file = file_for(bodies, "json");
	check(json_writer_init(&w, write_file, file));
	json_object_begin(&w);
	json_key(&w, "target");
	json_string(&w, request->target);
	json_key(&w, "type");
	json_string(&w, request->content_type);
	json_key(&w, "encoding");
	json_string(&w, request->content_encoding);
	json_key(&w, "header");
	json_string(&w, request->header);
	json_key(&w, "count");
	json_u64(&w, request->count);
	json_object_end(&w);
	check(json_writer_finish(&w));
	json_writer_deinit(&w);
	fclose(file);
	bodies->count++;
	bodies->bytes += request->body.length;
	return NULL;
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* The resident memory now is the most from now on (proc(5), clear_refs). */
static void forget_peak(void)
{
	FILE *file;

	malloc_trim(0);
	file = fopen("/proc/self/clear_refs", "w");
	if (file) {
		fputs("5", file);
		fclose(file);
	}
}

/* VmHWM or VmRSS in KiB; 0: unknown. */
static long resident_kib(const char *key)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0)
			kib = atol(line + strlen(key));
	if (file)
		fclose(file);
	return kib;
}

int main(int argc, char **argv)
{
	const char *repeat = getenv("REPEAT"), *tenant = getenv("TENANT");
	const struct sink_options options = { .url = "http://127.0.0.1:1", .tenant = tenant };
	struct agent_label labels[64];
	struct agent_identity identity = { .host = "host-a", .version = "1", .labels = labels };
	struct agent_interval interval = { .identity = &identity,
					   .begun_unix_ns = 1790000000123456789,
					   .ns = 10000000000 };
	const struct sink_type *type = NULL;
	struct profile *profile = NULL;
	struct bodies bodies;
	double begun, spent;
	long before;
	int times = repeat ? atoi(repeat) : 1;
	void *sink;

	for (size_t i = 0; argc >= 4 && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i]->name, argv[1]) == 0)
			type = types[i];
	if (!type || argc > 4 + 64) {
		fprintf(stderr, "usage: push_bodies SINK PROFILE DIRECTORY [LABEL=VALUE...]\n");
		return 2;
	}
	for (int i = 4; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			return 2;
		*value = '\0';
		labels[identity.label_count++] = (struct agent_label){ argv[i], value + 1 };
	}
	check(profile_load(argv[2], &profile));
	interval.profile = profile;
	check(type->open(&options, &sink));
	forget_peak();
	before = resident_kib("VmRSS:");
	begun = cpu_ms();
	for (int i = 0; i < times; i++) {
		bodies = (struct bodies){ .directory = argv[3] };
		check(type->encode(sink, &interval, emit, &bodies));
	}
	spent = cpu_ms() - begun;
	type->close(sink);
	profile_destroy(profile);
	printf("%zu requests %llu bytes %.3f ms %ld KiB\n", bodies.count,
	       (unsigned long long)bodies.bytes, spent / times, resident_kib("VmHWM:") - before);
	return 0;
}

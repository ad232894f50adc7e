/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bad_stream KIND COUNT: a JSON text that is hostile in one way, COUNT times over, on standard
 * output. The text of a bomb has no end of its own; COUNT is how long it is.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "{\"captured_at_unix_ns\":1,"

static void repeat(const char *piece, uint64_t count)
{
	static char block[1 << 16];
	size_t length = strlen(piece), many = sizeof(block) / length;

	for (size_t i = 0; i < many; i++)
		memcpy(block + i * length, piece, length);
	for (; count >= many; count -= many)
		if (fwrite(block, length, many, stdout) != many)
			exit(0);
	fwrite(block, length, count, stdout);
}

static void zeros(uint64_t count)
{
	static const char block[1 << 16];

	for (; count; count -= count < sizeof(block) ? count : sizeof(block))
		if (!fwrite(block, count < sizeof(block) ? count : sizeof(block), 1, stdout))
			exit(0);
}

static void spaces(uint64_t count)
{
	fputs(HEAD, stdout);
	repeat(" ", count);
}

/* An array nobody asked for. */
static void unknown(uint64_t count)
{
	fputs(HEAD "\"unknown\":[0", stdout);
	repeat(",0", count);
	fputs("]}", stdout);
}

static void nested(uint64_t count)
{
	fputs(HEAD "\"unknown\":", stdout);
	repeat("[", count);
	repeat("]", count);
	fputs("}", stdout);
}

static void nested_objects(uint64_t count)
{
	fputs(HEAD "\"unknown\":", stdout);
	repeat("{\"a\":", count);
}

static void string(uint64_t count)
{
	fputs(HEAD "\"note\":\"", stdout);
	repeat("x", count);
	fputs("\"}", stdout);
}

/* A string that grows when it is decoded: a piece of input makes many bytes. */
static void escapes(uint64_t count)
{
	fputs(HEAD "\"note\":\"", stdout);
	repeat("\\u00e9", count);
	fputs("\"}", stdout);
}

static void name(uint64_t count)
{
	fputs(HEAD "\"", stdout);
	repeat("x", count);
	fputs("\":0}", stdout);
}

static void digits(uint64_t count)
{
	fputs("{\"captured_at_unix_ns\":1", stdout);
	repeat("0", count);
	fputs("}", stdout);
}

static void tiny_threads(uint64_t count)
{
	fputs(HEAD "\"threads\":[{\"tid\":1,\"tgid\":1}", stdout);
	for (uint64_t i = 2; i <= count; i++)
		printf(",{\"tid\":%llu,\"tgid\":1}", (unsigned long long)i);
	fputs("]}", stdout);
}

static void cgroups(uint64_t count)
{
	fputs(HEAD "\"threads\":[],\"cgroup_stats\":{\"/\":{}", stdout);
	for (uint64_t i = 0; i < count; i++)
		printf(",\"/%llx\":{}", (unsigned long long)i);
	fputs("}}", stdout);
}

static void processes(uint64_t count)
{
	fputs(HEAD "\"processes\":[{\"tgid\":1}", stdout);
	repeat(",{\"tgid\":1}", count);
	fputs("]}", stdout);
}

/* One map of many names, as memory.stat and smaps_rollup are. */
static void counts(uint64_t count)
{
	fputs(HEAD "\"cgroup_stats\":{\"/\":{\"memory\":{\"stat\":{\"first\":0", stdout);
	for (uint64_t i = 0; i < count; i++)
		printf(",\"%llx\":0", (unsigned long long)i);
	fputs("}}}}}", stdout);
}

static void cpus(uint64_t count)
{
	fputs(HEAD "\"threads\":[{\"tid\":1,\"tgid\":1,\"cpu_affinity\":[0", stdout);
	for (uint64_t i = 1; i < count; i++)
		printf(",%llu", (unsigned long long)i);
	fputs("]}]}", stdout);
}

/* As much as can be had for each thread: names, memory, a process, a cgroup. */
static void everything(uint64_t count)
{
	fputs(HEAD "\"threads\":[", stdout);
	for (uint64_t i = 1; i <= count; i++) {
		unsigned long long n = i;

		printf("%s{\"tid\":%llu,\"tgid\":%llu,\"comm\":\"%0100llx\",\"pcomm\":\"p%"
		       "0100llx\","
		       "\"cgroup\":\"/%0200llx\",\"smaps_rollup_kib\":{\"a\":1,\"b\":2,\"c\":3,"
		       "\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"%0300llx\":9}}",
		       i > 1 ? "," : "", n, n, n, n, n, n);
	}
	fputs("],\"cgroup_stats\":{", stdout);
	for (uint64_t i = 1; i <= count; i++)
		printf("%s\"/%0200llx\":{\"memory\":{\"stat\":{\"a\":1}}}", i > 1 ? "," : "",
		       (unsigned long long)i);
	fputs("},\"processes\":[", stdout);
	for (uint64_t i = 1; i <= count; i++)
		printf("%s{\"tgid\":%llu,\"exe\":\"/usr/bin/%0200llx\"}", i > 1 ? "," : "",
		       (unsigned long long)i, (unsigned long long)i);
	fputs("]}", stdout);
}

static const struct {
	const char *name;
	void (*write)(uint64_t count);
} kinds[] = {
	{ "zeros", zeros },
	{ "spaces", spaces },
	{ "unknown", unknown },
	{ "nested", nested },
	{ "nested-objects", nested_objects },
	{ "string", string },
	{ "escapes", escapes },
	{ "name", name },
	{ "digits", digits },
	{ "tiny-threads", tiny_threads },
	{ "cgroups", cgroups },
	{ "processes", processes },
	{ "counts", counts },
	{ "cpus", cpus },
	{ "everything", everything },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(argv[1], kinds[i].name) == 0) {
			kinds[i].write(strtoull(argv[2], NULL, 0));
			return fflush(stdout) ? 1 : 0;
		}
	fprintf(stderr, "usage: bad_stream KIND COUNT\n");
	return 2;
}

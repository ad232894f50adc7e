/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/spec.h"

#include <stdio.h>

#include "unit/unit.h"

/* "KIND file|group|name+offset|source:line" */
static void expect_spec(const char *written, const char *expected)
{
	struct text text = guarded(written, strlen(written));
	struct probe_spec spec;
	char said[512];

	expect_ok(probe_spec_parse(text, &spec));
	snprintf(said, sizeof(said), "%s %.*s|%.*s|%.*s+%lu|%.*s:%u", probe_kinds[spec.kind].word,
		 (int)spec.file.length, spec.file.bytes, (int)spec.group.length, spec.group.bytes,
		 (int)spec.name.length, spec.name.bytes, spec.offset, (int)spec.source.length,
		 spec.source.bytes, spec.line);
	assert_string_equal(said, expected);
	unguard(text);
}

static void expect_wrong(const char *written, const char *why)
{
	struct text text = guarded(written, strlen(written));
	struct probe_spec spec = { .line = 4711 };

	expect_error(probe_spec_parse(text, &spec), why);
	assert_int_equal(spec.line, 4711);
	unguard(text);
}

TEST(functions_of_the_kernel)
{
	expect_spec("kprobe:vfs_read", "kprobe ||vfs_read+0|:0");
	expect_spec("kprobe:vfs_read+0x1F", "kprobe ||vfs_read+31|:0");
	expect_spec("kprobe:vfs_read+12", "kprobe ||vfs_read+12|:0");
	expect_spec("kretprobe:tcp_*", "kretprobe ||tcp_*+0|:0");
	expect_spec("kprobe:/^vfs_(read|write)$/", "kprobe ||/^vfs_(read|write)$/+0|:0");
	expect_spec("kprobe:/a+1/", "kprobe ||/a+1/+0|:0");
	expect_wrong("kretprobe:vfs_read+4", "only kprobe and uprobe can have an offset");
	expect_wrong("kprobe:vfs_*+4", "not a pattern");
	expect_wrong("kprobe:vfs_read+4x", "the offset is not a number");
	expect_wrong("kprobe:", "the function is missing");
}

TEST(functions_of_files)
{
	expect_spec("uprobe:c:malloc", "uprobe c||malloc+0|:0");
	expect_spec("uprobe:malloc", "uprobe ||malloc+0|:0");
	expect_spec("uprobe:/usr/bin/bash:readline+4", "uprobe /usr/bin/bash||readline+4|:0");
	expect_spec("uretprobe:libc.so.6:*alloc", "uretprobe libc.so.6||*alloc+0|:0");
	expect_spec("uprobe:/opt/x:ns::function*", "uprobe /opt/x||ns::function*+0|:0");
	expect_spec("uprobe:ns::function", "uprobe ||ns::function+0|:0");
	expect_spec("uprobe:x:ns::inner::function", "uprobe x||ns::inner::function+0|:0");
	expect_spec("uprobe:/^read/", "uprobe ||/^read/+0|:0");
	expect_spec("uprobe:/usr/bin/bash:/^read/", "uprobe /usr/bin/bash||/^read/+0|:0");
	expect_spec("uprobe:x:operator+", "uprobe x||operator++0|:0");
	expect_spec("uprobe:x:operator+=", "uprobe x||operator+=+0|:0");
	expect_wrong("uprobe:/usr/bin/bash", "the function after the path is missing");
	expect_wrong("uprobe:/usr/bin/bash:", "the function is missing");
	expect_wrong("uprobe::f", "the file before ':' is missing");
	expect_spec("uret:/opt/x:ns::function*", "uret /opt/x||ns::function*+0|:0");
	expect_wrong("uretprobe:x:f+4", "only kprobe and uprobe can have an offset");
	expect_wrong("uret:x:f+4", "only kprobe and uprobe can have an offset");
	/* Methods of Go. */
	expect_spec("uprobe:./x:main.(*S).Handle+4", "uprobe ./x||main.(*S).Handle+4|:0");
	expect_spec("uret:./x:main.(*S).Handle", "uret ./x||main.(*S).Handle+0|:0");
	expect_wrong("uprobe:./x:main.(*).Handle+4", "not a pattern");
	expect_wrong("uprobe:./x:main.(*S).*+4", "not a pattern");
}

TEST(lines_of_sources)
{
	expect_spec("uprobe:server.c:120", "uprobe ||+0|server.c:120");
	expect_spec("uprobe:net/server.cc:120", "uprobe ||+0|net/server.cc:120");
	expect_spec("uprobe:/opt/x:server.c:120", "uprobe /opt/x||+0|server.c:120");
	expect_spec("uprobe:libx.so:server.c:1", "uprobe libx.so||+0|server.c:1");
	expect_spec("uprobe:/opt/x:/src/server.c:7", "uprobe /opt/x||+0|/src/server.c:7");
	expect_spec("uprobe:/src/server.c:7", "uprobe ||+0|/src/server.c:7");
	/* No dot, no source. */
	expect_spec("uprobe:x:120", "uprobe x||120+0|:0");
}

TEST(tracepoints)
{
	expect_spec("tracepoint:sched:sched_switch", "tracepoint |sched|sched_switch+0|:0");
	expect_spec("tracepoint:*:*exec*", "tracepoint |*|*exec*+0|:0");
	expect_wrong("tracepoint:sched", "tracepoint:CATEGORY:NAME");
	expect_wrong("tracepoint::x", "tracepoint:CATEGORY:NAME");
	expect_wrong("tracepoint:x:", "tracepoint:CATEGORY:NAME");
}

TEST(tracepoints_of_files)
{
	expect_spec("usdt:/usr/bin/python3:line", "usdt /usr/bin/python3||line+0|:0");
	expect_spec("usdt:c:libc:setjmp", "usdt c|libc|setjmp+0|:0");
	expect_wrong("usdt:/usr/bin/python3", "usdt:FILE:[PROVIDER:]NAME");
	expect_wrong("usdt:c:libc:", "usdt:FILE:[PROVIDER:]NAME");
}

TEST(other_texts)
{
	char longer[PROBE_SPEC_MAX + 10];

	expect_wrong("", "KIND:LOCATION");
	expect_wrong("vfs_read", "KIND:LOCATION");
	expect_wrong("kprob:vfs_read", "did you mean 'kprobe'?");
	expect_wrong("completely:different",
		     "unknown kind of probe 'completely' (kprobe, kretprobe, uprobe");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	expect_wrong(longer, "at most 4096 bytes");
}

static bool matches(const char *pattern, const char *name)
{
	struct probe_pattern *compiled;
	bool result;

	expect_ok(probe_pattern_create(text_of(pattern), &compiled));
	result = probe_pattern_matches(compiled, name);
	probe_pattern_destroy(compiled);
	return result;
}

TEST(patterns)
{
	struct probe_pattern *pattern;

	assert_true(matches("vfs_read", "vfs_read"));
	assert_false(matches("vfs_read", "vfs_readv"));
	assert_true(matches("vfs_*", "vfs_readv"));
	assert_false(matches("vfs_*", "xvfs_readv"));
	assert_true(matches("vfs_rea?", "vfs_read"));
	assert_true(matches("vfs_[rw]*", "vfs_write"));
	assert_true(matches("/read$/", "vfs_read"));
	assert_false(matches("/^read/", "vfs_read"));
	assert_true(matches("/^(a|b)+$/", "abba"));
	assert_true(matches("", "anything"));
	assert_true(matches("ns::operator[]", "ns::operator[]"));
	assert_true(matches("f<int*>", "f<int*>"));
	expect_error(probe_pattern_create(TEXT("/(/"), &pattern), "'/(/': ");
}

UNIT_TESTS(cmocka_unit_test(functions_of_the_kernel), cmocka_unit_test(functions_of_files),
	   cmocka_unit_test(lines_of_sources), cmocka_unit_test(tracepoints),
	   cmocka_unit_test(tracepoints_of_files), cmocka_unit_test(other_texts),
	   cmocka_unit_test(patterns))

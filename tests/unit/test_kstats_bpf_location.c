/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/bpf_location.h"

#include <asm/unistd.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "kstats/bpf_config.h"
#include "os/tasks.h"
#include "unit/kstats_scene.h"

static struct kstats_spec spec_of(const char *start, const char *end)
{
	return (struct kstats_spec){ .name = (char *)(uintptr_t) "m",
				     .start = (char *)(uintptr_t)start,
				     .end = (char *)(uintptr_t)end };
}

static struct kstats_locations found(const char *start, const char *end)
{
	const struct kstats_spec spec = spec_of(start, end);
	struct kstats_locations places = { 0 };

	expect_ok(kstats_locations_find(&spec, &places));
	return places;
}

static void refused(const char *start, const char *end, int code, const char *piece)
{
	const struct kstats_spec spec = spec_of(start, end);
	struct kstats_locations places = { 0 };

	struct error *err = kstats_locations_find(&spec, &places);

	assert_non_null(err);
	assert_int_equal(err->errnum, code);
	if (!strstr(err->message, piece))
		fail_msg("%s", err->message);
	error_destroy(err);
	kstats_locations_clear(&places);
}

/* Both ways may be taken, and both ends of a call in the same one. */
static void functions(void **state)
{
	struct kstats_locations places = found("vfs_read", NULL);

	(void)state;
	assert_int_equal(places.start.kind, PLACE_FUNCTION);
	assert_string_equal(places.end.name, "vfs_read");
	assert_true(places.is_call && places.is_alone && places.end.is_return);
	assert_true(places.end.by_trampoline && places.end.by_kprobe);
	kstats_locations_clear(&places);

	places = found("vfs_read", "kretprobe:vfs_read");
	assert_true(places.is_call && !places.is_alone);
	assert_true(!places.start.by_trampoline && places.start.by_kprobe);
	kstats_locations_clear(&places);

	places = found("vfs_read", "vfs_write");
	assert_true(!places.is_call && !places.end.is_return);
	kstats_locations_clear(&places);
}

/* Where a call and its function have other names, that of the call is meant. */
static void system_calls(void **state)
{
	struct kstats_locations places = found("syscall:read", NULL);

	(void)state;
	assert_int_equal(places.start.syscall, __NR_read);
	assert_true(places.is_call && !places.start.is_return && places.end.is_return);
	kstats_locations_clear(&places);

	places = found("syscall:fstat", "syscall:fstat");
	assert_true(places.is_call && !places.is_alone);
	assert_non_null(strstr(places.end.name, "_sys_newfstat"));
	kstats_locations_clear(&places);

	places = found("tracepoint:syscalls:sys_enter_read", "tracepoint:syscalls:sys_exit_write");
	assert_int_equal(places.start.syscall, __NR_read);
	assert_int_equal(places.end.syscall, __NR_write);
	assert_true(!places.is_call && places.end.is_return);
	kstats_locations_clear(&places);
}

static void tracepoints(void **state)
{
	struct kstats_locations places =
		found("__tracepoint_sched_waking", "__tracepoint_sched_switch");

	(void)state;
	assert_int_equal(places.start.kind, PLACE_TRACEPOINT);
	assert_string_equal(places.end.name, "sched_switch");
	kstats_locations_clear(&places);
}

static void programs(void **state)
{
	struct kstats_locations places = found("uprobe:/proc/self/exe:main", NULL);

	(void)state;
	assert_int_equal(places.start.kind, PLACE_PROGRAM);
	assert_true(places.is_call && places.end.is_return);
	assert_int_equal(places.end.points->items[0].kind, PROBE_URETPROBE);
	assert_true(places.end.points->items[0].offset == places.start.points->items[0].offset);
	kstats_locations_clear(&places);
}

/* A kretprobe has no arguments: where they are the key, only fexit will do. */
static void arguments_at_a_return(void **state)
{
	struct kstats_spec spec = spec_of("vfs_read", NULL);
	struct kstats_locations places = { 0 };
	struct kstats_site start = { 0 }, end = { 0 };
	struct error *err;

	(void)state;
	spec.key = KSTATS_KEY_ARGUMENT;
	spec.argument = 2;
	expect_ok(kstats_locations_find(&spec, &places));
	assert_true(places.start.by_trampoline && places.end.by_trampoline);
	assert_false(places.end.by_kprobe);
	expect_ok(kstats_locations_key(&spec, &places, NULL, &start, &end));
	assert_int_equal(end.argument, 2);
	kstats_locations_clear(&places);

	spec = spec_of("kprobe:vfs_read", "kretprobe:vfs_read");
	spec.key = KSTATS_KEY_ARGUMENT;
	spec.argument = 2;
	expect_ok(kstats_locations_find(&spec, &places));
	err = kstats_locations_key(&spec, &places, NULL, &start, &end);
	assert_non_null(err);
	assert_int_equal(err->errnum, EINVAL);
	assert_non_null(strstr(err->message, "unavailable at a return"));
	error_destroy(err);
	kstats_locations_clear(&places);

	/* Of a pair of calls both have theirs. */
	spec = spec_of("vfs_read", "vfs_write");
	spec.key = KSTATS_KEY_ARGUMENT;
	expect_ok(kstats_locations_find(&spec, &places));
	assert_true(places.start.by_kprobe && places.end.by_kprobe);
	kstats_locations_clear(&places);
}

static void expect_obstacle(const char *name, const char *said)
{
	struct kstats_location place = { .kind = PLACE_FUNCTION, .name = (char *)(uintptr_t)name };
	struct error *err = kstats_location_obstacle(&place, "start");

	assert_non_null(err);
	assert_int_equal(err->errnum, ENOENT);
	assert_string_equal(err->message, said);
	error_destroy(err);
}

/* In the words of who asked; of a system call its name is near. */
static void functions_that_are_not_there(void **state)
{
	(void)state;
	if (access("/proc/kallsyms", R_OK))
		skip();
	expect_obstacle(
		"nanosleep",
		"the kernel has no function 'nanosleep'; did you mean 'start syscall:nanosleep'?");
	expect_obstacle("qq_nothing_is_called_so_qq",
			"the kernel has no function 'qq_nothing_is_called_so_qq'");
}

static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* Above PID_MAX_LIMIT (include/linux/threads.h). */
#define NO_PROCESS 4194305

/* What was asked for can be told by what programs were told. */
static void what_was_asked_for(void **state)
{
	struct kstats_spec spec = spec_of("syscall:read", NULL);
	struct kstats_locations places = found("syscall:read", NULL);
	struct kstats_config *config = calloc(1, sizeof(*config));
	struct kstats_scope scope = { 0 };

	(void)state;
	expect_ok(kstats_config_make(&spec, &places, config));
	expect_ok(kstats_config_scope(config, &scope));
	assert_string_equal(scope.key, "task");
	for (unsigned i = 0; i < KSTATS_FILTER_COUNT; i++)
		assert_null(scope.only[i]);
	kstats_scope_clear(&scope);

	memset(config, 0, sizeof(*config));
	spec.key = KSTATS_KEY_ARGUMENT;
	spec.argument = 1;
	spec.end_argument = 3;
	spec.tgid = NO_PROCESS;
	spec.comm = word("fifteen bytes !");
	spec.cpus = word("0,0");
	expect_ok(kstats_config_make(&spec, &places, config));
	expect_ok(kstats_config_scope(config, &scope));
	assert_string_equal(scope.key, "arg1,arg3");
	assert_string_equal(scope.only[KSTATS_FILTER_PID], "4194305 (ended)");
	assert_string_equal(scope.only[KSTATS_FILTER_COMM], "fifteen bytes !");
	assert_string_equal(scope.only[KSTATS_FILTER_CPUS], "0");
	assert_null(scope.only[KSTATS_FILTER_CGROUP]);
	kstats_scope_clear(&scope);

	/* A cgroup that nobody finds any more is still said to be one. */
	memset(config, 0, sizeof(*config));
	config->cgroup = UINT64_MAX - 1;
	config->key = KSTATS_KEY_CPU;
	expect_ok(kstats_config_scope(config, &scope));
	assert_string_equal(scope.key, "cpu");
	assert_string_equal(scope.only[KSTATS_FILTER_CGROUP], "18446744073709551614 (removed)");
	kstats_scope_clear(&scope);
	kstats_locations_clear(&places);
	free(config);
}

/* For us alone, the host says that it has so many threads. False where that cannot be arranged. */
static bool pretend_threads(struct scratch *scratch, const char *loadavg)
{
	const char *path = scratch_path(scratch, "loadavg");

	scratch_write(scratch, "loadavg", text_of(loadavg));
	return !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount(path, TASKS_LOADAVG, NULL, MS_BIND, NULL);
}

/* 70,000 threads are not the 4,464 that sysinfo(2) tells of. */
static void each_thread_has_room_for_a_start(void **state)
{
	struct kstats_spec spec = spec_of("syscall:read", NULL);
	struct kstats_locations places = found("syscall:read", NULL);
	struct kstats_config *config = calloc(1, sizeof(*config));
	struct scratch scratch;
	bool is_arranged;

	(void)state;
	scratch_init(&scratch);
	is_arranged = pretend_threads(&scratch, "0.20 0.18 0.12 1/70000 11206\n");
	if (is_arranged) {
		expect_ok(kstats_config_make(&spec, &places, config));
		assert_int_equal(umount(TASKS_LOADAVG), 0);
		assert_int_equal(config->set_bits, 17);
	}
	kstats_locations_clear(&places);
	free(config);
	scratch_deinit(&scratch);
	if (!is_arranged)
		skip();
}

static void what_is_no_place(void **state)
{
	static char longest[KSTATS_TEXT_MAX + 1];

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	refused("vfs read", NULL, EINVAL, "invalid kernel name");
	refused("vfs_read+4", NULL, EINVAL, "invalid kernel name");
	refused("nothing:x", NULL, EINVAL, "expected one of: FUNCTION");
	refused("fentry:", NULL, EINVAL, "missing name");
	refused("tracepoint:sched", "x", EINVAL, "expected tracepoint:CATEGORY:NAME");
	refused("__tracepoint_sched_waking", NULL, EINVAL, "give an end");
	refused("fexit:vfs_read", NULL, EINVAL, "give an end");
	refused("fentry:f", "kretprobe:f", EINVAL, "by fentry and fexit, or by kprobe");
	refused("syscall:reed", NULL, ENOENT, "did you mean 'read'?");
	refused("uprobe:/no/such/file:f", NULL, ENOENT, "/no/such/file");
	refused("uprobe:/proc/self/exe:no_such_function_", NULL, ENOENT, "matches nothing");
	refused(longest, NULL, ENAMETOOLONG, "1023 bytes");
}

UNIT_TESTS(cmocka_unit_test(functions), cmocka_unit_test(system_calls),
	   cmocka_unit_test(tracepoints), cmocka_unit_test(programs),
	   cmocka_unit_test(arguments_at_a_return), cmocka_unit_test(what_was_asked_for),
	   cmocka_unit_test(each_thread_has_room_for_a_start),
	   cmocka_unit_test(functions_that_are_not_there), cmocka_unit_test(what_is_no_place))

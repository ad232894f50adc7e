/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics that come and go, those that cannot be, and what they leave behind: nothing.
 */
#include <kstats.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/kstats_own.h"
#include "unit/unit.h"

/* Descriptors and mappings that the process has of metrics. */
static unsigned count_open(void)
{
	DIR *stream = opendir("/proc/self/fd");
	struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(stream))) {
		char target[128] = "";

		count += readlinkat(dirfd(stream), entry->d_name, target, sizeof(target) - 1) > 0 &&
			 strstr(target, "kstats:");
	}
	closedir(stream);
	return count;
}

static unsigned count_mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned count = 0;
	char line[4096];

	while (fgets(line, sizeof(line), maps))
		count += !!strstr(line, "memfd:kstats:");
	fclose(maps);
	return count;
}

static void expect_none(struct kstats *key, int failed)
{
	assert_null(key);
	assert_int_equal(errno, failed);
}

TEST(names_and_bits_that_cannot_be)
{
	static const char *const names[] = { "",         "a/b", "..",         "a b",  "GAP-a",
					     "gap-a",    "-a",  "a\n",        "\x80", "a.b",
					     "_control", "a:b", "caf\xc3\xa9" };
	char name[65] = "";

	for (size_t i = 0; i < array_length(names); i++)
		expect_none(kstats_new(names[i], 3), EINVAL);
	expect_none(kstats_new(NULL, 3), EINVAL);
	expect_none(kstats_new("bits", 6), EINVAL);
	expect_none(kstats_new("bits", (unsigned)-1), EINVAL);
	memset(name, 'n', 64);
	expect_none(kstats_new(name, 3), ENAMETOOLONG);
	assert_int_equal(count_open() + count_mapped(), 0);
}

TEST(names_that_can_be)
{
	static const char *const names[] = {
		"a", "_control2", "control", "GAP", "GAPa", "9-_z", "_"
	};
	char name[64] = "";
	struct kstats *key;

	memset(name, 'N', 63);
	for (size_t i = 0; i <= array_length(names); i++) {
		const char *one = i < array_length(names) ? names[i] : name;

		key = kstats_new(one, 0);
		assert_non_null(key);
		kstats_record(key, 1);
		assert_true(kstats_total_of_own(one).count == 1);
		expect_ok(kstats_name_check(one));
		kstats_delete(key);
	}
	assert_int_equal(count_open() + count_mapped(), 0);
}

TEST(a_name_is_given_once)
{
	struct kstats *key = kstats_new("twice", 3), *again;

	expect_none(kstats_new("twice", 3), EEXIST);
	expect_none(kstats_new_time("twice", 0), EEXIST);
	assert_int_equal(count_open(), 1);
	assert_int_equal(count_mapped(), 1);
	kstats_delete(key);
	again = kstats_new("twice", 3);
	assert_non_null(again);
	kstats_delete(again);
}

TEST(without_a_metric_nothing_happens)
{
	kstats_record(NULL, 1);
	kstats_delete(NULL);
}

/* `limit` of a child; it must see `failed`, and have its metric once the limit is gone. */
static void expect_limited(int resource, rlim_t limit, int failed)
{
	struct rlimit before, less;
	int status;
	pid_t child = fork();

	if (!child) {
		getrlimit(resource, &before);
		less = (struct rlimit){ limit, before.rlim_max };
		setrlimit(resource, &less);
		if (kstats_new("limited", 3) || errno != failed)
			_exit(1);
		setrlimit(resource, &before);
		_exit(count_open() || count_mapped() || !kstats_new("limited", 3));
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

TEST(limits_are_errors)
{
	expect_limited(RLIMIT_NOFILE, 3, EMFILE);
	expect_limited(RLIMIT_FSIZE, 4096, EFBIG);
}

/* Of the mapping of a metric, in KiB, as smaps has it. */
static long mapped_kib(const char *label)
{
	FILE *maps = fopen("/proc/self/smaps", "re");
	bool is_ours = false;
	char line[4096];
	long kib = -1;

	while (kib < 0 && fgets(line, sizeof(line), maps)) {
		is_ours |= !!strstr(line, "memfd:kstats:locked");
		if (is_ours && strncmp(line, label, strlen(label)) == 0)
			kib = strtol(line + strlen(label), NULL, 10);
	}
	fclose(maps);
	return kib;
}

#define CANNOT_LOCK 77

/* QEMU's user mode does nothing at madvise(). */
static bool is_populating(void)
{
	const size_t length = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char is_there;

	return page != MAP_FAILED && !madvise(page, length, MADV_POPULATE_WRITE) &&
	       !mincore(page, length, &is_there) && is_there & 1;
}

static int make_locked(void)
{
	struct kstats *key;
	long rss;

	/* Sanitizers make nothing of mlockall(). */
	if (!is_populating() || syscall(SYS_mlockall, MCL_FUTURE))
		return CANNOT_LOCK;
	key = kstats_new("locked", 3);
	if (!key)
		return 1;
	/* A header and 6 parts of a table for each CPU, of which one part is ready. */
	if (mapped_kib("Size:") != 4 + 6 * 8 * sysconf(_SC_NPROCESSORS_CONF))
		return 2;
	rss = mapped_kib("Rss:");
	if (rss < 4 + 8 || rss > 4 + 8 * sysconf(_SC_NPROCESSORS_CONF))
		return 3;
	kstats_record(key, 1);
	return mapped_kib("Locked:") < rss ? 4 : 0;
}

/* A program that locks its memory has as little of it as any other. */
TEST(only_used_memory_is_locked)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(make_locked());
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_LOCK) {
		print_message("memory cannot be locked here\n");
		skip();
		return;
	}
	assert_int_equal(status, 0);
}

/* A daemon that closes all that is open counts on; and its next file is not the library's. */
TEST(descriptors_may_be_closed_and_used_again)
{
	struct kstats *key = kstats_new("daemon", 3);
	struct kstats_table *table;
	struct error *err;
	int first = 3, other;

	for (char path[64], target[64] = ""; !strstr(target, "kstats:daemon"); first++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", first);
		if (readlink(path, target, sizeof(target) - 1) < 0)
			target[0] = 0;
	}
	close(--first);
	other = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(other, first);
	kstats_record(key, 1);
	err = kstats_user.read(kstats_own_name("daemon"), &table);
	if (err) {
		/* Its mapping is for root alone. */
		assert_int_equal(err->errnum, ENOENT);
		expect_error(err, "only root");
	} else {
		assert_int_equal(table->rows.count, 1);
		kstats_table_destroy(table);
	}
	kstats_delete(key);
	assert_int_equal(fcntl(other, F_GETFD), FD_CLOEXEC);
	close(other);
}

TEST(many_metrics_are_listed_each_once)
{
	struct kstats_entries entries = { 0 };
	struct kstats *keys[20];
	unsigned seen = 0, ours;
	pid_t child;

	for (unsigned i = 0; i < array_length(keys); i++) {
		char name[16];

		snprintf(name, sizeof(name), "many%u", i);
		keys[i] = kstats_new(name, i % 6);
		assert_int_equal(kstats_describe(keys[i], i % 2 ? "bytes" : NULL, NULL), 0);
		for (unsigned record = 0; record <= i; record++)
			kstats_record(keys[i], record);
	}
	/* Another process that has the same. */
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	expect_ok(kstats_user.list(&entries));
	for (size_t i = 0; i < entries.count; i++) {
		const char *many = strstr(entries.items[i].name, ":many");

		if (!many || strtol(entries.items[i].name, NULL, 10) != getpid())
			continue;
		ours = (unsigned)strtoul(many + 5, NULL, 10);
		assert_true(entries.items[i].count == ours + 1);
		assert_true(entries.items[i].is_active);
		assert_string_equal(entries.items[i].unit, ours % 2 ? "bytes" : "");
		seen++;
	}
	assert_int_equal(seen, array_length(keys));
	kstats_entries_clear(&entries);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (unsigned i = 0; i < array_length(keys); i++)
		kstats_delete(keys[i]);
	assert_int_equal(count_open() + count_mapped(), 0);
}

TEST(metrics_that_are_not_there)
{
	static const char *const names[] = {
		"nothing",    "0:nothing", ":nothing", "4294967295:nothing",
		"1x:nothing", "1:",        "1:a/b",    "99999999999:a"
	};
	struct kstats_table *table;
	struct error *err;

	for (size_t i = 0; i < array_length(names); i++) {
		err = kstats_user.read(names[i], &table);
		assert_non_null(err);
		assert_int_equal(err->errnum, ENOENT);
		error_destroy(err);
	}
	err = kstats_user.command(kstats_own_name("nothing"), KSTATS_STOP);
	assert_int_equal(err->errnum, ENOENT);
	expect_error(err, "has no metric 'nothing'");
	assert_null(kstats_user.trace);
	assert_null(kstats_user.remove);
}

UNIT_TESTS(cmocka_unit_test(names_and_bits_that_cannot_be), cmocka_unit_test(names_that_can_be),
	   cmocka_unit_test(a_name_is_given_once),
	   cmocka_unit_test(without_a_metric_nothing_happens), cmocka_unit_test(limits_are_errors),
	   cmocka_unit_test(only_used_memory_is_locked),
	   cmocka_unit_test(descriptors_may_be_closed_and_used_again),
	   cmocka_unit_test(many_metrics_are_listed_each_once),
	   cmocka_unit_test(metrics_that_are_not_there))

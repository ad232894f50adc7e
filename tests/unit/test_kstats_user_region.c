/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of programs that mean harm: it is refused, or read as nonsense, and no more.
 */
#include "kstats/user_region.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "os/cpulist.h"
#include "unit/kstats_own.h"
#include "unit/unit.h"

/* The number of values in a region. */
static struct error *count_region(struct kstats_region *region, uint64_t *ret)
{
	struct kstats_distribution sum;
	struct error *err = kstats_region_add_up(region, &sum);

	if (err)
		return err;
	*ret = sum.count;
	kstats_distribution_clear(&sum);
	return NULL;
}

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static const struct kstats_shared_header good = {
	.magic = "kstats\r",
	.version = KSTATS_SHARED_VERSION,
	.frac_bits = 1,
	.cpus = 2,
	.overhead_ns = 20,
	.name = "made",
};

/* As a program would make it, but for what a test wants otherwise. */
static int make_file(struct kstats_shared_header header, off_t size, int seals)
{
	int fd;

	/* Most are of a host with CPU 1. */
	if (header.cpus == good.cpus && cpus_possible() == 1)
		skip();
	fd = memfd_create("kstats:made", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	header.magic[7] = '\n';
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_true(pwrite(fd, &header, sizeof(header), 0) > 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static off_t good_size(void)
{
	return (off_t)kstats_shared_size(good.frac_bits, good.cpus);
}

static void expect_refused(int fd, const char *why)
{
	struct kstats_region region;
	struct error *err = kstats_region_map(fd, true, &region);

	assert_non_null(err);
	assert_int_equal(err->errnum, EPROTO);
	expect_error(err, why);
	/* It is closed. */
	assert_true(fcntl(fd, F_GETFD) < 0);
}

static void expect_header_refused(struct kstats_shared_header header, const char *why)
{
	expect_refused(make_file(header, good_size(), SEALS), why);
}

static struct kstats_region map_good(int fd)
{
	struct kstats_region region;

	expect_ok(kstats_region_map(fd, true, &region));
	return region;
}

static void set_slot(int fd, unsigned part, unsigned cpu, unsigned slot, uint64_t count,
		     uint64_t sum)
{
	const struct kstats_shared_slot value = { count, sum };
	size_t table = kstats_shared_table(good.frac_bits, good.cpus, part, cpu);

	assert_true(pwrite(fd, &value, sizeof(value), (off_t)(table + slot * sizeof(value))) > 0);
}

TEST(a_good_one_is_read)
{
	struct kstats_region region = map_good(make_file(good, good_size(), SEALS));
	struct kstats_table *table;
	uint64_t count;

	assert_string_equal(region.header.name, "made");
	assert_true(kstats_region_is_active(&region));
	set_slot(region.fd, KSTATS_PART_OWN, 1, 5, 10, 60);
	set_slot(region.fd, KSTATS_PART_ATOMIC, 1, 5, 1, 6);
	set_slot(region.fd, KSTATS_PART_ATOMIC, 0, BUCKET_SLOTS(1) - 2, 3, 4);
	set_slot(region.fd, kstats_shared_forgotten(KSTATS_PART_OWN, 0), 1, 5, 4, 24);
	expect_ok(kstats_table_create("made", 1, "", &table));
	expect_ok(kstats_region_read(&region, SIZE_MAX, table));
	assert_int_equal(table->rows.count, 2);
	assert_true(table->rows.items[0].slots[BUCKET_SLOTS(1) - 2].count == 3);
	assert_true(table->rows.items[1].slots[5].count == 7);
	assert_true(table->rows.items[1].slots[5].sum == 42);
	expect_ok(count_region(&region, &count));
	assert_true(count == 10);
	kstats_table_destroy(table);
	kstats_region_unmap(&region);
}

TEST(files_that_could_end_us_are_refused)
{
	struct scratch scratch;
	int pipes[2], fd;

	expect_refused(make_file(good, good_size(), 0), "may shrink");
	expect_refused(make_file(good, good_size(), F_SEAL_GROW), "may shrink");
	expect_refused(make_file(good, 0, SEALS & ~F_SEAL_GROW), "its size");
	expect_refused(make_file(good, 4095, SEALS), "its size");
	expect_refused(make_file(good, (off_t)1 << 40, SEALS), "its size");
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	expect_refused(pipes[0], "no memfd");
	close(pipes[1]);
	scratch_init(&scratch);
	scratch_write(&scratch, "file", (struct text){ (const char *)&good, sizeof(good) });
	fd = open(scratch_path(&scratch, "file"), O_RDWR | O_CLOEXEC);
	expect_refused(fd, "memory");
	scratch_deinit(&scratch);
	fd = memfd_create("kstats:made", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	if (fd >= 0)
		expect_refused(fd, "no memfd");
}

TEST(sizes_that_are_not_those_of_the_tables_are_refused)
{
	struct kstats_shared_header header = good;

	expect_refused(make_file(good, good_size() - 4096, SEALS), "tables");
	expect_refused(make_file(good, good_size() + 1, SEALS), "tables");
	header.cpus = 3;
	expect_header_refused(header, "tables");
	header.cpus = 0;
	expect_header_refused(header, "bits or CPUs");
	header.cpus = KSTATS_SHARED_CPUS_MAX + 1;
	expect_header_refused(header, "bits or CPUs");
	header.cpus = UINT32_MAX;
	expect_header_refused(header, "bits or CPUs");
	header = good;
	header.frac_bits = 6;
	expect_header_refused(header, "bits or CPUs");
	header.frac_bits = UINT32_MAX;
	expect_header_refused(header, "bits or CPUs");
	header.frac_bits = 5;
	expect_header_refused(header, "tables");
}

TEST(other_contents_are_refused)
{
	struct kstats_shared_header header = good;

	header.magic[0] = 'K';
	expect_header_refused(header, "begins");
	header = good;
	header.version++;
	expect_header_refused(header, "version 2");
	header = good;
	header.name[0] = 0;
	expect_header_refused(header, "name");
	strcpy(header.name, "a/b");
	expect_header_refused(header, "name");
	memset(header.name, 'n', sizeof(header.name));
	expect_header_refused(header, "name");
}

/* Counts that were forgotten and never were, or that are more than a number can say. */
TEST(counts_that_cannot_be_are_errors)
{
	struct kstats_region region = map_good(make_file(good, good_size(), SEALS));
	struct kstats_table *table;
	uint64_t count = 7;

	expect_ok(kstats_table_create("made", 1, "", &table));
	set_slot(region.fd, KSTATS_PART_OWN, 0, 1, UINT64_MAX, 0);
	expect_ok(kstats_region_read(&region, SIZE_MAX, table));
	set_slot(region.fd, KSTATS_PART_OWN, 0, 2, 1, 0);
	expect_error(kstats_region_read(&region, SIZE_MAX, table), "counts");
	expect_error(count_region(&region, &count), "counts");
	assert_true(count == 7);
	set_slot(region.fd, KSTATS_PART_OWN, 0, 1, 3, 0);
	set_slot(region.fd, kstats_shared_forgotten(KSTATS_PART_OWN, 0), 0, 1, 4, 0);
	expect_error(kstats_region_read(&region, SIZE_MAX, table), "counts");
	set_slot(region.fd, KSTATS_PART_OWN, 0, 1, 0, 0);
	set_slot(region.fd, kstats_shared_forgotten(KSTATS_PART_OWN, 0), 0, 1, 0, 0);
	/* A file with the slot that no value reaches could not be read again. */
	set_slot(region.fd, KSTATS_PART_OWN, 1, BUCKET_SLOTS(1) - 1, 1, 0);
	expect_error(kstats_region_read(&region, SIZE_MAX, table), "counts");
	kstats_table_destroy(table);
	kstats_region_unmap(&region);
}

TEST(rows_have_a_limit)
{
	struct kstats_region region = map_good(make_file(good, good_size(), SEALS));
	struct kstats_table *table;
	struct error *err;

	set_slot(region.fd, KSTATS_PART_OWN, 0, 1, 1, 1);
	set_slot(region.fd, KSTATS_PART_OWN, 1, 1, 1, 1);
	expect_ok(kstats_table_create("made", 1, "", &table));
	err = kstats_region_read(&region, 1, table);
	assert_int_equal(err->errnum, ENOSPC);
	expect_error(err, "more than 1 CPUs");
	expect_ok(kstats_region_read(&region, 2, table));
	assert_int_equal(table->rows.count, 2);
	/* Both tables, of a page each, in both readings. */
	assert_true(region.looked_at == (uint64_t)4 * KSTATS_SHARED_UNIT);
	kstats_table_destroy(table);
	kstats_region_unmap(&region);
}

static struct error *map_for(unsigned cpus, struct kstats_region *ret)
{
	struct kstats_shared_header header = good;

	header.cpus = cpus;
	return kstats_region_map(make_file(header, (off_t)kstats_shared_size(1, cpus), SEALS), true,
				 ret);
}

static void expect_too_many(unsigned cpus)
{
	struct kstats_region region;
	struct error *err = map_for(cpus, &region);

	assert_non_null(err);
	assert_int_equal(err->errnum, E2BIG);
	expect_error(err, "CPUs");
}

/* As many as there may be, or the kernel has room for in its masks, by who cannot tell. */
TEST(tables_for_more_cpus_than_there_may_be_are_refused)
{
	const unsigned possible = cpus_possible(), mask = kstats_region_mask_cpus();
	struct kstats_region region;

	expect_ok(map_for(possible, &region));
	kstats_region_unmap(&region);
	expect_ok(map_for(mask, &region));
	kstats_region_unmap(&region);
	if (possible + 1 != mask)
		expect_too_many(possible + 1);
	if (mask < KSTATS_SHARED_CPUS_MAX)
		expect_too_many(mask + 1);
}

/* Of tables that are there for CPUs that are not. */
TEST(values_on_cpus_that_cannot_be_are_errors)
{
	const unsigned possible = cpus_possible();
	const struct kstats_shared_slot value = { 1, 1 };
	struct kstats_region region;
	uint64_t count;

	if (possible == kstats_region_mask_cpus())
		skip();
	expect_ok(map_for(kstats_region_mask_cpus(), &region));
	for (unsigned cpu = possible - 1; cpu <= possible; cpu++) {
		size_t table = kstats_shared_table(1, region.header.cpus, KSTATS_PART_OWN, cpu);

		assert_true(pwrite(region.fd, &value, sizeof(value), (off_t)table) > 0);
		if (cpu < possible)
			expect_ok(count_region(&region, &count));
	}
	assert_true(count == 1);
	expect_error(count_region(&region, &count), "counts");
	kstats_region_unmap(&region);
}

/* What we may run on now is no limit. */
TEST(masks_are_no_limit)
{
	struct kstats_region region;
	struct kstats_table *table;
	cpu_set_t before, one;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	region = map_good(make_file(good, good_size(), SEALS));
	set_slot(region.fd, KSTATS_PART_OWN, 0, 1, 1, 1);
	set_slot(region.fd, KSTATS_PART_OWN, 1, 1, 1, 1);
	expect_ok(kstats_table_create("made", 1, "", &table));
	expect_ok(kstats_region_read(&region, SIZE_MAX, table));
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(table->rows.count, 2);
	kstats_table_destroy(table);
	kstats_region_unmap(&region);
}

/* What says how large it is changes behind our back: the copy counts. */
TEST(later_changes_are_ignored)
{
	struct kstats_region region = map_good(make_file(good, good_size(), SEALS));
	struct kstats_shared_header header = good;
	uint64_t count;

	header.cpus = header.frac_bits = UINT32_MAX;
	header.resets = UINT64_MAX;
	assert_true(pwrite(region.fd, &header, sizeof(header), 0) > 0);
	set_slot(region.fd, KSTATS_PART_OWN, 0, 1, 3, 0);
	expect_ok(count_region(&region, &count));
	assert_true(count == 3);
	expect_ok(kstats_region_command(&region, KSTATS_RESET));
	expect_ok(count_region(&region, &count));
	assert_true(count == 0);
	kstats_region_unmap(&region);
}

/* A program that resets all the time, or never lets others, is given up on. */
TEST(endless_resets_are_errors)
{
	struct kstats_region region = map_good(make_file(good, good_size(), SEALS));
	uint64_t count, before = 0, end = clock_ns(CLOCK_MONOTONIC) + 30 * NS_PER_S;
	struct error *err = NULL;
	pid_t child;

	/* Of all tables that there are. */
	for (unsigned part = 0; part < KSTATS_PARTS; part++)
		for (unsigned cpu = 0; cpu < good.cpus; cpu++)
			set_slot(region.fd, part, cpu, 1, 1, 1);
	child = fork();
	if (!child)
		for (;;)
			__atomic_fetch_add(&region.bytes->resets, 1, __ATOMIC_SEQ_CST);
	/* It may be kept from running. */
	while (!err && clock_ns(CLOCK_MONOTONIC) < end) {
		before = region.looked_at;
		err = count_region(&region, &count);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_non_null(err);
	assert_int_equal(err->errnum, EAGAIN);
	expect_error(err, "being reset continuously");
	/* The last call has given up after few readings. */
	assert_true(region.looked_at - before <= (uint64_t)6 * region.size);
	kstats_region_unmap(&region);
}

/* Reset by a process that dies at its first write to this part of the memory. */
static void reset_and_die_at(const struct kstats_region *region, size_t start, size_t end)
{
	pid_t child = fork();
	int status;

	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		mprotect((char *)region->bytes + start, end - start, PROT_READ);
		error_destroy(kstats_region_command(region, KSTATS_RESET));
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* Before it says that there was a reset, and before it has written what was forgotten. */
TEST(resets_that_break_off_have_no_effect)
{
	struct kstats_region region = map_good(make_file(good, good_size(), SEALS));
	uint64_t count;

	set_slot(region.fd, KSTATS_PART_OWN, 0, 1, 10, 0);
	for (unsigned turn = 0; turn < 4; turn++) {
		expect_ok(kstats_region_command(&region, KSTATS_RESET));
		set_slot(region.fd, KSTATS_PART_OWN, 0, 1, 15 + 5 * turn, 0);
		reset_and_die_at(&region, 0, KSTATS_SHARED_UNIT);
		expect_ok(count_region(&region, &count));
		assert_true(count == 5);
		reset_and_die_at(&region, KSTATS_SHARED_UNIT, region.size);
		expect_ok(count_region(&region, &count));
		assert_true(count == 5);
	}
	kstats_region_unmap(&region);
}

TEST(a_lock_that_is_held_is_an_error)
{
	struct kstats_region region = map_good(make_file(good, good_size(), SEALS));
	char path[64];
	int other;
	struct error *err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", region.fd);
	other = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_EX), 0);
	err = kstats_region_command(&region, KSTATS_RESET);
	assert_int_equal(err->errnum, EWOULDBLOCK);
	expect_error(err, "another process");
	close(other);
	expect_ok(kstats_region_command(&region, KSTATS_RESET));
	kstats_region_unmap(&region);
}

/* Reading leaves no pages behind where nothing was counted. */
TEST(looking_does_not_grow_it)
{
	struct kstats_region region = map_good(make_file(good, good_size(), SEALS));
	struct stat before, after;
	uint64_t count;

	set_slot(region.fd, KSTATS_PART_OWN, 1, 1, 3, 9);
	assert_int_equal(fstat(region.fd, &before), 0);
	expect_ok(count_region(&region, &count));
	assert_int_equal(fstat(region.fd, &after), 0);
	assert_true(after.st_blocks == before.st_blocks);
	/* What was forgotten of the one table there is. */
	expect_ok(kstats_region_command(&region, KSTATS_RESET));
	assert_int_equal(fstat(region.fd, &after), 0);
	assert_true(after.st_blocks == before.st_blocks + 8);
	kstats_region_unmap(&region);
}

/* A mapping whose name is that of a metric, and whose memory is another's. */
TEST(names_must_agree)
{
	struct kstats_shared_header header = good;
	struct kstats_table *table;
	struct error *err;
	void *mapped;
	int fd;

	strcpy(header.name, "other");
	fd = make_file(header, good_size(), SEALS);
	mapped = mmap(NULL, (size_t)good_size(), PROT_READ, MAP_SHARED, fd, 0);
	err = kstats_user.read(kstats_own_name("made"), &table);
	assert_int_equal(err->errnum, EPROTO);
	expect_error(err, "the name in its memory does not match");
	/* One that is open, and not mapped, is nobody's. */
	munmap(mapped, (size_t)good_size());
	expect_error(kstats_user.read(kstats_own_name("made"), &table), "has no metric");
	close(fd);
}

UNIT_TESTS(cmocka_unit_test(a_good_one_is_read),
	   cmocka_unit_test(files_that_could_end_us_are_refused),
	   cmocka_unit_test(sizes_that_are_not_those_of_the_tables_are_refused),
	   cmocka_unit_test(other_contents_are_refused),
	   cmocka_unit_test(counts_that_cannot_be_are_errors), cmocka_unit_test(rows_have_a_limit),
	   cmocka_unit_test(tables_for_more_cpus_than_there_may_be_are_refused),
	   cmocka_unit_test(values_on_cpus_that_cannot_be_are_errors),
	   cmocka_unit_test(masks_are_no_limit), cmocka_unit_test(later_changes_are_ignored),
	   cmocka_unit_test(endless_resets_are_errors),
	   cmocka_unit_test(resets_that_break_off_have_no_effect),
	   cmocka_unit_test(a_lock_that_is_held_is_an_error),
	   cmocka_unit_test(looking_does_not_grow_it), cmocka_unit_test(names_must_agree))

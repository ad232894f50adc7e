/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/process_watch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "os/maps.h"
#include "process/maps.h"
#include "unit/unit.h"

/* Skips where perf events of all CPUs are not for us. */
static struct process_watch *watch_of(const struct process_watch_options *options)
{
	struct process_watch *watch;
	struct error *err = process_watch_open(options, &watch);

	if (err && (err->errnum == EACCES || err->errnum == EPERM || err->errnum == ENOSYS ||
		    err->errnum == ENOENT)) {
		error_destroy(err);
		skip();
	}
	expect_ok(err);
	expect_ok(process_watch_start(watch));
	return watch;
}

static const struct profile_mapping *mapping_at(const struct profile *profile, uint32_t image,
						uint64_t address)
{
	const struct profile_image *at = &profile->images.items[image - 1];

	for (uint32_t i = 0; i < at->mapping_count; i++) {
		const struct profile_mapping *mapping =
			&profile->mappings.items[at->first_mapping + i];

		if (mapping->start <= address && address < mapping->end)
			return mapping;
	}
	return NULL;
}

static const struct profile_mapping *mapping_like(const struct profile *profile, uint32_t image,
						  const char *part)
{
	const struct profile_image *at = &profile->images.items[image - 1];

	for (uint32_t i = 0; i < at->mapping_count; i++) {
		const struct profile_mapping *mapping =
			&profile->mappings.items[at->first_mapping + i];

		if (strstr(mapping->path->bytes, part))
			return mapping;
	}
	return NULL;
}

/* What readelf says of the file. */
static void expect_build_id(const struct profile_mapping *mapping)
{
	char command[4200], said[64] = "", ours[64] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "readelf -n '%s' | sed -n 's/.*Build ID: //p'",
		 mapping->path->bytes);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(said, sizeof(said), pipe));
	pclose(pipe);
	said[strcspn(said, "\n")] = 0;
	for (size_t i = 0; i < mapping->build_id_length; i++)
		snprintf(ours + 2 * i, 3, "%02x", mapping->build_id[i]);
	assert_string_equal(ours, said);
}

/* Runs it to its end, all of it between two looks. */
static pid_t run(const char *const *command)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execv(command[0], (char **)(uintptr_t)command);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return pid;
}

static struct profile *finish(struct process_watch *watch)
{
	struct profile *profile;

	expect_ok(profile_create(&profile));
	expect_ok(process_table_put(process_watch_table(watch), profile));
	return profile;
}

TEST(a_program_that_is_gone_has_its_image)
{
	struct process_watch *watch = watch_of(&(struct process_watch_options){ 0 });
	static const char *const command[] = { "/bin/true", NULL };
	uint64_t before = clock_ns(CLOCK_MONOTONIC);
	pid_t pid = run(command);
	const struct profile_mapping *libc;
	struct profile *profile;
	uint32_t image;

	process_watch_settle(watch);
	image = process_table_find_image(process_watch_table(watch), (uint32_t)pid,
					 clock_ns(CLOCK_MONOTONIC));
	assert_int_equal(image, 1);
	assert_int_equal(
		process_table_find_image(process_watch_table(watch), (uint32_t)pid, before), 0);
	profile = finish(watch);
	assert_int_equal(profile->images.items[0].pid, pid);
	assert_true(profile->images.items[0].is_over);
	assert_non_null(strstr(profile->images.items[0].exe->bytes, "/true"));
	libc = mapping_like(profile, image, "/libc.so");
	assert_non_null(libc);
	assert_true(libc->build_id_length || libc->inode);
	if (libc->build_id_length)
		expect_build_id(libc);
	assert_non_null(mapping_like(profile, image, "[vdso]"));
	assert_int_equal(process_watch_lost(watch), 0);
	profile_destroy(profile);
	process_watch_close(watch);
}

#define POSSIBLE "/sys/devices/system/cpu/possible"

/* For us alone, the host says that it has these CPUs. Skips where that cannot be arranged. */
static void pretend_cpus(struct scratch *scratch, const char *list)
{
	const char *path = scratch_path(scratch, "possible");

	scratch_write(scratch, "possible", text_of(list));
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(path, POSSIBLE, NULL, MS_BIND, NULL))
		skip();
}

/* Numbers of CPUs have gaps where one was taken out. */
TEST(cpus_are_those_with_the_numbers_that_there_are)
{
	static const char *const command[] = { "/bin/true", NULL };
	struct process_watch *watch;
	struct scratch scratch;
	cpu_set_t before, last;
	pid_t pid;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&last);
	CPU_SET(1, &last);
	if (!CPU_ISSET(1, &before))
		skip();
	scratch_init(&scratch);
	pretend_cpus(&scratch, "1\n");
	watch = watch_of(&(struct process_watch_options){ 0 });
	assert_int_equal(umount(POSSIBLE), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(last), &last), 0);
	pid = run(command);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	process_watch_settle(watch);
	assert_int_equal(process_table_find_image(process_watch_table(watch), (uint32_t)pid,
						  clock_ns(CLOCK_MONOTONIC)),
			 1);
	process_watch_close(watch);
	scratch_deinit(&scratch);
}

/* In the child, with nothing between it and its end. */
static void open_and_end(const char *library)
{
	_exit(dlopen(library, RTLD_NOW) ? 0 : 1);
}

TEST(a_library_that_was_opened_last_is_in_it)
{
	struct process_watch *watch = watch_of(&(struct process_watch_options){ 0 });
	struct profile *profile;
	const struct profile_mapping *here;
	uint32_t image, mine;
	pid_t pid = fork();
	int status;

	if (!pid)
		open_and_end("libresolv.so.2");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		skip();
	process_watch_settle(watch);
	image = process_table_find_image(process_watch_table(watch), (uint32_t)pid,
					 clock_ns(CLOCK_MONOTONIC));
	mine = process_table_find_image(process_watch_table(watch), (uint32_t)getpid(),
					clock_ns(CLOCK_MONOTONIC));
	assert_true(image && mine);
	profile = finish(watch);
	here = mapping_like(profile, image, "libresolv");
	assert_non_null(here);
	if (here->build_id_length)
		expect_build_id(here);
	assert_null(mapping_like(profile, mine, "libresolv"));
	/* What we had was read from /proc, and the child has it from us. */
	here = mapping_at(profile, image, (uintptr_t)process_watch_open);
	assert_non_null(here);
	assert_string_equal(here->path->bytes, profile->images.items[mine - 1].exe->bytes);
	assert_false(profile->images.items[mine - 1].is_over);
	expect_build_id(here);
	profile_destroy(profile);
	process_watch_close(watch);
}

TEST(code_that_is_made_is_nameless)
{
	struct process_watch *watch = watch_of(&(struct process_watch_options){ 0 });
	char *made = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct profile_mapping *here;
	struct profile *profile;
	uint32_t image;

	assert_true(made != MAP_FAILED);
	if (mprotect(made, 4096, PROT_READ | PROT_EXEC))
		skip(); /* this host does not let anybody */
	process_watch_settle(watch);
	image = process_table_find_image(process_watch_table(watch), (uint32_t)getpid(),
					 clock_ns(CLOCK_MONOTONIC));
	profile = finish(watch);
	here = mapping_at(profile, image, (uintptr_t)made);
	assert_non_null(here);
	assert_int_equal(here->path->length, 0);
	assert_null(mapping_at(profile, image, (uintptr_t)made + 4096));
	munmap(made, 8192);
	profile_destroy(profile);
	process_watch_close(watch);
}

#define CHILDREN 400

TEST(four_hundred_children_are_as_many_images)
{
	const uint32_t me = (uint32_t)getpid();
	/* Other processes of a busy host share the rings. */
	struct process_watch *watch = watch_of(&(struct process_watch_options){
		.pids = &me, .pid_count = 1, .ring_bytes = (size_t)16 << 20 });
	static pid_t pids[CHILDREN];
	struct profile *profile;
	int gate[2], status;

	assert_int_equal(pipe(gate), 0);
	for (size_t i = 0; i < CHILDREN; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i]) {
			char byte;

			close(gate[1]);
			_exit(read(gate[0], &byte, 1) != 0);
		}
	}
	close(gate[0]);
	close(gate[1]);
	for (size_t i = 0; i < CHILDREN; i++)
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
	process_watch_settle(watch);
	for (size_t i = 0; i < CHILDREN; i++)
		assert_int_equal(process_table_find_image(process_watch_table(watch),
							  (uint32_t)pids[i],
							  clock_ns(CLOCK_MONOTONIC)),
				 i + 1);
	assert_int_equal(
		process_table_find_image(process_watch_table(watch), 1, clock_ns(CLOCK_MONOTONIC)),
		0);
	profile = finish(watch);
	for (uint32_t i = 1; i <= CHILDREN; i++) {
		assert_true(profile->images.items[i - 1].is_over);
		assert_non_null(mapping_at(profile, i, (uintptr_t)process_watch_open));
		assert_non_null(mapping_at(profile, i, (uintptr_t)malloc));
	}
	assert_int_equal(process_watch_lost(watch), 0);
	profile_destroy(profile);
	process_watch_close(watch);
}

TEST(a_small_ring_reports_its_losses)
{
	struct process_watch *watch = watch_of(
		&(struct process_watch_options){ .ring_bytes = 4096, .max_memory = 1 << 20 });

	for (int i = 0; i < 600; i++) {
		void *made =
			mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (made != MAP_FAILED)
			munmap(made, 4096);
	}
	/* The kernel tells of a loss before the next record that it has room for. */
	process_watch_settle(watch);
	for (int i = 0; i < 4; i++) {
		void *made =
			mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (made != MAP_FAILED)
			munmap(made, 4096);
	}
	process_watch_settle(watch);
	assert_true(process_watch_lost(watch) > 0);
	process_watch_close(watch);
}

/* --- what is there now --- */

static bool has_now(struct process_watch *watch, pid_t pid, const void *address)
{
	const struct process_image *now;

	now = process_table_now(process_watch_table(watch), (uint32_t)pid);
	if (!now || now->is_over || !process_image_now(now))
		return false;
	for (size_t i = 0; i < process_image_now(now)->count; i++)
		if (process_image_now(now)->items[i].start <= (uintptr_t)address &&
		    (uintptr_t)address < process_image_now(now)->items[i].end)
			return true;
	return false;
}

TEST(one_poll_has_all_events_and_a_reading_the_rest)
{
	struct process_watch *watch = watch_of(&(struct process_watch_options){ .wake_bytes = 1 });
	struct pollfd waiting = { .fd = process_watch_fd(watch), .events = POLLIN };
	const uint32_t me = (uint32_t)getpid();
	bool is_told = false;
	const struct process_image *now;
	uint32_t pid;
	void *made;

	process_table_record_changes(process_watch_table(watch));
	process_watch_settle(watch);
	while (process_table_next_changed(process_watch_table(watch), &pid))
		;
	made = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		skip(); /* this host does not let anybody */
	assert_int_equal(poll(&waiting, 1, 60000), 1);
	process_watch_settle(watch);
	while (process_table_next_changed(process_watch_table(watch), &pid))
		is_told |= pid == me;
	assert_true(is_told);
	assert_true(has_now(watch, getpid(), made));
	munmap(made, 4096);
	process_watch_settle(watch);
	assert_true(has_now(watch, getpid(), made));
	assert_true(process_watch_read_again(watch, me));
	assert_false(has_now(watch, getpid(), made));
	assert_true(has_now(watch, getpid(), (const void *)(uintptr_t)malloc));
	assert_non_null(now = process_table_now(process_watch_table(watch), me));
	assert_true(now->exec_pages > 0);
	/* Names are still found for what was there. */
	assert_int_equal(
		process_table_find_image(process_watch_table(watch), me, clock_ns(CLOCK_MONOTONIC)),
		1);
	assert_false(process_watch_read_again(watch, 0x7fffffff));
	process_watch_close(watch);
}

/* --- reading /proc --- */

struct seen {
	char text[1 << 16];
	size_t length;
};

static bool see(void *context, const struct mapping *mapping, struct text build_id)
{
	struct seen *seen = context;
	int printed;

	/* The text has one more, which is the same in all processes. */
	if (text_equal(mapping->path, TEXT("[vsyscall]")))
		return true;
	printed = snprintf(seen->text + seen->length, sizeof(seen->text) - seen->length,
			   "%lx-%lx %lx %.*s ", mapping->start, mapping->end, mapping->offset,
			   (int)mapping->path.length, mapping->path.bytes);
	seen->length += (size_t)printed;
	for (size_t i = 0; i < build_id.length; i++)
		seen->length += (size_t)snprintf(seen->text + seen->length,
						 sizeof(seen->text) - seen->length, "%02x",
						 (unsigned char)build_id.bytes[i]);
	seen->text[seen->length++] = '\n';
	return true;
}

TEST(asked_or_read_processes_are_the_same)
{
	static struct seen asked, read;
	struct process_maps *maps;
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);

	expect_ok(process_maps_create(proc, &maps));
	assert_int_equal(process_maps_read(maps, (uint32_t)getpid(), see, &asked), 0);
	process_maps_use_text(maps);
	assert_int_equal(process_maps_read(maps, (uint32_t)getpid(), see, &read), 0);
	assert_string_equal(asked.text, read.text);
	assert_int_equal(process_maps_read(maps, 0x7fffffff, see, &read), ENOENT);
	process_maps_destroy(maps);
	close(proc);
	/* Of an emulated process that is the emulator. */
	if (strstr(read.text, "qemu"))
		skip();
	assert_non_null(strstr(read.text, "libc.so"));
}

UNIT_TESTS(cmocka_unit_test(a_program_that_is_gone_has_its_image),
	   cmocka_unit_test(cpus_are_those_with_the_numbers_that_there_are),
	   cmocka_unit_test(a_library_that_was_opened_last_is_in_it),
	   cmocka_unit_test(code_that_is_made_is_nameless),
	   cmocka_unit_test(four_hundred_children_are_as_many_images),
	   cmocka_unit_test(a_small_ring_reports_its_losses),
	   cmocka_unit_test(one_poll_has_all_events_and_a_reading_the_rest),
	   cmocka_unit_test(asked_or_read_processes_are_the_same))

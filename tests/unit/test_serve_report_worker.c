/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/report_worker.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/unit.h"

/* What the file says, and the name of the last: unless its first letter asks for something else. */
static struct error *print(FILE *out, const struct named_file *files, size_t count)
{
	char bytes[64];
	const ssize_t length = read(files[0].fd, bytes, sizeof(bytes));

	if (length < 1)
		return error_create("%s: nothing there", files[0].name);
	fprintf(out, "%.*s %s", (int)length, bytes, files[count - 1].name);
	if (bytes[0] == 'E')
		return error_create("%s: cannot be read", files[0].name);
	if (bytes[0] == 'K')
		syscall(SYS_exit_group, 3);
	for (uint64_t i = 0; bytes[0] == 'L' && i <= REPORT_PAGE_MOST / 1000; i++)
		fprintf(out, "%1000d", 1);
	return NULL;
}

struct scene {
	int socket;
	pid_t worker;
};

static void open_scene(struct scene *scene)
{
	const uint32_t action = SECCOMP_RET_ERRNO;
	int sockets[2];

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action))
		skip();
	expect_ok(fd_channel_open(sockets));
	scene->worker = fork();
	if (!scene->worker) {
		/* The sanitizer has terabytes. */
		const struct report_worker worker = { sockets[1], print, UINT64_MAX };

		close(sockets[0]);
		/* The sanitizer looks for leaks at other ends, by calls that are refused. */
		syscall(SYS_exit_group, report_worker_run(&worker) != NULL);
	}
	close(sockets[1]);
	scene->socket = sockets[0];
}

static void close_scene(struct scene *scene)
{
	int status;

	close(scene->socket);
	assert_int_equal(waitpid(scene->worker, &status, 0), scene->worker);
	assert_int_equal(status, 0);
}

static int file_of(const char *bytes)
{
	const int fd = memfd_create("file", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	return fd;
}

/* Do a job of two files, and compare the start of what comes back. */
static void expect_page(const struct scene *scene, const char *bytes, struct report_result result,
			const char *page)
{
	struct report_job job = { .count = 2, .names = { "first", "second" } };
	const int files[] = { file_of(bytes), file_of("") };
	struct report_result got;
	size_t length, count;
	char text[64];
	int fd;

	expect_ok(fd_channel_send(scene->socket, &job, sizeof(job), files, 2));
	expect_ok(fd_channel_receive(scene->socket, &got, sizeof(got), &length, &fd, 1, &count));
	assert_int_equal(length, sizeof(got));
	assert_int_equal(count, 1);
	assert_int_equal(got.signal, result.signal);
	assert_int_equal(got.has_failed, result.has_failed);
	length = (size_t)pread(fd, text, sizeof(text) - 1, 0);
	text[length] = '\0';
	assert_string_equal(text, page);
	close(fd);
	close(files[0]);
	close(files[1]);
}

/* What one job does is nothing to the next. */
TEST(jobs)
{
	struct scene scene;

	open_scene(&scene);
	expect_page(&scene, "hello", (struct report_result){ 0 }, "hello second");
	expect_page(&scene, "E", (struct report_result){ 1, 0 }, "first: cannot be read");
	expect_page(&scene, "", (struct report_result){ 1, 0 }, "first: nothing there");
	expect_page(&scene, "K", (struct report_result){ 1, 0 }, "");
	expect_page(&scene, "again", (struct report_result){ 0 }, "again second");
	close_scene(&scene);
}

TEST(ends_by_signals)
{
	struct scene scene;
	int fds[1];
	size_t length, count;
	struct report_job job = { .count = 1, .names = { "large" } };
	struct report_result result;
	const int file = file_of("L");

	open_scene(&scene);
	expect_ok(fd_channel_send(scene.socket, &job, sizeof(job), &file, 1));
	expect_ok(
		fd_channel_receive(scene.socket, &result, sizeof(result), &length, fds, 1, &count));
	assert_int_equal(result.signal, SIGXFSZ);
	assert_true(lseek(fds[0], 0, SEEK_END) <= (off_t)REPORT_PAGE_MOST);
	close(fds[0]);
	close(file);
	expect_page(&scene, "hello", (struct report_result){ 0 }, "hello second");
	close_scene(&scene);
}

/* A job without its files, or without a NUL, is none: the worker ends. */
TEST(malformed_jobs)
{
	struct report_job job = { .count = 2, .names = { "first", "second" } };
	const int file = file_of("hello");
	struct scene scene;
	int status;

	for (int i = 0; i < 3; i++) {
		open_scene(&scene);
		job.count = i == 1 ? 1 : 2;
		if (i == 1)
			memset(job.names[0], 'x', sizeof(job.names[0]));
		expect_ok(fd_channel_send(scene.socket, &job, i == 2 ? 3 : sizeof(job), &file, 1));
		assert_int_equal(waitpid(scene.worker, &status, 0), scene.worker);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
		close(scene.socket);
	}
	close(file);
}

UNIT_TESTS(cmocka_unit_test(jobs), cmocka_unit_test(ends_by_signals),
	   cmocka_unit_test(malformed_jobs))

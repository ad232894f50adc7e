/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/leader_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/units.h"
#include "unit/unit.h"

/* Stands before the one of the C library: who opens these processes' directories hangs until it is
 * let go. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t let_go = PTHREAD_COND_INITIALIZER;
static unsigned hanging_from = 1, hanging_to; /* none */

static bool hangs_in(const char *path)
{
	unsigned tgid = (unsigned)strtoul(path, NULL, 10);

	return tgid >= hanging_from && tgid <= hanging_to;
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	pthread_mutex_lock(&lock);
	while ((flags & O_PATH) && hangs_in(path))
		pthread_cond_wait(&let_go, &lock);
	pthread_mutex_unlock(&lock);
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

static void hang(unsigned from, unsigned to)
{
	pthread_mutex_lock(&lock);
	hanging_from = from;
	hanging_to = to;
	pthread_cond_broadcast(&let_go);
	pthread_mutex_unlock(&lock);
}

#define ALL (1u << LEADER_SMAPS | 1u << LEADER_EXE | 1u << LEADER_CMDLINE)

static int open_proc(void)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);

	assert_true(proc >= 0);
	return proc;
}

static struct error *leader_files_read(int proc, const uint32_t *tgids, size_t count,
				       unsigned wanted, uint64_t deadline_ns,
				       struct leader_hangs *hangs, struct leader_files **ret)
{
	struct error *err = leader_files_start(proc, tgids, count, wanted, hangs, ret);

	if (!err)
		leader_files_wait(*ret, deadline_ns, hangs);
	return err;
}

/* Each process is alone. */
static uint64_t itself(uint32_t tgid)
{
	return tgid;
}

/* A process that sleeps until it is killed, at the latest by our end. */
static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return pid;
}

TEST(files_of_a_process_are_read)
{
	_cleanup_close_ int proc = open_proc();
	struct leader_hangs hangs = { .subject_of = itself };
	struct leader_files *files;
	const uint32_t self = (uint32_t)getpid();
	struct file_buffer buffer = { 0 };
	struct leader_file_bytes file;
	struct text wanted;

	expect_ok(leader_files_read(proc, &self, 1, ALL, 0, &hangs, &files));
	assert_int_equal(file_readlink(proc, "self/exe", &buffer, &wanted), 0);
	file = leader_file(files, self, LEADER_EXE);
	assert_int_equal(file.failed, 0);
	assert_true(text_equal(file.bytes, wanted));
	assert_int_equal(file_read(proc, "self/cmdline", &buffer, &wanted), 0);
	file = leader_file(files, self, LEADER_CMDLINE);
	assert_true(text_equal(file.bytes, wanted));
	file = leader_file(files, self, LEADER_SMAPS);
	assert_int_equal(file.failed, 0);
	assert_non_null(memmem(file.bytes.bytes, file.bytes.length, "Pss:", 4));
	leader_files_close(files);
	leader_hangs_deinit(&hangs);
	file_buffer_deinit(&buffer);
}

TEST(unwanted_files_are_not_read)
{
	_cleanup_close_ int proc = open_proc();
	struct leader_hangs hangs = { .subject_of = itself };
	struct leader_files *files;
	const uint32_t self = (uint32_t)getpid();

	expect_ok(leader_files_read(proc, &self, 1, 1u << LEADER_EXE, 0, &hangs, &files));
	assert_int_equal(leader_file(files, self, LEADER_EXE).failed, 0);
	assert_int_equal(leader_file(files, self, LEADER_SMAPS).failed, ENOENT);
	assert_int_equal(leader_file(files, self, LEADER_CMDLINE).failed, ENOENT);
	leader_files_close(files);
	leader_hangs_deinit(&hangs);
}

TEST(one_that_is_gone_leaves_the_others)
{
	_cleanup_close_ int proc = open_proc();
	pid_t gone = start_sleeper(), there = start_sleeper();
	struct leader_hangs hangs = { .subject_of = itself };
	struct leader_files *files;
	uint32_t tgids[3];

	kill(gone, SIGKILL);
	waitpid(gone, NULL, 0);
	tgids[0] = (uint32_t)gone;
	tgids[1] = (uint32_t)there;
	tgids[2] = (uint32_t)getpid();
	qsort(tgids, 3, sizeof(*tgids), compare_u32);
	expect_ok(leader_files_read(proc, tgids, 3, ALL, 0, &hangs, &files));
	assert_int_equal(leader_file(files, (uint32_t)gone, LEADER_EXE).failed, ESRCH);
	assert_int_equal(leader_file(files, (uint32_t)gone, LEADER_SMAPS).failed, ESRCH);
	assert_int_equal(leader_file(files, (uint32_t)there, LEADER_EXE).failed, 0);
	assert_int_equal(leader_file(files, (uint32_t)getpid(), LEADER_EXE).failed, 0);
	assert_true(leader_files_has(files, (uint32_t)gone));
	assert_false(leader_files_has(files, 1));
	assert_int_equal(leader_file(files, 1, LEADER_EXE).failed, ENOENT);
	leader_files_close(files);
	leader_hangs_deinit(&hangs);
	kill(there, SIGKILL);
	waitpid(there, NULL, 0);
}

/* Each by its place, whichever of the readers was there first. */
TEST(many_are_read_by_several)
{
	enum { COUNT = 300 };
	char scratch[] = "/tmp/leader_files.XXXXXX", path[64];
	_cleanup_close_ int root = -1;
	struct leader_hangs hangs = { .subject_of = itself };
	struct leader_files *files;
	uint32_t tgids[COUNT];

	assert_non_null(mkdtemp(scratch));
	root = open(scratch, O_RDONLY | O_DIRECTORY);
	for (uint32_t i = 0; i < COUNT; i++) {
		int fd;

		tgids[i] = 7000 + i;
		snprintf(path, sizeof(path), "%u", tgids[i]);
		assert_int_equal(mkdirat(root, path, 0700), 0);
		strcat(path, "/cmdline");
		fd = openat(root, path, O_WRONLY | O_CREAT, 0600);
		assert_true(dprintf(fd, "command %u", tgids[i]) > 0);
		close(fd);
	}
	expect_ok(leader_files_read(root, tgids, COUNT, ALL, 0, &hangs, &files));
	for (uint32_t i = 0; i < COUNT; i++) {
		snprintf(path, sizeof(path), "command %u", tgids[i]);
		expect_text(leader_file(files, tgids[i], LEADER_CMDLINE).bytes, path);
		assert_int_equal(leader_file(files, tgids[i], LEADER_SMAPS).failed, ENOENT);
	}
	leader_files_close(files);
	leader_hangs_deinit(&hangs);
	for (uint32_t i = 0; i < COUNT; i++) {
		snprintf(path, sizeof(path), "%u/cmdline", tgids[i]);
		unlinkat(root, path, 0);
		*strchr(path, '/') = '\0';
		unlinkat(root, path, AT_REMOVEDIR);
	}
	rmdir(scratch);
}

/* The readers go on for a moment with what they share, which is theirs as long as they need it. */
TEST(readers_are_not_waited_for_after_the_deadline)
{
	enum { COUNT = 100000 };
	_cleanup_close_ int proc = open_proc();
	struct leader_hangs hangs = { .subject_of = itself };
	struct leader_files *files;
	static uint32_t tgids[COUNT];
	size_t late = 0;

	/* Most of them are not there, which takes a moment to find out, too: of all, longer than we
	 * may be kept from a CPU. */
	for (uint32_t i = 0; i < COUNT; i++)
		tgids[i] = 1 + i;
	expect_ok(leader_files_read(proc, tgids, COUNT, ALL, 1, &hangs, &files));
	for (size_t i = 0; i < COUNT; i++) {
		struct leader_file_bytes file = leader_file(files, tgids[i], LEADER_EXE);

		late += file.failed == ECANCELED;
	}
	assert_true(late > 0);
	leader_files_close(files);
	leader_hangs_deinit(&hangs);
	leader_files_close(NULL);
}

/* --- processes that hang --- */

#define FIRST 7000

/* So few that one thread reads them. */
#define FEW  6
#define MANY (LEADER_HANGING_MAX + 8)

/* Processes FIRST, FIRST + 1, ... with a command line each. */
struct procs {
	struct scratch scratch;
	uint32_t tgids[MANY];
	size_t count;
	struct leader_hangs hangs;
	size_t threads, files; /* of this process at the begin */
};

static size_t entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* Who has read all may be about to end, and to close what it had. */
static void wait_for(const char *path, size_t count)
{
	for (unsigned tries = 0; entries(path) > count && tries < 10000; tries++)
		usleep(1000);
	assert_int_equal(entries(path), count);
}

/* What there is before any test, with "." and "..": an emulator has a thread of its own. */
static size_t alone;

__attribute__((constructor)) static void count_alone(void)
{
	alone = entries("/proc/self/task");
}

static void procs_init(struct procs *procs, size_t count)
{
	char path[64];

	wait_for("/proc/self/task", alone);
	*procs = (struct procs){ .threads = alone, .count = count, .hangs.subject_of = itself };
	scratch_init(&procs->scratch);
	procs->files = entries("/proc/self/fd");
	for (uint32_t i = 0; i < procs->count; i++) {
		procs->tgids[i] = FIRST + i;
		snprintf(path, sizeof(path), "%u", FIRST + i);
		assert_int_equal(mkdirat(procs->scratch.dir, path, 0700), 0);
		strcat(path, "/cmdline");
		scratch_write(&procs->scratch, path, TEXT("command"));
	}
}

/* Of how many it was read; of the others `failed` is what was said, or it is said that they hang.
 */
static size_t read_procs(struct procs *procs, unsigned wait_ms, int failed)
{
	struct leader_files *files;
	struct timespec now;
	uint64_t deadline;
	size_t read = 0;

	clock_gettime(CLOCK_MONOTONIC, &now);
	deadline = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec + wait_ms * 1000000ull;
	expect_ok(leader_files_read(procs->scratch.dir, procs->tgids, procs->count,
				    1u << LEADER_CMDLINE, wait_ms ? deadline : 0, &procs->hangs,
				    &files));
	for (size_t i = 0; i < procs->count; i++) {
		struct leader_file_bytes file = leader_file(files, procs->tgids[i], LEADER_CMDLINE);

		if (file.failed)
			assert_true(file.failed == failed || file.failed == ETIMEDOUT);
		else
			expect_text(file.bytes, "command");
		read += !file.failed;
	}
	leader_files_close(files);
	return read;
}

/* All who hung come back, and leave nothing behind. */
static void procs_deinit(struct procs *procs)
{
	hang(1, 0);
	wait_for("/proc/self/task", procs->threads);
	assert_int_equal(read_procs(procs, 0, 0), procs->count);
	assert_int_equal(procs->hangs.count, 0);
	leader_hangs_deinit(&procs->hangs);
	wait_for("/proc/self/fd", procs->files);
	scratch_deinit(&procs->scratch);
}

/* It is not read again while somebody hangs in it, and the others are. */
TEST(a_process_that_hangs_is_left_alone)
{
	struct procs procs;
	size_t files;

	procs_init(&procs, FEW);
	hang(FIRST + 2, FIRST + 2);
	assert_int_equal(read_procs(&procs, 100, ECANCELED), 2);
	assert_int_equal(procs.hangs.count, 1);
	files = entries("/proc/self/fd");
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(read_procs(&procs, 0, ETIMEDOUT), FEW - 1);
		assert_int_equal(procs.hangs.count, 1);
	}
	wait_for("/proc/self/task", procs.threads + 1);
	wait_for("/proc/self/fd", files);
	procs_deinit(&procs);
}

/* Three of them are of one user. */
static uint64_t first_three(uint32_t tgid)
{
	return tgid < FIRST + 3 ? FIRST : tgid;
}

/* As soon as one hangs, others of its user are left alone, and another reader reads the rest. */
TEST(processes_of_a_user_that_hangs_readers_are_skipped)
{
	struct procs procs;

	procs_init(&procs, FEW);
	procs.hangs.subject_of = first_three;
	procs.hangs.shares.advance_ns = 1;
	hang(FIRST, FIRST + 2);
	assert_int_equal(read_procs(&procs, 7000, ECANCELED), 3);
	assert_int_equal(entries("/proc/self/task"), procs.threads + 1);
	/* It pays back what that took, and is not even asked. */
	hang(1, 0);
	wait_for("/proc/self/task", procs.threads);
	assert_int_equal(read_procs(&procs, 0, ETIMEDOUT), 3);
	time_shares_deinit(&procs.hangs.shares);
	procs.hangs.subject_of = itself;
	procs_deinit(&procs);
}

TEST(only_so_many_may_hang)
{
	struct procs procs;
	size_t most;

	procs_init(&procs, MANY);
	most = procs.threads + LEADER_HANGING_MAX;
	hang(FIRST, FIRST + MANY);
	for (unsigned i = 0; entries("/proc/self/task") < most && i < LEADER_HANGING_MAX; i++)
		assert_int_equal(read_procs(&procs, 50, ECANCELED), 0);
	/* Now nothing is read at all. */
	assert_int_equal(entries("/proc/self/task"), most);
	assert_int_equal(read_procs(&procs, 0, ETIMEDOUT), 0);
	assert_int_equal(entries("/proc/self/task"), most);
	procs_deinit(&procs);
}

/* What nobody reads any more, they free themselves. */
TEST(a_hanging_reader_outlives_the_reading)
{
	struct procs procs;

	procs_init(&procs, FEW);
	hang(FIRST, FIRST);
	assert_int_equal(read_procs(&procs, 50, ECANCELED), 0);
	leader_hangs_deinit(&procs.hangs);
	procs_deinit(&procs);
}

UNIT_TESTS(cmocka_unit_test(files_of_a_process_are_read),
	   cmocka_unit_test(unwanted_files_are_not_read),
	   cmocka_unit_test(one_that_is_gone_leaves_the_others),
	   cmocka_unit_test(many_are_read_by_several),
	   cmocka_unit_test(readers_are_not_waited_for_after_the_deadline),
	   cmocka_unit_test(a_process_that_hangs_is_left_alone),
	   cmocka_unit_test(processes_of_a_user_that_hangs_readers_are_skipped),
	   cmocka_unit_test(only_so_many_may_hang),
	   cmocka_unit_test(a_hanging_reader_outlives_the_reading))

/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/handover.h"
#include "unit/unit.h"

/* Stands before the one of the C library, to be a file system without nameless files. */
static bool without_nameless;

/* A name that is removed as soon as it was found. */
static const char *vanishing;

int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;
	int fd;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (without_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	fd = (int)syscall(SYS_openat, dir, path, flags, mode);
	if (vanishing && fd >= 0 && (flags & O_NOFOLLOW) && strcmp(path, vanishing) == 0) {
		unlinkat(dir, path, 0);
		vanishing = NULL;
	}
	return fd;
}

/* Stands before the one of the C library, too: it says `number` this often, then others. */
static uint64_t number;
static unsigned repeats;

ssize_t getrandom(void *bytes, size_t length, unsigned flags)
{
	(void)flags;
	assert_int_equal(length, sizeof(number));
	if (repeats)
		repeats--;
	else
		number++;
	memcpy(bytes, &number, length);
	return (ssize_t)length;
}

#define STRANGER 65534

/* Somebody else's, with this mode; needs root. */
static void give_away(const struct scratch *scratch, const char *name, mode_t mode)
{
	assert_int_equal(fchownat(scratch->dir, name, STRANGER, STRANGER, AT_SYMLINK_NOFOLLOW), 0);
	if (mode)
		assert_int_equal(fchmodat(scratch->dir, name, mode, 0), 0);
}

static void needs_root(void)
{
	if (geteuid())
		skip();
}

static mode_t mode_of(const struct scratch *scratch, const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(scratch->dir, name, &st, 0), 0);
	return st.st_mode & 07777;
}

static void write_file(const struct scratch *scratch, const char *name, struct text bytes)
{
	struct outfile file;

	expect_ok(outfile_open(&file, scratch_path(scratch, name)));
	expect_ok(outfile_write(&file, bytes.bytes, bytes.length));
	expect_ok(outfile_commit(&file));
	outfile_close(&file);
}

/* Each of these holds with and without nameless files. */
static void appears_at_the_commit(void)
{
	struct outfile file;
	struct scratch scratch;

	scratch_init(&scratch);
	expect_ok(outfile_open(&file, scratch_path(&scratch, "new")));
	expect_ok(outfile_write(&file, "half ", 5));
	assert_int_equal(faccessat(scratch.dir, "new", F_OK, 0), -1);
	expect_ok(outfile_write(&file, "whole", 5));
	expect_ok(outfile_commit(&file));
	assert_true(scratch_holds(&scratch, "new", TEXT("half whole")));
	outfile_close(&file);
	assert_true(scratch_holds(&scratch, "new", TEXT("half whole")));
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_deinit(&scratch);
}

static void failure_leaves_what_was_there(void)
{
	struct outfile file;
	struct scratch scratch;

	scratch_init(&scratch);
	scratch_write(&scratch, "old", TEXT("old"));
	expect_ok(outfile_open(&file, scratch_path(&scratch, "old")));
	expect_ok(outfile_write(&file, "new", 3));
	assert_true(scratch_holds(&scratch, "old", TEXT("old")));
	outfile_close(&file);
	assert_true(scratch_holds(&scratch, "old", TEXT("old")));
	assert_int_equal(scratch_count(&scratch), 1);
	outfile_close(&file);
	scratch_deinit(&scratch);
}

static void in_both_ways(void (*test)(void))
{
	test();
	without_nameless = true;
	test();
	without_nameless = false;
}

TEST(a_file_appears_whole)
{
	in_both_ways(appears_at_the_commit);
}

TEST(a_failure_leaves_the_old_file_alone)
{
	in_both_ways(failure_leaves_what_was_there);
}

static void nothing_beside_it(void)
{
	struct outfile file;
	struct scratch scratch;

	scratch_init(&scratch);
	expect_ok(outfile_open(&file, scratch_path(&scratch, "new")));
	expect_ok(outfile_write(&file, "x", 1));
	assert_int_equal(scratch_count(&scratch), 0);
	outfile_close(&file);
	assert_int_equal(scratch_count(&scratch), 0);
	scratch_deinit(&scratch);
}

TEST(nothing_stands_beside_it_meanwhile)
{
	in_both_ways(nothing_beside_it);
}

TEST(an_existing_file_is_replaced)
{
	struct scratch scratch;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", TEXT("a long old content"));
	write_file(&scratch, "file", TEXT("new"));
	assert_true(scratch_holds(&scratch, "file", TEXT("new")));
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_deinit(&scratch);
}

TEST(a_new_file_is_its_owners)
{
	struct scratch scratch;
	mode_t before = umask(0);

	scratch_init(&scratch);
	write_file(&scratch, "file", TEXT("x"));
	assert_int_equal(mode_of(&scratch, "file"), OUTFILE_MODE);
	umask(before);
	scratch_deinit(&scratch);
}

static void keeps_mode(void)
{
	static const mode_t modes[] = { 0644, 0666, 0600, 0440 };
	struct scratch scratch;
	mode_t before = umask(077);

	scratch_init(&scratch);
	for (size_t i = 0; i < array_length(modes); i++) {
		scratch_write(&scratch, "file", TEXT("old"));
		assert_int_equal(fchmodat(scratch.dir, "file", modes[i], 0), 0);
		write_file(&scratch, "file", TEXT("new"));
		assert_int_equal(mode_of(&scratch, "file"), modes[i]);
	}
	umask(before);
	scratch_deinit(&scratch);
}

TEST(an_existing_file_keeps_its_mode)
{
	in_both_ways(keeps_mode);
}

/* Who can write to a set-user-ID file by a shared mapping becomes its owner. */
static void never_set_user_id(void)
{
	struct scratch scratch;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", TEXT("old"));
	assert_int_equal(fchmodat(scratch.dir, "file", 07755, 0), 0);
	write_file(&scratch, "file", TEXT("new"));
	assert_int_equal(mode_of(&scratch, "file"), 0755);
	scratch_deinit(&scratch);
}

TEST(a_file_is_never_set_user_id)
{
	in_both_ways(never_set_user_id);
}

static void strangers_mode(void)
{
	static const mode_t modes[] = { 06777, 0666, 0644, 01777 };
	struct scratch scratch;
	struct stat st;

	scratch_init(&scratch);
	for (size_t i = 0; i < array_length(modes); i++) {
		scratch_write(&scratch, "file", TEXT("old"));
		give_away(&scratch, "file", modes[i]);
		write_file(&scratch, "file", TEXT("new"));
		assert_true(scratch_holds(&scratch, "file", TEXT("new")));
		assert_int_equal(mode_of(&scratch, "file"), OUTFILE_MODE);
		assert_int_equal(fstatat(scratch.dir, "file", &st, 0), 0);
		assert_int_equal(st.st_uid, geteuid());
	}
	scratch_deinit(&scratch);
}

TEST(a_strangers_mode_is_not_taken_over)
{
	needs_root();
	in_both_ways(strangers_mode);
}

static void second_name(void)
{
	struct scratch scratch;

	scratch_init(&scratch);
	scratch_write(&scratch, "public", TEXT("old"));
	assert_int_equal(fchmodat(scratch.dir, "public", 0644, 0), 0);
	assert_int_equal(linkat(scratch.dir, "public", scratch.dir, "file", 0), 0);
	write_file(&scratch, "file", TEXT("new"));
	assert_int_equal(mode_of(&scratch, "file"), OUTFILE_MODE);
	assert_true(scratch_holds(&scratch, "public", TEXT("old")));
	scratch_deinit(&scratch);
}

TEST(the_mode_of_a_hard_link_is_not_taken_over)
{
	in_both_ways(second_name);
}

/* Both before measuring and after it. */
static void expect_refusal(const struct scratch *scratch, const char *name, const char *message)
{
	struct outfile file;

	expect_error(outfile_check(scratch_path(scratch, name)), message);
	expect_error(outfile_open(&file, scratch_path(scratch, name)), message);
	outfile_close(&file);
}

TEST(links_are_followed_to_their_end)
{
	struct scratch scratch;

	scratch_init(&scratch);
	assert_int_equal(mkdirat(scratch.dir, "d", 0700), 0);
	assert_int_equal(symlinkat("d/second", scratch.dir, "first"), 0);
	assert_int_equal(symlinkat("../file", scratch.dir, "d/second"), 0);
	assert_int_equal(symlinkat("loop", scratch.dir, "loop"), 0);
	expect_ok(outfile_check(scratch_path(&scratch, "first")));
	write_file(&scratch, "first", TEXT("through a dangling link"));
	write_file(&scratch, "first", TEXT("through links"));
	assert_true(scratch_holds(&scratch, "file", TEXT("through links")));
	assert_int_equal(scratch_count(&scratch), 4);
	expect_refusal(&scratch, "loop", "/loop: Too many levels of symbolic links");
	scratch_deinit(&scratch);
}

TEST(a_strangers_link_is_not_followed)
{
	struct scratch scratch;

	needs_root();
	scratch_init(&scratch);
	scratch_write(&scratch, "file", TEXT("old"));
	assert_int_equal(symlinkat("file", scratch.dir, "strange"), 0);
	assert_int_equal(symlinkat("strange", scratch.dir, "own"), 0);
	give_away(&scratch, "strange", 0);
	expect_refusal(&scratch, "strange",
		       "/strange: symbolic link of user 65534, which is not followed");
	expect_refusal(&scratch, "own", "/own: symbolic link of user 65534");
	assert_true(scratch_holds(&scratch, "file", TEXT("old")));
	scratch_deinit(&scratch);
}

/* Opening it would wait for ever. */
/* Its owner may have it open, and would read what is written to it. */
TEST(a_file_that_is_removed_meanwhile_is_not_written_to)
{
	_cleanup_close_ int theirs = -1;
	struct scratch scratch;
	struct stat st;

	scratch_init(&scratch);
	scratch_write(&scratch, "name", TEXT(""));
	theirs = openat(scratch.dir, "name", O_RDONLY | O_CLOEXEC);
	vanishing = "name";
	write_file(&scratch, "name", TEXT("ours"));
	assert_null(vanishing);
	assert_int_equal(fstat(theirs, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_true(scratch_holds(&scratch, "name", TEXT("ours")));
	scratch_deinit(&scratch);
}

TEST(a_strangers_fifo_is_not_opened)
{
	struct scratch scratch;

	needs_root();
	scratch_init(&scratch);
	assert_int_equal(mkfifoat(scratch.dir, "fifo", 0600), 0);
	expect_ok(outfile_check(scratch_path(&scratch, "fifo")));
	give_away(&scratch, "fifo", 0666);
	expect_refusal(&scratch, "fifo", "/fifo: FIFO of user 65534, which is not written to");
	scratch_deinit(&scratch);
}

TEST(a_place_is_checked_before)
{
	struct scratch scratch;

	scratch_init(&scratch);
	expect_ok(outfile_check(scratch_path(&scratch, "new")));
	expect_ok(outfile_check("-"));
	expect_ok(outfile_check("/dev/null"));
	expect_error(outfile_check(scratch.path), "Is a directory");
	expect_error(outfile_check(scratch_path(&scratch, "none/file")),
		     "/none: No such file or directory");
	assert_int_equal(scratch_count(&scratch), 0);
	scratch_deinit(&scratch);
}

/* By a directory, which unlink(2) does not remove, and by a file that is not ours to remove. */
static void name_is_taken(void)
{
	struct outfile file;
	struct scratch scratch;
	char name[64];

	scratch_init(&scratch);
	scratch_write(&scratch, "file", TEXT("old"));
	snprintf(name, sizeof(name), ".file.%016" PRIx64 ".tmp", number);
	assert_int_equal(mkdirat(scratch.dir, name, 0700), 0);
	snprintf(name, sizeof(name), ".file.%016" PRIx64 ".tmp", number + 1);
	scratch_write(&scratch, name, TEXT("taken"));
	repeats = 3;
	write_file(&scratch, "file", TEXT("new"));
	assert_int_equal(repeats, 0);
	assert_true(scratch_holds(&scratch, "file", TEXT("new")));
	assert_true(scratch_holds(&scratch, name, TEXT("taken")));
	assert_int_equal(scratch_count(&scratch), 3);

	/* All are taken: an error in the end, and the file of the name stays. */
	expect_ok(outfile_open(&file, scratch_path(&scratch, "file")));
	number--;
	repeats = 1000;
	expect_error(outfile_commit(&file), "/file: File exists");
	repeats = 0;
	outfile_close(&file);
	assert_true(scratch_holds(&scratch, name, TEXT("taken")));
	assert_int_equal(scratch_count(&scratch), 3);
	scratch_deinit(&scratch);
}

TEST(a_temporary_name_that_is_taken_is_left_alone)
{
	in_both_ways(name_is_taken);
}

TEST(a_link_is_followed)
{
	struct scratch scratch;
	struct stat st;

	scratch_init(&scratch);
	scratch_write(&scratch, "target", TEXT("old"));
	assert_int_equal(symlinkat("target", scratch.dir, "link"), 0);
	write_file(&scratch, "link", TEXT("new"));
	assert_true(scratch_holds(&scratch, "target", TEXT("new")));
	assert_int_equal(fstatat(scratch.dir, "link", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(scratch_count(&scratch), 2);
	scratch_deinit(&scratch);
}

TEST(a_device_is_written_in_place)
{
	struct outfile file;
	struct stat st;

	expect_ok(outfile_open(&file, "/dev/null"));
	expect_ok(outfile_write(&file, "gone", 4));
	expect_ok(outfile_commit(&file));
	outfile_close(&file);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

TEST(a_full_device_is_an_error)
{
	struct outfile file;
	struct stat st;

	expect_ok(outfile_open(&file, "/dev/full"));
	expect_error(outfile_write(&file, "x", 1), "/dev/full: No space left on device");
	outfile_close(&file);
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

static void full_disk(void)
{
	static const char block[4096] = { 0 };
	struct rlimit limit, small;
	struct outfile file;
	struct scratch scratch;
	struct error *err = NULL;

	scratch_init(&scratch);
	scratch_write(&scratch, "old", TEXT("old"));
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	small = (struct rlimit){ 10000, limit.rlim_max };
	expect_ok(outfile_open(&file, scratch_path(&scratch, "old")));
	setrlimit(RLIMIT_FSIZE, &small);
	for (int i = 0; i < 10 && !err; i++)
		err = outfile_write(&file, block, sizeof(block));
	setrlimit(RLIMIT_FSIZE, &limit);
	expect_error(err, "/old: File too large");
	outfile_close(&file);
	assert_true(scratch_holds(&scratch, "old", TEXT("old")));
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_deinit(&scratch);
}

TEST(a_disk_that_fills_up_leaves_the_old_file)
{
	in_both_ways(full_disk);
}

/* What waited in memory finds no room at the commit. */
TEST(a_disk_that_is_full_at_the_commit_leaves_the_old_file)
{
	static const char block[20000] = { 0 };
	struct rlimit limit;
	struct outfile file;
	struct scratch scratch;
	struct error *err;

	scratch_init(&scratch);
	scratch_write(&scratch, "old", TEXT("old"));
	signal(SIGXFSZ, SIG_IGN);
	without_nameless = true;
	expect_ok(outfile_open(&file, scratch_path(&scratch, "old")));
	without_nameless = false;
	expect_ok(outfile_write(&file, block, sizeof(block)));
	getrlimit(RLIMIT_FSIZE, &limit);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 10000, limit.rlim_max });
	err = outfile_commit(&file);
	setrlimit(RLIMIT_FSIZE, &limit);
	expect_error(err, "/old: File too large");
	outfile_close(&file);
	assert_true(scratch_holds(&scratch, "old", TEXT("old")));
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_deinit(&scratch);
}

TEST(a_pipe_is_written_directly)
{
	struct outfile file;
	struct scratch scratch;
	char got[8] = "";
	int reader;

	scratch_init(&scratch);
	assert_int_equal(mkfifoat(scratch.dir, "fifo", 0600), 0);
	reader = openat(scratch.dir, "fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	expect_ok(outfile_open(&file, scratch_path(&scratch, "fifo")));
	expect_ok(outfile_write(&file, "piped", 5));
	expect_ok(outfile_commit(&file));
	outfile_close(&file);
	assert_int_equal(read(reader, got, sizeof(got)), 5);
	assert_string_equal(got, "piped");
	assert_int_equal(read(reader, got, sizeof(got)), 0);
	close(reader);
	scratch_deinit(&scratch);
}

/* With sudo, a pipe of the shell's is the user's. */
TEST(an_anonymous_pipe_may_be_anybodys)
{
	struct outfile file;
	char path[64], got[8] = "";
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	if (geteuid() == 0)
		assert_int_equal(fchown(ends[1], STRANGER, STRANGER), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	expect_ok(outfile_check(path));
	expect_ok(outfile_open(&file, path));
	expect_ok(outfile_write(&file, "piped", 5));
	expect_ok(outfile_commit(&file));
	outfile_close(&file);
	assert_int_equal(read(ends[0], got, sizeof(got)), 5);
	assert_string_equal(got, "piped");
	close(ends[0]);
	close(ends[1]);
}

/* There is no name that another file could get. */
TEST(a_file_without_a_name_is_written_in_place)
{
	struct outfile file;
	char path[64], got[8] = "";
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(write(fd, "longer", 6), 6);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	expect_ok(outfile_check(path));
	expect_ok(outfile_open(&file, path));
	expect_ok(outfile_write(&file, "new", 3));
	expect_ok(outfile_commit(&file));
	outfile_close(&file);
	assert_int_equal(pread(fd, got, sizeof(got), 0), 3);
	assert_string_equal(got, "new");
	close(fd);
}

/* As "> file -o /dev/stdout" makes it. */
TEST(an_open_file_is_replaced_by_its_descriptors_path)
{
	struct scratch scratch;
	char path[64];
	struct outfile file;
	int fd;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", TEXT("old"));
	fd = openat(scratch.dir, "file", O_WRONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	expect_ok(outfile_open(&file, path));
	expect_ok(outfile_write(&file, "new", 3));
	expect_ok(outfile_commit(&file));
	outfile_close(&file);
	close(fd);
	assert_true(scratch_holds(&scratch, "file", TEXT("new")));
	assert_int_equal(scratch_count(&scratch), 1);
	scratch_deinit(&scratch);
}

TEST(standard_output_stays_open)
{
	struct outfile file;
	int ends[2], out;
	char got[8] = "";

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	fflush(stdout);
	out = dup(STDOUT_FILENO);
	dup2(ends[1], STDOUT_FILENO);
	expect_ok(outfile_open(&file, "-"));
	expect_ok(outfile_write(&file, "out", 3));
	expect_ok(outfile_commit(&file));
	outfile_close(&file);
	assert_int_equal(write(STDOUT_FILENO, "!", 1), 1);
	dup2(out, STDOUT_FILENO);
	close(out);
	assert_int_equal(read(ends[0], got, sizeof(got)), 4);
	assert_string_equal(got, "out!");
	close(ends[0]);
	close(ends[1]);
}

TEST(the_error_names_a_file_that_cannot_be_opened)
{
	struct outfile file;
	struct scratch scratch;

	scratch_init(&scratch);
	expect_error(outfile_open(&file, scratch.path), "Is a directory");
	outfile_close(&file);
	expect_error(outfile_open(&file, scratch_path(&scratch, "none/file")),
		     "/none: No such file or directory");
	outfile_close(&file);
	assert_int_equal(scratch_count(&scratch), 0);
	scratch_deinit(&scratch);
}

TEST(a_name_without_directory)
{
	struct scratch scratch;
	char *before = getcwd(NULL, 0);
	struct outfile file;

	scratch_init(&scratch);
	assert_int_equal(fchdir(scratch.dir), 0);
	expect_ok(outfile_open(&file, "plain"));
	expect_ok(outfile_write(&file, "x", 1));
	expect_ok(outfile_commit(&file));
	outfile_close(&file);
	assert_true(scratch_holds(&scratch, "plain", TEXT("x")));
	assert_int_equal(chdir(before), 0);
	free(before);
	scratch_deinit(&scratch);
}

static void directory_moves(void)
{
	struct scratch scratch;
	struct outfile file;
	_cleanup_close_ int dir = -1;

	scratch_init(&scratch);
	assert_int_equal(mkdirat(scratch.dir, "a", 0700), 0);
	dir = openat(scratch.dir, "a", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(renameat(scratch.dir, "a", scratch.dir, "b"), 0);
	assert_int_equal(mkdirat(scratch.dir, "a", 0700), 0);
	expect_ok(outfile_open_at(&file, dir, "new", "a/new"));
	expect_ok(outfile_write(&file, "x", 1));
	expect_ok(outfile_sync(&file));
	expect_ok(outfile_commit(&file));
	outfile_close(&file);
	assert_true(scratch_holds(&scratch, "b/new", TEXT("x")));
	assert_int_equal(faccessat(scratch.dir, "a/new", F_OK, 0), -1);
	scratch_deinit(&scratch);
}

TEST(a_directory_may_be_moved)
{
	in_both_ways(directory_moves);
}

TEST(a_directory_that_is_removed_is_an_error)
{
	struct scratch scratch;
	struct outfile file;
	_cleanup_close_ int dir = -1;

	scratch_init(&scratch);
	assert_int_equal(mkdirat(scratch.dir, "a", 0700), 0);
	dir = openat(scratch.dir, "a", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(unlinkat(scratch.dir, "a", AT_REMOVEDIR), 0);
	expect_error(outfile_open_at(&file, dir, "new", "a/new"),
		     "a/new: No such file or directory");
	outfile_close(&file);
	scratch_deinit(&scratch);
}

#define USER     65533
#define STRANGER 65534
#define NOBODY   UINT32_MAX /* there is no file */

/* A directory, what stands at the name, and whose the new file is. The old one has mode 0644. */
static const struct {
	const char *what;
	uid_t dir_owner;
	gid_t dir_group;
	mode_t dir_mode;
	uid_t there, owner;
	mode_t mode;
} handovers[] = {
	{ "the user's directory", USER, USER, 0700, NOBODY, USER, OUTFILE_MODE },
	{ "one that the user locked", USER, USER, 0577, NOBODY, 0, OUTFILE_MODE },
	{ "root's directory", 0, 0, 0755, NOBODY, 0, OUTFILE_MODE },
	{ "a stranger's directory", STRANGER, STRANGER, 0755, NOBODY, 0, OUTFILE_MODE },
	{ "everybody's directory", 0, 0, 01777, NOBODY, USER, OUTFILE_MODE },
	{ "the group's directory", 0, USER, 0775, NOBODY, USER, OUTFILE_MODE },
	{ "everybody's but the group's", 0, USER, 0757, NOBODY, 0, OUTFILE_MODE },
	{ "a file of the user", USER, USER, 0700, USER, USER, 0644 },
	{ "a file of root", USER, USER, 0700, 0, 0, 0644 },
	{ "a file of a stranger", 0, 0, 01777, STRANGER, 0, OUTFILE_MODE },
	{ "a file of the user in root's directory", 0, 0, 0755, USER, 0, OUTFILE_MODE },
};

static void belongs_to(int dir, const char *name, const char *what, uid_t owner, mode_t mode)
{
	struct stat st;

	assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	if (st.st_uid != owner || st.st_gid != owner || (st.st_mode & 07777) != mode)
		fail_msg("%s: %s is of %u:%u, with mode %o", what, name, st.st_uid, st.st_gid,
			 st.st_mode & 07777);
}

static void hand_over_rows(void)
{
	for (size_t i = 0; i < array_length(handovers); i++) {
		struct scratch scratch;
		struct outfile file;
		_cleanup_close_ int dir = -1;

		scratch_init(&scratch);
		assert_int_equal(mkdirat(scratch.dir, "a", 0700), 0);
		if (handovers[i].there != NOBODY) {
			scratch_write(&scratch, "a/file", TEXT("old"));
			assert_int_equal(fchmodat(scratch.dir, "a/file", 0644, 0), 0);
			assert_int_equal(fchownat(scratch.dir, "a/file", handovers[i].there,
						  handovers[i].there, 0),
					 0);
		}
		assert_int_equal(fchownat(scratch.dir, "a", handovers[i].dir_owner,
					  handovers[i].dir_group, 0),
				 0);
		assert_int_equal(fchmodat(scratch.dir, "a", handovers[i].dir_mode, 0), 0);
		write_file(&scratch, "a/file", TEXT("new"));
		belongs_to(scratch.dir, "a/file", handovers[i].what, handovers[i].owner,
			   handovers[i].mode);
		/* By the directory, as recordings are written. */
		dir = openat(scratch.dir, "a", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		expect_ok(outfile_open_at(&file, dir, "other", "a/other"));
		expect_ok(outfile_commit(&file));
		outfile_close(&file);
		if (handovers[i].there == NOBODY)
			belongs_to(dir, "other", handovers[i].what, handovers[i].owner,
				   OUTFILE_MODE);
		scratch_deinit(&scratch);
	}
}

/* What a link of root leads to is what is replaced. */
static void hand_over_links(void)
{
	struct scratch scratch;

	scratch_init(&scratch);
	scratch_write(&scratch, "of-root", TEXT("old"));
	assert_int_equal(fchmodat(scratch.dir, "of-root", 0644, 0), 0);
	assert_int_equal(mkdirat(scratch.dir, "a", 0700), 0);
	assert_int_equal(symlinkat("../of-root", scratch.dir, "a/link"), 0);
	assert_int_equal(fchownat(scratch.dir, "a", USER, USER, 0), 0);
	write_file(&scratch, "a/link", TEXT("new"));
	belongs_to(scratch.dir, "of-root", "a link", 0, 0644);
	belongs_to(scratch.dir, "a/link", "a link", 0, 0777);
	scratch_deinit(&scratch);
}

static void hand_over_directories(void)
{
	struct scratch scratch;
	char path[256];

	scratch_init(&scratch);
	assert_int_equal(mkdirat(scratch.dir, "a", 0700), 0);
	assert_int_equal(fchownat(scratch.dir, "a", USER, USER, 0), 0);
	snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "a/new"));
	assert_int_equal(handover_mkdir(path, 0700), 0);
	belongs_to(scratch.dir, "a/new", "the user's directory", USER, 0700);
	assert_int_equal(handover_mkdir(path, 0700), -1);
	assert_int_equal(errno, EEXIST);
	snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "root's"));
	assert_int_equal(handover_mkdir(path, 0700), 0);
	belongs_to(scratch.dir, "root's", "root's directory", 0, 0700);
	snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "none/new"));
	assert_int_equal(handover_mkdir(path, 0700), -1);
	assert_int_equal(errno, ENOENT);
	scratch_deinit(&scratch);
}

/* The last of all: from then on it is so. */
TEST(the_user_of_sudo_gets_files)
{
	mode_t before = umask(0);

	needs_root();
	handover_begin(USER, USER);
	in_both_ways(hand_over_rows);
	hand_over_links();
	hand_over_directories();
	umask(before);
}

UNIT_TESTS(cmocka_unit_test(a_file_appears_whole),
	   cmocka_unit_test(a_failure_leaves_the_old_file_alone),
	   cmocka_unit_test(nothing_stands_beside_it_meanwhile),
	   cmocka_unit_test(an_existing_file_is_replaced),
	   cmocka_unit_test(a_new_file_is_its_owners),
	   cmocka_unit_test(an_existing_file_keeps_its_mode), cmocka_unit_test(a_link_is_followed),
	   cmocka_unit_test(a_file_is_never_set_user_id),
	   cmocka_unit_test(a_strangers_mode_is_not_taken_over),
	   cmocka_unit_test(the_mode_of_a_hard_link_is_not_taken_over),
	   cmocka_unit_test(links_are_followed_to_their_end),
	   cmocka_unit_test(a_strangers_link_is_not_followed),
	   cmocka_unit_test(a_file_that_is_removed_meanwhile_is_not_written_to),
	   cmocka_unit_test(a_strangers_fifo_is_not_opened),
	   cmocka_unit_test(a_place_is_checked_before),
	   cmocka_unit_test(a_temporary_name_that_is_taken_is_left_alone),
	   cmocka_unit_test(an_anonymous_pipe_may_be_anybodys),
	   cmocka_unit_test(a_file_without_a_name_is_written_in_place),
	   cmocka_unit_test(an_open_file_is_replaced_by_its_descriptors_path),

	   cmocka_unit_test(a_device_is_written_in_place),
	   cmocka_unit_test(a_full_device_is_an_error),
	   cmocka_unit_test(a_disk_that_fills_up_leaves_the_old_file),
	   cmocka_unit_test(a_disk_that_is_full_at_the_commit_leaves_the_old_file),
	   cmocka_unit_test(a_pipe_is_written_directly),
	   cmocka_unit_test(standard_output_stays_open),
	   cmocka_unit_test(the_error_names_a_file_that_cannot_be_opened),
	   cmocka_unit_test(a_name_without_directory), cmocka_unit_test(a_directory_may_be_moved),
	   cmocka_unit_test(a_directory_that_is_removed_is_an_error),
	   cmocka_unit_test(the_user_of_sudo_gets_files))

/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit/unit.h"

static const struct spool_sink sinks[] = { { "one", "first" }, { "two", "second" } };

struct scene {
	struct scratch scratch;
	char path[128];
	struct spool *spool;
};

static struct error *open_spool(struct scene *scene, uint64_t most)
{
	const struct spool_options options = { scene->path, most, sinks, array_length(sinks) };

	return spool_open(&options, &scene->spool);
}

static void open_scene(struct scene *scene, uint64_t most)
{
	scratch_init(&scene->scratch);
	snprintf(scene->path, sizeof(scene->path), "%s", scratch_path(&scene->scratch, "spool"));
	expect_ok(open_spool(scene, most));
}

static void reopen(struct scene *scene, uint64_t most)
{
	spool_close(scene->spool);
	expect_ok(open_spool(scene, most));
}

/* A directory and its parent are made. */
TEST(makes_directories)
{
	struct scene scene;

	scratch_init(&scene.scratch);
	snprintf(scene.path, sizeof(scene.path), "%s", scratch_path(&scene.scratch, "var/spool"));
	expect_ok(open_spool(&scene, 1 << 20));
	spool_close(scene.spool);
	snprintf(scene.path, sizeof(scene.path), "%s", scratch_path(&scene.scratch, "a/b/spool"));
	expect_error(open_spool(&scene, 1 << 20), "No such file");
	scratch_deinit(&scene.scratch);
}

static void close_scene(struct scene *scene)
{
	spool_close(scene->spool);
	scratch_deinit(&scene->scratch);
}

static void add(struct scene *scene, size_t sink, const char *body, uint64_t count)
{
	const struct sink_request request = {
		.target = "?query=INSERT",
		.content_type = "text/plain",
		.header = "X-Scope-OrgID: team",
		.check = sink ? "?check" : NULL,
		.what = "rows",
		.count = count,
		.body = text_of(body),
	};

	expect_ok(spool_add(scene->spool, sink, &request));
}

static void expect_first(struct scene *scene, size_t sink, const char *body)
{
	static char bytes[REQUEST_HEADER_MOST];
	struct request_header header;
	char got[64] = "";
	bool is_marked;
	int fd;

	assert_true(spool_open_request(scene->spool, sink, 0, &fd, &is_marked));
	assert_true(request_header_read(fd, bytes, &header));
	expect_text(header.check, sink ? "?check" : "");
	expect_text(header.what, "rows");
	expect_text(header.target, "?query=INSERT");
	expect_text(header.content_type, "text/plain");
	expect_text(header.content_encoding, "");
	expect_text(header.header, "X-Scope-OrgID: team");
	assert_int_equal(pread(fd, got, sizeof(got) - 1, (off_t)header.length), strlen(body));
	assert_string_equal(got, body);
	close(fd);
}

static uint64_t lost(struct scene *scene, const char *what, const char *why)
{
	const struct losses *losses = spool_losses(scene->spool);
	uint64_t count = 0;

	for (size_t i = 0; i < losses->count; i++)
		if (strings_equal(losses->items[i].what, what) &&
		    strings_equal(losses->items[i].why, why))
			count += losses->items[i].count;
	return count;
}

static bool is_marked(struct scene *scene, size_t sink)
{
	bool is_marked;
	int fd;

	assert_true(spool_open_request(scene->spool, sink, 0, &fd, &is_marked));
	close(fd);
	return is_marked;
}

/* That a request may have arrived is known to the next agent, too; and the sums of one that has are
 * counted in the step that removes it. */
TEST(marks_requests)
{
	struct sink_request request = { .what = "rows", .sums = "sums", .count = 7 };
	struct scene scene;

	open_scene(&scene, 1 << 20);
	add(&scene, 0, "first", 1);
	expect_ok(spool_add(scene.spool, 1, &request));
	assert_false(is_marked(&scene, 0));
	assert_true(spool_mark(scene.spool, 0, 0));
	assert_false(spool_mark(scene.spool, 0, 1));
	assert_true(is_marked(&scene, 0));
	expect_first(&scene, 0, "first");
	assert_false(is_marked(&scene, 1));
	reopen(&scene, 1 << 20);
	assert_true(is_marked(&scene, 0));
	assert_true(spool_mark(scene.spool, 0, 0));
	assert_false(spool_remove_part(scene.spool, 0, 0, "too old", 0, 1));
	assert_true(spool_remove_part(scene.spool, 1, 0, "too old", 0, 9));
	assert_false(spool_remove_part(scene.spool, 1, 0, "too old", 0, 9));
	reopen(&scene, 1 << 20);
	assert_int_equal(spool_count(scene.spool, 0) + spool_count(scene.spool, 1), 0);
	assert_int_equal(lost(&scene, "sums", "perhaps missing"), 7);
	assert_int_equal(spool_losses(scene.spool)->count, 1);
	close_scene(&scene);
}

/* Files of an earlier version have no place for a mark. */
static void write_older(struct scene *scene, const char *id, size_t body_length)
{
	static const char header[] =
		"ctprof-request 1\nwhat: rows\ncount: 3\ntarget: ?query=INSERT\n"
		"type: text/plain\nheader: X-Scope-OrgID: team\n";
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/one/%s.request", scene->path, id);
	out = fopen(path, "we");
	assert_non_null(out);
	fprintf(out, "%sbody: %zu\n\n", header, body_length);
	for (size_t i = 0; i < body_length; i++)
		fputc((int)('a' + i % 26), out);
	assert_int_equal(fclose(out), 0);
}

/* Is the body of the first request what write_older() wrote? */
static void expect_older_body(struct scene *scene, size_t body_length)
{
	static char bytes[REQUEST_HEADER_MOST];
	struct request_header header;
	bool is_marked;
	char got;
	int fd;

	assert_true(spool_open_request(scene->spool, 0, 0, &fd, &is_marked));
	assert_true(request_header_read(fd, bytes, &header));
	assert_int_equal(header.count, 3);
	expect_text(header.what, "rows");
	expect_text(header.target, "?query=INSERT");
	expect_text(header.header, "X-Scope-OrgID: team");
	assert_int_equal(header.body_length, body_length);
	for (size_t i = 0; i < body_length; i += 1021) {
		assert_int_equal(pread(fd, &got, 1, (off_t)(header.length + i)), 1);
		assert_int_equal(got, 'a' + i % 26);
	}
	close(fd);
}

TEST(marks_older_requests)
{
	/* The mark needs another block of the disk; and more than a piece of a copy. */
	const size_t header_length = strlen("ctprof-request 1\nwhat: rows\ncount: 3\n"
					    "target: ?query=INSERT\ntype: text/plain\n"
					    "header: X-Scope-OrgID: team\nbody: 204800\n\n"),
		     lengths[] = { 204800 - header_length, 204800, 0 };
	struct scene scene;

	for (size_t i = 0; i < array_length(lengths); i++) {
		char path[256];
		uint64_t before;

		open_scene(&scene, 1 << 20);
		write_older(&scene, "00000000000000000007", lengths[i]);
		snprintf(path, sizeof(path), "%s/one/marked", scene.path);
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		reopen(&scene, 1 << 20);
		assert_int_equal(access(path, F_OK), -1);
		add(&scene, 0, "next", 1);
		before = spool_bytes(scene.spool);
		assert_false(is_marked(&scene, 0));
		assert_true(spool_mark(scene.spool, 0, 0));
		assert_true(is_marked(&scene, 0));
		expect_older_body(&scene, lengths[i]);
		assert_int_equal(spool_bytes(scene.spool), before + (i == 0 ? 4096 : 0));
		assert_int_equal(spool_id(scene.spool, 0, 0), 7);
		before = spool_bytes(scene.spool);
		reopen(&scene, 1 << 20);
		assert_int_equal(spool_bytes(scene.spool), before);
		assert_int_equal(spool_count(scene.spool, 0), 2);
		assert_true(is_marked(&scene, 0));
		expect_older_body(&scene, lengths[i]);
		/* In its place. */
		assert_true(spool_mark(scene.spool, 0, 0));
		spool_remove(scene.spool, 0, 0);
		expect_first(&scene, 0, "next");
		assert_int_equal(lost(&scene, "rows", "damaged"), 0);
		close_scene(&scene);
	}
}

/* Of a request that was stored in part, both the rest and the sums of the part are counted. */
TEST(counts_parts)
{
	struct sink_request request = { .what = "rows", .sums = "sums", .count = 7 };
	struct scene scene;

	open_scene(&scene, 1 << 20);
	for (size_t i = 0; i < 3; i++)
		expect_ok(spool_add(scene.spool, 0, &request));
	assert_true(spool_remove_part(scene.spool, 0, 0, "stored in part", 3, 4));
	assert_false(spool_remove_part(scene.spool, 0, 0, "stored in part", 1, 0));
	assert_true(spool_remove_part(scene.spool, 0, 0, "too old", 9, 7));
	reopen(&scene, 1 << 20);
	assert_int_equal(spool_count(scene.spool, 0), 0);
	assert_int_equal(lost(&scene, "rows", "stored in part"), 4);
	assert_int_equal(lost(&scene, "rows", "too old"), 7);
	assert_int_equal(lost(&scene, "sums", "perhaps missing"), 11);
	close_scene(&scene);
}

TEST(keeps_requests)
{
	struct scene scene;
	struct stat st;

	open_scene(&scene, 1 << 20);
	add(&scene, 0, "first", 1);
	add(&scene, 1, "second", 2);
	add(&scene, 0, "third", 3);
	assert_int_equal(spool_count(scene.spool, 0), 2);
	assert_int_equal(spool_bytes(scene.spool), 3 * 4096);
	assert_int_equal(spool_id(scene.spool, 0, 1), 3);
	assert_int_equal(spool_id(scene.spool, 0, 2), 0);
	assert_int_equal(stat(scene.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(
		fstatat(scene.scratch.dir, "spool/one/00000000000000000001.request", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	expect_first(&scene, 0, "first");
	reopen(&scene, 1 << 20);
	expect_first(&scene, 0, "first");
	expect_first(&scene, 1, "second");
	spool_remove(scene.spool, 0, 0);
	expect_first(&scene, 0, "third");
	assert_int_equal(spool_id(scene.spool, 0, 0), 3);
	assert_int_equal(spool_losses(scene.spool)->count, 0);
	spool_drop(scene.spool, 0, 0, "refused", SPOOL_ALL);
	assert_int_equal(spool_count(scene.spool, 0), 0);
	assert_int_equal(lost(&scene, "rows", "refused"), 3);
	reopen(&scene, 1 << 20);
	assert_int_equal(lost(&scene, "rows", "refused"), 3);
	spool_subtract_losses(scene.spool, (uint64_t[]){ 2 }, 1);
	assert_int_equal(lost(&scene, "rows", "refused"), 1);
	reopen(&scene, 1 << 20);
	spool_subtract_losses(scene.spool, (uint64_t[]){ 1 }, 1);
	assert_int_equal(spool_losses(scene.spool)->count, 0);
	close_scene(&scene);
}

TEST(drops_the_oldest)
{
	struct scene scene;

	open_scene(&scene, 4 * 4096);
	add(&scene, 0, "a", 1);
	add(&scene, 1, "b", 10);
	add(&scene, 0, "c", 100);
	add(&scene, 1, "d", 1000);
	spool_hold(scene.spool, 0, 1);
	add(&scene, 0, "e", 10000);
	assert_int_equal(lost(&scene, "rows", "spool full"), 10);
	expect_first(&scene, 0, "a");
	spool_hold(scene.spool, 0, 0);
	add(&scene, 0, "f", 100000);
	expect_first(&scene, 0, "c");
	assert_int_equal(spool_bytes(scene.spool), 4 * 4096);
	/* A smaller limit after a restart. */
	reopen(&scene, 2 * 4096);
	assert_int_equal(spool_bytes(scene.spool), 2 * 4096);
	assert_int_equal(lost(&scene, "rows", "spool full"), 1111);
	close_scene(&scene);
}

/* Of two that are held, the second is removed, or the first dropped. */
TEST(holds_two)
{
	struct scene scene;

	open_scene(&scene, 3 * 4096);
	add(&scene, 0, "a", 1);
	add(&scene, 0, "b", 10);
	add(&scene, 0, "c", 100);
	spool_hold(scene.spool, 0, 2);
	add(&scene, 0, "d", 1000);
	assert_int_equal(lost(&scene, "rows", "spool full"), 100);
	spool_remove(scene.spool, 0, 1);
	add(&scene, 0, "e", 10000);
	add(&scene, 0, "f", 10000);
	assert_int_equal(lost(&scene, "rows", "spool full"), 1100);
	expect_first(&scene, 0, "a");
	spool_drop(scene.spool, 0, 0, "refused", SPOOL_ALL);
	expect_first(&scene, 0, "e");
	close_scene(&scene);
}

/* The first becomes the last, also for the next agent, and its bytes count once. */
TEST(moves_the_first)
{
	struct scene scene;

	open_scene(&scene, 1 << 20);
	add(&scene, 0, "first", 1);
	spool_move_last(scene.spool, 0);
	expect_first(&scene, 0, "first");
	add(&scene, 0, "second", 2);
	add(&scene, 1, "third", 3);
	spool_hold(scene.spool, 0, 1);
	spool_move_last(scene.spool, 0);
	spool_move_last(scene.spool, 1);
	expect_first(&scene, 0, "second");
	reopen(&scene, 1 << 20);
	expect_first(&scene, 0, "second");
	expect_first(&scene, 1, "third");
	assert_int_equal(spool_count(scene.spool, 0), 2);
	assert_int_equal(spool_bytes(scene.spool), 3 * 4096);
	spool_remove(scene.spool, 0, 0);
	expect_first(&scene, 0, "first");
	/* A number that no other request had. */
	assert_int_equal(spool_id(scene.spool, 0, 0), 4);
	assert_int_equal(spool_losses(scene.spool)->count, 0);
	close_scene(&scene);
}

TEST(refuses_what_never_fits)
{
	struct scene scene;
	char *body = calloc(1, 10000);

	memset(body, 'x', 9999);
	open_scene(&scene, 2 * 4096);
	add(&scene, 0, "a", 1);
	add(&scene, 0, body, 7);
	assert_int_equal(lost(&scene, "rows", "spool too small"), 7);
	expect_first(&scene, 0, "a");
	expect_error(
		spool_add(scene.spool, 0,
			  &(struct sink_request){ .target = "a\nb", .what = "rows", .count = 5 }),
		"control characters");
	assert_int_equal(lost(&scene, "rows", "not written"), 5);
	free(body);
	close_scene(&scene);
}

TEST(one_agent_at_a_time)
{
	struct scene scene, other;

	open_scene(&scene, 1 << 20);
	other = scene;
	expect_error(open_spool(&other, 1 << 20), "another agent uses this spool");
	close_scene(&scene);
	scratch_init(&scene.scratch);
	snprintf(scene.path, sizeof(scene.path), "%s", scratch_path(&scene.scratch, "spool"));
	assert_int_equal(mkdir(scene.path, 0700), 0);
	assert_int_equal(chmod(scene.path, 0777), 0);
	expect_error(open_spool(&scene, 1 << 20), "other users may write");
	scratch_deinit(&scene.scratch);
}

static int dir_of(const struct scene *scene, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", scene->path, name);
	return open(path, O_RDONLY | O_DIRECTORY);
}

static void put(int dir, const char *name, const char *bytes)
{
	const int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	close(fd);
}

/* What is no request of this process is neither followed nor waited for. */
TEST(strange_files)
{
	struct scene scene;
	int dir;

	open_scene(&scene, 1 << 20);
	add(&scene, 0, "mine", 1);
	dir = dir_of(&scene, "one");
	assert_int_equal(symlinkat("/etc/passwd", dir, "00000000000000000002.request"), 0);
	assert_int_equal(mkfifoat(dir, "00000000000000000003.request", 0600), 0);
	assert_int_equal(mkdirat(dir, "00000000000000000004.request", 0700), 0);
	put(dir, "5.request", "");
	put(dir, "99999999999999999999.request", "");
	put(dir, "00000000000000000006.request", "");
	put(dir, "00000000000000000007.request",
	    "ctprof-request 1\nwhat: rows\ncount: 9\nbody: 5\n\nabc");
	put(dir, "new", "ctprof-request 1\nwhat: ro");
	reopen(&scene, 1 << 20);
	assert_int_equal(faccessat(dir, "new", F_OK, 0), -1);
	assert_int_equal(lost(&scene, "requests", "damaged"), 1);
	assert_int_equal(spool_count(scene.spool, 0), 3);
	expect_first(&scene, 0, "mine");
	spool_remove(scene.spool, 0, 0);
	assert_false(spool_open_request(scene.spool, 0, 0, &(int){ 0 }, &(bool){ false }));
	assert_int_equal(lost(&scene, "requests", "damaged"), 3);
	assert_int_equal(faccessat(dir, "00000000000000000002.request", F_OK, AT_SYMLINK_NOFOLLOW),
			 0);
	/* What replaced a file in the meantime. */
	add(&scene, 0, "next", 1);
	assert_int_equal(unlinkat(dir, "00000000000000000008.request", 0), 0);
	assert_int_equal(symlinkat("/etc/passwd", dir, "00000000000000000008.request"), 0);
	assert_false(spool_open_request(scene.spool, 0, 0, &(int){ 0 }, &(bool){ false }));
	assert_int_equal(lost(&scene, "requests", "damaged"), 4);
	close(dir);
	close_scene(&scene);
}

/* A file that is replaced by what cannot be removed as a file: it counts until it is gone. */
TEST(cannot_remove_one)
{
	struct scene scene;
	int dir, errnum;

	open_scene(&scene, 3 * 4096);
	add(&scene, 0, "arrived", 1);
	add(&scene, 0, "next", 10);
	dir = dir_of(&scene, "one");
	assert_int_equal(unlinkat(dir, "00000000000000000001.request", 0), 0);
	assert_int_equal(mkdirat(dir, "00000000000000000001.request", 0700), 0);
	spool_remove(scene.spool, 0, 0);
	assert_int_equal(spool_left(scene.spool, &errnum), 1);
	assert_true(errnum == EISDIR || errnum == EPERM);
	assert_int_equal(spool_left(scene.spool, &errnum), 1);
	assert_int_equal(errnum, 0);
	assert_int_equal(spool_count(scene.spool, 0), 1);
	assert_int_equal(spool_bytes(scene.spool), 2 * 4096);
	expect_first(&scene, 0, "next");
	assert_int_equal(spool_losses(scene.spool)->count, 0);
	/* There is room for one more. */
	add(&scene, 1, "third", 100);
	add(&scene, 1, "fourth", 1000);
	assert_int_equal(lost(&scene, "rows", "spool full"), 10);
	assert_int_equal(unlinkat(dir, "00000000000000000001.request", AT_REMOVEDIR), 0);
	spool_remove(scene.spool, 1, 0);
	assert_int_equal(spool_left(scene.spool, &errnum), 0);
	assert_int_equal(spool_bytes(scene.spool), 4096);
	assert_int_equal(lost(&scene, "rows", "spool full"), 10);
	close(dir);
	close_scene(&scene);
}

/* Nothing can be removed from the directory. False: that cannot be had here. */
static bool set_immutable(int dir, bool is_immutable)
{
	int flags;

	if (ioctl(dir, FS_IOC_GETFLAGS, &flags))
		return false;
	flags = is_immutable ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
	return !ioctl(dir, FS_IOC_SETFLAGS, &flags);
}

/* Files that are left are neither sent nor counted by a later agent, and no others are dropped in
 * vain. */
TEST(cannot_remove_any)
{
	struct scene scene;
	int dir, errnum;

	open_scene(&scene, 4 * 4096);
	add(&scene, 0, "arrived", 1);
	add(&scene, 0, "next", 10);
	add(&scene, 1, "other", 100);
	dir = dir_of(&scene, "one");
	if (!set_immutable(dir, true)) {
		close(dir);
		close_scene(&scene);
		print_message("no immutable directories here\n");
		skip();
	}
	spool_remove(scene.spool, 0, 0);
	expect_first(&scene, 0, "next");
	assert_int_equal(spool_left(scene.spool, &errnum), 1);
	assert_int_equal(errnum, EPERM);
	reopen(&scene, 4 * 4096);
	assert_int_equal(spool_left(scene.spool, &errnum), 1);
	assert_int_equal(spool_count(scene.spool, 0), 1);
	assert_int_equal(spool_bytes(scene.spool), 3 * 4096);
	expect_first(&scene, 0, "next");
	assert_int_equal(spool_losses(scene.spool)->count, 0);
	/* The newer request is dropped, since the older one cannot be removed. */
	add(&scene, 1, "third", 1000);
	add(&scene, 1, "fourth", 10000);
	assert_int_equal(lost(&scene, "rows", "spool full"), 100);
	expect_first(&scene, 0, "next");
	assert_true(set_immutable(dir, false));
	reopen(&scene, 4 * 4096);
	assert_int_equal(spool_left(scene.spool, &errnum), 0);
	assert_int_equal(spool_bytes(scene.spool), 3 * 4096);
	expect_first(&scene, 0, "next");
	expect_first(&scene, 1, "third");
	assert_int_equal(lost(&scene, "rows", "spool full"), 100);
	close(dir);
	close_scene(&scene);
}

TEST(strange_losses)
{
	static const char *const damaged[] = {
		"",
		"ctprof-losses 1\n",
		"ctprof-losses 2\nend\n",
		"ctprof-losses 1\nlost\tx\ta\tb\tc\nend\n",
		"\xff",
		"ctprof-losses 1\nend\nmore\n",
		"ctprof-losses 1\nlost\t1\ta\nend\n",
	};
	struct losses losses = { 0 };

	for (size_t i = 0; i < array_length(damaged); i++)
		expect_error(losses_parse(&losses, text_of(damaged[i])), "damaged");
	expect_ok(losses_parse(&losses, TEXT("ctprof-losses 1\nlost\t5\tone\trows\twhy\n"
					     "removed\t7\tone\nend\n")));
	assert_int_equal(losses.items[0].count, 5);
	assert_int_equal(losses.removals.items[0].id, 7);
	for (int i = 0; i < 2 * LOSSES_MOST; i++) {
		char what[32];

		snprintf(what, sizeof(what), "what %d", i);
		assert_true(losses_add(&losses, "one", text_of(what), "why", 1));
	}
	assert_int_equal(losses.count, LOSSES_MOST);
	assert_string_equal(losses.items[LOSSES_MOST - 1].what, "other things");
	losses_deinit(&losses);
}

/* A kill between counting a request and removing its file. */
TEST(counted_and_not_removed)
{
	struct scene scene;
	int dir;

	open_scene(&scene, 1 << 20);
	add(&scene, 0, "counted", 5);
	add(&scene, 0, "next", 6);
	spool_close(scene.spool);
	dir = open(scene.path, O_RDONLY | O_DIRECTORY);
	put(dir, "losses",
	    "ctprof-losses 1\nlost\t5\tone\trows\tspool full\nremoved\t1\tone\nend\n");
	close(dir);
	expect_ok(open_spool(&scene, 1 << 20));
	expect_first(&scene, 0, "next");
	assert_int_equal(lost(&scene, "rows", "spool full"), 5);
	/* The file of losses still names the removed one, whose number is not used again. */
	spool_remove(scene.spool, 0, 0);
	reopen(&scene, 1 << 20);
	add(&scene, 0, "new", 1);
	reopen(&scene, 1 << 20);
	expect_first(&scene, 0, "new");
	close_scene(&scene);
}

/* kill -9 at any time: what was added is there or counted. */
TEST(killed)
{
	struct scene scene;

	open_scene(&scene, 16 * 4096);
	spool_close(scene.spool);
	for (int i = 0; i < 20; i++) {
		uint64_t waiting = 0, produced = 0, all;
		int numbers[2], status;
		pid_t child;

		assert_int_equal(pipe(numbers), 0);
		expect_ok(open_spool(&scene, 16 * 4096));
		waiting = spool_count(scene.spool, 0) + lost(&scene, "rows", "spool full") +
			  lost(&scene, "requests", "damaged");
		spool_close(scene.spool);
		child = fork();
		if (!child) {
			if (open_spool(&scene, 16 * 4096))
				_exit(1);
			for (;;) {
				(void)!write(numbers[1], "", 1);
				add(&scene, 0, "body", 1);
				(void)!write(numbers[1], "", 1);
			}
		}
		close(numbers[1]);
		usleep(20000);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		for (char byte; read(numbers[0], &byte, 1) == 1;)
			produced++;
		close(numbers[0]);
		expect_ok(open_spool(&scene, 16 * 4096));
		all = spool_count(scene.spool, 0) + lost(&scene, "rows", "spool full") +
		      lost(&scene, "requests", "damaged");
		/* The last one may have been added or not. */
		assert_true(all - waiting == produced / 2 || all - waiting == (produced + 1) / 2);
		spool_close(scene.spool);
	}
	scene.spool = NULL;
	close_scene(&scene);
}

UNIT_TESTS(cmocka_unit_test(makes_directories), cmocka_unit_test(marks_requests),
	   cmocka_unit_test(marks_older_requests), cmocka_unit_test(counts_parts),
	   cmocka_unit_test(keeps_requests), cmocka_unit_test(moves_the_first),
	   cmocka_unit_test(drops_the_oldest), cmocka_unit_test(holds_two),
	   cmocka_unit_test(refuses_what_never_fits), cmocka_unit_test(one_agent_at_a_time),
	   cmocka_unit_test(cannot_remove_one), cmocka_unit_test(cannot_remove_any),
	   cmocka_unit_test(strange_files), cmocka_unit_test(strange_losses),
	   cmocka_unit_test(counted_and_not_removed), cmocka_unit_test(killed))

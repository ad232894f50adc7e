/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/cgroup.h"

#include "unit/unit.h"

TEST(the_version_2_path)
{
	static const char *const files[][2] = {
		{ "0::/user.slice\n", "/user.slice" },
		{ "0::/\n", "/" },
		{ "0::/a", "/a" },
		/* hybrid: version 1 hierarchies before it */
		{ "12:cpu,cpuacct:/x\n1:name=systemd:/y\n0::/z\n", "/z" },
		{ "10:freezer:/0::/x\n0::/y\n", "/y" },
		{ "0::\n0::/second\n", "/second" },
		{ "0::/first\n0::/second\n", "/first" },
		{ "0::/gone (deleted)\n", "/gone (deleted)" },
		{ "0::/../sibling\n", "/../sibling" },
		{ "0::/with space:and colon\n", "/with space:and colon" },
		{ "0::/\xff\xfe\n", "/\xff\xfe" },
	};
	static const char *const none[] = { "",           "\n",       "0::\n", "0::",
					    "1:cpu:/x\n", "10::/x\n", "0:/x\n" };
	struct text path = TEXT("untouched");

	for (size_t i = 0; i < array_length(none); i++)
		assert_false(cgroup_path_parse(text_of(none[i]), &path));
	expect_text(path, "untouched");
	for (size_t i = 0; i < array_length(files); i++) {
		struct text bytes = guarded(files[i][0], strlen(files[i][0]));

		assert_true(cgroup_path_parse(bytes, &path));
		expect_text(path, files[i][1]);
		unguard(bytes);
	}
}

#define MOUNT(root, point, type) \
	"30 24 0:26 " root " " point " rw,nosuid shared:4 master:9 - " type " cgroup rw\n"

static void check_mount(const char *mountinfo, const char *root, const char *point)
{
	struct text bytes = guarded(mountinfo, strlen(mountinfo));
	struct cgroup_mount mount;

	assert_true(cgroup_mount_parse(bytes, NULL, NULL, NULL, &mount));
	expect_text(mount.root, root);
	expect_text(mount.point, point);
	unguard(bytes);
}

TEST(where_version_2_is_mounted)
{
	check_mount(MOUNT("/", "/sys/fs/cgroup", "cgroup2"), "/", "/sys/fs/cgroup");
	/* no optional fields */
	check_mount("30 24 0:26 / /cg rw - cgroup2 none rw\n", "/", "/cg");
	/* hybrid */
	check_mount(MOUNT("/", "/sys/fs/cgroup", "tmpfs")
			    MOUNT("/", "/sys/fs/cgroup/unified", "cgroup2")
				    MOUNT("/", "/sys/fs/cgroup/cpu", "cgroup"),
		    "/", "/sys/fs/cgroup/unified");
	/* a bind mount of a part comes first, the whole is meant */
	check_mount(MOUNT("/part", "/a", "cgroup2") MOUNT("/", "/b", "cgroup2"), "/", "/b");
	check_mount(MOUNT("/part", "/a", "cgroup2") MOUNT("/other", "/b", "cgroup2"), "/part",
		    "/a");
	/* a mount point that looks like the separator */
	check_mount(MOUNT("/", "/cgroup2", "ext4") MOUNT("/", "/x\\040-\\040cgroup2", "cgroup2"),
		    "/", "/x\\040-\\040cgroup2");
}

/* A controller of version 1 has a tree of its own. */
TEST(controllers_of_version_1)
{
	static const char mountinfo[] =
		"30 24 0:26 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
		"31 24 0:27 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n"
		"32 24 0:28 / /cg/unified rw - cgroup2 cgroup2 rw\n";
	struct text bytes = guarded(mountinfo, strlen(mountinfo)), path;
	struct cgroup_mount mount;

	assert_true(cgroup_mount_parse(bytes, "cpu", NULL, NULL, &mount));
	expect_text(mount.point, "/cg/cpu,cpuacct");
	assert_true(cgroup_mount_parse(bytes, "cpuset", NULL, NULL, &mount));
	expect_text(mount.point, "/cg/cpuset");
	assert_false(cgroup_mount_parse(bytes, "memory", NULL, NULL, &mount));
	assert_true(cgroup_path_parse_v1(TEXT("9:cpuset:/x\n4:cpu,cpuacct:/a:b\n0::/u\n"), "cpu",
					 &path));
	expect_text(path, "/a:b");
	assert_false(cgroup_path_parse_v1(TEXT("0::/u\n4\n4:cpu\n4:cpu:\n"), "cpu", &path));
	unguard(bytes);
}

TEST(the_path_that_says_most)
{
	static const struct {
		const char *bytes, *path;
	} rows[] = {
		{ "0::/u\n1:cpu:/a\n", "/u" },
		{ "4:memory:/m\n3:cpuset:/x\n2:cpu,cpuacct:/\n1:name=systemd:/\n0::/\n", "/m" },
		{ "4:memory:/m\n2:cpu,cpuacct:/c\n1:name=systemd:/s\n0::/\n", "/s" },
		{ "4:memory:/m\n2:cpuacct,cpu:/c\n", "/c" },
		{ "3:cpuset:/x\n0::/\n", "/" },
	};
	struct text path;

	for (size_t i = 0; i < array_length(rows); i++) {
		assert_true(cgroup_path_parse_any(text_of(rows[i].bytes), &path));
		expect_text(path, rows[i].path);
	}
	assert_false(cgroup_path_parse_any(TEXT("3:cpuset:/x\n2:cpu:/\n"), &path));
	assert_false(cgroup_path_parse_any(TEXT(""), &path));
	assert_true(cgroup_path_has_v1(TEXT("0::/u\n1:cpu:/\n")));
	assert_false(cgroup_path_has_v1(TEXT("0::/u\n")) || cgroup_path_has_v1(TEXT("")));
}

/* Not the one at the context. */
static bool is_elsewhere(void *context, const struct cgroup_mount *mount)
{
	return !text_equal(mount->point, text_of(context));
}

TEST(a_mount_that_is_of_no_use_is_passed_over)
{
	const struct text bytes = TEXT("7 1 0:2 / /a rw - cgroup2 none rw\n"
				       "9 1 0:2 /part /b rw - cgroup2 none rw\n");
	struct cgroup_mount mount;

	assert_true(cgroup_mount_parse(bytes, NULL, is_elsewhere, (char *)"/b", &mount));
	expect_text(mount.point, "/a");
	assert_int_equal(mount.id, 7);
	assert_true(cgroup_mount_parse(bytes, NULL, is_elsewhere, (char *)"/a", &mount));
	expect_text(mount.point, "/b");
	assert_int_equal(mount.id, 9);
}

TEST(no_version_2)
{
	static const char *const files[] = {
		"",
		MOUNT("/", "/sys/fs/cgroup/cpu", "cgroup"),
		"30 24 0:26 / /x rw shared:4",
		"30 24 0:26 / /x rw shared:4 -",
		"cgroup2",
		"x 24 0:26 / /cg rw - cgroup2 none rw",
		"- cgroup2 x",
	};
	struct cgroup_mount mount;

	for (size_t i = 0; i < array_length(files); i++) {
		struct text bytes = guarded(files[i], strlen(files[i]));

		assert_false(cgroup_mount_parse(bytes, NULL, NULL, NULL, &mount));
		unguard(bytes);
	}
}

TEST(octal_escapes)
{
	static const char *const cases[][2] = {
		{ "/plain", "/plain" },          { "/a\\040b", "/a b" },
		{ "\\011\\012\\134", "\t\n\\" }, { "/x\\0", "/x\\0" },
		{ "/x\\04", "/x\\04" },          { "/x\\08x", "/x\\08x" },
		{ "/x\\480", "/x\\480" },        { "\\134040", "\\040" },
		{ "\\303\\244", "\xc3\xa4" },    { "", "" },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		struct text bytes = guarded(cases[i][0], strlen(cases[i][0]));
		size_t length = mountinfo_unescape((char *)(uintptr_t)bytes.bytes, bytes.length);

		expect_text(((struct text){ bytes.bytes, length }), cases[i][1]);
		unguard(bytes);
	}
}

TEST(below_the_mount)
{
	static const char *const shown[][3] = {
		{ "/", "/a/b", "a/b" },
		{ "/", "/", "" },
		{ "/x", "/x/y", "y" },
		{ "/x", "/x", "" },
		{ "/x/y", "/x/y/z/w", "z/w" },
		{ "/", "/a..b", "a..b" },
		{ "/", "/(deleted)", "(deleted)" },
		{ "/", "/a/..b/c", "a/..b/c" },
	};
	static const char *const hidden[][2] = {
		{ "/x", "/xy" },         { "/x", "/" },    { "/x", "/y/x" },
		{ "/", "/a (deleted)" }, { "/", "/../a" }, { "/", "/a/../b" },
		{ "/x", "/x/.." },       { "/", "/.." },   { "/x/y", "/x" },
	};
	struct text ret = TEXT("untouched");

	for (size_t i = 0; i < array_length(hidden); i++)
		assert_false(
			cgroup_below_mount(text_of(hidden[i][0]), text_of(hidden[i][1]), &ret));
	expect_text(ret, "untouched");
	for (size_t i = 0; i < array_length(shown); i++) {
		assert_true(cgroup_below_mount(text_of(shown[i][0]), text_of(shown[i][1]), &ret));
		expect_text(ret, shown[i][2]);
	}
}

TEST(within)
{
	assert_true(cgroup_is_within(TEXT("/a/b"), TEXT("/a")));
	assert_true(cgroup_is_within(TEXT("/a"), TEXT("/a")));
	assert_true(cgroup_is_within(TEXT("/a"), TEXT("/a/")));
	assert_true(cgroup_is_within(TEXT("/a"), TEXT("/")));
	assert_true(cgroup_is_within(TEXT("/"), TEXT("/")));
	assert_false(cgroup_is_within(TEXT("/ab"), TEXT("/a")));
	assert_false(cgroup_is_within(TEXT("/"), TEXT("/a")));
	assert_false(cgroup_is_within(TEXT("/b/a"), TEXT("/a")));
}

static void expect_name(const char *path, const char *point, const char *name)
{
	struct text got = cgroup_of_directory(text_of(path), point);

	if (!text_equal(got, text_of(name)))
		fail_msg("%s: %.*s", path, (int)got.length, got.bytes);
}

TEST(directories_of_cgroups)
{
	static const char point[] = "/sys/fs/cgroup";

	expect_name("/a/b", point, "/a/b");
	expect_name("/a/b//", point, "/a/b");
	expect_name("/sys/fs/cgroup/a", point, "/a");
	expect_name("/sys/fs/cgroup/a/", point, "/a");
	expect_name("/sys/fs/cgroup", point, "/");
	expect_name("/sys/fs/cgroup/", point, "/");
	expect_name("/sys/fs/cgroupX/a", point, "/sys/fs/cgroupX/a");
	expect_name("/sys/fs/cgroup/a", NULL, "/sys/fs/cgroup/a");
	expect_name("/a", "/", "/a");
	expect_name("/", point, "/");
}

UNIT_TESTS(cmocka_unit_test(the_version_2_path), cmocka_unit_test(where_version_2_is_mounted),
	   cmocka_unit_test(controllers_of_version_1), cmocka_unit_test(the_path_that_says_most),
	   cmocka_unit_test(a_mount_that_is_of_no_use_is_passed_over),
	   cmocka_unit_test(no_version_2), cmocka_unit_test(octal_escapes),
	   cmocka_unit_test(below_the_mount), cmocka_unit_test(within),
	   cmocka_unit_test(directories_of_cgroups))

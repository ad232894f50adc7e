/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/filter.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profile/preset.h"
#include "unit/profile_scene.h"

static struct filter *empty(void)
{
	struct filter *filter = NULL;

	expect_ok(filter_create(&filter));
	return filter;
}

/* What is left, as a tree. */
static const char *apply(const struct filter *filter, struct profile *p, struct filtered *ret)
{
	static char text[4096];
	struct flame_view view = { .classes = 0 };
	struct flame *flame = NULL;

	expect_ok(filter_apply(filter, p, ret));
	expect_ok(flame_create(p, NULL, &view, &flame));
	strcpy(text, flame_text(flame));
	flame_destroy(flame);
	return text;
}

static struct profile *small(void)
{
	struct profile *p = build_profile();
	uint32_t a = build_profile_thread(p, 10, 10, "db", "db-main", "/db");
	uint32_t b = build_profile_thread(p, 20, 21, "web", "worker-1", NULL);
	struct frame frame = { .name = profile_name(p, "write", 5),
			       .module = profile_name(p, "/lib/libc.so.6", 14) };
	struct sample sample = { .class = CLASS_IO_WAIT, .cpu = CPU_ANY, .ns = 1000, .count = 10 };
	uint32_t number;

	p->threads.items[a].uid = 0;
	sample.thread = b;
	build_sample(p, a, CLASS_INTERRUPTIBLE, "main;park;futex_wait_[k]", 1, 1);
	build_sample(p, a, CLASS_INTERRUPTIBLE, "main;std::thread::spawn;read", 10, 2);
	build_sample(p, b, CLASS_INTERRUPTIBLE, "main;parking;futex_wait_[k]", 100, 3);
	expect_ok(profile_frame(p, &frame, &number));
	expect_ok(profile_node(p, NODE_NONE, number, &sample.node));
	expect_ok(profile_add(p, &sample));
	return p;
}

#define PARK    "main;park;futex_wait 1"
#define SPAWN   "main;std::thread::spawn;read 10"
#define PARKING "main;parking;futex_wait 100"
#define WRITE   "write 1000"

TEST(terms)
{
	static const struct {
		const char *term, *kept;
	} cases[] = {
		{ "park", PARK " " PARKING },
		{ "main", PARK " " PARKING " " SPAWN },
		{ "PARK", "" },
		{ "p*k", PARK },
		{ "p?rk", PARK },
		{ "park?", "" },
		{ "*park*", PARK " " PARKING },
		{ "*", PARK " " PARKING " " SPAWN " " WRITE },
		{ "futex_*", PARK " " PARKING },
		{ "main;park", "" },
		{ "thread::spawn", SPAWN },
		{ "thread:worker", PARKING " " WRITE },
		{ "thread:worker-?", PARKING " " WRITE },
		{ "thread:worker-??", "" },
		{ "process:db", PARK " " SPAWN },
		{ "process:*b", PARK " " PARKING " " SPAWN " " WRITE },
		{ "cgroup:/db", PARK " " SPAWN },
		{ "cgroup:*", PARK " " SPAWN },
		{ "module:libc", WRITE },
		{ "module:libc.so.*", WRITE },
		{ "module:/lib/*", WRITE },
		{ "module:c.so*", "" },
		{ " park ", PARK " " PARKING },
		{ "pid:20", PARKING " " WRITE },
		{ "pid:21", PARKING " " WRITE },
		{ "!pid:21", PARK " " SPAWN },
		{ "user:0", PARK " " SPAWN },
		{ "state:sleep", PARK " " PARKING " " SPAWN " " WRITE },
		{ "state:exec", "" },
		{ "user:root", PARK " " SPAWN },
		{ "user:ro?t", PARK " " SPAWN },
		{ "user:4000000000", "" },
		{ "state:io-wait", WRITE },
		{ "state:i*", PARK " " PARKING " " SPAWN " " WRITE },
		{ "!state:io-wait", PARK " " PARKING " " SPAWN },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		struct profile *p = small();
		struct filter *filter = empty();
		struct filtered filtered;

		expect_ok(filter_keep(filter, cases[i].term));
		assert_string_equal(apply(filter, p, &filtered), cases[i].kept);
		assert_int_equal(filtered.ns + profile_total_ns(p, FLAME_ALL), 1111);
		filter_destroy(filter);
		profile_destroy(p);
	}
}

/* "module!function" of each frame, the outermost first; "-" at the front: inlined; "[k]": of the
 * kernel. */
static void build_modules(struct profile *p, uint32_t thread, const char *stack, uint64_t ns)
{
	struct text rest = text_of(stack), word;
	struct sample sample = { .thread = thread,
				 .class = CLASS_INTERRUPTIBLE,
				 .cpu = CPU_ANY,
				 .node = NODE_NONE,
				 .ns = ns,
				 .count = 1 };

	while (text_cut(&rest, ' ', &word)) {
		struct frame frame = { 0 };
		struct text module;
		uint32_t number;

		frame.inlined = text_starts(word, TEXT("-"));
		word.bytes += frame.inlined;
		word.length -= frame.inlined;
		text_cut(&word, '!', &module);
		if (text_equal(module, TEXT("[k]")))
			frame.kind = FRAME_KERNEL;
		else if (module.length)
			frame.module = profile_name(p, module.bytes, module.length);
		frame.name = profile_name(p, word.bytes, word.length);
		expect_ok(profile_frame(p, &frame, &number));
		expect_ok(profile_node(p, sample.node, number, &sample.node));
	}
	expect_ok(profile_add(p, &sample));
}

static uint64_t kept_by(const char *term)
{
	struct profile *p = build_profile();
	uint32_t first = build_profile_thread(p, 10, 10, "main", "main", NULL);
	uint32_t other = build_profile_thread(p, 10, 11, "main", "pool", NULL);
	struct filter *filter = empty();
	struct filtered filtered;

	build_modules(p, first,
		      "/l/libc.so.6!start /l/libpool.so.1!run /l/libc.so.6!wait [k]!futex", 1);
	build_modules(p, other, "/l/libc.so.6!start /l/libpool.so.1!run app!task /l/libc.so.6!wait",
		      10);
	build_modules(p, other, "/l/libpool.so.1!run !lost /l/libc.so.6!wait", 100);
	build_modules(p, other, "[k]!kthread [k]!futex", 1000);
	build_modules(p, other, "app!worker -app!task /l/libstdc++.so.6!cv /l/libc.so.6!wait",
		      10000);
	build_modules(p, other, "/l/libc.so.6!wait [k]!futex", 100000);
	expect_ok(filter_keep(filter, term));
	expect_ok(filter_apply(filter, p, &filtered));
	filtered.ns = profile_total_ns(p, FLAME_ALL);
	filter_destroy(filter);
	profile_destroy(p);
	return filtered.ns;
}

TEST(other_frames_of_the_stack)
{
	assert_int_equal(kept_by("only:libc.so*,libpool.so*"), 100001);
	assert_int_equal(kept_by("only:libc.so*"), 100000);
	assert_int_equal(kept_by("only:libpool.so*"), 0);
	assert_int_equal(kept_by("only:*"), 110011);
	assert_int_equal(kept_by("only:,"), 0);
}

TEST(the_waiter)
{
	assert_int_equal(kept_by("waiter:run"), 1);
	assert_int_equal(kept_by("waiter:task"), 10);
	assert_int_equal(kept_by("waiter:lost"), 100);
	assert_int_equal(kept_by("waiter:work*"), 10000);
	assert_int_equal(kept_by("waiter:wait"), 0);
	assert_int_equal(kept_by("waiter:*"), 10111);
}

TEST(first_threads)
{
	assert_int_equal(kept_by("leader:main"), 1);
	assert_int_equal(kept_by("leader:pool"), 0);
}

TEST(nothing_is_filtered_by_nothing)
{
	struct profile *p = small();
	struct filter *filter = empty();
	struct filtered filtered;

	assert_string_equal(apply(filter, p, &filtered), PARK " " PARKING " " SPAWN " " WRITE);
	assert_int_equal(filtered.count, 0);
	filter_destroy(filter);
	filter_destroy(NULL);
	profile_destroy(p);
}

TEST(all_that_keep_and_none_that_drop)
{
	struct profile *p = small();
	struct filter *filter = empty();
	struct filtered filtered;

	expect_ok(filter_keep(filter, "main"));
	expect_ok(filter_keep(filter, "futex_wait"));
	expect_ok(filter_drop(filter, "parking"));
	expect_ok(filter_drop(filter, "nobody"));
	assert_string_equal(apply(filter, p, &filtered), PARK);
	assert_int_equal(filtered.ns, 1110);
	assert_int_equal(filtered.count, 15);
	filter_destroy(filter);
	profile_destroy(p);
}

/* Blocks go by the same rules, and samples are still found by what makes them equal. */
TEST(the_rest_of_the_profile)
{
	struct profile *p = small();
	struct filter *filter = empty();
	struct filtered filtered;

	assert_true(array_push(&p->longest, (struct block){ .node = p->samples.items[0].node }));
	assert_true(array_push(&p->longest,
			       (struct block){ .node = p->samples.items[1].node, .ns = 7 }));
	assert_true(array_push(&p->longest, (struct block){ .node = NODE_NONE, .ns = 8 }));
	expect_ok(filter_drop(filter, "futex_wait"));
	apply(filter, p, &filtered);
	assert_int_equal(p->longest.count, 2);
	assert_int_equal(p->longest.items[0].ns, 7);
	assert_int_equal(p->longest.items[1].ns, 8);
	assert_int_equal(p->samples.count, 2);
	build_sample(p, 0, CLASS_INTERRUPTIBLE, "main;std::thread::spawn;read", 5, 1);
	assert_int_equal(p->samples.count, 2);
	assert_int_equal(p->samples.items[0].ns, 15);
	filter_destroy(filter);
	profile_destroy(p);
}

TEST(invalid_terms)
{
	struct profile *p = small();
	struct filter *filter = empty();
	struct filtered filtered;
	char large[5000];

	memset(large, 'a', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	expect_error(filter_keep(filter, ""), "empty term");
	expect_error(filter_keep(filter, "  "), "empty term");
	expect_error(filter_drop(filter, "thread:"), "'thread:': missing name after ':'");
	expect_error(filter_keep(filter, large), "can never match");
	expect_error(filter_keep(filter, "!"), "empty term");
	expect_error(filter_keep(filter, "thred:main"),
		     "unknown 'thred:'; did you mean 'thread:'?");
	expect_error(filter_keep(filter, "user:no such user"), "no user 'no such user'");
	expect_error(filter_keep(filter, "state:sleeping"),
		     "unknown state 'sleeping'; expected one of: on-cpu,");
	expect_error(filter_keep(filter, "pid:-1"), "'-1' is not a process ID");
	expect_error(filter_keep(filter, "pid:4294967296"), "is not a process ID");
	assert_string_equal(apply(filter, p, &filtered), PARK " " PARKING " " SPAWN " " WRITE);
	filter_destroy(filter);
	profile_destroy(p);
}

/* --- presets --- */

static const char *with_preset(const char *lines)
{
	struct profile *p = small();
	struct filter *filter = empty();
	struct text bytes = guarded(lines, strlen(lines));
	struct filtered filtered;
	const char *left;

	expect_ok(filter_add_preset(filter, bytes, "mine"));
	left = apply(filter, p, &filtered);
	filter_destroy(filter);
	profile_destroy(p);
	unguard(bytes);
	return left;
}

TEST(lines_of_presets)
{
	assert_string_equal(with_preset(""), PARK " " PARKING " " SPAWN " " WRITE);
	assert_string_equal(with_preset("# hide park\n\n  # more\n"),
			    PARK " " PARKING " " SPAWN " " WRITE);
	assert_string_equal(with_preset("hide park"), SPAWN " " WRITE);
	assert_string_equal(with_preset("hide park # but not read\r\nhide write\n"), SPAWN);
	assert_string_equal(with_preset("hide park & thread:worker-*\n"), PARK " " SPAWN " " WRITE);
	assert_string_equal(with_preset("\thide  main &  futex_wait  & !parking\n"),
			    PARKING " " SPAWN " " WRITE);
	assert_string_equal(with_preset("hide * & !thread:worker-*"), PARKING " " WRITE);
	assert_string_equal(with_preset("hide park &futex_wait"),
			    PARK " " PARKING " " SPAWN " " WRITE);
}

TEST(bad_lines_of_presets)
{
	static const struct {
		const char *lines, *message;
	} cases[] = {
		{ "show park", "mine:1: expected 'hide TERM & TERM'" },
		{ "# one\n\nhidepark\n", "mine:3: expected 'hide" },
		{ "hide", "mine:1: empty term" },
		{ "hide park\nhide a & \n", "mine:2: empty term" },
		{ "hide a & & b", "mine:1: empty term" },
		{ "hide thread:", "mine:1: missing name after ':'" },
		{ "hide !", "mine:1: empty term" },
		{ "hide !park", "mine:1: only negated terms" },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		struct filter *filter = empty();

		expect_error(filter_add_preset(filter, text_of(cases[i].lines), "mine"),
			     cases[i].message);
		filter_destroy(filter);
	}
}

/* The files that are in the program: all can be read, and have something to hide. */
TEST(ours)
{
	static const char *const names[] = { "cpp-pools", "go", "java", "node", "python", "tokio" };

	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	assert_int_equal(preset_count, array_length(names));
	for (size_t i = 0; i < array_length(names); i++) {
		struct filter *filter = empty();

		assert_string_equal(presets[i].name, names[i]);
		expect_ok(filter_add_preset_named(filter, names[i]));
		filter_destroy(filter);
	}
}

TEST(an_idle_thread_of_go)
{
	struct profile *p = build_profile();
	uint32_t thread = build_profile_thread(p, 1, 1, "server", "server", NULL);
	struct filter *filter = empty();
	struct filtered filtered;

	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	build_sample(p, thread, CLASS_INTERRUPTIBLE,
		     "runtime.mcall;runtime.park_m;runtime.schedule;runtime.findRunnable;"
		     "runtime.stopm;runtime.mPark;runtime.notesleep;runtime.futex;futex_wait_[k]",
		     100, 1);
	build_sample(p, thread, CLASS_INTERRUPTIBLE,
		     "runtime.main;main.main;os.(*File).Read;syscall.read;vfs_read_[k]", 7, 1);
	expect_ok(filter_add_preset_named(filter, "go"));
	apply(filter, p, &filtered);
	assert_int_equal(filtered.ns, 100);
	filter_destroy(filter);
	profile_destroy(p);
}

TEST(presets_of_users)
{
	struct scratch scratch;
	struct filter *filter = empty();

	scratch_init(&scratch);
	setenv("XDG_CONFIG_HOME", scratch.path, 1);
	assert_int_equal(mkdir(scratch_path(&scratch, "ctprof"), 0700), 0);
	assert_int_equal(mkdir(scratch_path(&scratch, "ctprof/presets"), 0700), 0);
	scratch_write(&scratch, "ctprof/presets/go.preset", TEXT("hide mine\nnothing\n"));
	expect_error(filter_add_preset_named(filter, "go"), "go.preset:2: expected 'hide");
	/* Without XDG_CONFIG_HOME, or with one that is to be ignored. */
	unsetenv("XDG_CONFIG_HOME");
	setenv("HOME", scratch.path, 1);
	assert_int_equal(mkdir(scratch_path(&scratch, ".config"), 0700), 0);
	assert_int_equal(mkdir(scratch_path(&scratch, ".config/ctprof"), 0700), 0);
	assert_int_equal(mkdir(scratch_path(&scratch, ".config/ctprof/presets"), 0700), 0);
	scratch_write(&scratch, ".config/ctprof/presets/own.preset", TEXT("nothing\n"));
	expect_error(filter_add_preset_named(filter, "own"), "own.preset:1: expected 'hide");
	setenv("XDG_CONFIG_HOME", "relative", 1);
	expect_error(filter_add_preset_named(filter, "own"), "own.preset:1: expected 'hide");
	setenv("XDG_CONFIG_HOME", scratch.path, 1);
	expect_error(filter_add_preset_named(filter, "own"), "no preset 'own'");
	scratch_deinit(&scratch);
	filter_destroy(filter);
}

TEST(no_such_preset)
{
	struct filter *filter = empty();

	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	expect_error(filter_add_preset_named(filter, "pyhton"), "did you mean 'python'?");
	expect_error(filter_add_preset_named(filter, "cobol-85-pool"), "cpp-pools, go, java");
	expect_error(filter_add_preset_named(filter, "../go"), "invalid preset name");
	expect_error(filter_add_preset_named(filter, ""), "invalid preset name");
	expect_error(filter_add_preset_named(filter, ".go"), "invalid preset name");
	filter_destroy(filter);
}

UNIT_TESTS(cmocka_unit_test(terms), cmocka_unit_test(other_frames_of_the_stack),
	   cmocka_unit_test(the_waiter), cmocka_unit_test(first_threads),
	   cmocka_unit_test(nothing_is_filtered_by_nothing),
	   cmocka_unit_test(all_that_keep_and_none_that_drop),
	   cmocka_unit_test(the_rest_of_the_profile), cmocka_unit_test(invalid_terms),
	   cmocka_unit_test(lines_of_presets), cmocka_unit_test(bad_lines_of_presets),
	   cmocka_unit_test(ours), cmocka_unit_test(an_idle_thread_of_go),
	   cmocka_unit_test(presets_of_users), cmocka_unit_test(no_such_preset))

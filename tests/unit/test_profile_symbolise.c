/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/symbolise.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/units.h"
#include "elf/kallsyms.h"
#include "os/maps.h"
#include "profile/kept.h"
#include "profile/origin.h"
#include "profile/rewrite.h"
#include "unit/built.h"
#include "unit/profile_scene.h"

/* --- profiles by hand --- */

static const struct name *name(struct profile *profile, const char *string)
{
	const struct name *interned = profile_name(profile, string, strlen(string));

	assert_non_null(interned);
	return interned;
}

static struct profile *create(void)
{
	struct profile *profile = NULL;

	expect_ok(profile_create(&profile));
	return profile;
}

static uint32_t push(struct profile *profile, uint32_t parent, enum frame_kind kind,
		     uint64_t address)
{
	const struct frame frame = { .kind = kind,
				     .address = address,
				     .image = kind == FRAME_USER };
	uint32_t number, node;

	expect_ok(profile_frame(profile, &frame, &number));
	expect_ok(profile_node(profile, parent, number, &node));
	return node;
}

static void add(struct profile *profile, uint32_t node)
{
	expect_ok(profile_add(profile, &(struct sample){ .node = node, .count = 1, .ns = 10 }));
}

/* "a;b(inlined);c" from outside in. */
static const char *stack_of(const struct profile *profile, uint32_t node)
{
	static char text[4096];
	char before[2048];

	text[0] = 0;
	for (; node != NODE_NONE; node = profile->nodes.items[node].parent) {
		const struct frame *frame =
			&profile->frames.items[profile->nodes.items[node].frame];

		snprintf(before, sizeof(before), "%.2000s", text);
		snprintf(text, sizeof(text), "%.1000s%s%s%s",
			 frame->name ? frame->name->bytes : "raw", frame->inlined ? "(i)" : "",
			 *before ? ";" : "", before);
	}
	return text;
}

static const struct frame *leaf(const struct profile *profile, size_t sample)
{
	return &profile->frames
			.items[profile->nodes.items[profile->samples.items[sample].node].frame];
}

/* --- roles --- */

struct seen {
	struct profile *profile;
	char text[256];
};

static struct error *put_twice(void *context, uint32_t number, const struct frame *frame,
			       enum frame_role role, struct rewrite_frames *ret)
{
	struct seen *seen = context;
	struct frame named = *frame;
	char text[32];
	struct error *err;

	(void)number;
	snprintf(text, sizeof(text), "%lx%c", (unsigned long)rewrite_address(frame, role),
		 role == ROLE_CALLER ? 'c' : 'i');
	if (frame->address == 0x666)
		return error_create("no good");
	named.name = name(seen->profile, text);
	named.address = 0;
	err = rewrite_push(seen->profile, &named, ret);
	if (err)
		return err;
	named.inlined = true;
	return rewrite_push(seen->profile, &named, ret);
}

TEST(a_frame_is_looked_up_by_its_role)
{
	struct profile *profile = create();
	struct seen seen = { .profile = profile };
	uint32_t user = push(profile, push(profile, NODE_NONE, FRAME_USER, 0x10), FRAME_USER, 0x20);
	uint32_t kernel =
		push(profile, push(profile, user, FRAME_KERNEL, 0x30), FRAME_KERNEL, 0x40);
	uint32_t deeper = push(profile, user, FRAME_USER, 0x50);

	add(profile, kernel);
	add(profile, user);
	add(profile, deeper);
	assert_true(array_push(&profile->longest, (struct block){ .node = kernel }));
	expect_ok(rewrite_stacks(profile, put_twice, &seen));
	assert_int_equal(profile->samples.count, 3);
	assert_string_equal(stack_of(profile, profile->samples.items[0].node),
			    "fc;fc(i);20i;20i(i);2fc;2fc(i);40i;40i(i)");
	assert_string_equal(stack_of(profile, profile->samples.items[1].node),
			    "fc;fc(i);20i;20i(i)");
	assert_string_equal(stack_of(profile, profile->samples.items[2].node),
			    "fc;fc(i);1fc;1fc(i);50i;50i(i)");
	assert_int_equal(profile->longest.items[0].node, profile->samples.items[0].node);
	profile_destroy(profile);
}

TEST(stacks_that_become_the_same_add_up)
{
	struct profile *profile = create();
	const struct symbolise_options options = { 0 };

	/* Of an image that is not there: nothing is known. */
	for (uint64_t address = 1; address <= 5; address++)
		add(profile, push(profile, NODE_NONE, FRAME_USER, address << 12));
	add(profile, NODE_NONE);
	assert_int_equal(profile->samples.count, 6);
	expect_ok(symbolise_user(profile, &options));
	assert_int_equal(profile->samples.count, 2);
	assert_int_equal(profile->samples.items[0].count, 5);
	assert_int_equal(profile->samples.items[0].ns, 50);
	assert_string_equal(stack_of(profile, profile->samples.items[0].node), "[unknown]");
	assert_false(has_unnamed_frame(profile));
	profile_destroy(profile);
}

TEST(after_an_error_all_is_as_it_was)
{
	struct profile *profile = create();
	struct seen seen = { .profile = profile };
	uint32_t first = push(profile, NODE_NONE, FRAME_USER, 0x10);

	add(profile, first);
	add(profile, push(profile, first, FRAME_USER, 0x666));
	expect_error(rewrite_stacks(profile, put_twice, &seen), "no good");
	assert_int_equal(profile->frames.count, 2);
	assert_int_equal(profile->nodes.count, 2);
	assert_int_equal(profile->samples.count, 2);
	assert_true(profile->frames.items[1].address == 0x666);
	/* It can be added to as before. */
	assert_int_equal(push(profile, NODE_NONE, FRAME_USER, 0x10), first);
	add(profile, first);
	assert_int_equal(profile->samples.items[0].count, 2);
	profile->nodes.items[1].parent = 1;
	expect_error(rewrite_stacks(profile, put_twice, &seen), "node 1");
	profile->nodes.items[1].parent = 0;
	profile->nodes.items[1].frame = 2;
	expect_error(rewrite_stacks(profile, put_twice, &seen), "node 1");
	profile->nodes.items[1].frame = 1;
	profile->samples.items[0].node = 2;
	expect_error(rewrite_stacks(profile, put_twice, &seen), "sample 0");
	profile_destroy(profile);
}

/* --- processes --- */

#define SOURCE                                                                      \
	"#include <stdio.h>\n"                                                      \
	"#include <string.h>\n"                                                     \
	"#include <unistd.h>\n"                                                     \
	"#include <sys/mman.h>\n"                                                   \
	"volatile int data = 7;\n"                                                  \
	"__attribute__((noinline)) void named_function(void) { data++; }\n"         \
	"static __attribute__((noinline)) void local_function(void) { data--; }\n"  \
	"int main(void)\n"                                                          \
	"{\n"                                                                       \
	"	char *code = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"     \
	"	named_function();\n"                                                      \
	"	local_function();\n"                                                      \
	"	printf(\"%lx %lx %lx\\n\", (long)named_function, (long)local_function,\n" \
	"	       (long)code);\n"                                                    \
	"	fflush(stdout);\n"                                                        \
	"	pause();\n"                                                               \
	"	return 0;\n"                                                              \
	"}\n"

struct child {
	struct scratch scratch;
	pid_t pid;
	uint64_t named, local, code; /* addresses */
	FILE *output;
};

static bool start_as(struct child *child, const char *compile, uid_t user)
{
	unsigned long addresses[3];
	int pipe_ends[2];

	scratch_init(&child->scratch);
	scratch_write(&child->scratch, "a.c", TEXT(SOURCE));
	if (!built(&child->scratch, compile)) {
		scratch_deinit(&child->scratch);
		return false;
	}
	assert_int_equal(pipe(pipe_ends), 0);
	child->pid = fork();
	assert_true(child->pid >= 0);
	if (!child->pid) {
		/* The number of the group changes nothing here. */
		if (user != geteuid() && (chmod(child->scratch.path, 0755) || setuid(user)))
			_exit(127);
		/* It has our output, and whoever reads that waits for its end. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(pipe_ends[1], 1);
		execl(scratch_path(&child->scratch, "a"), "a", NULL);
		_exit(127);
	}
	close(pipe_ends[1]);
	child->output = fdopen(pipe_ends[0], "r");
	assert_non_null(child->output);
	assert_int_equal(
		fscanf(child->output, "%lx %lx %lx", &addresses[0], &addresses[1], &addresses[2]),
		3);
	child->named = addresses[0];
	child->local = addresses[1];
	child->code = addresses[2];
	return true;
}

static bool start(struct child *child, const char *compile)
{
	return start_as(child, compile, geteuid());
}

static void end(struct child *child)
{
	if (child->pid)
		kill(child->pid, SIGKILL);
	if (child->pid)
		waitpid(child->pid, NULL, 0);
	child->pid = 0;
}

static void finish(struct child *child)
{
	end(child);
	fclose(child->output);
	scratch_deinit(&child->scratch);
}

/* What is executable in a process, as its image. */
static void add_image(struct profile *profile, pid_t pid)
{
	struct profile_image image = { .pid = (uint32_t)pid,
				       .first_mapping = (uint32_t)profile->mappings.count };
	char path[64], line[1024];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		struct text rest = text_of(line);
		struct mapping m;

		if (!maps_next(&rest, &m) || !m.executable)
			continue;
		assert_true(array_push(
			&profile->mappings,
			(struct profile_mapping){
				.start = m.start,
				.end = m.end,
				.file_offset = m.offset,
				.path = profile_name(profile, m.path.bytes, m.path.length),
				.major = m.major,
				.minor = m.minor,
				.inode = m.inode,
			}));
		image.mapping_count++;
	}
	fclose(maps);
	assert_true(array_push(&profile->images, image));
}

/* A function was called by another one. */
static struct profile *profile_of(const struct child *child)
{
	struct profile *profile = create();

	add_image(profile, child->pid);
	add(profile, push(profile, push(profile, NODE_NONE, FRAME_USER, child->local + 2),
			  FRAME_USER, child->named));
	return profile;
}

#define BOTH "local_function;named_function"

static void expect_stack(struct profile *profile, const struct symbolise_options *options,
			 const char *stack)
{
	expect_ok(symbolise_user(profile, options));
	assert_string_equal(stack_of(profile, profile->samples.items[0].node), stack);
	profile_destroy(profile);
}

TEST(functions_of_processes_are_named)
{
	static const char *const how[] = {
		"gcc -O2 -o a a.c",
		"gcc -O2 -no-pie -o a a.c",
		"gcc -O2 -static -o a a.c",
		"gcc -O2 -static-pie -o a a.c",
		"gcc -O2 -fuse-ld=gold -o a a.c",
		"clang -O2 -fuse-ld=lld -o a a.c",
		"gcc -O2 -Wl,--build-id=none -o a a.c",
	};
	const struct symbolise_options options = { 0 };
	size_t done = 0;

	for (size_t i = 0; i < array_length(how); i++) {
		struct child child;

		if (!start(&child, how[i]))
			continue;
		expect_stack(profile_of(&child), &options, BOTH);
		finish(&child);
		done++;
	}
	if (!done)
		skip();
}

TEST(a_deleted_file_is_read_in_its_process)
{
	const struct symbolise_options options = { 0 };
	struct child child;
	struct profile *profile;

	if (!start(&child, "gcc -O2 -o a a.c"))
		skip();
	assert_int_equal(unlink(scratch_path(&child.scratch, "a")), 0);
	scratch_write(&child.scratch, "a", TEXT("#!/bin/sh\n"));
	profile = profile_of(&child);
	assert_true(text_ends(text_of(profile->mappings.items[0].path->bytes), TEXT(" (deleted)")));
	expect_ok(symbolise_user(profile, &options));
	/* Only who may follow these links sees what is behind them. */
	if (geteuid() == 0)
		assert_string_equal(stack_of(profile, profile->samples.items[0].node), BOTH);
	else
		assert_memory_equal(leaf(profile, 0)->name->bytes, "[a+0x", 5);
	assert_true(text_ends(text_of(leaf(profile, 0)->module->bytes), TEXT("/a")));
	profile_destroy(profile);
	finish(&child);
}

TEST(a_process_that_is_over_is_named_by_its_file)
{
	const struct symbolise_options options = { 0 };
	struct child child;
	struct profile *live, *changed;

	if (!start(&child, "gcc -O2 -o a a.c"))
		skip();
	live = profile_of(&child);
	changed = profile_of(&child);
	end(&child);
	expect_stack(live, &options, BOTH);
	/* Another file by the same name is not taken for it. */
	assert_true(built(&child.scratch, "cp a b && mv b a"));
	expect_ok(symbolise_user(changed, &options));
	assert_memory_equal(leaf(changed, 0)->name->bytes, "[a+0x", 5);
	profile_destroy(changed);
	finish(&child);
}

static void set_build_id(struct profile *profile, const struct scratch *scratch)
{
	char *text = printed(scratch, "readelf -n a | sed -n 's/.*Build ID: //p'");
	size_t length = strspn(text, "0123456789abcdef") / 2;

	assert_in_range(length, 8, BUILD_ID_MAX);
	for (size_t m = 0; m < profile->mappings.count; m++) {
		struct profile_mapping *mapping = &profile->mappings.items[m];

		if (!text_ends(text_of(mapping->path->bytes), TEXT("/a")))
			continue;
		mapping->build_id_length = (uint8_t)length;
		for (size_t i = 0; i < length; i++) {
			unsigned byte;

			assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
			mapping->build_id[i] = (uint8_t)byte;
		}
	}
	free(text);
}

static void expect_unnamed(struct profile *profile, const struct symbolise_options *options)
{
	expect_ok(symbolise_user(profile, options));
	assert_memory_equal(leaf(profile, 0)->name->bytes, "[a+0x", 5);
	profile_destroy(profile);
}

/* As of Go: the file is the one whose numbers the mapping has, if it was there at the time. */
static void expect_same_frames(const struct profile *a, const struct profile *b)
{
	assert_int_equal(a->frames.count, b->frames.count);
	for (size_t i = 0; i < a->frames.count; i++) {
		const struct frame *x = &a->frames.items[i], *y = &b->frames.items[i];

		assert_string_equal(x->name->bytes, y->name->bytes);
		assert_string_equal(x->module->bytes, y->module->bytes);
		assert_true(!x->source == !y->source);
		if (x->source)
			assert_string_equal(x->source->bytes, y->source->bytes);
		assert_int_equal(x->line, y->line);
		assert_int_equal(x->address, y->address);
		assert_int_equal(x->offset, y->offset);
		assert_int_equal(x->inlined, y->inlined);
	}
}

/* With and without one, and whether or not an address was there before. A file without a build-id
 * may have other contents the next time: it is read each time. */
static void expect_cached(const struct child *child, bool has_id)
{
	struct symbol_cache *cache = symbol_cache_create();
	struct profile *plain = profile_of(child);

	if (has_id)
		set_build_id(plain, &child->scratch);
	expect_ok(symbolise_user(plain, &(struct symbolise_options){ 0 }));
	for (unsigned i = 0; i < 3; i++) {
		struct profile *cached = profile_of(child);
		struct symbol_cache_counts counts;

		/* An address that has no name; and one that was not there before. */
		add(cached, push(cached, NODE_NONE, FRAME_USER, child->local + i));
		add(cached, push(cached, NODE_NONE, FRAME_USER, child->named + 1));
		if (has_id)
			set_build_id(cached, &child->scratch);
		expect_ok(symbolise_user(cached, &(struct symbolise_options){ .cache = cache }));
		assert_string_equal(stack_of(cached, cached->samples.items[0].node), BOTH);
		cached->frames.count = plain->frames.count;
		expect_same_frames(plain, cached);
		profile_destroy(cached);
		counts = symbol_cache_counts(cache);
		assert_int_equal(counts.misses, has_id ? 4 + i : 0);
		assert_int_equal(counts.hits, has_id ? 3 * i : 0);
	}
	profile_destroy(plain);
	symbol_cache_destroy(cache);
}

TEST(a_cache_names_the_same)
{
	struct child child;

	if (!start(&child, "gcc -O2 -g -Wl,--build-id=sha1 -o a a.c"))
		skip();
	expect_cached(&child, true);
	finish(&child);
	if (!start(&child, "gcc -O2 -Wl,--build-id=none -o a a.c"))
		skip();
	expect_cached(&child, false);
	finish(&child);
}

TEST(a_cache_has_the_functions_of_the_kernel)
{
	struct symbol_cache *cache = symbol_cache_create();
	const struct kallsyms *first = NULL, *second = NULL;
	struct error *err = symbol_cache_kernel(cache, &first);

	if (err) {
		error_destroy(err);
		symbol_cache_destroy(cache);
		skip();
	}
	expect_ok(symbol_cache_kernel(cache, &second));
	assert_ptr_equal(first, second);
	symbol_cache_destroy(cache);
}

TEST(elsewhere_without_a_build_id_the_inode_counts)
{
	const struct symbolise_options options = { .is_elsewhere = true };
	struct child child;
	struct profile *same, *same_time, *other_inode, *other_device, *no_inode, *before,
		*replaced;
	struct stat stat_of_a;

	if (!start(&child, "gcc -O2 -Wl,--build-id=none -o a a.c"))
		skip();
	same = profile_of(&child);
	same_time = profile_of(&child);
	other_inode = profile_of(&child);
	other_device = profile_of(&child);
	no_inode = profile_of(&child);
	before = profile_of(&child);
	replaced = profile_of(&child);
	end(&child);
	assert_int_equal(stat(scratch_path(&child.scratch, "a"), &stat_of_a), 0);
	for (size_t m = 0; m < same->mappings.count; m++) {
		other_inode->mappings.items[m].inode++;
		other_device->mappings.items[m].minor++;
		no_inode->mappings.items[m].inode = 0;
	}
	expect_stack(same, &options, BOTH);
	same_time->meta.captured_at_unix_ns = (uint64_t)stat_of_a.st_ctime * NS_PER_S;
	same_time->meta.duration_ns = 5;
	expect_stack(same_time, &options, BOTH);
	expect_unnamed(other_inode, &options);
	expect_unnamed(other_device, &options);
	expect_unnamed(no_inode, &options);
	/* The number was used again, after the profile. */
	before->meta.captured_at_unix_ns = (uint64_t)(stat_of_a.st_ctime - 10) * NS_PER_S;
	before->meta.duration_ns = 9 * NS_PER_S;
	expect_unnamed(before, &options);
	assert_true(built(&child.scratch, "cp a b && mv b a"));
	expect_unnamed(replaced, &options);
	finish(&child);
}

/* On another host the path leads to what may be another file; the build-id says which. */
TEST(elsewhere_the_build_id_counts)
{
	struct symbolise_options options = { .is_elsewhere = true };
	struct child child;
	struct profile *unknown, *known, *wrong, *moved;
	char tree[128];

	if (!start(&child, "gcc -O2 -g -Wl,--build-id=sha1 -o a a.c"))
		skip();
	unknown = profile_of(&child);
	for (size_t m = 0; m < unknown->mappings.count; m++)
		unknown->mappings.items[m].inode++;
	known = profile_of(&child);
	wrong = profile_of(&child);
	moved = profile_of(&child);
	end(&child);
	set_build_id(known, &child.scratch);
	set_build_id(wrong, &child.scratch);
	set_build_id(moved, &child.scratch);
	for (size_t m = 0; m < wrong->mappings.count; m++)
		wrong->mappings.items[m].build_id[3] ^= 1;
	expect_stack(known, &options, BOTH);
	expect_unnamed(wrong, &options);
	expect_unnamed(unknown, &options);
	/* In a copied tree, with the debug file alone. */
	assert_true(built(&child.scratch, "mkdir -p tree$PWD && "
					  "objcopy --only-keep-debug a tree$PWD/a && rm a"));
	snprintf(tree, sizeof(tree), "%s", scratch_path(&child.scratch, "tree"));
	options.symfs = tree;
	expect_stack(moved, &options, BOTH);
	options.symfs = "/nonexistent";
	unknown = create();
	expect_error(symbolise_user(unknown, &options), "/nonexistent");
	profile_destroy(unknown);
	finish(&child);
}

/* A build-id is a claim of the file that has it: what one user's file says is not for others. */
TEST(no_user_names_the_functions_of_others)
{
#define FORGED "-Wl,--build-id=0x1111111111111111111111111111111111111111 -o a a.c"
	const struct symbolise_options here = { 0 }, elsewhere = { .is_elsewhere = true };
	struct child twin, honest;

	if (geteuid() != 0)
		skip();
	if (!start(&twin, "sed -i s/named_function/forged_function/ a.c && gcc -O2 " FORGED
			  " && chown 65534 a"))
		skip();
	assert_true(start(&honest, "gcc -O2 " FORGED));
	for (size_t i = 0; i < 2; i++) {
		struct profile *profile = profile_of(&twin);
		struct frame frame = { .kind = FRAME_USER, .address = honest.named, .image = 2 };
		uint32_t number, node;

		add_image(profile, honest.pid);
		expect_ok(profile_frame(profile, &frame, &number));
		expect_ok(profile_node(profile, NODE_NONE, number, &node));
		add(profile, node);
		set_build_id(profile, &honest.scratch);
		expect_ok(symbolise_user(profile, i ? &elsewhere : &here));
		assert_string_equal(stack_of(profile, profile->samples.items[0].node),
				    "local_function;forged_function");
		assert_string_equal(stack_of(profile, profile->samples.items[1].node),
				    "named_function");
		profile_destroy(profile);
	}
	finish(&honest);
	finish(&twin);
}

/* Beside a file of root, in a mount namespace of his own, anybody can put a debug file. */
TEST(no_user_has_the_debug_file_of_others)
{
	const struct symbolise_options options = { 0 };
	struct child child;

	if (geteuid() != 0)
		skip();
	if (!start(&child, "gcc -O2 -g -Wl,--build-id=sha1 -o a a.c && "
			   "objcopy --only-keep-debug a a.debug && strip a && "
			   "objcopy --add-gnu-debuglink=a.debug a"))
		skip();
	expect_stack(profile_of(&child), &options, BOTH);
	assert_true(built(&child.scratch, "chown 65534 a.debug"));
	expect_unnamed(profile_of(&child), &options);
	assert_true(built(&child.scratch, "chown 65534 a"));
	expect_stack(profile_of(&child), &options, BOTH);
	finish(&child);
}

TEST(compiled_functions_have_the_names_of_the_process)
{
	const struct symbolise_options options = { 0 };
	struct child child;
	struct profile *profile;
	char path[64];
	FILE *map;

	if (!start(&child, "gcc -O2 -o a a.c"))
		skip();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", child.pid);
	map = fopen(path, "wx");
	assert_non_null(map);
	fprintf(map, "%lx 40 compiled one\n%lx 40 compiled two\n", (long)child.code,
		(long)child.code + 0x40);
	fclose(map);
	profile = profile_of(&child);
	add(profile, push(profile, push(profile, NODE_NONE, FRAME_USER, child.code + 0x40),
			  FRAME_USER, child.code + 0x48));
	add(profile, push(profile, NODE_NONE, FRAME_USER, child.code + 0x80));
	expect_ok(symbolise_user(profile, &options));
	assert_string_equal(stack_of(profile, profile->samples.items[1].node),
			    "compiled one;compiled two");
	assert_int_equal(leaf(profile, 1)->offset, 8);
	assert_string_equal(leaf(profile, 1)->module->bytes, path);
	assert_string_equal(leaf(profile, 2)->name->bytes, "[unknown]");
	profile_destroy(profile);
	/* Somebody else's says nothing about it. */
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		profile = create();
		add_image(profile, child.pid);
		add(profile, push(profile, NODE_NONE, FRAME_USER, child.code));
		expect_stack(profile, &options, "[unknown]");
	}
	unlink(path);
	finish(&child);
}

/* Of a process that has ended. */
static void expect_kept(const struct child *child, const struct profile_image *was,
			struct kept *kept, const char *name)
{
	const struct symbolise_options options = { 0 };
	struct profile *profile = create();

	profile->kept = kept_share(kept);
	assert_true(array_push(&profile->images, *was));
	add(profile, push(profile, NODE_NONE, FRAME_USER, child->code));
	expect_stack(profile, &options, name);
}

TEST(compiled_functions_are_named_after_the_process_ended)
{
	_cleanup_(kept_release) struct kept *kept = kept_create();
	struct profile_image image = { .is_over = true };
	struct timespec times[2] = { 0 };
	struct child child;
	char path[64];
	FILE *map;

	if (!start(&child, "gcc -O2 -o a a.c"))
		skip();
	image.pid = (uint32_t)child.pid;
	origin_keep_process(kept, image.pid);
	/* As Java does, at its end. */
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", child.pid);
	map = fopen(path, "wx");
	assert_non_null(map);
	fprintf(map, "%lx 40 compiled\n", (long)child.code);
	fclose(map);
	end(&child);
	image.ended_ns = clock_ns(CLOCK_MONOTONIC);
	expect_kept(&child, &image, NULL, "[unknown]");
	expect_kept(&child, &image, kept, "compiled");
	/* Somebody else with the same number wrote it. */
	times[0].tv_sec = times[1].tv_sec = time(NULL) + 5;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	expect_kept(&child, &image, kept, "[unknown]");
	unlink(path);
	finish(&child);
}

static void expect_code(const struct child *child, const char *name)
{
	const struct symbolise_options options = { 0 };
	struct profile *profile = create();

	add_image(profile, child->pid);
	add(profile, push(profile, NODE_NONE, FRAME_USER, child->code));
	expect_stack(profile, &options, name);
}

static void write_map(const char *path, const struct child *child, uid_t owner, mode_t mode)
{
	FILE *map;

	unlink(path);
	map = fopen(path, "wx");
	assert_non_null(map);
	fprintf(map, "%lx 40 secret\n", (long)child->code);
	assert_int_equal(fchown(fileno(map), owner, owner), 0);
	assert_int_equal(fchmod(fileno(map), mode), 0);
	fclose(map);
}

static bool ends_at_once(void *context)
{
	++*(unsigned *)context;
	return true;
}

/* Any number of processes can have maps that take seconds each. */
TEST(one_user_names_within_a_budget)
{
	enum { STRANGER = 65534, STRANGERS = 5, OURS = STRANGERS, CHILDREN };
	static const off_t size = (off_t)(SYMBOLISE_USER_BYTES / (STRANGERS - 1));
	struct child children[CHILDREN];
	char paths[CHILDREN][64];
	struct symbolise_left left = { 0 };
	unsigned asked = 0;
	struct symbolise_options options = { .left = &left };

	if (geteuid() != 0 || !has_openat2())
		skip();
	for (size_t i = 0; i < CHILDREN; i++) {
		const uid_t user = i == OURS ? 0 : STRANGER;

		assert_true(start_as(&children[i], "gcc -O2 -o a a.c", user));
		snprintf(paths[i], sizeof(paths[i]), "/tmp/perf-%d.map", children[i].pid);
		write_map(paths[i], &children[i], user, 0600);
		assert_int_equal(truncate(paths[i], size), 0);
	}
	for (unsigned round = 0; round < 2; round++) {
		struct profile *profile = create();
		size_t named = 0;

		for (size_t i = 0; i < CHILDREN; i++) {
			const struct frame frame = { .kind = FRAME_USER,
						     .address = children[i].code,
						     .image = (uint32_t)i + 1 };
			uint32_t number, node;

			add_image(profile, children[i].pid);
			expect_ok(profile_frame(profile, &frame, &number));
			expect_ok(profile_node(profile, NODE_NONE, number, &node));
			expect_ok(profile_add(profile, &(struct sample){ .node = node,
									 .thread = (uint32_t)i,
									 .count = 1 }));
		}
		if (round) {
			options.is_over = ends_at_once;
			options.is_over_context = &asked;
		}
		expect_ok(symbolise_user(profile, &options));
		for (size_t i = 0; i < CHILDREN; i++) {
			const bool is_named = strcmp(leaf(profile, i)->name->bytes, "secret") == 0;

			if (i == OURS)
				assert_int_equal(is_named, !round);
			else
				named += is_named;
		}
		assert_int_equal(named, round ? 0 : STRANGERS - 1);
		profile_destroy(profile);
	}
	assert_int_equal(left.beyond, 1);
	assert_int_equal(left.ended, CHILDREN);
	assert_int_equal(asked, CHILDREN);
	for (size_t i = 0; i < CHILDREN; i++) {
		unlink(paths[i]);
		finish(&children[i]);
	}
}

/* Root reads what a process says of its code, and no more than the process itself could. */
TEST(files_that_a_process_may_not_read_name_nothing)
{
	enum { STRANGER = 65534, OTHER = 12345 };
	struct child child;
	char path[64], behind[128];

	if (geteuid() || !start_as(&child, "gcc -O2 -o a a.c", STRANGER))
		skip();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", child.pid);
	snprintf(behind, sizeof(behind), "%s/behind", child.scratch.path);
	write_map(path, &child, STRANGER, 0600);
	expect_code(&child, "secret");
	write_map(path, &child, 0, 0644);
	expect_code(&child, "secret");
	write_map(path, &child, 0, 0600);
	expect_code(&child, "[unknown]");
	write_map(path, &child, 0, 0640);
	expect_code(&child, "[unknown]");
	write_map(path, &child, OTHER, 0644);
	expect_code(&child, "[unknown]");
	/* A link may lead where the process has no access: the file's mode does not tell. */
	write_map(behind, &child, 0, 0644);
	unlink(path);
	assert_int_equal(symlink(behind, path), 0);
	expect_code(&child, "[unknown]");
	write_map(behind, &child, STRANGER, 0600);
	expect_code(&child, "[unknown]");
	unlink(path);
	if (link(behind, path) == 0)
		expect_code(&child, "[unknown]");
	unlink(path);
	finish(&child);
}

/* As the dynamic linker finds them. */
TEST(functions_of_our_own_process_are_named)
{
	static const char *const functions[] = { "getppid", "qsort", "strtoul" };
	const struct symbolise_options options = { .no_inline = true };
	struct profile *profile = create();
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *clock = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	add_image(profile, getpid());
	if (!libc)
		skip();
	for (size_t i = 0; i < array_length(functions); i++)
		add(profile,
		    push(profile, NODE_NONE, FRAME_USER, (uint64_t)dlsym(libc, functions[i]) + 1));
	if (clock)
		add(profile, push(profile, NODE_NONE, FRAME_USER, (uint64_t)clock));
	/* Of a raw profile that is all. */
	expect_ok(symbolise_user(profile, &(struct symbolise_options){ .only_vdso = true }));
	assert_null(leaf(profile, 0)->name);
	if (clock)
		assert_non_null(leaf(profile, 3)->name);
	expect_ok(symbolise_user(profile, &options));
	for (size_t i = 0; i < array_length(functions); i++) {
		assert_string_equal(leaf(profile, i)->name->bytes, functions[i]);
		assert_int_equal(leaf(profile, i)->offset, 1);
	}
	if (clock) {
		assert_non_null(strstr(leaf(profile, 3)->name->bytes, "clock_gettime"));
		assert_string_equal(leaf(profile, 3)->module->bytes, "[vdso]");
	}
	profile_destroy(profile);
}

/* A call may be the last instruction of a function that nothing returns to; and what a handler of
 * signals returns to was not called. */
TEST(callers_are_looked_up_by_their_call)
{
	static const char source[] = ".text\n.globl first\n.type first, @function\n"
				     "first: .skip 16\n.size first, 16\n"
				     ".globl second\n.type second, @function\n"
				     "second: .skip 10\n.size second, 10\n.skip 6\n"
				     ".globl third\n.type third, @function\n"
				     "third: .skip 16\n.size third, 16\n";
	struct profile *profile = create();
	struct symbolise_options options = { .is_elsewhere = true };
	struct scratch scratch;
	char *said;
	unsigned long address, offset;

	scratch_init(&scratch);
	scratch_write(&scratch, "a.s", text_of(source));
	if (!built(&scratch, "gcc -nostdlib -static -Wl,-e,first -o a a.s")) {
		scratch_deinit(&scratch);
		profile_destroy(profile);
		skip();
	}
	said = printed(&scratch, "readelf -SW a | sed -n 's/.* .text *PROGBITS//p'");
	assert_int_equal(sscanf(said, "%lx %lx", &address, &offset), 2);
	free(said);
	options.symfs = scratch.path;
	assert_true(array_push(&profile->mappings,
			       (struct profile_mapping){ .start = 0x70000,
							 .end = 0x71000,
							 .file_offset = offset,
							 .path = name(profile, "/a") }));
	assert_true(array_push(&profile->images, (struct profile_image){ .mapping_count = 1 }));
	for (uint64_t caller = 0x70010; caller <= 0x70020; caller += 0x10)
		add(profile, push(profile, push(profile, NODE_NONE, FRAME_USER, caller), FRAME_USER,
				  caller));
	add(profile, push(profile, NODE_NONE, FRAME_USER, 0x7001c));
	expect_ok(symbolise_user(profile, &options));
	assert_string_equal(stack_of(profile, profile->samples.items[0].node), "first;second");
	assert_string_equal(stack_of(profile, profile->samples.items[1].node), "third;third");
	assert_int_equal(leaf(profile, 0)->address, address + 0x10);
	assert_int_equal(leaf(profile, 0)->offset, 0);
	/* Between functions: in none. */
	assert_memory_equal(leaf(profile, 2)->name->bytes, "[a+0x", 5);
	assert_int_equal(strtoul(leaf(profile, 2)->name->bytes + 3, NULL, 16), address + 0x1c);
	profile_destroy(profile);
	scratch_deinit(&scratch);
}

/* --- the kernel --- */

TEST(functions_of_the_kernel_are_named)
{
	struct profile *profile = create();
	char line[512], function[512];
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long address = 0;
	struct error *err;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx T %511s", &address, function) == 2 &&
		    strcmp(function, "do_exit") == 0)
			break;
	if (file)
		fclose(file);
	if (!address || strcmp(function, "do_exit") != 0) {
		profile_destroy(profile);
		skip();
	}
	add(profile, push(profile, push(profile, NODE_NONE, FRAME_KERNEL, address + 7),
			  FRAME_KERNEL, address));
	add(profile, push(profile, NODE_NONE, FRAME_KERNEL, 5));
	add(profile, push(profile, NODE_NONE, FRAME_USER, address));
	err = symbolise_kernel(profile);
	expect_ok(err);
	assert_string_equal(stack_of(profile, profile->samples.items[0].node), "do_exit;do_exit");
	assert_int_equal(leaf(profile, 0)->offset, 0);
	assert_string_equal(leaf(profile, 0)->module->bytes, "[kernel]");
	assert_string_equal(stack_of(profile, profile->samples.items[1].node), "[unknown]");
	assert_string_equal(stack_of(profile, profile->samples.items[2].node), "raw");
	profile_destroy(profile);
}

TEST(what_was_left_out_is_told_when_it_grows)
{
	struct symbolise_left told = { 0 }, left = { .beyond = 2, .hangs = 1 };

	symbolise_left_drop_told(&left, &told);
	assert_true(left.beyond == 2 && left.hangs == 1);
	symbolise_left_drop_told(&left, &told);
	assert_true(left.beyond == 0 && left.hangs == 0);
	left = (struct symbolise_left){ .beyond = 3, .hangs = 1 };
	symbolise_left_drop_told(&left, &told);
	assert_true(left.beyond == 3 && left.hangs == 0);
}

UNIT_TESTS(cmocka_unit_test(a_frame_is_looked_up_by_its_role),
	   cmocka_unit_test(stacks_that_become_the_same_add_up),
	   cmocka_unit_test(after_an_error_all_is_as_it_was),
	   cmocka_unit_test(functions_of_processes_are_named),
	   cmocka_unit_test(a_cache_names_the_same),
	   cmocka_unit_test(a_cache_has_the_functions_of_the_kernel),
	   cmocka_unit_test(a_deleted_file_is_read_in_its_process),
	   cmocka_unit_test(a_process_that_is_over_is_named_by_its_file),
	   cmocka_unit_test(elsewhere_without_a_build_id_the_inode_counts),
	   cmocka_unit_test(elsewhere_the_build_id_counts),
	   cmocka_unit_test(no_user_names_the_functions_of_others),
	   cmocka_unit_test(no_user_has_the_debug_file_of_others),
	   cmocka_unit_test(compiled_functions_have_the_names_of_the_process),
	   cmocka_unit_test(compiled_functions_are_named_after_the_process_ended),
	   cmocka_unit_test(one_user_names_within_a_budget),
	   cmocka_unit_test(files_that_a_process_may_not_read_name_nothing),
	   cmocka_unit_test(functions_of_our_own_process_are_named),
	   cmocka_unit_test(callers_are_looked_up_by_their_call),
	   cmocka_unit_test(functions_of_the_kernel_are_named),
	   cmocka_unit_test(what_was_left_out_is_told_when_it_grows))

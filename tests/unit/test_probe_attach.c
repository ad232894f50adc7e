/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <bpf/bpf.h>

#include "unit/unit.h"

/* Counts calls by their cookies. */
static const char source[] =
	"typedef unsigned int u32; typedef unsigned long long u64;\n"
	"#define SEC(name) __attribute__((section(name), used))\n"
	"static u64 (*cookie)(void *) = (void *)174;\n"
	"static void *(*find)(void *, const void *) = (void *)1;\n"
	"struct { int (*type)[2]; int (*max_entries)[64]; u32 *key; u64 *value; } counts "
	"SEC(\".maps\");\n"
	"static int count(void *context)\n"
	"{\n"
	"	u32 number = cookie(context);\n"
	"	u64 *counted = find(&counts, &number);\n"
	"	if (counted)\n"
	"		__sync_fetch_and_add(counted, 1);\n"
	"	return 0;\n"
	"}\n"
	"SEC(\"uprobe\") int on_uprobe(void *context) { return count(context); }\n"
	"SEC(\"kprobe\") int on_kprobe(void *context) { return count(context); }\n"
	"SEC(\"tp\") int on_tracepoint(void *context) { return count(context); }\n"
	"char LICENSE[] SEC(\"license\") = \"Dual BSD/GPL\";\n";

static const char program_source[] =
	"__attribute__((noinline)) int often(int x)\n"
	"{\n"
	"	asm volatile(\"\");\n"
	"	return x + 1;\n"
	"}\n"
	"__attribute__((noinline)) int once(int x)\n"
	"{\n"
	"	asm volatile(\"990: nop\\n.pushsection .note.stapsdt,\\\"\\\",\\\"note\\\"\\n\"\n"
	"		\".balign 4\\n.4byte 992f-991f, 994f-993f, 3\\n991: .asciz "
	"\\\"stapsdt\\\"\\n\"\n"
	"		\"992: .balign 4\\n993: .8byte 990b, 0, 0\\n\"\n"
	"		\".asciz \\\"shop\\\"\\n.asciz \\\"sold\\\"\\n.asciz \\\"\\\"\\n\"\n"
	"		\"994: .balign 4\\n.popsection\\n\");\n"
	"	return x;\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	int x = 0;\n"
	"	for (int i = 0; i < 100; i++)\n"
	"		x = often(x);\n"
	"	return once(x) != 100;\n"
	"}\n";

struct stage {
	struct scratch scratch;
	struct bpf_object *object;
	struct probe_programs programs;
	struct probe_points *points;
	struct probe_links *links;
};

static int be_silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
	char command[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	assert_int_equal(system(command), 0);
}

/* Skips where nobody may load a program. */
static void begin(struct stage *stage)
{
	*stage = (struct stage){ 0 };
	libbpf_set_print(be_silent);
	scratch_init(&stage->scratch);
	scratch_write(&stage->scratch, "count.bpf.c", text_of(source));
	scratch_write(&stage->scratch, "program.c", text_of(program_source));
	run("cd %s && clang -target bpf -O2 -g -c count.bpf.c -o count.o && "
	    "gcc -O1 -g -o program program.c",
	    stage->scratch.path);
	stage->object = bpf_object__open_file(scratch_path(&stage->scratch, "count.o"), NULL);
	assert_non_null(stage->object);
	if (bpf_object__load(stage->object)) {
		bpf_object__close(stage->object);
		scratch_deinit(&stage->scratch);
		skip();
	}
	stage->programs = (struct probe_programs){
		.kprobe = bpf_object__find_program_by_name(stage->object, "on_kprobe"),
		.uprobe = bpf_object__find_program_by_name(stage->object, "on_uprobe"),
		.tracepoint = bpf_object__find_program_by_name(stage->object, "on_tracepoint"),
	};
	expect_ok(probe_points_create(&stage->points));
}

static void end(struct stage *stage)
{
	probe_links_destroy(stage->links);
	probe_points_destroy(stage->points);
	bpf_object__close(stage->object);
	scratch_deinit(&stage->scratch);
}

/* `format` has the path of the program in it. */
static void add(struct stage *stage, const char *format)
{
	const struct probe_host host = { 0 };
	char spec[512], *at = strstr(format, "PROGRAM");

	if (at)
		snprintf(spec, sizeof(spec), "%.*s%s%s", (int)(at - format), format,
			 scratch_path(&stage->scratch, "program"), at + strlen("PROGRAM"));
	expect_ok(probe_points_add(stage->points, &host, text_of(at ? spec : format)));
}

static uint64_t counted(const struct stage *stage, uint32_t event)
{
	int map = bpf_object__find_map_fd_by_name(stage->object, "counts");
	uint64_t count = 0;

	assert_int_equal(bpf_map_lookup_elem(map, &event, &count), 0);
	return count;
}

TEST(each_call_counts_as_its_event)
{
	struct stage stage;
	struct error *err;

	begin(&stage);
	/* A number of its own for each, in this order. */
	add(&stage, "uprobe:PROGRAM:often");
	add(&stage, "uretprobe:PROGRAM:often");
	add(&stage, "uprobe:PROGRAM:once");
	add(&stage, "usdt:PROGRAM:shop:sold");
	add(&stage, "uprobe:PROGRAM:program.c:19");
	err = probe_attach(stage.points, &stage.programs, &stage.links);
	if (err && strstr(err->message, "no uprobes")) {
		error_destroy(err);
		end(&stage);
		skip();
	}
	expect_ok(err);
	assert_int_equal(probe_links_count(stage.links), 5);
	run("%s", scratch_path(&stage.scratch, "program"));
	assert_int_equal(counted(&stage, 0), 100);
	assert_int_equal(counted(&stage, 1), 100);
	assert_int_equal(counted(&stage, 2), 1);
	assert_int_equal(counted(&stage, 3), 1);
	/* The body of the loop: once a turn, or before it too, as the compiler has it. */
	assert_in_range(counted(&stage, 4), 1, 101);
	probe_links_destroy(take_ptr(stage.links));
	run("%s", scratch_path(&stage.scratch, "program"));
	assert_int_equal(counted(&stage, 0), 100);
	end(&stage);
}

/* An owner may change what is at the path: an offset of the file that was read may be in the middle
 * of an instruction of another. */
TEST(the_file_that_was_read_is_probed)
{
	struct stage stage;
	struct error *err;

	begin(&stage);
	add(&stage, "uprobe:PROGRAM:often");
	run("cd %s && mv program read && gcc -O0 -o program program.c", stage.scratch.path);
	err = probe_attach(stage.points, &stage.programs, &stage.links);
	if (err && strstr(err->message, "no uprobes")) {
		error_destroy(err);
		end(&stage);
		skip();
	}
	expect_ok(err);
	run("%s", scratch_path(&stage.scratch, "program"));
	assert_int_equal(counted(&stage, 0), 0);
	run("%s", scratch_path(&stage.scratch, "read"));
	assert_int_equal(counted(&stage, 0), 100);
	end(&stage);
}

TEST(tracepoints_have_their_events)
{
	struct stage stage;

	begin(&stage);
	add(&stage, "tracepoint:sched:sched_process_exec");
	add(&stage, "tracepoint:sched:sched_process_ex?t");
	expect_ok(probe_attach(stage.points, &stage.programs, &stage.links));
	assert_int_equal(probe_links_count(stage.links), 2);
	run("%s", scratch_path(&stage.scratch, "program"));
	/* A shell and the program, or more: others run too. */
	assert_true(counted(&stage, 0) >= 1);
	assert_true(counted(&stage, 1) >= 1);
	assert_int_equal(counted(&stage, 2), 0);
	end(&stage);
}

TEST(functions_of_the_kernel_or_why_not)
{
	struct stage stage;
	struct error *err;

	begin(&stage);
	add(&stage, "kprobe:vfs_read");
	err = probe_attach(stage.points, &stage.programs, &stage.links);
	if (access("/sys/bus/event_source/devices/kprobe/type", F_OK)) {
		expect_error(err, "cannot attach to kprobe:vfs_read: this kernel has no kprobes");
		assert_null(stage.links);
	} else {
		expect_ok(err);
		run("cat /proc/self/stat > /dev/null");
		assert_true(counted(&stage, 0) >= 1);
	}
	end(&stage);
}

TEST(without_a_program_nothing_is_attached)
{
	struct stage stage;

	begin(&stage);
	add(&stage, "tracepoint:sched:sched_process_exec");
	add(&stage, "uprobe:PROGRAM:once");
	stage.programs.uprobe = NULL;
	expect_error(probe_attach(stage.points, &stage.programs, &stage.links),
		     "program:once: there is no BPF program for it");
	run("%s", scratch_path(&stage.scratch, "program"));
	assert_int_equal(counted(&stage, 0), 0);
	end(&stage);
}

UNIT_TESTS(cmocka_unit_test(each_call_counts_as_its_event),
	   cmocka_unit_test(the_file_that_was_read_is_probed),
	   cmocka_unit_test(tracepoints_have_their_events),
	   cmocka_unit_test(functions_of_the_kernel_or_why_not),
	   cmocka_unit_test(without_a_program_nothing_is_attached))

/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/points.h"

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit/unit.h"

/* A host of our own: a tracefs, symbols of a kernel, and a program. */
static struct scratch scratch;
static char tracing[128], kallsyms[128], program[128];
static struct probe_host host = { .tracing = tracing, .kallsyms = kallsyms };

static const char source[] = "#include <stdio.h>\n"
			     "#define NOTE(provider, name) \\\n"
			     "	asm volatile(\"990: nop\\n.pushsection "
			     ".note.stapsdt,\\\"\\\",\\\"note\\\"\\n\" \\\n"
			     "		\".balign 4\\n.4byte 992f-991f, 994f-993f, 3\\n991: .asciz "
			     "\\\"stapsdt\\\"\\n\" \\\n"
			     "		\"992: .balign 4\\n993: .8byte 990b, 0, 0\\n\" \\\n"
			     "		\".asciz \\\"\" provider \"\\\"\\n.asciz \\\"\" name "
			     "\"\\\"\\n.asciz \\\"\\\"\\n\" \\\n"
			     "		\"994: .balign 4\\n.popsection\\n\")\n"
			     "namespace ns {\n"
			     "__attribute__((noinline)) int first(int x)\n"
			     "{\n"
			     "	NOTE(\"shop\", \"sold\");\n"
			     "	printf(\"%d\\n\", x);\n"
			     "	return x + 1;\n"
			     "}\n"
			     "__attribute__((noinline)) int second(int x)\n"
			     "{\n"
			     "	NOTE(\"shop\", \"bought\");\n"
			     "	NOTE(\"mill\", \"sold\");\n"
			     "	return first(x) * 2;\n"
			     "}\n"
			     "}\n"
			     "extern \"C\" __attribute__((noinline)) int plain(int x)\n"
			     "{\n"
			     "	return ns::second(x) + 5;\n"
			     "}\n"
			     "int main(int argc, char **argv)\n"
			     "{\n"
			     "	return plain(argc);\n"
			     "}\n";

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

/* What a command prints first, as a hexadecimal number. */
static uint64_t number_from(const char *format, ...) __attribute__((format(printf, 1, 2)));
static uint64_t number_from(const char *format, ...)
{
	char command[1024], line[256] = "";
	va_list arguments;
	FILE *pipe;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(line, sizeof(line), pipe));
	pclose(pipe);
	return strtoull(line, NULL, 16);
}

/* The program has all its code in one segment: where that is in the file, by readelf. */
static uint64_t in_file(uint64_t address)
{
	uint64_t offset = number_from("readelf -lW %s | awk '$1 == \"LOAD\" && / E /{print $2}'",
				      program),
		 start = number_from("readelf -lW %s | awk '$1 == \"LOAD\" && / E /{print $3}'",
				     program);

	return address - start + offset;
}

static const char *own_path(void)
{
	static char path[512];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(length > 0);
	path[length] = 0;
	return path;
}

/* An emulated program finds the libraries of another machine only, and refuses them. */
static bool is_emulated(void)
{
	return number_from("od -An -tx1 -j18 -N1 /bin/sh") !=
	       number_from("od -An -tx1 -j18 -N1 %s", own_path());
}

static uint64_t symbol_of(const char *name)
{
	return in_file(number_from("nm -C %s | grep -w '%s' | cut -d' ' -f1", program, name));
}

static int set_up(void **state)
{
	static const char *const names[] = { "sched/sched_switch", "sched/sched_wakeup",
					     "block/block_rq_issue" };

	(void)state;
	scratch_init(&scratch);
	snprintf(tracing, sizeof(tracing), "%s", scratch_path(&scratch, "tracing"));
	snprintf(kallsyms, sizeof(kallsyms), "%s", scratch_path(&scratch, "kallsyms"));
	snprintf(program, sizeof(program), "%s", scratch_path(&scratch, "program"));
	for (size_t i = 0; i < array_length(names); i++)
		run("mkdir -p %s/events/%s && echo 1 > %s/events/%s/id", tracing, names[i], tracing,
		    names[i]);
	run("touch %s/events/enable %s/events/sched/enable %s/events/sched/filter", tracing,
	    tracing, tracing);
	scratch_write(&scratch, "tracing/available_filter_functions",
		      TEXT("vfs_read\nvfs_readv\nvfs_write\n__ftrace_invalid_address___7\n"
			   "tcp_sendmsg\next4_sync_fs [ext4]\nvfs_read\n"));
	scratch_write(&scratch, "kallsyms",
		      TEXT("ffffffff81000000 T vfs_read\nffffffff81000010 D vfs_data\n"
			   "ffffffff80fffff0 t __pfx_vfs_read\n"
			   "ffffffffc0000000 t ext4_only\t[ext4]\n"));
	scratch_write(&scratch, "source.cc", text_of(source));
	run("cd %s && g++ -O1 -g -o program source.cc", scratch.path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	run("rm -r %s/tracing", scratch.path);
	scratch_deinit(&scratch);
	return 0;
}

/* Names of all points, one behind the other. */
static struct probe_points *points_of(const char *spec)
{
	struct probe_points *points;

	expect_ok(probe_points_create(&points));
	expect_ok(probe_points_add(points, &host, text_of(spec)));
	return points;
}

static void expect_points(const char *spec, const char *expected)
{
	struct probe_points *points = points_of(spec);
	char said[1024] = "";

	for (size_t i = 0; i < points->count; i++) {
		const struct probe_point *point = &points->items[i];

		assert_ptr_equal(points->events.items[point->event], point->name);
		assert_int_equal(point->code, PROBE_CODE_USUAL);
		snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s%s", i ? " " : "",
			 point->name->bytes);
	}
	assert_string_equal(said, expected);
	probe_points_destroy(points);
}

static void expect_refused(const char *spec, const char *why)
{
	struct probe_points *points;

	expect_ok(probe_points_create(&points));
	expect_error(probe_points_add(points, &host, text_of(spec)), why);
	assert_int_equal(points->count, 0);
	probe_points_destroy(points);
}

TEST(kernel_functions_that_can_be_traced)
{
	expect_points("kprobe:vfs_read", "kprobe:vfs_read");
	expect_points("kprobe:vfs_*", "kprobe:vfs_read kprobe:vfs_readv kprobe:vfs_write");
	expect_points("kretprobe:/^vfs_read/", "kretprobe:vfs_read kretprobe:vfs_readv");
	expect_points("kprobe:vfs_read+8", "kprobe:vfs_read+8");
	expect_points("kprobe:ext4*", "kprobe:ext4_sync_fs");
	expect_refused("kprobe:vfs_raed",
		       "'kprobe:vfs_raed' matches nothing; did you mean 'vfs_read'?");
	expect_refused("kprobe:nothing_like_it*", "matches nothing");
	expect_refused("kprobe:__ftrace*", "matches nothing");
}

/* "": it exists; "-": it does not, and nothing is near; else what is. */
static void expect_function(const char *name, const char *said)
{
	char *near = NULL;
	bool exists;

	expect_ok(probe_function_exists(&host, name, &exists, &near));
	assert_string_equal(exists ? "" : near ? near : "-", said);
	free(near);
}

TEST(functions_that_exist)
{
	expect_function("vfs_read", "");
	expect_function("ext4_sync_fs", "");
	expect_function("vfs_raed", "vfs_read");
	expect_function("nothing_like_it", "-");
}

TEST(kallsyms_where_tracefs_has_no_list)
{
	char listed[160], hidden[160];

	snprintf(listed, sizeof(listed), "%s/available_filter_functions", tracing);
	snprintf(hidden, sizeof(hidden), "%s/hidden", tracing);
	assert_int_equal(rename(listed, hidden), 0);
	expect_points("kprobe:*", "kprobe:vfs_read kprobe:ext4_only");
	host.kallsyms = "/nowhere";
	expect_refused("kprobe:vfs_read", "/nowhere: No such file");
	host.kallsyms = kallsyms;
	assert_int_equal(rename(hidden, listed), 0);
}

TEST(tracepoints_of_tracefs)
{
	struct probe_points *points = points_of("tracepoint:sched:sched_switch");

	assert_string_equal(points->items[0].where->bytes, "sched");
	assert_string_equal(points->items[0].symbol->bytes, "sched_switch");
	probe_points_destroy(points);
	expect_points("tracepoint:*:*_[siw]*",
		      "tracepoint:block:block_rq_issue tracepoint:sched:sched_switch "
		      "tracepoint:sched:sched_wakeup");
	expect_refused("tracepoint:sched:sched_swich", "did you mean 'sched_switch'?");
	expect_refused("tracepoint:sched:enable", "matches nothing");
	host.tracing = "/nowhere";
	expect_refused("tracepoint:sched:sched_switch", "tracefs");
	host.tracing = tracing;
}

static void expect_place(const char *spec, uint64_t offset)
{
	struct probe_points *points = points_of(spec);

	assert_int_equal(points->count, 1);
	assert_string_equal(points->items[0].where->bytes, program);
	assert_int_equal(points->items[0].offset, offset);
	probe_points_destroy(points);
}

TEST(functions_agree_with_nm)
{
	char spec[256], expected[512];

	host.program = program;
	expect_place("uprobe:plain", symbol_of("plain"));
	expect_place("uprobe:plain+4", symbol_of("plain") + 4);
	expect_place("uretprobe:ns::first", symbol_of("ns::first(int)"));
	expect_place("uprobe:_ZN2ns5firstEi", symbol_of("ns::first(int)"));
	snprintf(spec, sizeof(spec), "uprobe:%s:ns::*", program);
	snprintf(expected, sizeof(expected), "uprobe:%s:ns::first uprobe:%s:ns::second", program,
		 program);
	expect_points(spec, expected);
	expect_refused("uprobe:ns::frist", "did you mean 'ns::first'?");
	expect_refused("uprobe:plain+5000", "offset +5000 is outside of");
	host.program = NULL;
	if (!is_emulated())
		expect_refused("uprobe:plain", "matches nothing in libc; name the file");
	expect_refused("uprobe:/nowhere:plain", "/nowhere: No such file");
	expect_refused("uprobe:/dev/null:plain", "/dev/null: Invalid argument");
	expect_refused("uprobe:/etc/passwd:plain", "is not a 64-bit program or library");
	expect_refused("uprobe:no_such_library:plain", "no library or program 'no_such_library'");
}

/* The program itself comes first, then its libraries, as the dynamic linker takes them. */
TEST(functions_without_a_file)
{
	char libc[256], here[PATH_MAX], spec[PATH_MAX + 32];
	Dl_info ours;
	struct probe_points *points;

	if (is_emulated())
		skip();
	points = points_of("uprobe:c:malloc");
	snprintf(libc, sizeof(libc), "%s", points->items[0].where->bytes);
	probe_points_destroy(points);
	assert_non_null(strstr(libc, "/libc.so"));

	points = points_of("uprobe:malloc");
	assert_string_equal(points->items[0].where->bytes, libc);
	probe_points_destroy(points);
	points = points_of("uprobe:libc:malloc");
	assert_string_equal(points->items[0].where->bytes, libc);
	probe_points_destroy(points);
	expect_refused("uprobe:no_such_function", "matches nothing in libc; name the file");
	expect_refused("uprobe:source.cc:12", "name it: uprobe:/PATH:SOURCE.c:LINE");

	host.program = program;
	points = points_of("uprobe:malloc");
	assert_string_equal(points->items[0].where->bytes, libc);
	probe_points_destroy(points);
	points = points_of("uprobe:plain");
	assert_string_equal(points->items[0].where->bytes, program);
	assert_int_equal(points->count, 1);
	probe_points_destroy(points);
	expect_refused("uprobe:no_such_function", "matches nothing in the program and its lib");
	/* One that it has itself is not that of the library. */
	run("cd %s && cp program whole && echo 'extern \"C\" void *malloc(unsigned long size) { "
	    "return (void *)(size & 1); }' | cat source.cc - > own.cc && "
	    "g++ -O1 -g -o program own.cc",
	    scratch.path);
	points = points_of("uprobe:malloc");
	assert_string_equal(points->items[0].where->bytes, program);
	probe_points_destroy(points);
	run("cd %s && mv whole program", scratch.path);
	host.program = NULL;

	/* Of a process the one that its calls go to: a sanitizer's, where it has one. */
	assert_true(dladdr(dlsym(RTLD_DEFAULT, "malloc"), &ours) && realpath(ours.dli_fname, here));
	host.pid = (uint32_t)getpid();
	snprintf(spec, sizeof(spec), "/proc/%u/root%s", host.pid, here);
	points = points_of("uprobe:malloc");
	assert_string_equal(points->items[0].where->bytes, spec);
	probe_points_destroy(points);
	host.pid = 0;
}

/* Each RET of a function is a place, and all of them have one name. */
TEST(returns_agree_with_objdump)
{
	static const char *const functions[] = { "plain", "main", "ns::first" };
	struct probe_points *points;
	char spec[256];

	host.program = program;
	for (size_t i = 0; i < array_length(functions); i++) {
		snprintf(spec, sizeof(spec), "uret:%s", functions[i]);
		if (number_from("uname -m | grep -c x86_64 || :") == 0) {
			expect_refused(spec, "require x86_64");
			continue;
		}
		points = points_of(spec);
		assert_int_equal(points->events.count, 1);
		assert_int_equal(points->count,
				 number_from("objdump -dC --disassemble='%s' %s | grep -cw ret",
					     i < 2 ? functions[i] : "ns::first(int)", program));
		assert_int_equal(points->items[0].kind, PROBE_URET);
		assert_int_equal(
			points->items[0].offset,
			in_file(number_from("objdump -dC --disassemble='%s' %s | grep -w "
					    "ret | head -n 1 | cut -d: -f1",
					    i < 2 ? functions[i] : "ns::first(int)", program)));
		probe_points_destroy(points);
	}
	expect_refused("uret:_start", "_start");
	host.program = NULL;
}

static const char source_of_go[] =
	"package main\n"
	"type S struct{ n int }\n"
	"//go:noinline\n"
	"func (s *S) Handle(n int) int {\n"
	"	if n == 0 { return s.n }\n"
	"	return s.Handle(n-1) + 1\n"
	"}\n"
	"type MoreS struct{ n int }\n"
	"//go:noinline\n"
	"func (s *MoreS) Handle(n int) int { return n }\n"
	"func main() { println((&S{}).Handle(3), (&MoreS{}).Handle(3)) }\n";

TEST(functions_of_go)
{
	char go[128];
	struct probe_points *points;
	size_t restarts = 0;

	snprintf(go, sizeof(go), "%s", scratch_path(&scratch, "go"));
	scratch_write(&scratch, "a.go", text_of(source_of_go));
	if (number_from("uname -m | grep -c x86_64 || :") == 0 ||
	    number_from("cd %s && GO111MODULE=off go build -o go a.go > /dev/null 2>&1 && echo 1 "
			"|| echo 0",
			scratch.path) == 0)
		skip();
	host.program = go;
	expect_refused("uretprobe:main.main", "Go moves stacks, and the program would crash; use "
					      "uret:main.main (");
	expect_refused("uretprobe:main.*", "--force-uretprobe");
	/* One method, though another's name ends the same way. */
	points = points_of("uret:main.(*S).Handle");
	assert_int_equal(points->events.count, 1);
	assert_true(points->count >= 2);
	assert_int_equal(points->items[0].code, PROBE_CODE_GO);
	probe_points_destroy(points);
	points = points_of("uprobe:main.(*S).Handle");
	assert_int_equal(points->count, 1);
	probe_points_destroy(points);

	host.measures_calls = true;
	points = points_of("uprobe:main.(*S).Handle");
	for (size_t i = 0; i < points->count; i++)
		restarts += points->items[i].event == PROBE_EVENT_RESTART;
	assert_int_equal(points->events.count, 1);
	assert_int_equal(points->count, 1 + restarts);
	assert_int_equal(restarts, 1);
	probe_points_destroy(points);
	host.measures_calls = false;

	host.forces_returns = true;
	points = points_of("uretprobe:main.main");
	assert_int_equal(points->items[0].kind, PROBE_URETPROBE);
	probe_points_destroy(points);
	host.forces_returns = false;

	run("strip %s", go);
	expect_refused("uretprobe:main.main", "Go moves stacks");
	expect_refused("uprobe:main.main", "has no symbols");
	host.program = NULL;
}

TEST(stripped_programs_have_debug_files)
{
	uint64_t at;

	host.program = program;
	at = symbol_of("ns::second(int)");
	run("cd %s && cp program whole && objcopy --only-keep-debug program program.debug && "
	    "strip program && objcopy --add-gnu-debuglink=program.debug program",
	    scratch.path);
	expect_place("uprobe:ns::second", at);
	/* Another user's says what it likes. */
	if (geteuid() == 0) {
		run("cd %s && chown 65534 program.debug", scratch.path);
		expect_refused("uprobe:ns::second", "has no symbols");
	}
	run("cd %s && mv program.debug aside", scratch.path);
	expect_refused("uprobe:ns::second", "has no symbols");
	run("cd %s && mv whole program", scratch.path);
	host.program = NULL;
}

/* The first code of a line, which is of one function. */
static uint64_t line_address(unsigned line)
{
	return in_file(number_from("objdump --dwarf=decodedline %s | awk '/source.cc/ && $2 == %u "
				   "{print $3}' | sort | head -n1",
				   program, line));
}

TEST(lines_are_where_the_debugger_has_them)
{
	static const char *const flags[] = { "-gdwarf-2 -gstrict-dwarf", "-gdwarf-4", "-gdwarf-5",
					     "-gdwarf-5 -gz", "-gdwarf-5 -O2" };

	host.program = program;
	for (size_t i = 0; i < array_length(flags); i++) {
		run("cd %s && g++ -O1 %s -o program $PWD/source.cc", scratch.path, flags[i]);
		expect_place("uprobe:source.cc:12", line_address(12));
		expect_place("uprobe:source.cc:24", line_address(24));
		expect_refused("uprobe:source.cc:14000",
			       "no code for source.cc at or after line 14000");
		expect_refused("uprobe:ource.cc:12", "no code for ource.cc");
		expect_refused("uprobe:source.cc:8", "the next line with code is 10");
	}
	run("cd %s && g++ -O1 -gdwarf-5 -o program $PWD/source.cc", scratch.path);
	/* With its directory. */
	{
		char spec[256];

		snprintf(spec, sizeof(spec), "uprobe:%s/source.cc:12", scratch.path);
		expect_place(spec, line_address(12));
		snprintf(spec, sizeof(spec), "uprobe:%s/source.cc:12",
			 strrchr(scratch.path, '/') + 1);
		expect_place(spec, line_address(12));
	}
	expect_refused("uprobe:other/source.cc:12", "no code for other/source.cc");
	run("cd %s && g++ -O1 -o program source.cc", scratch.path);
	expect_refused("uprobe:source.cc:12", "no debug information");
	run("cd %s && g++ -O1 -g -o program source.cc", scratch.path);
	host.program = NULL;
}

TEST(notes_agree_with_readelf)
{
	char spec[256], expected[512];
	struct probe_points *points;

	snprintf(spec, sizeof(spec), "usdt:%s:mill:sold", program);
	points = points_of(spec);
	assert_int_equal(points->count, 1);
	assert_int_equal(points->items[0].offset,
			 in_file(number_from("readelf -nW %s | grep -A2 'Provider: mill' | "
					     "sed -n 's/.*Location: //p'",
					     program)));
	assert_int_equal(points->items[0].semaphore, 0);
	probe_points_destroy(points);
	snprintf(spec, sizeof(spec), "usdt:%s:sold", program);
	snprintf(expected, sizeof(expected), "usdt:%s:shop:sold usdt:%s:mill:sold", program,
		 program);
	expect_points(spec, expected);
	snprintf(spec, sizeof(spec), "usdt:%s:shop:sald", program);
	expect_refused(spec, "did you mean 'sold'?");
}

/* A probe at two locations, each of which has its arguments in other places. */
static const char served[] =
	"#define NOTE(arguments) \\\n"
	"	asm volatile(\"990: nop\\n.pushsection .note.stapsdt,\\\"\\\",\\\"note\\\"\\n\" "
	"\\\n"
	"		\".balign 4\\n.4byte 992f-991f, 994f-993f, 3\\n991: .asciz "
	"\\\"stapsdt\\\"\\n\" \\\n"
	"		\"992: .balign 4\\n993: .8byte 990b, 0, 0\\n.asciz \\\"shop\\\"\\n\" \\\n"
	"		\".asciz \\\"served\\\"\\n.asciz \\\"\" arguments \"\\\"\\n\" \\\n"
	"		\"994: .balign 4\\n.popsection\\n\")\n"
	"int counter = 5, other = 6;\n"
	"int main(void)\n"
	"{\n"
	"	NOTE(\"-4@other(%rip) -4@%edi 8@%xmm0 4@missing(%rip)\");\n"
	"	NOTE(\"-4@counter+2(%rip) -8@-8(%rsp) 8@%rax\");\n"
	"	return 0;\n"
	"}\n";

static uint64_t variable_of(const char *name)
{
	return number_from("nm %s/served | awk '$3 == \"%s\"{print $1}'", scratch.path, name);
}

static uint64_t location_of(unsigned number)
{
	return number_from("readelf -nW %s/served | sed -n 's/.*Location: //p' | sed -n %up",
			   scratch.path, number);
}

/* A variable is as far from each probe as the symbols of the file say. */
TEST(arguments_of_notes)
{
	char spec[256];
	struct probe_points *points;

	if (is_emulated())
		skip();
	scratch_write(&scratch, "served.c", text_of(served));
	run("cd %s && gcc -o served served.c", scratch.path);
	snprintf(spec, sizeof(spec), "usdt:%s/served:shop:served", scratch.path);
	host.usdt_argument = 1;
	points = points_of(spec);
	assert_int_equal(points->count, 2);
	assert_int_equal(points->events.count, 1);
	assert_true(points->items[0].argument.is_memory && points->items[0].argument.is_signed);
	assert_int_equal(points->items[0].argument.offset,
			 (int64_t)(variable_of("other") - location_of(1)));
	assert_int_equal(points->items[1].argument.offset,
			 (int64_t)(variable_of("counter") + 2 - location_of(2)));
	assert_int_equal(points->items[1].argument.symbol.length, 0);
	probe_points_destroy(points);

	host.usdt_argument = 2;
	points = points_of(spec);
	assert_int_equal(points->items[0].argument.bytes, 4);
	assert_int_equal(points->items[1].argument.offset, -8);
	probe_points_destroy(points);

	/* All locations must have it. */
	host.usdt_argument = 3;
	expect_refused(spec, "arg3 is in a place that cannot be read: '8@%xmm0'");
	host.usdt_argument = 4;
	expect_refused(spec, "arg4 is a variable that no symbol of the file names: missing");
	host.usdt_argument = 5;
	expect_refused(spec, "it has no arg5, but 4 arguments");
	run("cd %s && strip served", scratch.path);
	host.usdt_argument = 1;
	expect_refused(spec, "no symbol of the file names: other");
	host.usdt_argument = 0;
	points = points_of(spec);
	assert_int_equal(points->items[0].argument.bytes, 0);
	probe_points_destroy(points);
}

TEST(libraries_by_their_names)
{
	static const char *const names[] = { "uprobe:c:malloc", "uprobe:libc:malloc",
					     "uprobe:libc.so.6:malloc" };
	struct probe_points *points;

	if (is_emulated())
		skip();
	for (size_t i = 0; i < array_length(names); i++) {
		points = points_of(names[i]);
		assert_int_equal(points->count, 1);
		assert_non_null(strstr(points->items[0].where->bytes, "/libc.so.6"));
		probe_points_destroy(points);
	}
	/* Debian's strlen is one of several. */
	expect_refused("uprobe:c:strlen", "is an IFUNC");
	/* As it is mapped by a process, which is us. */
	host.pid = (uint32_t)getpid();
	points = points_of("uprobe:c:malloc");
	assert_int_equal(strncmp(points->items[0].where->bytes, "/proc/", 6), 0);
	probe_points_destroy(points);
	points = points_of("uprobe:main");
	probe_points_destroy(points);
	host.pid = 0;
	points = points_of("uprobe:bash:main");
	probe_points_destroy(points);
}

/* Of a container, say: an absolute link leads to a file of its own, not to one of ours. */
TEST(links_lead_where_the_process_sees_them)
{
	struct probe_points *points;
	int ready[2];
	char byte;

	if (geteuid() || !has_openat2())
		skip();
	run("mkdir -p %s/inside && cp %s %s/inside/program && ln -s /program %s/inside/link",
	    scratch.path, program, scratch.path, scratch.path);
	run("ln -s %s %s/inside/outside", program, scratch.path);
	assert_int_equal(pipe(ready), 0);
	host.pid = (uint32_t)fork();
	if (!host.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chroot(scratch_path(&scratch, "inside")) || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	points = points_of("uprobe:/link:plain");
	assert_int_equal(points->count, 1);
	probe_points_destroy(points);
	expect_refused("uprobe:/outside:plain", "No such file or directory");
	kill((pid_t)host.pid, SIGKILL);
	waitpid((pid_t)host.pid, NULL, 0);
	host.pid = 0;
}

TEST(points_are_not_added_twice)
{
	struct probe_points *points = points_of("kprobe:vfs_read");

	expect_ok(probe_points_add(points, &host, TEXT("kprobe:vfs_*")));
	expect_ok(probe_points_add(points, &host, TEXT("kretprobe:vfs_read")));
	expect_ok(probe_points_add(points, &host, TEXT("kprobe:vfs_read")));
	assert_int_equal(points->count, 4);
	assert_int_equal(points->events.count, 4);
	probe_points_destroy(points);
}

TEST(too_many_are_an_error)
{
	run("cd %s && cp available_filter_functions kept && seq -f 'f%%.0f' 10001 >> "
	    "available_filter_functions",
	    tracing);
	{
		struct probe_points *points;

		expect_ok(probe_points_create(&points));
		expect_error(probe_points_add(points, &host, TEXT("kprobe:f*")),
			     "more than 10000 probe locations");
		probe_points_destroy(points);
	}
	run("cd %s && mv kept available_filter_functions", tracing);
}

static bool write_name(void *context, const char *name)
{
	char *said = context;

	snprintf(said + strlen(said), 1024 - strlen(said), "%s\n", name);
	return !strstr(name, "vfs_readv");
}

TEST(lists_are_of_everything)
{
	char said[1024] = "";

	expect_ok(probe_list(&host, TEXT("*sched*"), write_name, said));
	assert_string_equal(said, "tracepoint:sched:sched_switch\ntracepoint:sched:sched_wakeup\n");
	said[0] = 0;
	expect_ok(probe_list(&host, TEXT("tracepoint:block:*"), write_name, said));
	assert_string_equal(said, "tracepoint:block:block_rq_issue\n");
	said[0] = 0;
	/* Until it is enough. */
	expect_ok(probe_list(&host, TEXT(""), write_name, said));
	assert_string_equal(said, "kprobe:vfs_read\nkprobe:vfs_readv\n");
	said[0] = 0;
	expect_ok(probe_list(&host, TEXT("nothing"), write_name, said));
	assert_string_equal(said, "");
	expect_error(probe_list(&host, TEXT("tracepoint:x"), write_name, said), "CATEGORY:NAME");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_functions_that_can_be_traced),
		cmocka_unit_test(kallsyms_where_tracefs_has_no_list),
		cmocka_unit_test(tracepoints_of_tracefs),
		cmocka_unit_test(functions_agree_with_nm),
		cmocka_unit_test(functions_without_a_file),
		cmocka_unit_test(returns_agree_with_objdump),
		cmocka_unit_test(functions_of_go),
		cmocka_unit_test(stripped_programs_have_debug_files),
		cmocka_unit_test(lines_are_where_the_debugger_has_them),
		cmocka_unit_test(functions_that_exist),
		cmocka_unit_test(notes_agree_with_readelf),
		cmocka_unit_test(arguments_of_notes),
		cmocka_unit_test(libraries_by_their_names),
		cmocka_unit_test(links_lead_where_the_process_sees_them),
		cmocka_unit_test(points_are_not_added_twice),
		cmocka_unit_test(too_many_are_an_error),
		cmocka_unit_test(lists_are_of_everything),
	};
	int failed = cmocka_run_group_tests(tests, set_up, tear_down);

	if (failed)
		_exit(1);
	return 0;
}

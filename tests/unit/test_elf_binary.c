/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/rooted.h"
#include "unit/built.h"

/* Functions within functions within functions, with loops, so that code of all of them is mixed. */
#define C_SOURCE                                                                         \
	"#include <stdio.h>\n"                                                           \
	"#include <stdlib.h>\n"                                                          \
	"static inline int inner(int a)\n"                                               \
	"{\n"                                                                            \
	"	for (volatile int i = 0; i < a; i++)\n"                                        \
	"		a ^= rand() + i;\n"                                                           \
	"	return a;\n"                                                                   \
	"}\n"                                                                            \
	"static inline int middle(int a)\n"                                              \
	"{\n"                                                                            \
	"	int sum = inner(a);\n"                                                         \
	"	if (a > 7) {\n"                                                                \
	"		int more = inner(a + 1);\n"                                                   \
	"		sum += more * puts(\"middle\");\n"                                            \
	"	}\n"                                                                           \
	"	return sum;\n"                                                                 \
	"}\n"                                                                            \
	"__attribute__((noinline)) int outer(int a)\n"                                   \
	"{\n"                                                                            \
	"	return middle(a) + middle(a * 3);\n"                                           \
	"}\n"                                                                            \
	"__attribute__((noinline)) int plain_function(int a) { return outer(a) / 3; }\n" \
	"int main(int n, char **v)\n"                                                    \
	"{\n"                                                                            \
	"	if (n > 8)\n"                                                                  \
	"		abort();\n"                                                                   \
	"	return plain_function(n) + inner(n) + (int)v[0][0];\n"                         \
	"}\n"

#define CPP_SOURCE                                                            \
	"static volatile int sink;\n"                                         \
	"namespace one { namespace two {\n"                                   \
	"struct thing {\n"                                                    \
	"	int value;\n"                                                       \
	"	int twice() const { return value * 2 + sink; }\n"                   \
	"	__attribute__((noinline)) int thrice(int by) const;\n"              \
	"};\n"                                                                \
	"int thing::thrice(int by) const { return twice() + value * by; }\n"  \
	"template <typename T> __attribute__((noinline)) T sum(T a, T b) {\n" \
	"	auto add = [&](T c) { return a + b + c + sink; };\n"                \
	"	return add(b) + add(a);\n"                                          \
	"}\n"                                                                 \
	"} }\n"                                                               \
	"int main(int n, char **)\n"                                          \
	"{\n"                                                                 \
	"	one::two::thing t{ n };\n"                                          \
	"	return t.thrice(n) + t.twice() + one::two::sum<int>(n, 2) +\n"      \
	"	       (int)one::two::sum<double>(n, 2);\n"                         \
	"}\n"

static int open_anywhere(void *context, const char *path)
{
	const struct scratch *scratch = context;
	const char *name = strrchr(path, '/');

	/* Beside the program, and nowhere else. */
	return strncmp(path, scratch->path, strlen(scratch->path)) == 0
		       ? openat(scratch->dir, name + 1, O_RDONLY | O_CLOEXEC)
		       : -1;
}

struct opened {
	int fd;
	uint64_t work;
	struct binary *binary;
};

static bool open_binary(const struct scratch *scratch, const char *name, struct opened *ret)
{
	struct binary_options options = { .path = scratch_path(scratch, name),
					  .open = open_anywhere,
					  .context = (void *)(uintptr_t)scratch,
					  .inlined_work = &ret->work };

	ret->work = INLINED_WORK_MAX;
	ret->fd = openat(scratch->dir, name, O_RDONLY | O_CLOEXEC);
	assert_true(ret->fd >= 0);
	if (binary_open(ret->fd, &options, &ret->binary) == 0)
		return true;
	close(ret->fd);
	return false;
}

static void close_binary(struct opened *opened)
{
	binary_destroy(opened->binary);
	close(opened->fd);
}

/* Without parameters, and without the type that templates return. */
static void drop_parameters(char *name)
{
	char *space;

	name[strcspn(name, "(")] = 0;
	space = strrchr(name, ' ');
	if (space)
		memmove(name, space + 1, strlen(space));
}

/* What we say about an address in the words of addr2line: a function, then file:line, from the
 * innermost on. */
static void say(struct binary *binary, uint64_t address, bool with_lines, char *out, size_t room)
{
	struct binary_found found;
	char *end = out;
	size_t i;

	*out = 0;
	if (!binary_find(binary, address, &found)) {
		snprintf(out, room, "?? ");
		return;
	}
	i = found.inlined.count ? found.inlined.count : 1;
	while (i-- > 0) {
		const struct inlined_function *function = &found.inlined.functions[i];
		const char *slash = found.inlined.count && function->source
					    ? strrchr(function->source, '/')
					    : NULL;
		char name[FUNCTION_NAME_MAX];

		if (i)
			demangle(function->name, name);
		else
			strcpy(name, found.name);
		drop_parameters(name);
		/* A part that was moved away has a symbol, which addr2line does not name. */
		if (strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".cold") == 0)
			name[strlen(name) - 5] = 0;
		end += snprintf(end, room - (size_t)(end - out), "%s ", name);
		if (with_lines && found.inlined.count)
			end += snprintf(end, room - (size_t)(end - out), "%s:%u ",
					slash ? slash + 1
					      : (function->source ? function->source : "??"),
					function->line);
	}
}

/* The same of the lines of addr2line, up to the next address. */
static void read_truth(char **lines, bool with_lines, bool with_inlined, char *out, size_t room)
{
	char *line, *end = out, last[1024] = "";

	*out = 0;
	while (*lines && **lines && strncmp(*lines, "0x", 2) != 0) {
		char *slash;

		line = strsep(lines, "\n");
		drop_parameters(line);
		snprintf(last, sizeof(last), "%s", line);
		if (with_inlined)
			end += snprintf(end, room - (size_t)(end - out), "%s ", line);
		line = strsep(lines, "\n");
		line[strcspn(line, " ")] = 0;
		if (line[strlen(line) - 1] == '?')
			line[strlen(line) - 1] = '0';
		slash = strrchr(line, '/');
		if (with_lines)
			end += snprintf(end, room - (size_t)(end - out), "%s ",
					slash ? slash + 1 : line);
	}
	if (!with_inlined)
		snprintf(out, room, "%s ", last);
}

/* The section .text, as readelf has it. */
static void find_text(const struct scratch *scratch, const char *name, uint64_t *start,
		      uint64_t *end)
{
	char command[256], *text, *line;
	unsigned long address, offset, size;

	snprintf(command, sizeof(command), "readelf -SW %s", name);
	text = printed(scratch, command);
	line = strstr(text, " .text ");
	assert_non_null(line);
	assert_int_equal(sscanf(line, " .text PROGBITS %lx %lx %lx", &address, &offset, &size), 3);
	*start = address;
	*end = address + size;
	free(text);
}

struct comparison {
	const char *name, *truth; /* what is looked at, and the file that addr2line is given */
	bool without_inlined, without_lines;
	size_t at_least; /* addresses with inlined functions */
};

/* Each address of .text, against addr2line. */
static void compare(const struct scratch *scratch, const struct comparison *c)
{
	char command[512], *truth, *lines, ours[8192], theirs[8192];
	uint64_t start, end, step;
	struct opened opened;
	size_t inlined = 0, known = 0;

	find_text(scratch, c->truth, &start, &end);
	/* Not all of a static C library. */
	step = end - start > 65536 ? 61 : 1;
	assert_true(open_binary(scratch, c->name, &opened));
	snprintf(command, sizeof(command),
		 "seq %lu %lu %lu | awk '{printf \"0x%%x\\n\", $1}' | addr2line -a -i -f -C -e %s",
		 (unsigned long)start, (unsigned long)step, (unsigned long)end - 1, c->truth);
	lines = truth = printed(scratch, command);
	for (uint64_t address = start; address < end; address += step) {
		char *line = strsep(&lines, "\n");

		assert_non_null(line);
		assert_int_equal(strtoull(line, NULL, 16), address);
		read_truth(&lines, !c->without_lines, !c->without_inlined, theirs, sizeof(theirs));
		say(opened.binary, address, !c->without_lines, ours, sizeof(ours));
		/* addr2line takes the last symbol before what is between functions. */
		if (strncmp(ours, "?? ", 3) == 0 || strncmp(theirs, "??", 2) == 0)
			continue;
		/* Code of assembly has lines, but no function in the debug information. */
		if (strstr(theirs, ".S:") || strstr(theirs, "start") || strstr(ours, "start") ||
		    strstr(theirs, "crtstuff"))
			continue;
		known++;
		inlined += strchr(strchr(ours, ' ') + 1, ' ') && strstr(ours, "inner");
		assert_string_equal(ours, theirs);
	}
	assert_true(known > 50);
	assert_true(inlined >= c->at_least);
	free(truth);
	close_binary(&opened);
}

static bool make(struct scratch *scratch, const char *command)
{
	scratch_init(scratch);
	scratch_write(scratch, "a.c", TEXT(C_SOURCE));
	scratch_write(scratch, "a.cc", TEXT(CPP_SOURCE));
	if (built(scratch, command))
		return true;
	scratch_deinit(scratch);
	return false;
}

static void compare_built(const char *command, const struct comparison *comparison)
{
	struct scratch scratch;

	if (!make(&scratch, command))
		skip();
	compare(&scratch, comparison);
	scratch_deinit(&scratch);
}

#define WHOLE                                             \
	{                                                 \
		.name = "a", .truth = "a", .at_least = 20 \
	}

TEST(inlined_functions_and_lines_are_those_of_addr2line)
{
	const struct comparison whole = WHOLE;

	compare_built("gcc -O2 -g -o a a.c", &whole);
}

TEST(older_debug_information_agrees)
{
	const struct comparison whole = WHOLE;

	compare_built("gcc -O2 -gdwarf-4 -gz -o a a.c", &whole);
}

TEST(clang_and_lld_agree)
{
	const struct comparison whole = WHOLE;

	compare_built("clang -O2 -g -fuse-ld=lld -o a a.c", &whole);
}

TEST(names_of_cpp_are_those_of_addr2line)
{
	const struct comparison whole = { .name = "a", .truth = "a" };

	compare_built("g++ -O2 -g -o a a.cc", &whole);
}

TEST(a_program_at_fixed_addresses_has_the_same_names)
{
	const struct comparison whole = WHOLE;

	compare_built("gcc -O2 -g -no-pie -fuse-ld=gold -o a a.c", &whole);
}

TEST(a_stripped_program_has_a_debug_file)
{
	const struct comparison stripped = { .name = "b", .truth = "a", .at_least = 20 };

	compare_built("gcc -O2 -g -Wl,--build-id=none -o a a.c && "
		      "objcopy --only-keep-debug a b.debug && strip -o b a && "
		      "objcopy --add-gnu-debuglink=b.debug b",
		      &stripped);
	compare_built("gcc -O2 -g -o a a.c && objcopy --only-keep-debug a b.debug && "
		      "strip -o b a && objcopy --add-gnu-debuglink=b.debug b",
		      &stripped);
}

TEST(packed_symbols_name_functions)
{
	const struct comparison packed = {
		.name = "b", .truth = "a", .without_inlined = true, .without_lines = true
	};

	compare_built("gcc -O2 -g -o a a.c && objcopy -S --remove-section .gnu_debuglink a b && "
		      "objcopy --strip-debug a mini && xz -k mini && "
		      "objcopy --add-section .gnu_debugdata=mini.xz b",
		      &packed);
}

/* As objdump names them. */
TEST(stubs_are_named_after_their_targets)
{
	static const char *const how[] = {
		"gcc -O2 -o a a.c",
		"gcc -O2 -Wl,-z,now -fcf-protection=none -o a a.c",
		"gcc -O2 -no-pie -fcf-protection=none -Wl,-z,lazy -o a a.c",
		"clang -O2 -fuse-ld=lld -o a a.c",
	};
	size_t stubs = 0;

	for (size_t i = 0; i < array_length(how); i++) {
		struct scratch scratch;
		struct opened opened;
		struct binary_found found;
		char *truth, *lines, *line;

		if (!make(&scratch, how[i]))
			continue;
		assert_true(open_binary(&scratch, "a", &opened));
		lines = truth = printed(
			&scratch,
			"objdump -d a | sed -nE 's/^0*([0-9a-f]+) <([a-z]+@plt)>:$/\\1 \\2/p'");
		while ((line = strsep(&lines, "\n")) && *line) {
			uint64_t address = strtoull(line, &line, 16);

			assert_true(binary_find(opened.binary, address, &found));
			assert_string_equal(found.name, line + 1);
			assert_true(found.start == address);
			stubs++;
		}
		free(truth);
		close_binary(&opened);
		scratch_deinit(&scratch);
	}
	if (!stubs)
		skip();
}

/* A program says where its functions are; where that is in its file, its own maps say. */
TEST(addresses_of_a_process_are_those_of_its_file)
{
	static const char source[] =
		"#include <stdio.h>\n"
		"int data = 7;\n"
		"__attribute__((noinline)) void named_function(void) { data++; }\n"
		"int main(void)\n"
		"{\n"
		"	unsigned long at = (unsigned long)named_function, start, end, offset;\n"
		"	char line[512];\n"
		"	FILE *maps = fopen(\"/proc/self/maps\", \"r\");\n"
		"	while (fgets(line, sizeof(line), maps))\n"
		"		if (sscanf(line, \"%lx-%lx %*s %lx\", &start, &end, &offset) == 3 "
		"&&\n"
		"		    at >= start && at < end)\n"
		"			printf(\"%lu %lu\\n\", at - start + offset, offset);\n"
		"	return 0;\n"
		"}\n";
	static const char *const how[] = {
		"gcc",
		"gcc -no-pie",
		"gcc -static",
		"gcc -static-pie",
		"gcc -fuse-ld=gold",
		"gcc -Wl,-z,noseparate-code",
		"clang -fuse-ld=lld",
		"clang -fuse-ld=lld -no-pie",
		"gcc -fuse-ld=mold",
	};
	size_t done = 0;

	for (size_t i = 0; i < array_length(how); i++) {
		struct scratch scratch;
		struct opened opened;
		struct binary_found found;
		unsigned long offset, mapped;
		uint64_t address = 0;
		char command[256], *said;

		scratch_init(&scratch);
		scratch_write(&scratch, "a.c", text_of(source));
		snprintf(command, sizeof(command), "%s -g -O1 -o a a.c", how[i]);
		if (!built(&scratch, command)) {
			scratch_deinit(&scratch);
			continue;
		}
		said = printed(&scratch, "./a");
		assert_int_equal(sscanf(said, "%lu %lu", &offset, &mapped), 2);
		free(said);
		assert_true(open_binary(&scratch, "a", &opened));
		assert_true(binary_address(opened.binary, offset, mapped, &address));
		assert_true(binary_find(opened.binary, address, &found));
		assert_string_equal(found.name, "named_function");
		assert_true(found.start == address);
		close_binary(&opened);
		/* Its debug file, in the place of it, has no bytes but the same addresses. */
		assert_true(built(&scratch, "objcopy --only-keep-debug a a.debug"));
		assert_true(open_binary(&scratch, "a.debug", &opened));
		assert_true(binary_address(opened.binary, offset, mapped, &address));
		assert_true(binary_find(opened.binary, address, &found));
		assert_string_equal(found.name, "named_function");
		assert_true(found.start == address);
		close_binary(&opened);
		scratch_deinit(&scratch);
		done++;
	}
	if (!done)
		skip();
}

/* All that Go's linker says in the file that has symbols must be found in the one that has none. */
static void expect_go_functions(const struct scratch *scratch, const char *flags)
{
	struct binary_found found;
	struct opened opened;
	char command[256], name[256], *said, *lines, *line;
	size_t count = 0, named = 0;
	unsigned long address;

	snprintf(command, sizeof(command), "%s go build %s -o a a.go", flags,
		 strstr(flags, "PIE") ? "-buildmode=pie" : "");
	assert_true(built(scratch, command));
	said = lines =
		printed(scratch, "go tool nm -n a | grep -E ' [tT] (main|runtime|os|fmt)\\.'");
	snprintf(command, sizeof(command), "%s go build -ldflags='-s -w' %s -o a a.go", flags,
		 strstr(flags, "PIE") ? "-buildmode=pie" : "");
	assert_true(built(scratch, command));
	assert_true(open_binary(scratch, "a", &opened));
	while ((line = strsep(&lines, "\n")) && *line) {
		assert_int_equal(sscanf(line, "%lx %*c %255s", &address, name), 2);
		/* The ends of all code, which are no functions. */
		if (strcmp(name, "runtime.text") == 0 || strcmp(name, "runtime.etext") == 0)
			continue;
		count++;
		if (!binary_find(opened.binary, address, &found) || found.start != address)
			continue;
		/* Of assembly, which the table does not tell apart. */
		if (strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".abi0") == 0)
			name[strlen(name) - 5] = 0;
		assert_string_equal(found.name, name);
		named++;
	}
	assert_true(count > 1000);
	assert_int_equal(named, count);
	close_binary(&opened);
	free(said);
}

/* Whatever stands in the head of the table, and where it says where names are. */
static void damage_go_functions(const struct scratch *scratch)
{
	static const uint64_t values[] = { 0,         1,         0x7fffffff,     0xffffffff,
					   1ul << 40, INT64_MAX, UINT64_MAX - 8, UINT64_MAX };
	char *said = printed(scratch, "readelf -SW a | sed -n 's/.* .gopclntab *PROGBITS//p'");
	unsigned long address, offset, size;
	uint64_t before;
	int fd = openat(scratch->dir, "a", O_RDWR | O_CLOEXEC);

	assert_int_equal(sscanf(said, "%lx %lx %lx", &address, &offset, &size), 3);
	free(said);
	assert_true(fd >= 0);
	for (off_t at = (off_t)offset; at < (off_t)(offset + size);
	     at += at < (off_t)offset + 72 ? 8 : 64 * 1024 + 8)
		for (size_t i = 0; i < array_length(values); i++) {
			struct binary_found found;
			struct opened opened;

			assert_int_equal(pread(fd, &before, sizeof(before), at), sizeof(before));
			assert_int_equal(pwrite(fd, &values[i], sizeof(before), at),
					 sizeof(before));
			assert_true(open_binary(scratch, "a", &opened));
			for (uint64_t code = 0x401000; code < 0x480000; code += 0x4321)
				(void)binary_find(opened.binary, code, &found);
			close_binary(&opened);
			assert_int_equal(pwrite(fd, &before, sizeof(before), at), sizeof(before));
		}
	close(fd);
}

TEST(stripped_programs_of_go_have_names)
{
	struct scratch scratch;

	scratch_init(&scratch);
	scratch_write(&scratch, "a.go",
		      TEXT("package main\nimport \"fmt\"\ntype server struct{ n int }\n"
			   "//go:noinline\nfunc (s *server) Handle() int { return s.n * 3 }\n"
			   "func main() { fmt.Println((&server{3}).Handle()) }\n"));
	if (!built(&scratch, "go version")) {
		scratch_deinit(&scratch);
		skip();
	}
	expect_go_functions(&scratch, "");
	damage_go_functions(&scratch);
	expect_go_functions(&scratch, "PIE=");
	scratch_write(&scratch, "a.go",
		      TEXT("package main\n// int twice(int a) { return 2 * a; }\nimport \"C\"\n"
			   "import \"fmt\"\nfunc main() { fmt.Println(C.twice(3)) }\n"));
	expect_go_functions(&scratch, "CGO_ENABLED=1");
	scratch_deinit(&scratch);
}

TEST(other_files_are_refused)
{
	struct scratch scratch;
	struct opened opened;

	scratch_init(&scratch);
	scratch_write(&scratch, "empty", TEXT(""));
	scratch_write(&scratch, "text", TEXT("#!/bin/sh\n"));
	assert_false(open_binary(&scratch, "empty", &opened));
	assert_false(open_binary(&scratch, "text", &opened));
	scratch_deinit(&scratch);
}

/* With however little work, functions are named, and what is said of inlined ones is the same or
 * nothing. */
TEST(work_is_bounded)
{
	struct scratch scratch;
	struct opened opened;
	uint64_t start, end, needed;
	char whole[8192], some[8192];
	size_t less = 0;

	if (!make(&scratch, "gcc -O2 -g -o a a.c"))
		skip();
	find_text(&scratch, "a", &start, &end);
	assert_true(open_binary(&scratch, "a", &opened));
	say(opened.binary, end - 20, true, whole, sizeof(whole));
	needed = INLINED_WORK_MAX - opened.work;
	close_binary(&opened);
	assert_true(needed > 100 && needed < 100000);
	for (uint64_t work = 0; work < needed + 100; work += 17) {
		struct binary_options options = { .inlined_work = &opened.work };

		opened.work = work;
		opened.fd = openat(scratch.dir, "a", O_RDONLY | O_CLOEXEC);
		assert_int_equal(binary_open(opened.fd, &options, &opened.binary), 0);
		say(opened.binary, end - 20, true, some, sizeof(some));
		assert_true(opened.work <= work);
		close_binary(&opened);
		if (strcmp(some, whole) == 0)
			continue;
		assert_true(work < needed);
		assert_int_equal(strncmp(some, whole, strcspn(some, " ")), 0);
		less++;
	}
	assert_true(less > 0);
	scratch_deinit(&scratch);
}

/* A program is opened where there is memory for its functions, or not at all. */
TEST(memory_is_bounded)
{
	struct scratch scratch;
	struct opened opened;
	struct binary_options options = { .memory = 1 };

	if (!make(&scratch, "gcc -O2 -o a a.c"))
		skip();
	opened.fd = openat(scratch.dir, "a", O_RDONLY | O_CLOEXEC);
	assert_int_equal(binary_open(opened.fd, &options, &opened.binary), ENOMEM);
	options.memory = 1 << 20;
	assert_int_equal(binary_open(opened.fd, &options, &opened.binary), 0);
	assert_true(binary_bytes(opened.binary) < 1 << 20);
	close_binary(&opened);
	scratch_deinit(&scratch);
}

TEST(labels_of_assembly_are_functions_to_their_section_or_the_next)
{
	struct scratch scratch;
	struct opened opened;
	struct binary_found found;

	scratch_init(&scratch);
	scratch_write(&scratch, "a.s",
		      TEXT(".text\n.globl first\nfirst: .skip 16\nsecond: .skip 16\n"
			   ".globl sized\n.type sized, @function\n.size sized, 4\n"
			   "sized: .skip 16\n.L_local: .skip 8\n.data\nvariable: .skip 64\n"));
	if (!built(&scratch, "gcc -nostdlib -static -Wl,-Ttext=0x401000 -Wl,-e,first -o a a.s")) {
		scratch_deinit(&scratch);
		skip();
	}
	assert_true(open_binary(&scratch, "a", &opened));
	assert_true(binary_find(opened.binary, 0x40100f, &found));
	assert_string_equal(found.name, "first");
	assert_true(binary_find(opened.binary, 0x401010, &found));
	assert_string_equal(found.name, "second");
	assert_true(binary_find(opened.binary, 0x401023, &found));
	assert_string_equal(found.name, "sized");
	assert_false(binary_find(opened.binary, 0x401024, &found));
	assert_false(binary_find(opened.binary, 0x400fff, &found));
	assert_false(binary_find(opened.binary, 0x401038, &found));
	close_binary(&opened);
	scratch_deinit(&scratch);
}

/* As memset of musl, which is stripped: behind it are functions that nobody may call from
 * elsewhere. */
TEST(without_a_table_of_all_functions_a_label_has_its_start_alone)
{
	struct scratch scratch;
	struct opened opened;
	struct binary_found found;

	scratch_init(&scratch);
	scratch_write(&scratch, "a.s",
		      TEXT(".text\n.globl first\n.type first, @function\nfirst: .skip 16\n"
			   ".type hidden, @function\n.size hidden, 16\nhidden: .skip 16\n"
			   ".globl sized\n.type sized, @function\n.size sized, 4\n"
			   "sized: .skip 16\n"));
	if (!built(&scratch, "gcc -nostdlib -shared -Wl,-Ttext=0x401000 -o a a.s && strip a")) {
		scratch_deinit(&scratch);
		skip();
	}
	assert_true(open_binary(&scratch, "a", &opened));
	assert_true(binary_find(opened.binary, 0x401000, &found));
	assert_string_equal(found.name, "first");
	assert_false(binary_find(opened.binary, 0x401001, &found));
	assert_false(binary_find(opened.binary, 0x401010, &found));
	assert_true(binary_find(opened.binary, 0x401020, &found));
	assert_string_equal(found.name, "sized");
	close_binary(&opened);
	scratch_deinit(&scratch);
}

/* Cut anywhere, a file still has an answer or none. */
TEST(cut_files_do_no_harm)
{
	struct scratch scratch;
	char *size;
	long whole;

	if (!make(&scratch, "gcc -O2 -g -o a a.c"))
		skip();
	size = printed(&scratch, "stat -c %s a");
	whole = atol(size);
	free(size);
	for (long cut = 0; cut < whole; cut += 211) {
		struct opened opened;
		struct binary_found found;
		uint64_t address;

		assert_true(built(&scratch, "cp a b"));
		assert_int_equal(truncate(scratch_path(&scratch, "b"), cut), 0);
		if (!open_binary(&scratch, "b", &opened))
			continue;
		for (uint64_t offset = 0x1000; offset < 0x1400; offset += 16)
			if (binary_address(opened.binary, offset, 0x1000, &address))
				(void)binary_find(opened.binary, address, &found);
		close_binary(&opened);
	}
	scratch_deinit(&scratch);
}

UNIT_TESTS(cmocka_unit_test(inlined_functions_and_lines_are_those_of_addr2line),
	   cmocka_unit_test(older_debug_information_agrees), cmocka_unit_test(clang_and_lld_agree),
	   cmocka_unit_test(names_of_cpp_are_those_of_addr2line),
	   cmocka_unit_test(a_program_at_fixed_addresses_has_the_same_names),
	   cmocka_unit_test(a_stripped_program_has_a_debug_file),
	   cmocka_unit_test(packed_symbols_name_functions),
	   cmocka_unit_test(stubs_are_named_after_their_targets),
	   cmocka_unit_test(addresses_of_a_process_are_those_of_its_file),
	   cmocka_unit_test(work_is_bounded), cmocka_unit_test(memory_is_bounded),
	   cmocka_unit_test(labels_of_assembly_are_functions_to_their_section_or_the_next),
	   cmocka_unit_test(without_a_table_of_all_functions_a_label_has_its_start_alone),
	   cmocka_unit_test(stripped_programs_of_go_have_names),
	   cmocka_unit_test(other_files_are_refused), cmocka_unit_test(cut_files_do_no_harm))

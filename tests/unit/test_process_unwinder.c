/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/unwinder.h"

#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "elf/vdso.h"
#include "unit/unit.h"
#include "unwind/user_unwind.h"

/* Nothing here takes as long, whatever else the machine does. */
#define MOST_NS (60 * NS_PER_S)

/* --- maps as the programs in the kernel have them --- */

struct scene {
	struct unwinder_options options;
	struct process_watch *images;
	struct unwinder *unwinder;
};

static int map_of(enum bpf_map_type type, uint32_t value, uint32_t entries, uint32_t flags,
		  int inner)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags,
		    .inner_map_fd = (uint32_t)inner);
	int map = bpf_map_create(type, "test", sizeof(uint32_t), value, entries, &options);

	if (map < 0 && (errno == EPERM || errno == ENOSYS))
		skip();
	assert_true(map >= 0);
	return map;
}

static void make_maps(struct unwinder_options *options)
{
	int inner = map_of(BPF_MAP_TYPE_ARRAY, UNWIND_CHUNK_BYTES, 1, BPF_F_MMAPABLE, 0);

	options->chunks =
		map_of(BPF_MAP_TYPE_ARRAY_OF_MAPS, sizeof(uint32_t), UNWIND_CHUNKS_MAX, 0, inner);
	close(inner);
	options->rules = map_of(BPF_MAP_TYPE_ARRAY, sizeof(struct unwind_rule), UNWIND_RULES_MAX,
				BPF_F_MMAPABLE, 0);
	options->processes = map_of(BPF_MAP_TYPE_HASH, sizeof(struct unwind_process), 1024, 0, 0);
	options->asked = map_of(BPF_MAP_TYPE_HASH, sizeof(uint64_t), 1024, 0, 0);
}

static void open_scene_with(struct scene *scene, const uint32_t *pids, size_t count,
			    struct process_watch_options watch)
{
	struct error *err = process_watch_open(&watch, &scene->images);

	if (err && (err->errnum == EACCES || err->errnum == EPERM || err->errnum == ENOSYS ||
		    err->errnum == ENOENT)) {
		error_destroy(err);
		skip();
	}
	expect_ok(err);
	scene->options = (struct unwinder_options){
		.images = scene->images,
		.pids = pids,
		.pid_count = count,
		.no_cache = true,
	};
	make_maps(&scene->options);
	expect_ok(unwinder_open(&scene->options, &scene->unwinder));
}

static void open_scene(struct scene *scene, const uint32_t *pids, size_t count)
{
	open_scene_with(scene, pids, count, (struct process_watch_options){ .wake_bytes = 1 });
}

static void close_scene(struct scene *scene)
{
	unwinder_close(scene->unwinder);
	process_watch_close(scene->images);
	close(scene->options.chunks);
	close(scene->options.rules);
	close(scene->options.processes);
	close(scene->options.asked);
}

/* Of us and the children we will have. */
static void start_with_us(struct scene *scene)
{
	const uint32_t me = (uint32_t)getpid();

	open_scene(scene, &me, 1);
	expect_ok(unwinder_start(scene->unwinder, MOST_NS, NULL, NULL));
}

/* What the programs in the kernel see of a process; count 0: nothing. */
static struct unwind_process said(const struct scene *scene, pid_t pid)
{
	struct unwind_process process = { 0 }, known = { 0 };
	const uint32_t key = (uint32_t)pid;

	if (bpf_map_lookup_elem(scene->options.processes, &key, &process))
		memset(&process, 0, sizeof(process));
	unwinder_process(scene->unwinder, key, &known);
	assert_memory_equal(&process, &known, sizeof(known));
	return process;
}

/* One mapping and its table, where the programs in the kernel would find it. */
static const struct unwind_mapping *mapping_at(const struct scene *scene,
					       const struct unwind_process *process, uint64_t pc)
{
	const struct unwind_mapping *mapping;

	if (!process->count)
		return NULL;
	mapping = (const struct unwind_mapping *)unwind_store_at(unwinder_store(scene->unwinder),
								 process->space);
	for (uint32_t i = 0; i < process->count; i++) {
		assert_true(!i || mapping[i - 1].end <= mapping[i].start);
		if (mapping[i].start <= pc && pc < mapping[i].end)
			return &mapping[i];
	}
	return NULL;
}

/* Ticks until a process has the address in a table that is there. */
static struct unwind_process wait_for(struct scene *scene, pid_t pid, uint64_t pc)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + MOST_NS;
	struct unwind_process process;

	do {
		const struct unwind_mapping *mapping;

		process_watch_poll(scene->images);
		unwinder_tick(scene->unwinder);
		process = said(scene, pid);
		mapping = mapping_at(scene, &process, pc);
		if (mapping && mapping->kind == UNWIND_MAPPING_TABLE && mapping->table)
			return process;
		usleep(1000);
	} while (clock_ns(CLOCK_MONOTONIC) < until);
	fail();
	return process;
}

/* --- rules, looked up by ourselves --- */

/* The number that a block says: of the last row up to there, in the order of addresses. */
static uint32_t number_in(const uint32_t *block, uint64_t at)
{
	uint32_t page = (uint32_t)(at >> UNWIND_PAGE_BITS) % UNWIND_PAGES, number = 0;
	const uint16_t *starts = (const uint16_t *)block;

	for (uint32_t p = 0; p <= page; p++)
		for (uint32_t i = starts[p]; i < starts[p + 1]; i++) {
			uint32_t row = block[UNWIND_BLOCK_HEAD + i];

			if (p < page || UNWIND_ROW_OFFSET(row) <= (at & 0xff))
				number = UNWIND_ROW_RULE(row);
		}
	return number;
}

static const struct unwind_rule *rule_in_table(const struct unwind_table *table, uint64_t address)
{
	uint64_t at = address - table->base, block = at >> UNWIND_BLOCK_BITS;
	uint32_t number;

	if (address < table->base || block >= table->blocks.count ||
	    !unwind_is_block(table->blocks.items[block]))
		return NULL;
	number = number_in(table->words.items + table->blocks.items[block], at);
	return number < 4 ? NULL : &table->rules.items[number - 4];
}

/* The same where the programs in the kernel find it. */
static const struct unwind_rule *rule_in_store(const struct scene *scene,
					       const struct unwind_process *process, uint64_t pc)
{
	const struct unwind_store *store = unwinder_store(scene->unwinder);
	const struct unwind_mapping *mapping = mapping_at(scene, process, pc);
	uint64_t at = mapping ? pc - mapping->delta : 0, block = at >> UNWIND_BLOCK_BITS;
	const uint32_t *table;
	uint32_t number;

	if (!mapping || mapping->kind != UNWIND_MAPPING_TABLE || !mapping->table)
		return NULL;
	table = unwind_store_at(store, mapping->table);
	if (block >= table[0] || !table[1 + block])
		return NULL;
	number = number_in(unwind_store_at(store, table[1 + block]), at);
	return number < 4 ? NULL : unwind_store_rule_at(store, number);
}

struct objects {
	const struct scene *scene;
	struct unwind_process process;
	size_t objects, rules;
};

static void expect_rules(struct objects *o, const struct unwind_table *table, uint64_t bias,
			 uint64_t start, uint64_t end)
{
	uint64_t step = (end - start) / 1000 + 1;

	for (uint64_t pc = start; pc < end; pc += step) {
		const struct unwind_rule *expected = rule_in_table(table, pc - bias);
		const struct unwind_rule *found = rule_in_store(o->scene, &o->process, pc);

		assert_int_equal(!expected, !found);
		if (expected)
			assert_memory_equal(expected, found, sizeof(*found));
		o->rules += expected != NULL;
	}
}

/* The dynamic linker says where it put each file. */
static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
	const bool is_vdso = strstr(info->dlpi_name, "vdso");
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	int fd = is_vdso ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	struct objects *o = context;
	struct unwind_table table = { 0 };
	struct image image;
	struct elf elf;

	(void)size;
	if (is_vdso)
		image = image_of(vdso_bytes());
	else
		assert_int_equal(image_open(fd, &image), 0);
	assert_true(elf_open(&image, &elf));
	expect_ok(unwind_build(&elf, &table));
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			expect_rules(o, &table, info->dlpi_addr, start, start + segment->p_memsz);
	}
	o->objects++;
	unwind_table_deinit(&table);
	elf_close(&elf);
	image_close(&image);
	if (fd >= 0)
		close(fd);
	return 0;
}

static uint64_t status_pages(void)
{
	uint64_t kib = 0, value;
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");

	assert_non_null(status);
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "VmExe: %lu", &value) == 1 ||
		    sscanf(line, "VmLib: %lu", &value) == 1)
			kib += value;
	fclose(status);
	return kib * 1024 / (uint64_t)sysconf(_SC_PAGESIZE);
}

TEST(each_file_of_ours_has_its_rules)
{
	struct objects o = { 0 };
	struct scene scene;

	start_with_us(&scene);
	o.scene = &scene;
	o.process = said(&scene, getpid());
	assert_true(o.process.count > 3);
	assert_int_equal(o.process.exec_pages, status_pages());
	dl_iterate_phdr(visit_object, &o);
	assert_true(o.objects > 3);
	assert_true(o.rules > 1000);
	assert_int_equal(unwinder_use(scene.unwinder).no_room, 0);
	assert_int_equal(unwinder_use(scene.unwinder).too_many, 0);
	close_scene(&scene);
}

/* --- a walk --- */

static bool own_word(void *context, uint64_t address, uint64_t *ret)
{
	(void)context;
	*ret = *(const uint64_t *)address;
	return true;
}

#define FRAMES_MAX 64

static __attribute__((noinline)) size_t walk_here(struct scene *scene, uint64_t *frames)
{
	const struct unwind_process process = said(scene, getpid());
	const struct unwind_reader reader = { .word = own_word };
	struct unwind_registers registers = { 0 };
	enum unwind_stop stop;
	size_t count;

#ifdef __x86_64__
	__asm__ volatile("lea (%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\tmov %%rbx, %3"
			 : "=&r"(registers.ip), "=&r"(registers.sp), "=&r"(registers.bp),
			   "=&r"(registers.bx));
#else
	skip();
#endif
	count = user_unwind(unwinder_store(scene->unwinder), &process, &registers, &reader, frames,
			    FRAMES_MAX, &stop);
	assert_int_equal(stop, UNWIND_COMPLETE);
	return count;
}

static __attribute__((noinline)) void expect_walk(struct scene *scene)
{
	const uint64_t here = (uint64_t)__builtin_return_address(0);
	uint64_t frames[FRAMES_MAX];
	size_t count = walk_here(scene, frames);

	assert_true(count > 4);
	assert_true(frames[1] > (uint64_t)(uintptr_t)expect_walk && frames[1] < frames[1] + 4096);
	assert_int_equal(frames[2], here);
}

TEST(a_walk_of_ours_is_complete)
{
	struct scene scene;

	start_with_us(&scene);
	expect_walk(&scene);
	close_scene(&scene);
}

/* --- following --- */

static const char *const libraries[] = { "libBrokenLocale.so.1", "libthread_db.so.1",
					 "libutil.so.1", "libnsl.so.1" };

/* A library that we do not have yet; NULL: there is none. */
static void *open_library(uint64_t *ret_code)
{
	for (size_t i = 0; i < array_length(libraries); i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_NOLOAD), *init;

		if (library) {
			dlclose(library);
			continue;
		}
		library = dlopen(libraries[i], RTLD_NOW);
		if (!library)
			continue;
		init = ((struct link_map *)library)->l_ld; /* its data; the code is before it */
		*ret_code = 0;
		if (init) {
			const char *base = (const char *)((struct link_map *)library)->l_addr;
			const ElfW(Ehdr) *header = (const void *)base;
			const ElfW(Phdr) *segments = (const void *)(base + header->e_phoff);

			for (int k = 0; k < header->e_phnum; k++)
				if (segments[k].p_type == PT_LOAD && segments[k].p_flags & PF_X)
					*ret_code = (uint64_t)(uintptr_t)base + segments[k].p_vaddr;
		}
		return library;
	}
	return NULL;
}

TEST(a_library_that_comes_is_found_and_one_that_goes_is_missed)
{
	const uint32_t me = (uint32_t)getpid();
	struct unwind_process before, with, after;
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + MOST_NS;
	struct pollfd waiting;
	struct scene scene;
	uint64_t code, left;
	void *library;

	start_with_us(&scene);
	before = said(&scene, getpid());
	library = open_library(&code);
	if (!library)
		skip();
	assert_null(mapping_at(&scene, &before, code));
	waiting = (struct pollfd){ .fd = process_watch_fd(scene.images), .events = POLLIN };
	assert_int_equal(poll(&waiting, 1, 60000), 1);
	with = wait_for(&scene, getpid(), code);
	assert_true(with.generation > before.generation);
	/* When all is quiet it is read once. From then on nobody says that it is gone but a walk.
	 */
	do {
		process_watch_poll(scene.images);
		unwinder_tick(scene.unwinder);
		after = said(&scene, getpid());
		usleep(10000);
	} while (!after.exec_pages && clock_ns(CLOCK_MONOTONIC) < until);
	assert_int_equal(after.exec_pages, status_pages());
	dlclose(library);
	process_watch_poll(scene.images);
	unwinder_tick(scene.unwinder);
	after = said(&scene, getpid());
	assert_non_null(mapping_at(&scene, &after, code));
	assert_int_equal(bpf_map_update_elem(scene.options.asked, &me, &after.generation, BPF_ANY),
			 0);
	do {
		unwinder_tick(scene.unwinder);
		after = said(&scene, getpid());
		usleep(1000);
	} while (mapping_at(&scene, &after, code) && clock_ns(CLOCK_MONOTONIC) < until);
	assert_null(mapping_at(&scene, &after, code));
	assert_true(after.generation != with.generation);
	assert_int_not_equal(bpf_map_lookup_elem(scene.options.asked, &me, &left), 0);
	assert_int_equal(after.exec_pages, status_pages());
	close_scene(&scene);
}

/* Code of the program that it will execute, and of what we are. */
static uint64_t our_code(void)
{
	return (uint64_t)(uintptr_t)our_code;
}

TEST(a_child_shares_its_parents_tables_until_it_executes)
{
	struct unwind_process ours, childs;
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + MOST_NS;
	struct scene scene;
	int gate[2], status;
	char byte = 0;
	pid_t child;

	start_with_us(&scene);
	ours = said(&scene, getpid());
	assert_int_equal(pipe(gate), 0);
	child = fork();
	if (!child) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) == 1)
			execl("/bin/sleep", "sleep", "1000", NULL);
		_exit(1);
	}
	close(gate[0]);
	childs = wait_for(&scene, child, our_code());
	assert_int_equal(childs.space, ours.space);
	assert_int_equal(childs.generation, ours.generation);
	assert_int_equal(childs.exec_pages, ours.exec_pages);

	assert_int_equal(write(gate[1], &byte, 1), 1);
	close(gate[1]);
	do {
		process_watch_poll(scene.images);
		unwinder_tick(scene.unwinder);
		childs = said(&scene, child);
		usleep(1000);
	} while ((!childs.count || mapping_at(&scene, &childs, our_code())) &&
		 clock_ns(CLOCK_MONOTONIC) < until);
	assert_true(childs.count);
	assert_null(mapping_at(&scene, &childs, our_code()));
	assert_int_not_equal(childs.generation, ours.generation);

	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	process_watch_poll(scene.images);
	unwinder_tick(scene.unwinder);
	assert_int_equal(said(&scene, child).count, 0);
	assert_int_equal(said(&scene, getpid()).generation, ours.generation);
	close_scene(&scene);
}

TEST(others_are_left_alone_until_a_walk_asks)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + MOST_NS, nothing = 0;
	struct scene scene;
	int gate[2], status;
	uint32_t key;
	pid_t other;
	char byte;

	assert_int_equal(pipe(gate), 0);
	other = fork();
	if (!other) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) != 0);
	}
	close(gate[0]);
	start_with_us(&scene);
	key = (uint32_t)other;
	assert_int_equal(said(&scene, other).count, 0);
	assert_int_equal(bpf_map_update_elem(scene.options.asked, &key, &nothing, BPF_ANY), 0);
	do {
		unwinder_tick(scene.unwinder);
		usleep(1000);
	} while (!said(&scene, other).count && clock_ns(CLOCK_MONOTONIC) < until);
	wait_for(&scene, other, our_code());
	close(gate[1]);
	assert_int_equal(waitpid(other, &status, 0), other);
	/* One that is gone is asked for in vain. */
	process_watch_poll(scene.images);
	unwinder_tick(scene.unwinder);
	assert_int_equal(said(&scene, other).count, 0);
	assert_int_equal(bpf_map_update_elem(scene.options.asked, &key, &nothing, BPF_ANY), 0);
	unwinder_tick(scene.unwinder);
	assert_int_equal(said(&scene, other).count, 0);
	assert_int_not_equal(bpf_map_lookup_elem(scene.options.asked, &key, &byte), 0);
	close_scene(&scene);
}

/* More than a tick reads, and all of them too soon: none of them is in the way of the next. */
TEST(those_that_cannot_be_answered_yet_make_room_for_others)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + MOST_NS, nothing = 0;
	struct scene scene;
	uint32_t kids[81], key;
	int gate[2], status;
	char byte;

	assert_int_equal(pipe(gate), 0);
	for (size_t i = 0; i < array_length(kids); i++) {
		pid_t kid = fork();

		if (!kid) {
			close(gate[1]);
			_exit(read(gate[0], &byte, 1) != 0);
		}
		kids[i] = (uint32_t)kid;
	}
	close(gate[0]);
	start_with_us(&scene);
	/* The last one comes later. */
	for (size_t i = 0; i < array_length(kids) - 1; i++)
		bpf_map_update_elem(scene.options.asked, &kids[i], &nothing, BPF_ANY);
	for (size_t i = 0; i < array_length(kids) - 1; i++)
		while (!said(&scene, (pid_t)kids[i]).count && clock_ns(CLOCK_MONOTONIC) < until)
			unwinder_tick(scene.unwinder);
	for (size_t i = 0; i < array_length(kids) - 1; i++) {
		const struct unwind_process process = said(&scene, (pid_t)kids[i]);

		assert_true(process.count);
		bpf_map_update_elem(scene.options.asked, &kids[i], &process.generation, BPF_ANY);
	}
	unwinder_tick(scene.unwinder);
	assert_int_not_equal(bpf_map_get_next_key(scene.options.asked, NULL, &key), 0);
	key = kids[array_length(kids) - 1];
	bpf_map_update_elem(scene.options.asked, &key, &nothing, BPF_ANY);
	while (!said(&scene, (pid_t)key).count && clock_ns(CLOCK_MONOTONIC) < until)
		unwinder_tick(scene.unwinder);
	assert_true(said(&scene, (pid_t)key).count);
	close(gate[1]);
	for (size_t i = 0; i < array_length(kids); i++)
		assert_int_equal(waitpid((pid_t)kids[i], &status, 0), (pid_t)kids[i]);
	close_scene(&scene);
}

/* Numbers that no process has. */
#define STRANGERS      500
#define FIRST_STRANGER (1u << 30)

/* Where one comes for each that is forgotten, as children do that inherit what is known of their
 * parent; -1: nowhere. */
static int refilled = -1;
static uint32_t refills;

static void add_stranger(int map, uint32_t number)
{
	const struct unwind_process stranger = { .count = 1, .generation = 1u << 30 };
	const uint32_t key = FIRST_STRANGER + number % STRANGERS;

	bpf_map_update_elem(map, &key, &stranger, BPF_ANY);
}

int __real_bpf_map_delete_elem(int map, const void *key);
int __wrap_bpf_map_delete_elem(int map, const void *key);

int __wrap_bpf_map_delete_elem(int map, const void *key)
{
	int failed = __real_bpf_map_delete_elem(map, key);

	if (map == refilled)
		add_stranger(map, refills++);
	return failed;
}

static void map_pages(unsigned times)
{
	while (times--) {
		void *made =
			mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (made != MAP_FAILED)
			munmap(made, 4096);
	}
}

/* What there is no memory for is lost for its process, and the others stay known. */
TEST(a_loss_for_lack_of_memory_is_of_one_process)
{
	const uint32_t me = (uint32_t)getpid(), key = FIRST_STRANGER;
	struct unwind_process left;
	struct scene scene;

	open_scene_with(&scene, &me, 1,
			(struct process_watch_options){ .wake_bytes = 1, .max_memory = 1 });
	expect_ok(unwinder_start(scene.unwinder, NS_PER_S, NULL, NULL));
	add_stranger(scene.options.processes, 0);
	map_pages(4);
	process_watch_poll(scene.images);
	unwinder_tick(scene.unwinder);
	assert_true(process_watch_lost(scene.images) > 0);
	if (process_watch_missed(scene.images))
		skip();
	assert_int_equal(bpf_map_lookup_elem(scene.options.processes, &key, &left), 0);
	close_scene(&scene);
}

/* SIGALRM ends a tick without end. */
TEST(a_loss_forgets_all_processes_in_bounded_time)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + MOST_NS;
	const uint32_t me = (uint32_t)getpid();
	struct unwind_process left;
	struct scene scene;
	size_t found;

	open_scene_with(&scene, &me, 1, (struct process_watch_options){ .ring_bytes = 4096 });
	for (uint32_t i = 0; i < STRANGERS; i++)
		add_stranger(scene.options.processes, i);
	map_pages(600);
	process_watch_poll(scene.images);
	/* The kernel tells of a loss before the next record that it has room for. */
	map_pages(4);
	refilled = scene.options.processes;
	alarm(MOST_NS / NS_PER_S);
	/* One tick. */
	expect_ok(unwinder_start(scene.unwinder, 0, NULL, NULL));
	alarm(0);
	refilled = -1;
	assert_true(process_watch_missed(scene.images) > 0);
	assert_true(refills > 0);
	do {
		found = 0;
		unwinder_tick(scene.unwinder);
		for (uint32_t i = 0; i < STRANGERS; i++) {
			const uint32_t key = FIRST_STRANGER + i;

			found += !bpf_map_lookup_elem(scene.options.processes, &key, &left);
		}
	} while (found && clock_ns(CLOCK_MONOTONIC) < until);
	assert_int_equal(found, 0);
	close_scene(&scene);
}

TEST(code_that_is_made_has_frame_pointers)
{
	struct unwind_process process;
	const struct unwind_mapping *mapping;
	struct scene scene;
	void *made;

	start_with_us(&scene);
	made = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		skip(); /* this host does not let anybody */
	/* Its turn may come a little later, after another change. */
	for (int i = 0; i < 1000; i++) {
		process_watch_poll(scene.images);
		unwinder_tick(scene.unwinder);
		process = said(&scene, getpid());
		if (mapping_at(&scene, &process, (uintptr_t)made))
			break;
		usleep(1000);
	}
	mapping = mapping_at(&scene, &process, (uintptr_t)made);
	assert_non_null(mapping);
	assert_int_equal(mapping->kind, UNWIND_MAPPING_POINTER);
	assert_int_equal(process.exec_pages, 0);
	munmap(made, 4096);
	close_scene(&scene);
}

/* Nobody tells of it again, so whoever ticks has to know. */
TEST(an_early_call_returns_its_due_time)
{
	struct scene scene;
	void *made[16];

	start_with_us(&scene);
	for (size_t i = 0; i < array_length(made); i++) {
		struct unwind_process process;

		made[i] =
			mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (made[i] == MAP_FAILED)
			skip();
		unwinder_tick(scene.unwinder);
		for (;;) {
			uint64_t due_ns;

			process = said(&scene, getpid());
			if (mapping_at(&scene, &process, (uintptr_t)made[i]))
				break;
			due_ns = unwinder_due_ns(scene.unwinder);
			assert_int_not_equal(due_ns, UINT64_MAX);
			while (clock_ns(CLOCK_MONOTONIC) < due_ns)
				usleep(10);
			unwinder_tick(scene.unwinder);
		}
	}
	for (size_t i = 0; i < array_length(made); i++)
		munmap(made[i], 4096);
	close_scene(&scene);
}

/* --- files without a build-id --- */

/* A program of the host, of which nobody says which one it is. */
static struct sunk nameless_program(void)
{
	int fd = open("/bin/ls", O_RDONLY | O_CLOEXEC);
	struct sunk bytes = { 0 };
	struct image image;
	struct text whole, id;
	struct elf elf;

	if (fd < 0)
		skip();
	assert_int_equal(image_open(fd, &image), 0);
	whole = image_bytes(&image, 0, image.size);
	assert_null(sunk_write(&bytes, whole.bytes, whole.length));
	assert_true(elf_open(&image, &elf));
	id = elf_build_id(&elf);
	/* Behind the type of the note and its name, "GNU". */
	if (id.length)
		for (size_t i = 8; i + id.length <= bytes.count; i++)
			if (memcmp(bytes.items + i, id.bytes, id.length) == 0)
				bytes.items[i - 8] = 0x7f;
	elf_close(&elf);
	image_close(&image);
	close(fd);
	return bytes;
}

/* The code of a file, as a dynamic linker would map it. */
static char *map_code(const char *path, size_t *ret_size, uint64_t *ret_address)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *mapped = MAP_FAILED;
	struct image image;
	struct elf elf;

	assert_int_equal(image_open(fd, &image), 0);
	assert_true(elf_open(&image, &elf));
	assert_int_equal(elf_build_id(&elf).length, 0);
	for (size_t i = 0; i < elf.segment_count; i++) {
		const Elf64_Phdr *segment = &elf.segments[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		*ret_size = segment->p_filesz + segment->p_offset % 4096;
		*ret_address = segment->p_vaddr - segment->p_offset % 4096;
		mapped = mmap(NULL, *ret_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			      (off_t)(segment->p_offset - segment->p_offset % 4096));
	}
	elf_close(&elf);
	image_close(&image);
	close(fd);
	if (mapped == MAP_FAILED)
		skip();
	return mapped;
}

TEST(a_file_without_build_id_is_the_same_until_it_changes)
{
	struct objects o = { 0 };
	struct sunk bytes = nameless_program();
	uint32_t first, second, changed;
	struct unwind_table table = { 0 };
	struct scratch scratch;
	struct scene scene;
	struct image image;
	uint64_t address;
	struct elf elf;
	char *code[3];
	size_t size;

	scratch_init(&scratch);
	scratch_write(&scratch, "program", sunk_text(&bytes));
	start_with_us(&scene);
	code[0] = map_code(scratch_path(&scratch, "program"), &size, &address);
	code[1] = map_code(scratch_path(&scratch, "program"), &size, &address);
	wait_for(&scene, getpid(), (uintptr_t)code[0]);
	o.scene = &scene;
	o.process = wait_for(&scene, getpid(), (uintptr_t)code[1]);
	first = mapping_at(&scene, &o.process, (uintptr_t)code[0])->table;
	second = mapping_at(&scene, &o.process, (uintptr_t)code[1])->table;
	assert_int_equal(first, second);
	image = image_of(sunk_text(&bytes));
	assert_true(elf_open(&image, &elf));
	expect_ok(unwind_build(&elf, &table));
	expect_rules(&o, &table, (uintptr_t)code[1] - address, (uintptr_t)code[1],
		     (uintptr_t)code[1] + size);
	assert_true(o.rules > 100);
	/* Somebody else by the same name. */
	usleep(20000);
	scratch_write(&scratch, "program", sunk_text(&bytes));
	code[2] = map_code(scratch_path(&scratch, "program"), &size, &address);
	o.process = wait_for(&scene, getpid(), (uintptr_t)code[2]);
	changed = mapping_at(&scene, &o.process, (uintptr_t)code[2])->table;
	assert_int_not_equal(changed, first);
	for (size_t i = 0; i < array_length(code); i++)
		munmap(code[i], size);
	unwind_table_deinit(&table);
	elf_close(&elf);
	image_close(&image);
	array_deinit(&bytes);
	close_scene(&scene);
	scratch_deinit(&scratch);
}

UNIT_TESTS(cmocka_unit_test(each_file_of_ours_has_its_rules),
	   cmocka_unit_test(a_walk_of_ours_is_complete),
	   cmocka_unit_test(a_library_that_comes_is_found_and_one_that_goes_is_missed),
	   cmocka_unit_test(a_child_shares_its_parents_tables_until_it_executes),
	   cmocka_unit_test(others_are_left_alone_until_a_walk_asks),
	   cmocka_unit_test(those_that_cannot_be_answered_yet_make_room_for_others),
	   cmocka_unit_test(a_loss_for_lack_of_memory_is_of_one_process),
	   cmocka_unit_test(a_loss_forgets_all_processes_in_bounded_time),
	   cmocka_unit_test(code_that_is_made_has_frame_pointers),
	   cmocka_unit_test(an_early_call_returns_its_due_time),
	   cmocka_unit_test(a_file_without_build_id_is_the_same_until_it_changes))

/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/bpf_program.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/libbpf_reason.h"
#include "bpf/programs.h"
#include "kstats/bpf_arguments.h"
#include "kstats/bpf_config.h"
#include "probe/attach.h"

#include <kstats.skel.h>

/* --- how a place is reached --- */

enum attach_method { ATTACH_TRAMPOLINE, ATTACH_KPROBE, ATTACH_RAW, ATTACH_USER, ATTACH_NONE };

static enum attach_method attach_method_of(const struct kstats_location *place,
					   bool has_trampolines)
{
	switch (place->kind) {
	case PLACE_FUNCTION:
		if (has_trampolines && place->by_trampoline)
			return ATTACH_TRAMPOLINE;
		return place->by_kprobe ? ATTACH_KPROBE : ATTACH_NONE;
	case PLACE_SYSCALL:
		return has_trampolines && place->by_trampoline ? ATTACH_TRAMPOLINE : ATTACH_RAW;
	case PLACE_TRACEPOINT:
		return ATTACH_RAW;
	case PLACE_PROGRAM:
		return ATTACH_USER;
	}
	return ATTACH_NONE;
}

static bool is_trap(enum attach_method method)
{
	return method == ATTACH_KPROBE || method == ATTACH_USER;
}

/* The displayed name of an attach method, at a start and at a return. */
static const char *const attach_method_names[][2] = {
	[ATTACH_TRAMPOLINE] = { "fentry", "fexit" },
	[ATTACH_KPROBE] = { "kprobe", "kretprobe" },
	[ATTACH_RAW] = { "raw tracepoint", "raw tracepoint" },
	[ATTACH_USER] = { "uprobe", "uretprobe" },
};

static const char *attach_name(const struct kstats_location *place, enum attach_method method)
{
	return place->is_ret ? "uret" : attach_method_names[method][place->is_return];
}

struct probe_side {
	const struct kstats_location *place;
	enum attach_method method;
	struct bpf_program *program;
};

struct probe_sides {
	struct probe_side start, end;
};

static struct probe_sides sides_of(struct kstats_program *program, bool has_trampolines)
{
	const struct kstats_locations *places = &program->places;
	struct kstats_bpf *bpf = program->bpf;
	struct probe_sides sides = {
		.start = { &places->start, attach_method_of(&places->start, has_trampolines),
			   NULL },
		.end = { &places->end, attach_method_of(&places->end, has_trampolines), NULL },
	};
	struct bpf_program *const begins[] = {
		[ATTACH_TRAMPOLINE] =
			places->start.is_return ? bpf->progs.begin_fexit : bpf->progs.begin_fentry,
		[ATTACH_KPROBE] = bpf->progs.begin_kprobe,
		[ATTACH_RAW] = bpf->progs.begin_raw,
		[ATTACH_USER] = bpf->progs.begin_kprobe,
		[ATTACH_NONE] = NULL,
	};
	struct bpf_program *const ends[] = {
		[ATTACH_TRAMPOLINE] =
			places->end.is_return ? bpf->progs.end_fexit : bpf->progs.end_fentry,
		[ATTACH_KPROBE] = bpf->progs.end_kprobe,
		[ATTACH_RAW] = bpf->progs.end_raw,
		[ATTACH_USER] = bpf->progs.end_kprobe,
		[ATTACH_NONE] = NULL,
	};

	sides.start.program = begins[sides.start.method];
	sides.end.program = ends[sides.end.method];
	return sides;
}

/* --- before it is loaded --- */

#if defined(__x86_64__)
#define RETURN_ADDRESS_BYTES 8 /* a return takes it off the stack */
#else
#define RETURN_ADDRESS_BYTES 0
#endif

static void configure_side(const struct probe_side *side, struct kstats_site *ret)
{
	const bool is_syscall = side->place->kind == PLACE_SYSCALL;

	ret->syscall = is_syscall && side->method == ATTACH_RAW ? side->place->syscall : -1;
	ret->has_syscall = is_syscall;
	ret->is_exit = side->place->is_return;
}

/* Set the fields that depend on the attach methods. */
static void configure(const struct kstats_program *program, const struct probe_sides *sides,
		      struct kstats_config *ret)
{
	const char *start = attach_name(sides->start.place, sides->start.method),
		   *end = attach_name(sides->end.place, sides->end.method);

	configure_side(&sides->start, &ret->start);
	configure_side(&sides->end, &ret->end);
	/* A thread is in one system call at a time. */
	ret->has_frame = program->places.is_call && ret->key == KSTATS_KEY_TASK &&
			 sides->start.method != ATTACH_RAW;
	/* At a RET instruction it is not taken off yet. */
	ret->frame_shift =
		is_trap(sides->end.method) && !sides->end.place->is_ret ? RETURN_ADDRESS_BYTES : 0;
	snprintf(ret->how, sizeof(ret->how), strcmp(start, end) ? "%s, %s" : "%s", start, end);
}

static void size_maps(struct kstats_program *program, const struct kstats_config *config)
{
	const unsigned arguments = kstats_arguments_number(&program->places);
	struct kstats_bpf *bpf = program->bpf;
	const unsigned histograms = kstats_config_histograms(config);
	const __u32 sets = config->key == KSTATS_KEY_CPU ? 2 : 1u << config->set_bits;

	bpf_map__set_value_size(bpf->maps.cells, (__u32)kstats_config_cell_bytes(config));
	bpf_map__set_max_entries(bpf->maps.cells, histograms);
	bpf_map__set_value_size(bpf->maps.groups, (__u32)kstats_config_group_bytes(config));
	if (config->group_room) {
		bpf_map__set_max_entries(bpf->maps.groups, config->group_room * histograms);
		bpf_map__set_max_entries(bpf->maps.group_numbers, config->group_room * histograms);
	}
	bpf_map__set_max_entries(bpf->maps.inflight, sets);
	if (config->has_ends)
		bpf_map__set_max_entries(bpf->maps.last_ends, sets);
	if (arguments)
		bpf_map__set_max_entries(bpf->maps.usdt_arguments, arguments);
}

static void choose_programs(struct kstats_bpf *bpf, const struct probe_sides *sides)
{
	struct bpf_program *each;

	bpf_object__for_each_program(each, bpf->obj)
	{
		const bool is_wanted = each == bpf->progs.measure_nothing ||
				       each == sides->start.program || each == sides->end.program ||
				       each == bpf->progs.find_level;

		bpf_program__set_autoload(each, is_wanted);
	}
}

static struct error *aim(const struct probe_side *side)
{
	int failed = side->method != ATTACH_TRAMPOLINE
			     ? 0
			     : bpf_program__set_attach_target(side->program, 0, side->place->name);

	return failed ? error_system(-failed, "%s has no trampoline", side->place->name) : NULL;
}

/* --- loading --- */

static struct error *open_bpf(struct kstats_program *program)
{
	libbpf_reason_begin();
	program->bpf = kstats_bpf__open();
	return program->bpf ? NULL : error_system(errno, "the BPF programs");
}

/* Some kernels return the same error for missing trampolines as for missing privileges. */
static struct error *load_error(int failed, bool has_trampolines)
{
	struct error *err;

	if (failed == EPERM && has_trampolines && geteuid() == 0)
		return error_coded(failed, "this kernel refuses fentry and fexit");
	err = bpf_programs_load_error(failed);
	if (err != &error_no_memory)
		err->errnum = failed;
	return err;
}

static struct error *load_program(struct kstats_program *program, bool has_trampolines)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int failed = kstats_bpf__load(program->bpf);

	if (failed)
		return load_error(-failed, has_trampolines);
	program->control = &program->bpf->data_control->control;
	if (bpf_program__fd(program->bpf->progs.find_level) >= 0 &&
	    bpf_prog_test_run_opts(bpf_program__fd(program->bpf->progs.find_level), &run))
		return error_system(errno, "the BPF programs do not run");
	return kstats_arguments_store(&program->places,
				      bpf_map__fd(program->bpf->maps.usdt_arguments));
}

/* --- attaching --- */

static struct error *attach_kernel(const struct probe_side *side, struct bpf_link **ret)
{
	*ret = side->method == ATTACH_TRAMPOLINE
		       ? bpf_program__attach_trace(side->program)
		       : bpf_program__attach_raw_tracepoint(side->program,
							    side->place->kind == PLACE_TRACEPOINT
								    ? side->place->name
							    : side->place->is_return ? "sys_exit"
										     : "sys_enter");
	if (*ret)
		return NULL;
	if (side->method == ATTACH_RAW && errno == ENOENT)
		return error_coded(ENOENT, "the kernel has no tracepoint %s", side->place->name);
	return error_system(errno, "cannot attach to %s", side->place->name);
}

/* A point as if it had been looked for, which takes longer than to try. */
static struct error *point_of(const struct kstats_location *place, struct probe_points **ret)
{
	_cleanup_(probe_points_destroy) struct probe_points *points = NULL;
	struct error *err = probe_points_create(&points);
	const struct name *name =
		err ? NULL : names_intern(&points->names, place->name, strlen(place->name));

	if (!name ||
	    !array_push(points, (struct probe_point){ .kind = place->is_return ? PROBE_KRETPROBE
									       : PROBE_KPROBE,
						      .name = name,
						      .where = name }))
		return err ? err : &error_no_memory;
	*ret = take_ptr(points);
	return NULL;
}

static struct error *attach_probes(const struct probe_side *side, struct kstats_program *program)
{
	const struct probe_programs programs = {
		.kprobe = side->program,
		.uprobe = side->program,
		.pid = program->pid,
	};
	_cleanup_(probe_points_destroy) struct probe_points *made = NULL;
	_cleanup_(probe_links_destroy) struct probe_links *links = NULL;
	struct bpf_link *link;
	struct error *err = side->method == ATTACH_KPROBE ? point_of(side->place, &made) : NULL;

	if (!err)
		err = probe_attach(made ? made : side->place->points, &programs, &links);
	if (err)
		return err;
	if (!array_reserve(&program->links, probe_links_count(links)))
		return &error_no_memory;
	while ((link = probe_links_take(links)))
		program->links.items[program->links.count++] = link;
	return NULL;
}

static struct error *attach_side(const struct probe_side *side, struct kstats_program *program)
{
	struct error *err;
	struct bpf_link *link;

	program->refused = side->place->kind == PLACE_FUNCTION ? side->place : NULL;
	if (side->method == ATTACH_KPROBE || side->method == ATTACH_USER)
		return attach_probes(side, program);
	if (!array_reserve(&program->links, 1))
		return &error_no_memory;
	err = attach_kernel(side, &link);
	if (!err)
		program->links.items[program->links.count++] = link;
	return err;
}

/* --- what we cost ourselves --- */

#define TRIALS 101

static int compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The median of pairs with nothing between; 0 when they cannot be run. */
static uint64_t measure_nothing(const struct kstats_program *program)
{
	const int fd = bpf_program__fd(program->bpf->progs.measure_nothing);
	uint64_t ns[TRIALS];

	for (size_t i = 0; i < TRIALS; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, run);

		if (bpf_prog_test_run_opts(fd, &run))
			return 0;
		ns[i] = run.retval;
	}
	qsort(ns, TRIALS, sizeof(*ns), compare_u64);
	return ns[TRIALS / 2];
}

/* --- all of it --- */

static void detach_all(struct kstats_program *program)
{
	for (size_t i = 0; i < program->links.count; i++)
		bpf_link__destroy(program->links.items[i]);
	program->links.count = 0;
	kstats_bpf__destroy(program->bpf);
	program->bpf = NULL;
	program->control = NULL;
}

static struct error *try(struct kstats_program *program, const struct kstats_config *config,
			 bool has_trampolines)
{
	struct error *err = open_bpf(program);
	struct kstats_config *stored;
	struct probe_sides sides;

	program->refused = NULL;
	if (err)
		return err;
	sides = sides_of(program, has_trampolines);
	stored = &program->bpf->rodata_config->config;
	*stored = *config;
	configure(program, &sides, stored);
	size_maps(program, stored);
	choose_programs(program->bpf, &sides);
	err = aim(&sides.start);
	if (!err)
		err = aim(&sides.end);
	if (!err)
		err = load_program(program, has_trampolines);
	if (err)
		return err;
	program->has_traps = is_trap(sides.start.method) && is_trap(sides.end.method);
	/* Most of the cost of a breakpoint is the trap, which this method does not have. */
	if (!is_trap(sides.start.method) && !is_trap(sides.end.method))
		program->control->overhead_ns = measure_nothing(program);
	/* Attach the end first, so that each start has one. */
	err = attach_side(&sides.end, program);
	return err ? err : attach_side(&sides.start, program);
}

static bool has_way(const struct kstats_locations *places, bool has_trampolines)
{
	return attach_method_of(&places->start, has_trampolines) != ATTACH_NONE &&
	       attach_method_of(&places->end, has_trampolines) != ATTACH_NONE;
}

static bool wants_trampolines(const struct kstats_locations *places)
{
	return places->start.by_trampoline || places->end.by_trampoline;
}

/* The errors of kernels for a function that exists, but must not be probed: notrace,
 * NOKPROBE_SYMBOL, __init, too short. */
static bool is_refusal(int failed)
{
	return failed == EINVAL || failed == ENOENT || failed == EADDRNOTAVAIL || failed == EILSEQ;
}

/* A missing function explains more than the error of attaching. */
static struct error *explain(struct kstats_program *program, struct error *err)
{
	const struct kstats_location *const both[] = { &program->places.start,
						       &program->places.end };

	for (size_t i = 0; i < array_length(both); i++) {
		struct error *obstacle =
			both[i]->kind == PLACE_FUNCTION
				? kstats_location_obstacle(both[i], i ? "end" : "start")
				: NULL;

		if (!obstacle)
			continue;
		error_destroy(err);
		return obstacle;
	}
	if (program->refused && err != &error_no_memory && is_refusal(err->errnum)) {
		error_destroy(err);
		return error_coded(EINVAL, "the kernel does not allow tracing %s",
				   program->refused->name);
	}
	return err;
}

static bool is_function_return(const struct kstats_location *place)
{
	return place->kind == PLACE_FUNCTION && place->is_return;
}

/* A message about fexit alone would suggest a kretprobe instead. */
static struct error *explain_alone(struct kstats_program *program,
				   const struct kstats_config *config, struct error *err)
{
	const struct kstats_locations *places = &program->places;

	if (config->key == KSTATS_KEY_ARGUMENT &&
	    (is_function_return(&places->start) || is_function_return(&places->end)))
		err = error_prefix(err, "arguments at a return require fexit");
	return explain(program, err);
}

/* Both are said: one alone may be what can be helped. Takes the second. */
static struct error *neither(const struct error *by_trampoline, struct error *by_kprobe)
{
	_cleanup_error_ struct error *second = by_kprobe;

	if (by_trampoline == &error_no_memory || second == &error_no_memory)
		return &error_no_memory;
	if (second->errnum == EOPNOTSUPP)
		return error_coded(second->errnum,
				   "this kernel can measure only system calls (syscall:NAME), "
				   "tracepoints and functions of programs: %s; %s",
				   by_trampoline->message, second->message);
	return error_coded(second->errnum, "by fentry: %s; by kprobe: %s", by_trampoline->message,
			   second->message);
}

static struct error *try_all(struct kstats_program *program, const struct kstats_config *config)
{
	const struct kstats_locations *places = &program->places;
	struct error *err = NULL, *first = NULL;

	if (wants_trampolines(places) && has_way(places, true)) {
		first = try(program, config, true);
		if (!first)
			return NULL;
		detach_all(program);
	}
	if (has_way(places, false))
		err = try(program, config, false);
	else if (first)
		return explain_alone(program, config, first);
	if (err && err != &error_no_memory && !err->errnum)
		err->errnum = EOPNOTSUPP;
	if (err && first && places->start.kind == PLACE_FUNCTION)
		err = neither(first, err);
	error_destroy(first);
	return err ? explain(program, err) : NULL;
}

static struct error *make_program(const struct kstats_spec *spec, struct kstats_program *program)
{
	struct kstats_config *config = calloc(1, sizeof(*config));
	struct error *err = config ? NULL : &error_no_memory;

	program->pid = spec->tgid;
	if (!err)
		err = kstats_config_make(spec, &program->places, config);
	if (!err)
		err = try_all(program, config);
	free(config);
	return err;
}

struct error *kstats_program_open_places(const struct kstats_spec *spec,
					 struct kstats_locations *places,
					 struct kstats_program **ret)
{
	_cleanup_(kstats_program_close) struct kstats_program *program =
		calloc(1, sizeof(*program));
	libbpf_print_fn_t print;
	struct error *err;

	if (!program) {
		kstats_locations_clear(places);
		return &error_no_memory;
	}
	program->places = *places;
	*places = (struct kstats_locations){ 0 };
	print = libbpf_set_print(NULL);
	err = make_program(spec, program);
	libbpf_set_print(print);
	if (!err)
		*ret = take_ptr(program);
	return err;
}

struct error *kstats_program_open(const struct kstats_spec *spec, struct kstats_program **ret)
{
	struct kstats_locations places = { 0 };
	struct error *err = kstats_locations_find(spec, &places);

	if (err) {
		kstats_locations_clear(&places);
		return err;
	}
	return kstats_program_open_places(spec, &places, ret);
}

bool kstats_program_has_gaps(const struct kstats_program *program)
{
	return program->bpf->rodata_config->config.has_gaps;
}

void kstats_program_close(struct kstats_program *program)
{
	if (!program)
		return;
	detach_all(program);
	array_deinit(&program->links);
	kstats_locations_clear(&program->places);
	free(program);
}

/* --- by hand --- */

static struct error *make_empty(const struct kstats_spec *spec, struct kstats_program *program)
{
	struct kstats_config *config;
	struct bpf_program *each;
	struct error *err = open_bpf(program);

	if (err)
		return err;
	config = &program->bpf->rodata_config->config;
	err = kstats_config_make(spec, &program->places, config);
	if (err)
		return err;
	size_maps(program, config);
	bpf_object__for_each_program(each, program->bpf->obj)
		bpf_program__set_autoload(each, each == program->bpf->progs.record_one);
	return load_program(program, false);
}

struct error *kstats_program_open_empty(const struct kstats_spec *spec, struct kstats_program **ret)
{
	struct kstats_program *program = calloc(1, sizeof(*program));
	struct error *err = program ? make_empty(spec, program) : &error_no_memory;

	if (err) {
		kstats_program_close(program);
		return err;
	}
	*ret = program;
	return NULL;
}

struct error *kstats_program_record(struct kstats_program *program, uint64_t value)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &value, .ctx_size_in = sizeof(value));

	if (bpf_prog_test_run_opts(bpf_program__fd(program->bpf->progs.record_one), &run))
		return error_system(errno, "the program does not run");
	return NULL;
}

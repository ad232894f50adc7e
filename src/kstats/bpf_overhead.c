/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/bpf_overhead.h"

#include <bpf/bpf.h>
#include <link.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "kstats/bpf_config.h"
#include "kstats/bpf_metric.h"
#include "os/cpulist.h"

#include <kstats.skel.h>

#define TRIALS 101

/* --- functions that do nothing --- */

/* The first instruction is one that the kernel does in our place. Others it lets the CPU step
 * through elsewhere, which takes longer, and is so for each function that begins with one. */
static __attribute__((noinline)) void empty_start(void)
{
	asm volatile("nop" ::: "memory");
}

static __attribute__((noinline)) void empty_end(void)
{
	asm volatile("nop" ::: "memory");
}

static void call_own(bool has_end)
{
	empty_start();
	if (has_end)
		empty_end();
}

static void (*const own[])(void) = { empty_start, empty_end };
static const char *const kernels[] = { "bpf_fentry_test1", "bpf_fentry_test2" };

/* The kernel calls these functions one after the other when a program of this type is tested; the
 * program does nothing. -1: it cannot be loaded. */
static int load_caller(void)
{
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const int function = libbpf_find_vmlinux_btf_id(kernels[0], BPF_TRACE_FENTRY);
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = (__u32)function);

	return function < 0 ? -1
			    : bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "Dual BSD/GPL", nothing,
					    array_length(nothing), &options);
}

static bool call_kernels(int caller)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	return bpf_prog_test_run_opts(caller, &run) == 0;
}

/* --- where they are --- */

struct overhead_search {
	uintptr_t address;
	struct probe_points *points;
	bool is_return, is_found;
};

/* Find a function of ctprof in its file. */
static int find_in_file(struct dl_phdr_info *file, size_t size, void *context)
{
	const char *path = *file->dlpi_name ? file->dlpi_name : "/proc/self/exe";
	struct overhead_search *search = context;
	const struct name *name;

	(void)size;
	for (unsigned i = 0; i < file->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &file->dlpi_phdr[i];
		const uintptr_t from = file->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || search->address - from >= part->p_filesz)
			continue;
		name = names_intern(&search->points->names, path, strlen(path));
		search->is_found =
			name &&
			array_push(search->points,
				   (struct probe_point){ .kind = search->is_return ? PROBE_URETPROBE
										   : PROBE_UPROBE,
							 .name = name,
							 .where = name,
							 .offset = search->address - from +
								   part->p_offset });
		return 1;
	}
	return 0;
}

static bool place_in_us(unsigned number, struct kstats_location *ret)
{
	struct overhead_search search = { .address = (uintptr_t)own[number],
					  .is_return = ret->is_return };

	error_destroy(probe_points_create(&ret->points));
	search.points = ret->points;
	if (search.points)
		dl_iterate_phdr(find_in_file, &search);
	return search.is_found;
}

static bool place_in_kernel(unsigned number, struct kstats_location *ret)
{
	ret->by_kprobe = true;
	ret->name = strdup(kernels[number]);
	return ret->name;
}

static bool find_place(const struct kstats_location *like, unsigned number,
		       struct kstats_location *ret)
{
	*ret = (struct kstats_location){
		.kind = like->kind,
		.is_return = like->is_return && !like->is_ret,
		.syscall = -1,
	};
	return like->kind == PLACE_PROGRAM ? place_in_us(number, ret)
					   : place_in_kernel(number, ret);
}

/* --- trying --- */

static bool call_all(const struct kstats_program *program)
{
	const bool has_end = !program->places.is_call;
	_cleanup_close_ int caller = -1;

	if (program->places.start.kind == PLACE_FUNCTION) {
		caller = load_caller();
		if (caller < 0)
			return false;
	}
	for (unsigned i = 0; i < TRIALS; i++)
		if (caller < 0)
			call_own(has_end);
		else if (!call_kernels(caller))
			return false;
	return true;
}

/* Sum over all CPUs, whose cells are adjacent. */
static struct kstats_pair sum_slot(const char *cells, size_t bytes, size_t cpus, unsigned slot)
{
	struct kstats_pair total = { 0 };

	for (size_t cpu = 0; cpu < cpus; cpu++) {
		const struct kstats_cell *cell = (const struct kstats_cell *)(cells + bytes * cpu);

		total.count += cell->slots[slot].count;
		total.sum += cell->slots[slot].sum;
	}
	return total;
}

/* Not the mean: interrupts make some values large. */
static uint64_t median_of(const struct kstats_program *calibration)
{
	const struct kstats_config *config = &calibration->bpf->rodata_config->config;
	const size_t bytes = kstats_config_cell_stride(config);
	_cleanup_(cpus_deinit) struct cpus cpus = { 0 };
	_cleanup_error_ struct error *err = cpus_list_possible(&cpus);
	_cleanup_free_ char *cells = err ? NULL : calloc(cpus.count, bytes);
	const __u32 values = KSTATS_VALUES;
	uint64_t all = 0, seen = 0;

	if (!cells ||
	    bpf_map_lookup_elem(bpf_map__fd(calibration->bpf->maps.cells), &values, cells))
		return 0;
	for (unsigned slot = 0; slot < config->slots; slot++)
		all += sum_slot(cells, bytes, cpus.count, slot).count;
	for (unsigned slot = 0; slot < config->slots; slot++) {
		const struct kstats_pair total = sum_slot(cells, bytes, cpus.count, slot);

		seen += total.count;
		if (seen > all / 2)
			return (total.sum << bucket_shift(slot, config->frac_bits)) / total.count;
	}
	return 0;
}

static uint64_t try(const struct kstats_locations *like, struct kstats_locations *places)
{
	const struct kstats_spec spec = {
		.name = (char[]){ "overhead" },
		.start = (char[]){ "" },
		.frac_bits = BUCKET_FRAC_BITS_MAX,
		.tgid = (uint32_t)getpid(),
	};
	_cleanup_(kstats_program_close) struct kstats_program *calibration = NULL;

	/* A probe at a RET instruction is like one at any other. */
	places->is_call = like->is_call && !like->end.is_ret;
	if (!find_place(&like->start, 0, &places->start) ||
	    !find_place(&like->end, places->is_call ? 0 : 1, &places->end))
		return 0;
	error_destroy(kstats_program_open_places(&spec, places, &calibration));
	if (!calibration)
		return 0;
	kstats_control_set(calibration->control, KSTATS_VALUES, true);
	return call_all(calibration) ? median_of(calibration) : 0;
}

uint64_t kstats_overhead(const struct kstats_program *program)
{
	struct kstats_locations places = { 0 };
	uint64_t ns;

	if (!program->has_traps || program->places.start.kind != program->places.end.kind)
		return 0;
	ns = try(&program->places, &places);
	kstats_locations_clear(&places);
	return ns;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_options.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "os/cpulist.h"
#include "sched/profile_limit.h"
#include "sched/profile_record.h"
#include "security/privileges.h"

#define STACKS         16384
#define FREQUENCY      99
#define MEMORY         ((uint64_t)256 << 20)
#define MEMORY_LEAST   ((uint64_t)64 << 10)
#define MEMORY_MOST    ((uint64_t)64 << 30)
#define RECHECK        256
#define FREQUENCY_MOST 20000

/* --- values --- */

/* The number of the value that is called so, or that behind the last. */
static const char *const modes[] = { "on", "off", "both" };

const char *profile_mode_name(size_t number)
{
	return number < array_length(modes) ? modes[number] : NULL;
}

struct error *parse_profile_mode(const char *argument, void *at)
{
	size_t number = option_value(argument, profile_mode_name);

	if (!profile_mode_name(number))
		return unknown_value("mode", argument, profile_mode_name);
	*(unsigned *)at = (unsigned)number + 1;
	return NULL;
}

static const char *const unwinds[] = {
	[PROFILE_UNWIND_AUTO] = "auto",
	[PROFILE_UNWIND_FP] = "fp",
	[PROFILE_UNWIND_DWARF] = "dwarf",
};

const char *unwind_name(size_t number)
{
	return number < array_length(unwinds) ? unwinds[number] : NULL;
}

struct error *parse_unwind(const char *argument, void *at)
{
	size_t number = option_value(argument, unwind_name);

	if (!unwind_name(number))
		return unknown_value("unwinding method", argument, unwind_name);
	*(enum profile_unwind *)at = (enum profile_unwind)number;
	return NULL;
}

struct error *parse_comm(const char *argument, void *at)
{
	if (!*argument || strlen(argument) >= PROFILE_GLOB_MAX)
		return error_create("invalid name pattern: expected 1 to %d characters",
				    PROFILE_GLOB_MAX - 1);
	*(const char **)at = argument;
	return NULL;
}

struct error *parse_cpu_list(const char *argument, void *at)
{
	struct profile_arguments *arguments =
		(struct profile_arguments *)((char *)at - offsetof(struct profile_arguments, cpus));
	struct cpus cpus = { 0 };
	struct error *err = NULL;

	if (!cpulist_parse(text_of(argument), &cpus) || !cpus.count)
		err = error_create("invalid CPU list '%.60s': expected e.g. 0-3,5", argument);
	/* The kernel has no more than 8192, and the programs no room for more than 65536. */
	else if (cpus.items[cpus.count - 1] >= 65536)
		err = error_create("no CPU %" PRIu32, cpus.items[cpus.count - 1]);
	for (size_t i = 0; !err && i < cpus.count; i++) {
		while (!err && arguments->cpus.count <= cpus.items[i] / 64)
			if (!array_push(&arguments->cpus, 0))
				err = &error_no_memory;
		if (!err)
			arguments->cpus.items[cpus.items[i] / 64] |= UINT64_C(1)
								     << cpus.items[i] % 64;
	}
	array_deinit(&cpus);
	return err;
}

struct error *parse_profile_time(const char *argument, void *at)
{
	return parse_duration_from(argument, 1, at);
}

struct error *parse_block_time(const char *argument, void *at)
{
	uint64_t us, ns;

	if (text_u64(text_of(argument), &us) && us < UINT64_MAX / 1000)
		ns = us * 1000;
	else if (!units_parse_duration(text_of(argument), &ns))
		return error_create(
			"invalid duration '%.40s': expected e.g. 10 (microseconds), 500us, 1ms",
			argument);
	*(uint64_t *)at = ns;
	return NULL;
}

static struct error *parse_between(const char *argument, uint64_t least, uint64_t most,
				   const char *what, void *at)
{
	uint64_t value;

	if (!text_u64(text_of(argument), &value) || value < least || value > most)
		return error_create("invalid %s '%.40s': expected %" PRIu64 " to %" PRIu64, what,
				    argument, least, most);
	*(size_t *)at = value;
	return NULL;
}

struct error *parse_frequency(const char *argument, void *at)
{
	return parse_between(argument, 1, FREQUENCY_MOST, "frequency", at);
}

struct error *parse_threshold(const char *argument, void *at)
{
	return parse_between(argument, 1, 1000, "number of waits per 1000", at);
}

struct error *parse_depth(const char *argument, void *at)
{
	return parse_between(argument, 1, PROFILE_USER_FRAMES_MAX, "number of frames", at);
}

struct error *parse_positive(const char *argument, void *at)
{
	return parse_between(argument, 1, 1u << 26, "number", at);
}

struct error *parse_longest(const char *argument, void *at)
{
	return parse_between(argument, 1, PROFILE_LONGEST_MAX, "number", at);
}

static struct error *parse_bytes(const char *argument, uint64_t least, const char *smallest,
				 uint64_t *ret)
{
	struct amount amount;

	if (!units_parse(text_of(argument), &amount) || amount.percent ||
	    (amount.dimension != DIMENSION_BYTES && amount.dimension != DIMENSION_COUNT) ||
	    amount.value < least || amount.value > MEMORY_MOST)
		return error_create("invalid size '%.40s': expected %s to 64GiB", argument,
				    smallest);
	*ret = (uint64_t)amount.value;
	return NULL;
}

struct error *parse_memory(const char *argument, void *at)
{
	return parse_bytes(argument, MEMORY_LEAST, "64KiB", at);
}

struct error *parse_memory_limit(const char *argument, void *at)
{
	return parse_bytes(argument, PROFILE_LIMIT_LEAST, "64MiB", at);
}

struct error *parse_event(const char *argument, void *at)
{
	struct profile_arguments *arguments =
		(struct profile_arguments *)((char *)at -
					     offsetof(struct profile_arguments, events));

	return array_push(&arguments->events, argument) ? NULL : &error_no_memory;
}

/* --- states --- */

const char *state_name(size_t number)
{
	return reason_selection_name(number);
}

/* The bits of BCC's masks: TASK_* of include/linux/sched.h. */
static const struct {
	unsigned bit, classes;
} kernel_bits[] = {
	{ 0x1, 1u << CLASS_INTERRUPTIBLE },
	{ 0x2, 1u << CLASS_UNINTERRUPTIBLE | 1u << CLASS_IO_WAIT },
	{ 0x4, 1u << CLASS_STOPPED },
	{ 0x8, 1u << CLASS_TRACED },
	{ 0x40, 1u << CLASS_PARKED },
	{ 0x400, 1u << CLASS_IDLE },
};

static struct error *take_mask(uint32_t mask, struct reason_selection *states)
{
	unsigned known = 0;

	if (!mask)
		reason_select_classes(states, 1u << CLASS_RUNNABLE);
	for (size_t i = 0; i < array_length(kernel_bits); i++) {
		known |= kernel_bits[i].bit;
		if (mask & kernel_bits[i].bit)
			reason_select_classes(states, kernel_bits[i].classes);
	}
	if (mask & ~known)
		return error_create("unknown state bit: expected 0 (runnable) or a sum of 1 "
				    "(interruptible), 2 (uninterruptible), 4 (stopped), 8 "
				    "(traced), 64 (parked), 1024 (idle)");
	return NULL;
}

static struct error *take_state(void *context, const char *piece)
{
	struct reason_selection *states = context;
	uint32_t mask;

	if (text_u32(text_of(piece), &mask))
		return take_mask(mask, states);
	/* ps(1) has one letter for both kinds of uninterruptible sleep. */
	if (strcmp(piece, "D") == 0) {
		reason_select_classes(states, 1u << CLASS_UNINTERRUPTIBLE | 1u << CLASS_IO_WAIT);
		return NULL;
	}
	for (size_t i = 0; i < CLASS_EVENT; i++)
		if (piece[0] == profile_classes[i].letter && !piece[1]) {
			reason_select_classes(states, 1u << i);
			return NULL;
		}
	if (strcmp(piece, profile_classes[CLASS_EVENT].name) == 0 ||
	    !reason_select_named(states, text_of(piece)))
		return unknown_value("state", piece, state_name);
	return NULL;
}

struct error *parse_states(const char *argument, void *at)
{
	struct profile_arguments *arguments =
		(struct profile_arguments *)((char *)at -
					     offsetof(struct profile_arguments, states));

	if (!array_push(&arguments->state_words, argument))
		return &error_no_memory;
	return each_piece(argument, "state", take_state, at);
}

/* --- together --- */

static void warn(const char *text)
{
	fprintf(stderr, "ctprof: warning: %s\n", text);
}

/* Has the process memory of its own? Kernel threads have an empty command line, and so have others;
 * their maps tell. */
static bool is_kernel_pid(uint32_t pid)
{
	char path[40], byte;
	ssize_t got;
	_cleanup_close_ int fd = -1;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, &byte, 1);
	return got == 0;
}

static void warn_of_kinds(const struct profile_arguments *arguments)
{
	for (size_t i = 0; i < arguments->target.pids.count; i++) {
		bool is_kernel = is_kernel_pid(arguments->target.pids.items[i]);

		if (arguments->kernel_threads && !is_kernel)
			warn("-k excludes a process of -p: it is not a kernel thread");
		if (arguments->user_threads && is_kernel)
			warn("-u excludes a process of -p: it is a kernel thread");
	}
}

/* Does it distinguish single waits? Then their times are recorded one by one. */
static bool is_about_waits(const struct profile_arguments *arguments)
{
	return arguments->min_ns != PROFILE_MIN_NS || arguments->max_ns || arguments->period_ns ||
	       arguments->keep_per_mille || arguments->wakers || arguments->longest ||
	       arguments->histograms || arguments->preemptors;
}

static void warn_of_nothing(const struct profile_arguments *arguments)
{
	const unsigned classes = reason_selected_classes(&arguments->states);
	const unsigned off = classes & ~(1u << CLASS_ON_CPU);

	warn_of_kinds(arguments);
	if (classes && arguments->mode == PROFILE_OFF && !off)
		warn("--state on-cpu has no effect with --mode off; use --mode on or both");
	if (classes && arguments->mode == PROFILE_ON && off)
		warn("--state selects waits, which --mode on does not profile");
	if (arguments->mode == PROFILE_ON && is_about_waits(arguments))
		warn("options for waits have no effect with --mode on");
	if (arguments->frequency && arguments->mode == PROFILE_OFF)
		warn("-F has no effect with --mode off");
	if (arguments->unwind &&
	    (arguments->kernel_stacks || arguments->no_stacks || arguments->kernel_threads))
		warn("--unwind has no effect without user stacks");
}

/* Probes without a file mean the program of the first target, or its libraries. */
static struct probe_host host_of(const struct profile_arguments *arguments)
{
	return (struct probe_host){
		.pid = arguments->target.pids.count ? arguments->target.pids.items[0] : 0,
		.program = arguments->program,
		.forces_returns = arguments->forces_returns,
	};
}

/* Does the event mean a file that the user names, as a part of it or as the command to run, or that
 * their environment may lead to? */
static bool names_a_file(struct text event, const struct probe_host *host)
{
	struct probe_spec spec;
	struct error *err = probe_spec_parse(event, &spec);
	const bool is_file = err || spec.file.length ||
			     (probe_kind_is_in_file(spec.kind) && (host->program || !host->pid));

	error_destroy(err);
	return is_file;
}

/* A file that the user names is opened with the user's own rights. Names of the kernel, and the
 * program and libraries of a process that is there, are looked up with privileges. */

static struct error *add_points(struct profile_arguments *arguments, const struct probe_host *host,
				struct text event)
{
	const bool was_raised = !names_a_file(event, host) && privileges_raise();
	struct error *err = probe_points_add(arguments->points, host, event);

	privileges_lower(was_raised);
	return err;
}

static struct error *find_points(struct profile_arguments *arguments)
{
	const struct probe_host host = host_of(arguments);
	struct error *err = NULL;

	if (!arguments->events.count)
		return NULL;
	err = probe_points_create(&arguments->points);
	for (size_t i = 0; !err && i < arguments->events.count; i++)
		err = add_points(arguments, &host, text_of(arguments->events.items[i]));
	return err;
}

/* Check the form of events; whether they exist is checked later. */
static struct error *check_events(const struct profile_arguments *arguments)
{
	struct probe_spec spec;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < arguments->events.count; i++)
		err = probe_spec_parse(text_of(arguments->events.items[i]), &spec);
	return err;
}

struct error *profile_arguments_settle(struct profile_arguments *arguments)
{
	if (arguments->user_threads && arguments->kernel_threads)
		return error_create("-u and -k exclude each other: no thread matches both");
	if (arguments->user_stacks && arguments->kernel_stacks)
		return error_create("-U and -K exclude each other: no stack would be left");
	if (arguments->max_ns && arguments->max_ns < arguments->min_ns)
		return error_create("--max-block-time is less than --min-block-time");
	if (arguments->period_ns && arguments->keep_per_mille)
		return error_create("--off-cpu-period and --off-cpu-threshold exclude each other");
	warn_of_nothing(arguments);
	return check_events(arguments);
}

static bool is_among(const struct cpus *cpus, size_t number)
{
	for (size_t i = 0; i < cpus->count; i++)
		if (cpus->items[i] == number)
			return true;
	return false;
}

/* Are all there? One that is offline may come. */
static struct error *check_cpus(const struct profile_arguments *arguments)
{
	struct cpus possible = { 0 };
	struct error *err = arguments->cpus.count ? cpus_list_possible(&possible) : NULL;

	for (size_t cpu = 0; !err && cpu < arguments->cpus.count * 64; cpu++)
		if (arguments->cpus.items[cpu / 64] >> cpu % 64 & 1 && !is_among(&possible, cpu))
			err = error_create("no CPU %zu: the last is %" PRIu32, cpu,
					   possible.items[possible.count - 1]);
	array_deinit(&possible);
	return err;
}

struct error *profile_arguments_find(struct profile_arguments *arguments)
{
	struct error *err = check_cpus(arguments);

	if (!err)
		err = target_check(&arguments->target, &arguments->tids);
	if (!err && arguments->target.cgroup)
		err = target_find_cgroup(&arguments->target.cgroup, &arguments->cgroup);
	return err ? err : find_points(arguments);
}

bool profile_arguments_have_filters(const struct profile_arguments *a)
{
	return a->comm || a->target.cgroup || a->user_threads || a->kernel_threads;
}

static bool has_numbers(const struct profile_arguments *a)
{
	return a->target.pids.count || a->tids.count;
}

bool profile_arguments_have_targets(const struct profile_arguments *arguments)
{
	return has_numbers(arguments) || arguments->cgroup;
}

bool profile_targets_may_return(void *arguments)
{
	const struct profile_arguments *a = arguments;

	if (has_numbers(a))
		return profile_arguments_have_filters(a) && target_alive(&a->target, &a->tids);
	return !target_is_cgroup_removed(a->target.cgroup, a->cgroup);
}

static bool print_probe(void *context, const char *name)
{
	(void)context;
	return puts(name) >= 0;
}

static struct error *list_points(const struct probe_host *host, struct text event)
{
	const bool was_raised = (!event.length || !names_a_file(event, host)) && privileges_raise();
	struct error *err = probe_list(host, event, print_probe, NULL);

	privileges_lower(was_raised);
	return err;
}

struct error *profile_arguments_list(const struct profile_arguments *arguments)
{
	const struct probe_host host = host_of(arguments);
	struct error *err =
		privileges_keep(PRIVILEGE_READ_PROCESSES | PRIVILEGE_NAME_KERNEL | PRIVILEGE_MOUNT);

	if (err)
		return err;
	if (!arguments->events.count) {
		if (access("/sys/bus/event_source/devices/kprobe", F_OK))
			warn("this kernel has no kprobes (CONFIG_KPROBES); only the tracepoints of "
			     "the list are usable");
		return list_points(&host, TEXT(""));
	}
	for (size_t i = 0; !err && i < arguments->events.count; i++)
		err = list_points(&host, text_of(arguments->events.items[i]));
	return err;
}

struct profile_options profile_arguments_apply(const struct profile_arguments *arguments)
{
	const bool is_probing = arguments->events.count != 0;
	const size_t depth = arguments->depth;
	struct profile_options options = {
		.on_cpu = arguments->mode & PROFILE_ON && !is_probing,
		.off_cpu = arguments->mode & PROFILE_OFF && !is_probing,
		.frequency = (unsigned)(arguments->frequency ? arguments->frequency : FREQUENCY),
		.selection =
			reason_selected_classes(&arguments->states) ? &arguments->states : NULL,
		.probes = arguments->points,
		.wakers = arguments->wakers,
		.runners = arguments->preemptors,
		.histograms = arguments->histograms,
		.longest = (unsigned)arguments->longest,
		.pids = arguments->target.pids.items,
		.pid_count = arguments->target.pids.count,
		.tids = arguments->tids.items,
		.tid_count = arguments->tids.count,
		.cgroup = arguments->cgroup,
		.comm = arguments->comm,
		.no_children = arguments->no_children,
		.only_user = arguments->user_threads,
		.only_kernel = arguments->kernel_threads,
		.include_self = arguments->include_self,
		.cpus = arguments->cpus.items,
		.cpu_words = arguments->cpus.count,
		.min_ns = arguments->min_ns,
		.max_ns = arguments->max_ns,
		.period_ns = arguments->period_ns,
		.keep_per_mille = (unsigned)arguments->keep_per_mille,
		.user_frames = (unsigned)(depth ? depth : PROFILE_USER_FRAMES_MAX),
		.kernel_frames = (unsigned)(depth && depth < PROFILE_KERNEL_FRAMES_MAX
						    ? depth
						    : PROFILE_KERNEL_FRAMES_MAX),
		.unwind = arguments->unwind,
		.stacks = arguments->stacks ? arguments->stacks : STACKS,
		.memory_bytes = arguments->memory_bytes ? arguments->memory_bytes : MEMORY,
		.memory_limit = arguments->memory_limit,
		.recheck = (unsigned)(arguments->recheck ? arguments->recheck : RECHECK),
	};

	if (arguments->user_stacks || arguments->no_stacks)
		options.kernel_frames = 0;
	if (arguments->kernel_stacks || arguments->no_stacks)
		options.user_frames = 0;
	options.only_times = arguments->no_stacks && options.off_cpu &&
			     !is_about_waits(arguments) && !arguments->cpus.count;
	return options;
}

void profile_keep_heap_small(void)
{
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_TRIM_THRESHOLD, 128 << 10);
	mallopt(M_ARENA_MAX, 1);
}

void profile_arguments_deinit(struct profile_arguments *arguments)
{
	target_deinit(&arguments->target);
	array_deinit(&arguments->tids);
	array_deinit(&arguments->cpus);
	array_deinit(&arguments->events);
	array_deinit(&arguments->state_words);
	probe_points_destroy(arguments->points);
}

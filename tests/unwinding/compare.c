/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compare [OPTIONS] -- COMMAND..., compare [OPTIONS] PID..., compare [OPTIONS] --host: stop threads
 * at random moments, walk their stacks by unwind tables and by elfutils, and count how the two
 * agree, for each program.
 *
 *	--stacks N   so many of them (1000), of each process that is named
 *	--seconds N  for so long at most (10)
 *	--every US   microseconds between two stops, on average (1000)
 *	--steps N    single steps after each stop, looked at each (0)
 *	--seed N
 *	--show N     differences of each program that are shown (5)
 *	--folded     instead: the stack of each thread with names, once, as folded lines
 *
 * A line for each program: its name, processes, stacks, different ones among these, frames, those
 * that ended as "complete", and a number for each verdict, in the order of verdict.h; with tabs.
 * Status 1 when any was different.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/word_map.h"
#include "tracer.h"
#include "unwind/user_unwind.h"
#include "unwind/window.h"
#include "verdict.h"

/* More than any stack here has but one that goes in a circle. */
#define FRAMES_MAX 2048

struct program {
	char *name;
	uint64_t processes, stacks, unlike, frames, complete, verdicts[VERDICT_COUNT];
	struct word_map known; /* sums of stacks */
};

struct process {
	pid_t pid;
	size_t program;
	struct space space;
	struct peer *peer;
	uint64_t looked_ns;
};

struct comparison {
	struct tables *tables;
	struct {
		ARRAY(struct program);
	} programs;
	struct {
		ARRAY(struct process);
	} processes;
	uint64_t stacks, different;
	unsigned long show;
	bool folded;
};

/* --- processes --- */

static size_t program_of(struct comparison *c, pid_t pid)
{
	char path[64], target[4096];
	const char *name = target;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, target, sizeof(target) - 1);
	target[length < 0 ? 0 : length] = '\0';
	if (strrchr(target, '/'))
		name = strrchr(target, '/') + 1;
	for (size_t i = 0; i < c->programs.count; i++)
		if (strcmp(c->programs.items[i].name, name) == 0)
			return i;
	if (!array_push(&c->programs, (struct program){ .name = strdup(name) }))
		err(1, "programs");
	return c->programs.count - 1;
}

static void forget_process(struct comparison *c, size_t number)
{
	struct process *process = &c->processes.items[number];

	peer_close(process->peer);
	space_deinit(c->tables, &process->space);
	*process = c->processes.items[--c->processes.count];
}

/* Each holds open files: those that were not met for longest have most likely gone. */
#define PROCESSES_MAX 64

static struct process *process_of(struct comparison *c, pid_t pid)
{
	size_t oldest = 0;

	for (size_t i = 0; i < c->processes.count; i++) {
		if (c->processes.items[i].pid == pid)
			return &c->processes.items[i];
		if (c->processes.items[i].looked_ns < c->processes.items[oldest].looked_ns)
			oldest = i;
	}
	if (c->processes.count == PROCESSES_MAX)
		forget_process(c, oldest);
	if (!array_push(&c->processes, (struct process){ .pid = pid }))
		err(1, "processes");
	return &c->processes.items[c->processes.count - 1];
}

/* What it has mapped now, known to both sides. */
static bool update(struct comparison *c, struct process *process)
{
	process->looked_ns = clock_ns(CLOCK_MONOTONIC);
	if (space_update(c->tables, process->pid, &process->space) == SPACE_GONE)
		return false;
	if (process->space.files_changed || !process->peer) {
		peer_close(process->peer);
		process->peer = peer_open(process->pid);
		process->program = program_of(c, process->pid);
		c->programs.items[process->program].processes++;
		process->space.files_changed = false;
	}
	return process->peer;
}

/* --- memory --- */

static size_t read_process(void *context, uint64_t address, void *into, size_t size)
{
	const pid_t *pid = context;
	struct iovec ours = { into, size };
	struct iovec theirs = { (void *)(uintptr_t)address, size };
	ssize_t got = process_vm_readv(*pid, &ours, 1, &theirs, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

/* --- the two walks --- */

static struct unwind_registers registers_of(const struct user_regs_struct *r)
{
	/* By their numbers in DWARF (System V ABI for AMD64, figure 3.36). */
	return (struct unwind_registers){
		.ip = r->rip,
		.sp = r->rsp,
		.bp = r->rbp,
		.bx = r->rbx,
		.others = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
			    r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip },
		.has_others = true,
	};
}

static void walk_both(const struct comparison *c, struct process *process,
		      const struct tracee *tracee, struct own_walk *ours, struct peer_walk *theirs)
{
	struct unwind_window window = { .read = read_process, .context = &process->pid };
	const struct unwind_reader reader = { .word = unwind_window_word, .context = &window };
	const struct unwind_registers registers = registers_of(&tracee->registers);

	ours->count = user_unwind(c->tables->store, &process->space.process, &registers, &reader,
				  ours->frames, FRAMES_MAX, &ours->stop);
	peer_walk(process->peer, tracee->tid, theirs);
}

/* --- what comes out --- */

static void print_frame(struct peer *peer, uint64_t address, bool is_exact)
{
	const char *module, *name = peer_name(peer, address, is_exact, &module);

	printf("%s", name ? name : module ? module : "?");
}

static bool exact_at(const struct peer_walk *theirs, size_t i)
{
	return i < theirs->count ? theirs->exact[i] : i == 0;
}

static void print_folded(struct process *process, const struct own_walk *ours,
			 const struct peer_walk *theirs)
{
	for (size_t i = ours->count; i-- > 0;) {
		print_frame(process->peer, ours->frames[i], exact_at(theirs, i));
		printf("%s", i ? ";" : " 1\n");
	}
	fflush(stdout);
}

static void show_frame(const char *side, struct peer *peer, uint64_t address)
{
	const char *module, *name = peer_name(peer, address, false, &module);

	fprintf(stderr, "    %s %#" PRIx64 " %s in %s\n", side, address, name ? name : "?",
		module ? module : "?");
}

static void show_difference(const struct comparison *c, const struct process *process,
			    enum verdict verdict, size_t same, const struct own_walk *ours,
			    const struct peer_walk *theirs)
{
	fprintf(stderr, "%s: %s, after %zu frames: ours %zu (%s), theirs %zu (%s)\n",
		c->programs.items[process->program].name, verdict_text(verdict), same, ours->count,
		stop_text(ours->stop), theirs->count, theirs->error ? theirs->error : "to its end");
	for (size_t i = same > 2 ? same - 2 : 0; i < same; i++)
		show_frame("both  ", process->peer, ours->frames[i]);
	for (size_t i = same; i < ours->count && i < same + 2; i++)
		show_frame("ours  ", process->peer, ours->frames[i]);
	for (size_t i = same; i < theirs->count && i < same + 2; i++)
		show_frame("theirs", process->peer, theirs->frames[i]);
}

/* FNV-1a of its addresses. */
static void count_unlike(struct program *program, const struct own_walk *ours)
{
	struct words key = { { 0xcbf29ce484222325u } };
	uint32_t *number;

	for (size_t i = 0; i < ours->count; i++)
		key.w[0] = (key.w[0] ^ ours->frames[i]) * 0x100000001b3u;
	number = word_map_at(&program->known, key);
	if (!number)
		err(1, "stacks");
	program->unlike += *number == WORD_MAP_NEW;
	*number = 1;
}

static void look(void *context, const struct tracee *tracee)
{
	static uint64_t frames[FRAMES_MAX], peer_frames[FRAMES_MAX];
	static bool exact[FRAMES_MAX];
	struct comparison *c = context;
	struct process *process = process_of(c, tracee->pid);
	struct own_walk ours = { .frames = frames };
	struct peer_walk theirs = { .frames = peer_frames, .exact = exact, .most = FRAMES_MAX };
	enum verdict verdict;
	struct program *program;
	size_t same;

	if (!update(c, process))
		return;
	program = &c->programs.items[process->program];
	walk_both(c, process, tracee, &ours, &theirs);
	if (c->folded) {
		print_folded(process, &ours, &theirs);
		return;
	}
	verdict = verdict_of(process->peer, &process->space, &ours, &theirs, &same);
	c->stacks++;
	c->different += verdict == VERDICT_DIFFERENT;
	program->stacks++;
	program->frames += ours.count;
	program->complete += ours.stop == UNWIND_COMPLETE;
	count_unlike(program, &ours);
	if (verdict != VERDICT_EQUAL && program->verdicts[verdict] < c->show)
		show_difference(c, process, verdict, same, &ours, &theirs);
	program->verdicts[verdict]++;
}

static void print_results(const struct comparison *c)
{
	for (size_t i = 0; i < c->programs.count; i++) {
		const struct program *p = &c->programs.items[i];

		printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, p->name,
		       p->processes, p->stacks, p->unlike, p->frames, p->complete);
		for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
			printf("\t%" PRIu64, p->verdicts[verdict]);
		putchar('\n');
	}
}

/* --- the command line --- */

struct arguments {
	unsigned long stacks, seconds, every_us, steps, seed, show;
	int folded, host;
};

static struct arguments parse(int argc, char **argv)
{
	static struct arguments a = { .stacks = 1000, .seconds = 10, .every_us = 1000, .show = 5 };
	static const struct option options[] = {
		{ "stacks", 1, NULL, 'n' }, { "seconds", 1, NULL, 't' }, { "every", 1, NULL, 'e' },
		{ "steps", 1, NULL, 's' },  { "seed", 1, NULL, 'r' },    { "show", 1, NULL, 'v' },
		{ "folded", 0, NULL, 'f' }, { "host", 0, NULL, 'h' },    { 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		unsigned long number = optarg ? strtoul(optarg, NULL, 10) : 0;

		switch (option) {
		case 'n':
			a.stacks = number;
			break;
		case 't':
			a.seconds = number;
			break;
		case 'e':
			a.every_us = number;
			break;
		case 's':
			a.steps = number;
			break;
		case 'r':
			a.seed = number;
			break;
		case 'v':
			a.show = number;
			break;
		case 'f':
			a.folded = 1;
			break;
		case 'h':
			a.host = 1;
			break;
		default:
			exit(2);
		}
	}
	return a;
}

/* Stop what is traced, at random moments, until there is enough. */
static void compare(struct comparison *c, struct tracer *tracer, const struct arguments *a)
{
	const uint64_t enough = c->stacks + a->stacks,
		       end = clock_ns(CLOCK_MONOTONIC) + a->seconds * 1000000000u;

	if (a->folded) {
		tracer_stop_all(tracer);
		return;
	}
	while (c->stacks < enough && clock_ns(CLOCK_MONOTONIC) < end &&
	       tracer_pass(tracer, (uint64_t)random() % (2 * a->every_us + 1)))
		tracer_stop_some(tracer);
}

static void compare_process(struct comparison *c, pid_t pid, const struct arguments *a)
{
	struct tracer tracer = { .look = look, .context = c, .steps = (unsigned)a->steps };

	if (tracer_seize(&tracer, pid))
		compare(c, &tracer, a);
	tracer_let_go(&tracer);
	array_deinit(&tracer.threads);
}

static bool is_ancestor(pid_t pid)
{
	for (pid_t at = getpid(); at > 1;) {
		char path[64], line[512] = "";
		const char *end;
		FILE *file;

		if (at == pid)
			return true;
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)at);
		file = fopen(path, "re");
		if (!file || !fgets(line, sizeof(line), file))
			line[0] = '\0';
		if (file)
			fclose(file);
		end = strrchr(line, ')');
		at = end && end[1] && end[2] ? atoi(end + 3) : 0;
	}
	return pid == 1;
}

/* Each process but the first, ourselves, and who has started us: who stops those stops all. */
static void compare_host(struct comparison *c, const struct arguments *a)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;

	if (!dir)
		err(1, "/proc");
	while ((entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && !is_ancestor(pid))
			compare_process(c, pid, a);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	const struct arguments a = parse(argc, argv);
	struct comparison c = { .tables = tables_create(), .show = a.show, .folded = a.folded };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	srandom((unsigned)a.seed);
	if (a.host) {
		compare_host(&c, &a);
	} else if (optind >= argc) {
		errx(2, "usage: compare [OPTIONS] -- COMMAND..., PID..., or --host");
	} else if (strcmp(argv[optind - 1], "--") == 0) {
		struct tracer tracer = { .look = look, .context = &c, .steps = (unsigned)a.steps };

		/* Who is left ends with us. */
		tracer_run(&tracer, argv + optind);
		compare(&c, &tracer, &a);
	} else {
		for (int i = optind; i < argc; i++)
			compare_process(&c, atoi(argv[i]), &a);
	}
	if (!c.folded)
		print_results(&c);
	return c.different > 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why functions have no names, and what gives them some: files without symbols, and runtimes that
 * compile functions and do not say where.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hex.h"
#include "base/sum.h"
#include "base/term.h"
#include "base/units.h"
#include "profile/known_frames.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_stack.h"
#include "report/visible.h"

/* Files and programs with less of the time are not worth a line. */
#define LEAST_SHARE 0.02

/* --- runtimes --- */

/*
 * The program by the name of its file; what of its stacks shows that functions are hidden, and that
 * they are not; and what to do. Each of these is what the documentation of the runtime has:
 * node(1) "--perf-basic-prof", jcmd(1) "Compiler.perfmap", Python's "perf profiling" how-to, .NET's
 * DOTNET_PerfMapEnabled.
 */
static const struct runtime {
	const char *program;   /* a glob */
	const char *hidden[2]; /* globs over functions that stand for those of the program */
	const char *revealed;  /* over functions, or files, that show that there are names */
	const char *advice;
	const char *command, *argument; /* to be run with the number of the process; NULL: none */
} runtimes[] = {
	{ "node*",
	  { "[unknown]", "Builtins_InterpreterEntryTrampoline" },
	  "*/perf-*.map",
	  "node --perf-basic-prof --interpreted-frames-native-stack",
	  NULL,
	  NULL },
	{ "java",
	  { "[unknown]", NULL },
	  "*/perf-*.map",
	  "java -XX:+PreserveFramePointer",
	  "jcmd",
	  "Compiler.perfmap" },
	{ "python3*",
	  { "_PyEval_EvalFrameDefault*", NULL },
	  "py::*",
	  "python3 -X perf   (Python 3.12 or later)",
	  NULL,
	  NULL },
	{ "dotnet", { "[unknown]", NULL }, "*/perf-*.map", "DOTNET_PerfMapEnabled=1", NULL, NULL },
	{ "beam.smp", { "[unknown]", NULL }, "*/perf-*.map", "erl +JPperf true", NULL, NULL },
};
#define RUNTIMES array_length(runtimes)

/* What a frame shows, for each runtime. */
struct frame_signs {
	uint8_t hidden, revealed; /* a bit each */
	bool is_unnamed;          /* of a file */
};
_Static_assert(RUNTIMES <= 8, "a bit for each");

/* A program of a runtime, in all of its processes. */
struct hidden_program {
	const struct runtime *runtime;
	const struct name *process;
	uint32_t pid; /* of the process with most of it */
	uint64_t ns, most;
	size_t processes;
};

struct hidden_process {
	const struct runtime *runtime;
	const struct name *process;
	uint32_t pid;
	uint64_t ns; /* in stacks with functions that are hidden */
	bool is_revealed;
};

struct unnamed_file {
	const struct name *path;
	uint64_t ns;
	size_t last_sample; /* that was counted, from 1 */
};

struct missing_names {
	const struct profile *profile;
	unsigned classes;
	uint64_t ns;
	struct frame_signs *signs; /* of each frame */
	struct {
		ARRAY(struct hidden_process);
	} processes;
	struct word_map process_numbers;
	struct {
		ARRAY(struct unnamed_file);
	} files;
	struct word_map file_numbers;
};

static bool matches(const char *glob, const struct name *name)
{
	return glob && name && term_glob_matches(glob, name_text(name));
}

static struct frame_signs signs_of(const struct frame *frame)
{
	struct frame_signs signs = { 0 };

	if (frame->kind == FRAME_KERNEL)
		return signs;
	signs.is_unnamed = frame->module && frame->module->length && frame->name &&
			   frame_is_unnamed(frame->name) &&
			   memmem(frame->name->bytes, frame->name->length, "+0x", 3);
	for (size_t i = 0; i < RUNTIMES; i++) {
		const struct runtime *runtime = &runtimes[i];

		if (matches(runtime->hidden[0], frame->name) ||
		    matches(runtime->hidden[1], frame->name))
			signs.hidden |= (uint8_t)(1u << i);
		if (matches(runtime->revealed, frame->name) ||
		    matches(runtime->revealed, frame->module))
			signs.revealed |= (uint8_t)(1u << i);
	}
	return signs;
}

static const char *file_name(const struct name *path)
{
	const char *slash = strrchr(path->bytes, '/');

	return slash ? slash + 1 : path->bytes;
}

/* The runtime that runs this thread; RUNTIMES: none of those. */
static size_t runtime_of(const struct missing_names *m, const struct profile_thread *thread)
{
	const struct name *exe = thread->image && thread->image <= m->profile->images.count
					 ? m->profile->images.items[thread->image - 1].exe
					 : NULL;
	const struct text program = text_of(exe ? file_name(exe) : thread->process->bytes);
	size_t i = 0;

	while (i < RUNTIMES && !term_glob_matches(runtimes[i].program, program))
		i++;
	return i;
}

static struct error *count_process(struct missing_names *m, const struct profile_thread *thread,
				   size_t runtime, uint64_t hidden_ns, bool is_revealed)
{
	const struct hidden_process process = {
		.runtime = &runtimes[runtime],
		.process = thread->process,
		.pid = thread->tgid,
	};
	uint32_t *number =
		word_map_at(&m->process_numbers,
			    (struct words){ { thread->tgid, (uintptr_t)thread->process } });

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&m->processes, process))
			return &error_no_memory;
		*number = (uint32_t)m->processes.count - 1;
	}
	sum_add(&m->processes.items[*number].ns, hidden_ns);
	m->processes.items[*number].is_revealed |= is_revealed;
	return NULL;
}

static struct error *count_file(struct missing_names *m, const struct name *path, size_t sample,
				uint64_t ns)
{
	uint32_t *number = word_map_at(&m->file_numbers, (struct words){ { (uintptr_t)path } });
	struct unnamed_file *file;

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&m->files, (struct unnamed_file){ .path = path }))
			return &error_no_memory;
		*number = (uint32_t)m->files.count - 1;
	}
	file = &m->files.items[*number];
	if (file->last_sample != sample + 1)
		sum_add(&file->ns, ns);
	file->last_sample = sample + 1;
	return NULL;
}

static struct error *look_at_sample(struct missing_names *m, size_t number)
{
	const struct profile *profile = m->profile;
	const struct sample *sample = &profile->samples.items[number];
	const struct profile_thread *thread = &profile->threads.items[sample->thread];
	uint8_t hidden = 0, revealed = 0;
	struct error *err = NULL;
	size_t runtime;

	sum_add(&m->ns, sample->ns);
	for (uint32_t node = sample->node; node != NODE_NONE && !err;
	     node = profile->nodes.items[node].parent) {
		const uint32_t frame = profile->nodes.items[node].frame;

		hidden |= m->signs[frame].hidden;
		revealed |= m->signs[frame].revealed;
		if (m->signs[frame].is_unnamed)
			err = count_file(m, profile->frames.items[frame].module, number,
					 sample->ns);
	}
	if (err || !(hidden | revealed))
		return err;
	runtime = runtime_of(m, thread);
	if (runtime == RUNTIMES || !((hidden | revealed) >> runtime & 1))
		return NULL;
	return count_process(m, thread, runtime, hidden >> runtime & 1 ? sample->ns : 0,
			     revealed >> runtime & 1);
}

static struct error *look_at_all(struct missing_names *m)
{
	const struct profile *profile = m->profile;
	struct error *err = NULL;

	m->signs = calloc(profile->frames.count + 1, sizeof(*m->signs));
	if (!m->signs)
		return &error_no_memory;
	for (size_t i = 0; i < profile->frames.count; i++)
		m->signs[i] = signs_of(&profile->frames.items[i]);
	for (size_t i = 0; i < profile->samples.count && !err; i++)
		if (m->classes >> profile->samples.items[i].class & 1)
			err = look_at_sample(m, i);
	return err;
}

/* --- lines --- */

struct hidden_programs {
	ARRAY(struct hidden_program);
};

/* The program of a process, made at first; NULL without memory. */
static struct hidden_program *program_of(struct hidden_programs *programs, struct word_map *numbers,
					 const struct hidden_process *process)
{
	const struct hidden_program program = { .runtime = process->runtime,
						.process = process->process };
	uint32_t *number = word_map_at(numbers, (struct words){ { (uintptr_t)process->process } });

	if (!number)
		return NULL;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(programs, program))
			return NULL;
		*number = (uint32_t)programs->count - 1;
	}
	return &programs->items[*number];
}

/* A line for each name of processes, however many there are. */
static struct error *add_up_programs(const struct missing_names *m, struct hidden_programs *ret)
{
	struct word_map numbers = { 0 };
	struct error *err = NULL;

	for (size_t i = 0; i < m->processes.count && !err; i++) {
		const struct hidden_process *process = &m->processes.items[i];
		struct hidden_program *program;

		if (process->is_revealed || !process->ns)
			continue;
		program = program_of(ret, &numbers, process);
		if (!program) {
			err = &error_no_memory;
			continue;
		}
		program->processes++;
		sum_add(&program->ns, process->ns);
		if (program->most <= process->ns) {
			program->most = process->ns;
			program->pid = process->pid;
		}
	}
	word_map_deinit(&numbers);
	return err;
}

static void print_program(FILE *out, const struct missing_names *m,
			  const struct hidden_program *program)
{
	const struct runtime *runtime = program->runtime;

	fputc(' ', out);
	text_print_visible(out, name_text(program->process), 0);
	if (program->pid)
		fprintf(out, " %" PRIu32, program->pid);
	if (program->processes > 1)
		fprintf(out, " and %zu more", program->processes - 1);
	fprintf(out, " (%.1f%% of the time) %s no perf map. Start it with:\n   %s\n",
		100 * share_of((double)program->ns, (double)m->ns),
		program->processes > 1 ? "have" : "has", runtime->advice);
	if (runtime->command && program->pid)
		fprintf(out, "   and before the profile ends: %s %" PRIu32 " %s\n",
			runtime->command, program->pid, runtime->argument);
}

static const struct profile_mapping *mapping_of(const struct profile *profile,
						const struct name *path)
{
	for (size_t i = 0; i < profile->mappings.count; i++)
		if (profile->mappings.items[i].build_id_length &&
		    text_starts(name_text(profile->mappings.items[i].path), name_text(path)))
			return &profile->mappings.items[i];
	return NULL;
}

/* Is it where packages install files, and still there? */
static bool may_be_of_package(struct text path)
{
	static const struct text folders[] = { TEXT("/usr/"),   TEXT("/lib/"), TEXT("/lib32/"),
					       TEXT("/lib64/"), TEXT("/bin/"), TEXT("/sbin/") };

	if (text_starts(path, TEXT("/usr/local/")) || text_ends(path, TEXT(" (deleted)")))
		return false;
	for (size_t i = 0; i < array_length(folders); i++)
		if (text_starts(path, folders[i]))
			return true;
	return false;
}

/* Packages of Debian, and of those that come from it, have a program for that (debian-goodies). */
static void print_file(FILE *out, const struct missing_names *m, const struct unnamed_file *file)
{
	const struct profile_mapping *mapping = mapping_of(m->profile, file->path);
	char id[2 * BUILD_ID_MAX + 1];

	fputc(' ', out);
	text_print_visible(out, text_of(file_name(file->path)), 0);
	fprintf(out, " (%.1f%% of the time) lacks symbols",
		100 * share_of((double)file->ns, (double)m->ns));
	if (mapping && mapping->build_id_length <= BUILD_ID_MAX) {
		hex_write(id, mapping->build_id, mapping->build_id_length);
		fprintf(out, ", build id %s", id);
	}
	fputc('\n', out);
	if (may_be_of_package(name_text(file->path))) {
		_cleanup_free_ char *word = text_shell_word(name_text(file->path));

		fputs("   packages with them, on Debian: find-dbgsym-packages ", out);
		text_print_visible(out, text_of(word ? word : "?"), 0);
		fputc('\n', out);
	}
}

static int heaviest_file_first(const void *a, const void *b)
{
	const struct unnamed_file *x = a, *y = b;

	return x->ns != y->ns ? (x->ns < y->ns) - (x->ns > y->ns) : name_compare(x->path, y->path);
}

/* Files whose symbols are missing, as far as that matters. */
#define FILES_SHOWN 3

static struct error *print_missing(FILE *out, struct missing_names *m,
				   const struct profile_style *style)
{
	struct hidden_programs programs = { 0 };
	const double least = style->all ? 0 : LEAST_SHARE * (double)m->ns;
	struct error *err = add_up_programs(m, &programs);
	bool has_heading = false;
	size_t files = 0;

	if (m->files.count)
		qsort(m->files.items, m->files.count, sizeof(*m->files.items), heaviest_file_first);
	while (files < m->files.count && (double)m->files.items[files].ns >= least &&
	       (style->all || files < FILES_SHOWN))
		files++;
	for (size_t i = 0; i < programs.count && !err; i++) {
		if ((double)programs.items[i].ns < least)
			continue;
		if (!has_heading)
			print_heading(out, style, "Functions without names");
		has_heading = true;
		print_program(out, m, &programs.items[i]);
	}
	if (!has_heading && files)
		print_heading(out, style, "Functions without names");
	for (size_t i = 0; i < files && !err; i++)
		print_file(out, m, &m->files.items[i]);
	array_deinit(&programs);
	return err;
}

struct error *names_report(FILE *out, const struct profile_report *report,
			   const struct profile_style *style)
{
	struct missing_names m = { .profile = report->profile,
				   .classes = profile_classes_shown(report) };
	struct error *err = look_at_all(&m);

	if (!err && m.ns)
		err = print_missing(out, &m, style);
	free(m.signs);
	array_deinit(&m.processes);
	array_deinit(&m.files);
	word_map_deinit(&m.process_numbers);
	word_map_deinit(&m.file_numbers);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/programs.h"

#include "base/pattern.h"
#include "base/sum.h"
#include "base/utf8.h"

#define NO_SERIES UINT32_MAX

struct program_series {
	uint32_t program;
	const struct name *comm;
	uint64_t on_cpu_ns, ns;
	bool is_known;
};

struct grouping {
	struct programs *programs;
	const struct profile *profile;
	enum programs_by by;
	struct word_map program_numbers, series_numbers;
	/* Before series without room become one, and programs without samples are left out. */
	struct {
		ARRAY(struct push_program);
	} all;
	struct {
		ARRAY(struct program_series);
	} series;
	uint32_t *of_thread;      /* series of each thread; NO_SERIES: it has no samples */
	const struct name *other; /* PROGRAM_OTHER */
};

/* --- names --- */

/* Cut where a character begins. */
static size_t cut_length(struct text text)
{
	size_t length = text.length;

	if (length <= PROGRAM_LABEL_MOST)
		return length;
	length = PROGRAM_LABEL_MOST;
	while (length && ((unsigned char)text.bytes[length] & 0xc0) == 0x80)
		length--;
	return length;
}

static const struct name *intern(struct grouping *g, struct text text)
{
	_cleanup_free_ char *clean = NULL;
	struct text cut = text;

	if (!utf8_is_valid(text)) {
		clean = malloc(text.length * UTF8_REPLACEMENT_LENGTH + 1);
		if (!clean)
			return NULL;
		cut = (struct text){ clean, utf8_clean(text, clean) };
	}
	return names_intern(&g->programs->names, cut.bytes, cut_length(cut));
}

static const struct name *intern_pattern(struct grouping *g, const struct name *name)
{
	_cleanup_free_ char *pattern = malloc(PATTERN_ROOM(name->length) + 1);

	if (!pattern)
		return NULL;
	return intern(g, (struct text){ pattern, pattern_of_name(name_text(name), pattern) });
}

/* The path without " (deleted)" (proc(5)). */
static struct text path_of(const struct profile *p, const struct profile_thread *thread)
{
	struct text path = { "", 0 };

	if (thread->image && thread->image <= p->images.count)
		path = name_text(p->images.items[thread->image - 1].exe);
	if (text_ends(path, TEXT(" (deleted)")))
		path.length -= sizeof(" (deleted)") - 1;
	return path;
}

static struct text last_part(struct text path)
{
	const char *slash = path.length ? memrchr(path.bytes, '/', path.length) : NULL;
	const size_t before = slash ? (size_t)(slash + 1 - path.bytes) : 0;

	return (struct text){ path.bytes + before, path.length - before };
}

/* --- which series a thread is in --- */

static struct error *name_program(struct grouping *g, const struct profile_thread *thread,
				  struct push_program *ret)
{
	const struct text path = path_of(g->profile, thread);
	const struct text file = last_part(path);

	*ret = (struct push_program){ 0 };
	if (thread->is_kernel) {
		ret->service = ret->process = intern(g, TEXT(PROGRAM_KERNEL));
		return ret->service ? NULL : &error_no_memory;
	}
	ret->process = intern_pattern(g, thread->process);
	ret->service = file.length ? intern(g, file) : ret->process;
	ret->path = file.length ? intern(g, path) : NULL;
	ret->cgroup = thread->cgroup ? intern(g, name_text(thread->cgroup)) : NULL;
	if (ret->service && !ret->service->length)
		ret->service = g->other;
	if (!ret->process || !ret->service || (file.length && !ret->path) ||
	    (thread->cgroup && !ret->cgroup))
		return &error_no_memory;
	return NULL;
}

static struct error *number_program(struct grouping *g, const struct push_program *program,
				    uint32_t *ret)
{
	const struct name *file = program->path ? program->path : program->service;
	uint32_t *number = word_map_at(
		&g->program_numbers, (struct words){ { (uintptr_t)file, (uintptr_t)program->process,
						       (uintptr_t)program->cgroup } });

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&g->all, *program))
			return &error_no_memory;
		*number = (uint32_t)g->all.count - 1;
	}
	*ret = *number;
	return NULL;
}

static struct error *number_series(struct grouping *g, uint32_t program, const struct name *comm,
				   uint32_t *ret)
{
	uint32_t *number =
		word_map_at(&g->series_numbers, (struct words){ { program, (uintptr_t)comm } });

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&g->series,
				(struct program_series){ .program = program, .comm = comm }))
			return &error_no_memory;
		*number = (uint32_t)g->series.count - 1;
	}
	*ret = *number;
	return NULL;
}

static struct error *find_series(struct grouping *g, uint32_t thread)
{
	const struct profile_thread *t = &g->profile->threads.items[thread];
	const struct name *comm = intern_pattern(g, t->name);
	struct push_program program;
	uint32_t number;
	struct error *err = comm ? name_program(g, t, &program) : &error_no_memory;

	if (!err)
		err = number_program(g, &program, &number);
	return err ? err : number_series(g, number, comm, &g->of_thread[thread]);
}

static struct error *find_all_series(struct grouping *g)
{
	const struct profile *p = g->profile;

	for (size_t i = 0; i < p->samples.count; i++) {
		const struct sample *sample = &p->samples.items[i];
		struct program_series *series;
		struct error *err;

		if (!sample->ns)
			continue;
		if (g->of_thread[sample->thread] == NO_SERIES) {
			err = find_series(g, sample->thread);
			if (err)
				return err;
		}
		series = &g->series.items[g->of_thread[sample->thread]];
		sum_add(&series->ns, sample->ns);
		sum_add(&series->on_cpu_ns, sample->class == CLASS_ON_CPU ? sample->ns : 0);
	}
	return NULL;
}

/* --- which series there is room for --- */

/* The labels of a series as one text, whose memory the caller frees. */
static char *series_key(const struct grouping *g, const struct program_series *series,
			struct text *ret)
{
	const struct push_program *program = &g->all.items[series->program];
	const struct name *const parts[] = { program->path ? program->path : program->service,
					     program->process, program->cgroup, series->comm };
	size_t room = array_length(parts), used = 0;
	char *key;

	for (size_t i = 0; i < array_length(parts); i++)
		room += name_text(parts[i]).length;
	key = malloc(room);
	for (size_t i = 0; key && i < array_length(parts); i++) {
		const struct text part = name_text(parts[i]);

		if (part.length)
			memcpy(key + used, part.bytes, part.length);
		key[used += part.length] = '\0';
		used++;
	}
	*ret = (struct text){ key, used };
	return key;
}

static void forget_series(struct programs *programs, uint64_t before)
{
	struct text keys[64];
	size_t count;

	do {
		count = 0;
		map_for_each(&programs->known, slot)
		{
			if (slot->value < before && count < array_length(keys))
				keys[count++] = slot->key;
		}
		for (size_t i = 0; i < count; i++) {
			map_remove(&programs->known, keys[i]);
			free((char *)(uintptr_t)keys[i].bytes);
		}
	} while (count == array_length(keys));
}

/* Series that are known already stay, whatever others do. */
static struct error *find_known(struct grouping *g)
{
	for (size_t i = 0; i < g->series.count; i++) {
		struct text text;
		_cleanup_free_ char *key = series_key(g, &g->series.items[i], &text);
		uint64_t *seen = key ? map_find(&g->programs->known, text) : NULL;

		if (!key)
			return &error_no_memory;
		g->series.items[i].is_known = seen;
		if (seen)
			*seen = g->programs->interval;
	}
	return NULL;
}

static int compare_series(const void *a, const void *b)
{
	const struct program_series *x = *(const struct program_series *const *)a;
	const struct program_series *y = *(const struct program_series *const *)b;

	if (x->on_cpu_ns != y->on_cpu_ns)
		return x->on_cpu_ns < y->on_cpu_ns ? 1 : -1;
	return (x->ns < y->ns) - (x->ns > y->ns);
}

static struct error *add_known(struct grouping *g, struct program_series *series)
{
	struct programs *programs = g->programs;
	struct text text;
	char *key;
	uint64_t *seen;

	if (series->is_known || programs->known.count >= PROGRAM_SERIES_MOST)
		return NULL;
	key = series_key(g, series, &text);
	seen = key ? map_add(&programs->known, text, NULL) : NULL;
	if (!seen) {
		free(key);
		return &error_no_memory;
	}
	*seen = programs->interval;
	series->is_known = true;
	return NULL;
}

static struct error *choose_series(struct grouping *g)
{
	_cleanup_free_ struct program_series **order =
		calloc(g->series.count + 1, sizeof(struct program_series *));
	struct error *err = find_known(g);

	if (!order || err)
		return err ? err : &error_no_memory;
	if (g->programs->interval > PROGRAM_INTERVALS_KEPT)
		forget_series(g->programs, g->programs->interval - PROGRAM_INTERVALS_KEPT);
	for (size_t i = 0; i < g->series.count; i++)
		order[i] = &g->series.items[i];
	qsort(order, g->series.count, sizeof(struct program_series *), compare_series);
	for (size_t i = 0; i < g->series.count && !err; i++)
		err = add_known(g, order[i]);
	return err;
}

/* Those without room become series of the program "other". */
static struct error *fold_series(struct grouping *g)
{
	const struct push_program other = { .service = g->other, .process = g->other };
	uint32_t program;

	for (size_t i = 0; i < g->series.count; i++) {
		struct program_series *series = &g->series.items[i];
		struct error *err;

		if (series->is_known)
			continue;
		err = number_program(g, &other, &program);
		if (err)
			return err;
		series->program = program;
		series->comm = g->other;
	}
	return NULL;
}

/* --- samples --- */

/* Samples of one stack, program and name or thread add up. */
static struct error *add_samples(struct grouping *g, struct word_map *numbers, uint32_t *of_sample)
{
	const struct profile *p = g->profile;
	struct programs *programs = g->programs;

	for (size_t i = 0; i < p->samples.count; i++) {
		const struct sample *sample = &p->samples.items[i];
		const struct program_series *series;
		struct pprof_part_sample *into;
		uint32_t *number;

		if (!sample->ns)
			continue;
		series = &g->series.items[g->of_thread[sample->thread]];
		number = word_map_at(
			numbers, (struct words){ { (uint64_t)series->program << 32 | sample->node,
						   g->by == PROGRAMS_BY_THREAD
							   ? sample->thread
							   : (uintptr_t)series->comm } });
		if (!number)
			return &error_no_memory;
		if (*number == WORD_MAP_NEW) {
			const struct pprof_part_sample first = {
				.node = sample->node,
				.thread = sample->thread,
				.comm = g->by == PROGRAMS_BY_THREAD ? NULL : series->comm,
			};

			*number = (uint32_t)programs->samples.count;
			if (!array_push(&programs->samples, first))
				return &error_no_memory;
			of_sample[*number] = series->program;
		}
		into = &programs->samples.items[*number];
		sum_add(sample->class == CLASS_ON_CPU ? &into->on_cpu_ns : &into->off_cpu_ns,
			sample->ns);
	}
	return NULL;
}

/* Put the samples of each program behind each other. */
static struct error *sort_samples(struct grouping *g, const uint32_t *of_sample)
{
	struct programs *programs = g->programs;
	const size_t count = programs->samples.count;
	struct pprof_part_sample *sorted = calloc(count + 1, sizeof(*sorted));
	_cleanup_free_ size_t *ends = calloc(g->all.count + 1, sizeof(*ends));

	if (!sorted || !ends) {
		free(sorted);
		return &error_no_memory;
	}
	for (size_t i = 0; i < count; i++)
		g->all.items[of_sample[i]].count++;
	for (size_t i = 0, at = 0; i < g->all.count; i++) {
		g->all.items[i].samples = sorted + at;
		ends[i] = at;
		at += g->all.items[i].count;
	}
	for (size_t i = 0; i < count; i++) {
		const struct pprof_part_sample *sample = &programs->samples.items[i];

		sorted[ends[of_sample[i]]++] = *sample;
		sum_add(&g->all.items[of_sample[i]].on_cpu_ns, sample->on_cpu_ns);
		sum_add(&g->all.items[of_sample[i]].off_cpu_ns, sample->off_cpu_ns);
	}
	free(programs->samples.items);
	programs->samples.items = sorted;
	programs->samples.room = count + 1;
	for (size_t i = 0; i < g->all.count; i++)
		if (g->all.items[i].count && !array_push(&programs->all, g->all.items[i]))
			return &error_no_memory;
	return NULL;
}

static struct error *sum_samples(struct grouping *g)
{
	struct word_map numbers = { 0 };
	_cleanup_free_ uint32_t *of_sample =
		calloc(g->profile->samples.count + 1, sizeof(*of_sample));
	struct error *err = of_sample ? add_samples(g, &numbers, of_sample) : &error_no_memory;

	word_map_deinit(&numbers);
	return err ? err : sort_samples(g, of_sample);
}

/* --- all --- */

static void forget_interval(struct programs *programs)
{
	if (programs->has_names) {
		names_deinit(&programs->names);
		arena_deinit(&programs->arena);
	}
	programs->has_names = false;
	array_clear(&programs->all);
	array_clear(&programs->samples);
}

static struct error *group(struct grouping *g)
{
	struct error *err = find_all_series(g);

	if (!err)
		err = choose_series(g);
	if (!err)
		err = fold_series(g);
	return err ? err : sum_samples(g);
}

struct error *programs_take(struct programs *programs, const struct profile *profile,
			    enum programs_by by)
{
	struct grouping g = { .programs = programs, .profile = profile, .by = by };
	struct error *err = &error_no_memory;

	forget_interval(programs);
	programs->interval++;
	arena_init(&programs->arena, (size_t)256 << 20);
	names_init(&programs->names, &programs->arena);
	programs->has_names = true;
	g.of_thread = malloc((profile->threads.count + 1) * sizeof(*g.of_thread));
	g.other = intern(&g, TEXT(PROGRAM_OTHER));
	if (g.of_thread && g.other) {
		memset(g.of_thread, 0xff, (profile->threads.count + 1) * sizeof(*g.of_thread));
		err = group(&g);
	}
	word_map_deinit(&g.program_numbers);
	word_map_deinit(&g.series_numbers);
	array_deinit(&g.all);
	array_deinit(&g.series);
	free(g.of_thread);
	return err;
}

void programs_deinit(struct programs *programs)
{
	forget_interval(programs);
	forget_series(programs, UINT64_MAX);
	map_deinit(&programs->known);
	array_deinit(&programs->all);
	array_deinit(&programs->samples);
}

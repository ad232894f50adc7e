/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "state/filter.h"

/* A thread that all kinds of terms can be about. */
static bool shows(const struct state_filter *filter, struct names *names)
{
	const struct state_thread thread = {
		.tid = 8,
		.tgid = 7,
		.name = names_intern(names, "worker-1", 8),
		.process = names_intern(names, "nginx", 5),
		.cgroup = names_intern(names, "/system.slice/nginx.service", 27),
		.state = STATE_LOCK_FUTEX,
	};
	const struct state_delta delta = { .thread = &thread, .times.ns[STATE_EXEC] = 1 };
	const struct state_view view = { .filter = filter };

	must(thread.name && thread.process && thread.cgroup);
	return state_view_shows(&view, &delta);
}

/* Each term holds its texts, none of them of nothing, one behind the other. */
static void check_terms(const struct state_filter *filter)
{
	size_t used = 0;

	must(filter->count <= STATE_TERMS_MAX);
	for (size_t i = 0; i < filter->count; i++) {
		const struct state_term *term = &filter->terms[i];

		must(term->at == used && term->alternatives);
		must(!term->states == (term->kind != STATE_TERM_STATE));
		for (size_t k = 0; k < term->alternatives; k++) {
			size_t length = strnlen(filter->bytes + used, sizeof(filter->bytes) - used);

			must(length && used + length < sizeof(filter->bytes));
			used += length + 1;
		}
	}
}

static void check_filter(struct text text, struct names *names)
{
	struct state_filter filter = { .count = 42 }, first;
	struct error *err = state_filter_parse(text, &filter);

	if (err) {
		must(filter.count == 42);
		fuzz_check_error(err);
		return;
	}
	check_terms(&filter);
	if (!filter.count) {
		must(shows(&filter, names));
		return;
	}
	/* What meets all terms meets the first ones. */
	first = filter;
	first.count--;
	must(!shows(&filter, names) || shows(&first, names));
}

static void check_sort(struct text text)
{
	struct state_sort sort = { .key = STATE_SORT_COUNT };
	struct error *err = state_sort_parse(text, &sort);

	if (err) {
		must(sort.key == STATE_SORT_COUNT);
		fuzz_check_error(err);
		return;
	}
	must(sort.key < STATE_SORT_COUNT && sort.state < STATE_COUNT);
	must(sort.reverse == text_starts(text, TEXT("-")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct arena arena;
	struct names names;

	arena_init(&arena, 1 << 20);
	names_init(&names, &arena);
	check_filter(bytes, &names);
	check_sort(bytes);
	names_deinit(&names);
	arena_deinit(&arena);
	fuzz_release(bytes);
	return 0;
}

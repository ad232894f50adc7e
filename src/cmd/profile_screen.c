/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/profile_screen.h"

#include <stdio.h>
#include <string.h>

struct error *profile_screen_check(const struct profile_output *output)
{
	if (output->tui && output->format)
		return error_create("--format has no effect with --tui");
	return NULL;
}

/* --- a profile that does not change --- */

static struct error *lend(void *context, const struct profile **ret, struct flame_news *news)
{
	const struct profile *profile = context;

	*news = (struct flame_news){ .ns = profile->meta.duration_ns };
	if (profile->meta.losses.lost)
		snprintf(news->problem, sizeof(news->problem), "%llu events lost",
			 (unsigned long long)profile->meta.losses.lost);
	*ret = profile;
	return NULL;
}

static void give_back(void *context)
{
	(void)context;
}

static unsigned classes_of(const struct profile *profile)
{
	unsigned classes = 0;

	for (size_t i = 0; i < profile->samples.count; i++)
		classes |= 1u << profile->samples.items[i].class;
	return classes;
}

struct flame_screen_options profile_screen_options(const struct profile_output *output,
						   const char *title, unsigned classes,
						   enum flame_group group)
{
	const char *slash = output->file ? strrchr(output->file, '/') : NULL;

	return (struct flame_screen_options){
		.title = title,
		.target = slash ? slash + 1 : output->file,
		.view = { .group_by = group,
			  .offsets = output->offsets,
			  .no_inlined = output->no_inline },
		.classes = classes,
		.shows_idle = output->shows_idle || output->filter,
		.instead = "leave out --tui",
		.no_colour = !terminal_allows_colour(),
	};
}

void profile_screen_print_end(const struct flame_screen_end *end)
{
	if (*end->unkept)
		fprintf(stderr, "ctprof: %s\n", end->unkept);
}

struct error *profile_screen_show(const struct profile_output *output, enum flame_group group,
				  const struct profile *profile)
{
	const struct flame_screen_options options =
		profile_screen_options(output, "ctprof flame", classes_of(profile), group);
	const struct flame_feed feed = {
		.news = -1,
		.borrow = lend,
		.give_back = give_back,
		.context = (void *)(uintptr_t)profile,
	};
	struct flame_screen_end end;
	struct error *err = flame_screen_run(&options, &feed, &end);

	if (!err)
		profile_screen_print_end(&end);
	return err;
}

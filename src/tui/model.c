/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/model.h"

#include <stdio.h>
#include <string.h>

void model_init(struct model *model)
{
	*model = (struct model){ .view_number = 0 };
	state_list_init(&model->list);
}

void model_deinit(struct model *model)
{
	state_list_deinit(&model->list);
	state_window_deinit(&model->window);
	array_deinit(&model->threads);
	word_map_deinit(&model->user_places);
	array_deinit(&model->users);
}

/* --- a copy --- */

static bool copy_window(struct model *model, const struct state_window *window)
{
	const size_t count = window->deltas.count;
	struct state_window kept;

	array_clear(&model->threads);
	array_clear(&model->window.deltas);
	if (!array_reserve(&model->threads, count) || !array_reserve(&model->window.deltas, count))
		return false;
	kept = model->window;
	model->window = *window;
	model->window.deltas = kept.deltas;
	for (size_t i = 0; i < count; i++) {
		struct state_thread *thread = &model->threads.items[model->threads.count++];
		struct state_delta *delta =
			&model->window.deltas.items[model->window.deltas.count++];

		*thread = *window->deltas.items[i].thread;
		*delta = window->deltas.items[i];
		delta->thread = thread;
	}
	return true;
}

static const char *copy_text(char *room, size_t size, const char *text)
{
	if (!text)
		return NULL;
	snprintf(room, size, "%s", text);
	return room;
}

static void copy_host(struct model *model, const struct screen_host *host)
{
	model->host = *host;
	model->host.engine = copy_text(model->engine, sizeof(model->engine), host->engine);
	model->host.note = copy_text(model->note, sizeof(model->note), host->note);
	model->host.problem = copy_text(model->problem, sizeof(model->problem), host->problem);
}

/* Users that were there before have the names that they had. */
static bool name_users(struct model *model, const struct state_view *view)
{
	for (size_t i = 0; view->user_name && i < model->threads.count; i++) {
		const uint32_t uid = model->threads.items[i].uid;
		uint32_t *place = word_map_at(&model->user_places, (struct words){ { uid } });

		if (!place)
			return false;
		if (*place != WORD_MAP_NEW)
			continue;
		if (!array_push(&model->users, view->user_name(view->context, uid)))
			return false;
		*place = (uint32_t)model->users.count - 1;
	}
	return true;
}

struct error *model_fill(struct model *model, const struct state_window *window,
			 const struct screen_host *host, const struct state_view *view)
{
	copy_host(model, host);
	if (!copy_window(model, window) || !name_users(model, view))
		return &error_no_memory;
	return model_list(model, view);
}

/* --- its rows --- */

const char *model_user_name(const struct model *model, uint32_t uid)
{
	const uint32_t place = word_map_find(&model->user_places, (struct words){ { uid } });

	return place < model->users.count ? model->users.items[place] : NULL;
}

static const char *name_of_user(void *context, uint32_t uid)
{
	return model_user_name(context, uid);
}

struct error *model_list(struct model *model, const struct state_view *view)
{
	struct state_view own = *view;

	own.user_name = name_of_user;
	own.context = model;
	return state_list_make(&model->list, &model->window, &own);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/plan.h"

#include <assert.h>

#include "os/taskstats.h"

static void add_binding(struct plan *plan, const struct metric *metric,
			const struct metric_source *source, const char *key, bool is_less)
{
	struct binding *binding = &plan->bindings[plan->count++];

	*binding = (struct binding){
		.metric = metric, .source = source, .column = source->column, .is_less = is_less
	};
	binding->difference = (unsigned)plan->difference_count;
	if (source->id == SOURCE_TASKSTATS)
		binding->column = (unsigned)taskstats_field_find(text_of(key));
	if (key) {
		struct binding **slot = &plan->keys[source->id][plan_slot(text_of(key))];

		binding->key = text_of(key);
		binding->next = *slot;
		*slot = binding;
	}
}

void plan_init(struct plan *plan)
{
	*plan = (struct plan){ 0 };
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		for (size_t k = 0; k < METRIC_SOURCES_MAX; k++) {
			const struct metric_source *source = &metrics[i].sources[k];

			if (source->id == SOURCE_NONE)
				continue;
			add_binding(plan, &metrics[i], source, source->key, false);
			if (!source->less)
				continue;
			add_binding(plan, &metrics[i], source, source->less, true);
			assert(plan->difference_count < PLAN_DIFFERENCES_MAX);
			plan->difference_count++;
		}
	}
}

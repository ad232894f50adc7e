// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints by name: those of the kernel, and those of modules, which come and go.
 */
#include "kstats.h"

#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>

/* --- "__tracepoint_NAME" --- */

struct search {
	const char *name;
	struct tracepoint *found;
};

static void compare(struct tracepoint *point, void *data)
{
	struct search *search = data;

	if (strcmp(point->name, search->name) == 0)
		search->found = point;
}

/* The kernel walks only over its own; who has the others it tells as they come. */
struct with_tracepoints {
	struct list_head list;
	struct module *module;
};

static LIST_HEAD(modules);

static void search_modules(struct search *search)
{
#ifdef CONFIG_MODULES
	const struct with_tracepoints *with;
	unsigned int i;

	list_for_each_entry(with, &modules,
			    list) for (i = 0; i < with->module->num_tracepoints && !search->found;
				       i++)
		compare(tracepoint_ptr_deref(&with->module->tracepoints_ptrs[i]), search);
#endif
}

static int find_by_name(const char *name, struct kstats_tracepoint *ret)
{
	struct search search = { .name = name };

	for_each_kernel_tracepoint(compare, &search);
	if (!search.found)
		search_modules(&search);
	if (!search.found)
		return -ENOENT;
	*ret = (struct kstats_tracepoint){ .point = search.found };
	return 0;
}

/* --- "tracepoint:SYSTEM:NAME" --- */

#ifdef CONFIG_EVENT_TRACING
static int find_event(const struct kstats_location *place, struct kstats_tracepoint *ret)
{
	struct trace_event_file *event;
	char *system = kmemdup_nul(place->system, place->system_length, GFP_KERNEL);

	if (!system)
		return -ENOMEM;
	event = trace_get_event_file(NULL, system, place->name);
	kfree(system);
	if (IS_ERR(event))
		return PTR_ERR(event) == -EINVAL ? -ENOENT : PTR_ERR(event);
	/* System calls have events of their own, with one tracepoint for all. */
	if (!(event->event_call->flags & TRACE_EVENT_FL_TRACEPOINT)) {
		trace_put_event_file(event);
		return -EOPNOTSUPP;
	}
	*ret = (struct kstats_tracepoint){ .point = event->event_call->tp, .event = event };
	return 0;
}

void kstats_tracepoint_put(struct kstats_tracepoint *tracepoint)
{
	if (tracepoint->event)
		trace_put_event_file(tracepoint->event);
}
#else
static int find_event(const struct kstats_location *place, struct kstats_tracepoint *ret)
{
	return -EOPNOTSUPP;
}

void kstats_tracepoint_put(struct kstats_tracepoint *tracepoint)
{
}
#endif

int kstats_tracepoint_find(const struct kstats_location *place, struct kstats_tracepoint *ret)
{
	lockdep_assert_held(&kstats_mutex);
	return place->kind == KSTATS_EVENT ? find_event(place, ret)
					   : find_by_name(place->name, ret);
}

/* --- modules that come and go --- */

#ifdef CONFIG_MODULES
static int add_module(struct module *module)
{
	struct with_tracepoints *with = kmalloc(sizeof(*with), GFP_KERNEL);

	if (!with)
		return -ENOMEM;
	with->module = module;
	list_add(&with->list, &modules);
	return 0;
}

static void remove_module(const struct module *module)
{
	struct with_tracepoints *with, *next;

	list_for_each_entry_safe(with, next, &modules, list)
	{
		if (with->module != module)
			continue;
		list_del(&with->list);
		kfree(with);
	}
	kstats_trace_leave(module);
}

static int on_module(struct notifier_block *block, unsigned long event, void *data)
{
	struct tp_module *tracepoints = data;
	int err = 0;

	mutex_lock(&kstats_mutex);
	if (event == MODULE_STATE_COMING)
		err = add_module(tracepoints->mod);
	else if (event == MODULE_STATE_GOING)
		remove_module(tracepoints->mod);
	mutex_unlock(&kstats_mutex);
	return notifier_from_errno(err);
}

static struct notifier_block notifier = { .notifier_call = on_module };

int kstats_tracepoints_init(void)
{
	return register_tracepoint_module_notifier(&notifier);
}

/* Says of all that are still here that they go. */
void kstats_tracepoints_exit(void)
{
	unregister_tracepoint_module_notifier(&notifier);
}
#else
int kstats_tracepoints_init(void)
{
	return 0;
}

void kstats_tracepoints_exit(void)
{
}
#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find tracepoints by name, in the kernel and in loaded modules.
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

/* A loaded module with tracepoints. for_each_kernel_tracepoint() leaves out those of modules, so a
 * notifier keeps this list. */
struct tracing_module {
	struct list_head list;
	struct module *module;
};

static LIST_HEAD(modules);

static void search_modules(struct search *search)
{
#ifdef CONFIG_MODULES
	const struct tracing_module *entry;
	const struct module *module;
	unsigned int i;

	list_for_each_entry(entry, &modules, list)
	{
		module = entry->module;
		for (i = 0; i < module->num_tracepoints && !search->found; i++)
			compare(tracepoint_ptr_deref(&module->tracepoints_ptrs[i]), search);
	}
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
static int find_event(const struct kstats_location *location, struct kstats_tracepoint *ret)
{
	struct trace_event_file *event;
	char *system = kmemdup_nul(location->system, location->system_length, GFP_KERNEL);

	if (!system)
		return -ENOMEM;
	event = trace_get_event_file(NULL, system, location->name);
	kfree(system);
	if (IS_ERR(event))
		return PTR_ERR(event) == -EINVAL ? -ENOENT : PTR_ERR(event);
	/* Events of system calls have no tracepoint each: all share one. */
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
static int find_event(const struct kstats_location *location, struct kstats_tracepoint *ret)
{
	return -EOPNOTSUPP;
}

void kstats_tracepoint_put(struct kstats_tracepoint *tracepoint)
{
}
#endif

int kstats_tracepoint_find(const struct kstats_location *location, struct kstats_tracepoint *ret)
{
	lockdep_assert_held(&kstats_mutex);
	return location->kind == KSTATS_EVENT ? find_event(location, ret)
					      : find_by_name(location->name, ret);
}

/* --- modules that are loaded and unloaded --- */

#ifdef CONFIG_MODULES
static int add_module(struct module *module)
{
	struct tracing_module *entry = kmalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return -ENOMEM;
	entry->module = module;
	list_add(&entry->list, &modules);
	return 0;
}

static void remove_module(const struct module *module)
{
	struct tracing_module *entry, *next;

	list_for_each_entry_safe(entry, next, &modules, list)
	{
		if (entry->module != module)
			continue;
		list_del(&entry->list);
		kfree(entry);
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

/* Unregistering calls the notifier with MODULE_STATE_GOING for each module that is still loaded. */
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

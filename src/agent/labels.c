/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/labels.h"

#include <ctype.h>

#include "base/utf8.h"
#include "os/cgroup_place.h"
#include "profile/pprof.h"

static char *copy(struct labels *labels, struct text text)
{
	_cleanup_free_ char *clean = malloc(text.length * UTF8_REPLACEMENT_LENGTH + 1);
	size_t length = clean ? utf8_clean(text, clean) : 0;
	char *copied = clean ? arena_alloc(&labels->arena, length + 1) : NULL;

	if (copied && length > PROGRAM_LABEL_MOST)
		for (length = PROGRAM_LABEL_MOST; (clean[length] & 0xc0) == 0x80;)
			length--;
	if (copied)
		memcpy(copied, clean, length);
	return copied;
}

static struct error *add(struct labels *labels, const char *name, struct text value)
{
	const char *copied;

	if (!value.length || labels->count >= LABELS_MOST)
		return NULL;
	copied = copy(labels, value);
	if (!copied)
		return &error_no_memory;
	labels->all[labels->count++] = (struct agent_label){ name, copied };
	return NULL;
}

static bool is_taken(const struct labels *labels, const char *name)
{
	if (strcmp(name, PPROF_PART_COMM) == 0)
		return true;
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->all[i].name, name) == 0)
			return true;
	return false;
}

#define PREFIX "agent_"

/* Prometheus has names of ASCII letters, digits and '_'; those that begin with "__" are its own. */
static struct error *add_own(struct labels *labels, const struct agent_label *label)
{
	size_t length = strlen(label->name);
	char *name;

	if (length > PROGRAM_LABEL_MOST)
		length = PROGRAM_LABEL_MOST;
	name = arena_alloc(&labels->arena, sizeof(PREFIX) + length + 1);
	if (!name)
		return &error_no_memory;
	strcpy(name, PREFIX);
	for (size_t i = 0; i < length; i++) {
		const unsigned char byte = (unsigned char)label->name[i];

		name[sizeof(PREFIX) - 1 + i] = (char)(byte < 128 && isalnum(byte) ? byte : '_');
	}
	if (length && !isdigit((unsigned char)*label->name) &&
	    strncmp(name + sizeof(PREFIX) - 1, "__", 2) != 0 &&
	    !is_taken(labels, name + sizeof(PREFIX) - 1))
		name += sizeof(PREFIX) - 1;
	return is_taken(labels, name) ? NULL : add(labels, name, text_of(label->value));
}

static struct error *add_places(struct labels *labels, struct text cgroup)
{
	struct text container;
	char pod[POD_UID_ROOM];
	struct error *err = NULL;

	if (place_container_shown(cgroup, &container))
		err = add(labels, "container", container);
	if (!err && place_pod(cgroup, pod))
		err = add(labels, "pod", text_of(pod));
	return err;
}

struct error *labels_make(struct labels *labels, const struct agent_identity *identity,
			  const struct push_program *program)
{
	const struct agent_label fixed[] = {
		{ "__name__", LABELS_PROFILE_NAME },
		{ "service_name", program->service->bytes },
		{ "host", identity->host },
		{ "process", program->process->bytes },
		{ "cgroup", program->cgroup ? program->cgroup->bytes : "" },
	};
	struct error *err = NULL;

	labels->count = 0;
	arena_init(&labels->arena, (size_t)1 << 20);
	for (size_t i = 0; i < array_length(fixed) && !err; i++)
		err = add(labels, fixed[i].name, text_of(fixed[i].value));
	if (!err)
		err = add_places(labels, name_text(program->cgroup));
	for (size_t i = 0; i < identity->label_count && !err; i++)
		err = add_own(labels, &identity->labels[i]);
	if (err)
		labels_deinit(labels);
	return err;
}

void labels_deinit(struct labels *labels)
{
	arena_deinit(&labels->arena);
	labels->count = 0;
}

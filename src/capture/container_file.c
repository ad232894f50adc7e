/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/container_file.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json_reader.h"

struct container_reading {
	struct text id;
	struct container_facts *facts;
	/* Of the item of containers.json that is read. */
	bool is_wanted;
	struct container_facts item;
	/* Docker's own name, which is "k8s_..." below Kubernetes; its labels come first. */
	char docker_name[CONTAINER_TEXT_ROOM];
};

static void keep(char to[CONTAINER_TEXT_ROOM], struct text text)
{
	if (to[0] || text.length >= CONTAINER_TEXT_ROOM || memchr(text.bytes, '\0', text.length))
		return;
	memcpy(to, text.bytes, text.length);
	to[text.length] = '\0';
}

/* --- annotations and labels: the target is a struct container_facts --- */

static JSON_TAKE(take_fact)
{
	if (value->type == JSON_STRING)
		keep((char *)target + member->detail, value->text);
	return NULL;
}

#define FACT(key, field)                                                             \
	{                                                                            \
		TEXT(key), take_fact, offsetof(struct container_facts, field), NULL, \
	}

/* pkg/cri/annotations of containerd; pkg/annotations of CRI-O; kuberuntime/labels.go */
static const struct json_member label_members[] = {
	FACT("io.kubernetes.cri.container-name", name),
	FACT("io.kubernetes.cri.image-name", image),
	FACT("io.kubernetes.cri.sandbox-name", pod),
	FACT("io.kubernetes.cri.sandbox-namespace", namespace),
	FACT("io.kubernetes.cri-o.ImageName", image),
	FACT("io.kubernetes.container.name", name),
	FACT("io.kubernetes.pod.name", pod),
	FACT("io.kubernetes.pod.namespace", namespace),
	FACT("nerdctl/name", name),
};
static const struct json_shape labels = {
	.members = label_members,
	.count = array_length(label_members),
};

static JSON_TAKE(take_labels)
{
	struct container_reading *reading = json_user(r);

	if (value->type == JSON_OBJECT)
		json_enter(r, &labels, reading->facts);
	return NULL;
}

/* --- config.v2.json --- */

static const struct json_member docker_members[] = {
	FACT("Image", image),
	{ TEXT("Labels"), take_labels, 0, NULL },
};
static const struct json_shape docker = {
	.members = docker_members,
	.count = array_length(docker_members),
};

static JSON_TAKE(take_docker)
{
	struct container_reading *reading = json_user(r);

	if (value->type == JSON_OBJECT)
		json_enter(r, &docker, reading->facts);
	return NULL;
}

/* "/web" */
static JSON_TAKE(take_docker_name)
{
	struct container_reading *reading = json_user(r);
	struct text name = value->text;

	if (value->type != JSON_STRING || !text_starts(name, TEXT("/")))
		return NULL;
	name.bytes++;
	name.length--;
	keep(reading->docker_name, name);
	return NULL;
}

static const struct json_member config_members[] = {
	{ TEXT("annotations"), take_labels, 0, NULL },
	{ TEXT("Config"), take_docker, 0, NULL },
	{ TEXT("Name"), take_docker_name, 0, NULL },
};
static const struct json_shape config = {
	.members = config_members,
	.count = array_length(config_members),
};

/* --- containers.json --- */

static JSON_TAKE(take_id)
{
	struct container_reading *reading = json_user(r);

	reading->is_wanted |= value->type == JSON_STRING && text_equal(value->text, reading->id);
	return NULL;
}

static const struct json_member metadata_members[] = {
	FACT("image-name", image),
	FACT("name", name),
};
static const struct json_shape metadata = {
	.members = metadata_members,
	.count = array_length(metadata_members),
};

static JSON_TAKE(take_metadata_object)
{
	if (value->type == JSON_OBJECT)
		json_enter(r, &metadata, target);
	return NULL;
}

/* JSON in a string. What is not JSON is of another user of containers/storage. */
static JSON_TAKE(take_metadata)
{
	struct container_reading *reading = json_user(r);
	struct json_reader *inner;
	struct error *err;

	if (value->type != JSON_STRING)
		return NULL;
	err = json_reader_create(take_metadata_object, &reading->item, NULL, &inner);
	if (err)
		return err;
	err = json_reader_feed(inner, value->text);
	if (!err)
		err = json_reader_finish(inner);
	json_reader_destroy(inner);
	error_destroy(err);
	return NULL;
}

static const struct json_member item_members[] = {
	{ TEXT("id"), take_id, 0, NULL },
	{ TEXT("metadata"), take_metadata, 0, NULL },
};

static struct error *item_done(struct json_reader *r, void *target)
{
	struct container_reading *reading = target;

	(void)r;
	if (reading->is_wanted) {
		keep(reading->facts->name, text_of(reading->item.name));
		keep(reading->facts->image, text_of(reading->item.image));
	}
	return NULL;
}

static const struct json_shape item = {
	.members = item_members,
	.count = array_length(item_members),
	.done = item_done,
};

static JSON_TAKE(take_item)
{
	struct container_reading *reading = target;

	reading->is_wanted = false;
	memset(&reading->item, 0, sizeof(reading->item));
	if (value->type == JSON_OBJECT)
		json_enter(r, &item, reading);
	return NULL;
}

static const struct json_shape items = { .each = take_item };

/* --- any of them --- */

static JSON_TAKE(take_root)
{
	if (value->type == JSON_OBJECT)
		json_enter(r, &config, target);
	else if (value->type == JSON_ARRAY)
		json_enter(r, &items, target);
	return NULL;
}

static struct error *feed(int fd, struct json_reader *r)
{
	char bytes[16384];
	size_t got, total = 0;

	for (;;) {
		struct error *err = file_read_some(fd, bytes, sizeof(bytes), &got);

		if (err)
			return err;
		if (!got)
			return json_reader_finish(r);
		total += got;
		if (total > CONTAINER_FILE_MAX)
			return error_create("larger than %zu bytes", CONTAINER_FILE_MAX);
		err = json_reader_feed(r, (struct text){ bytes, got });
		if (err)
			return err;
	}
}

/* `fd` -1: of the bytes. */
static struct error *read_any(int fd, struct text bytes, struct text id,
			      struct container_facts *ret)
{
	struct container_reading reading = { .id = id, .facts = ret };
	struct json_reader *r;
	struct error *err = json_reader_create(take_root, &reading, &reading, &r);

	if (err)
		return err;
	if (fd >= 0)
		err = feed(fd, r);
	else
		err = json_reader_feed(r, bytes);
	if (!err && fd < 0)
		err = json_reader_finish(r);
	json_reader_destroy(r);
	keep(ret->name, text_of(reading.docker_name));
	return err;
}

struct error *container_file_read(int fd, struct text id, struct container_facts *ret)
{
	return read_any(fd, (struct text){ 0 }, id, ret);
}

struct error *container_file_parse(struct text bytes, struct text id, struct container_facts *ret)
{
	return read_any(-1, bytes, id, ret);
}

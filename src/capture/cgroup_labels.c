/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/cgroup_labels.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "elf/rooted.h"
#include "os/cgroup_place.h"
#include "os/pod_mounts.h"

struct cgroup_labels_reader {
	int proc; /* not owned */
	int root;
	struct file_buffer buffer;
};

struct error *cgroup_labels_open(int proc, struct cgroup_labels_reader **ret)
{
	struct cgroup_labels_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return &error_no_memory;
	reader->proc = proc;
	reader->root = openat(proc, "1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (reader->root < 0)
		reader->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	*ret = reader;
	return NULL;
}

void cgroup_labels_close(struct cgroup_labels_reader *reader)
{
	if (!reader)
		return;
	if (reader->root >= 0)
		close(reader->root);
	file_buffer_deinit(&reader->buffer);
	free(reader);
}

/* --- files of container engines --- */

#define TASKS "io.containerd.runtime.v2.task"

/* Directories and files of containers by id. */
static const char *const container_files[][2] = {
	{ "/run/containerd/" TASKS "/k8s.io/", "/config.json" },
	{ "/run/k3s/containerd/" TASKS "/k8s.io/", "/config.json" },
	{ "/var/snap/microk8s/common/run/containerd/" TASKS "/k8s.io/", "/config.json" },
	{ "/run/containers/storage/overlay-containers/", "/userdata/config.json" },
	{ "/var/lib/docker/containers/", "/config.v2.json" },
	{ "/run/containerd/" TASKS "/default/", "/config.json" },
};

/* Podman's, of all containers; of those that end with the boot in the second. */
static const char *const lists[] = {
	"/var/lib/containers/storage/overlay-containers/containers.json",
	"/var/lib/containers/storage/overlay-containers/volatile-containers.json",
};

static void read_file(struct cgroup_labels_reader *reader, const char *path, struct text id,
		      struct container_facts *facts)
{
	_cleanup_close_ int fd = rooted_open(reader->root, path);

	/* What stands before an error is true. */
	if (fd >= 0)
		error_destroy(container_file_read(fd, id, facts));
}

static void read_engines(struct cgroup_labels_reader *reader, struct text id,
			 struct container_facts *facts)
{
	char path[256];

	for (size_t i = 0; !facts->image[0] && i < array_length(container_files); i++) {
		snprintf(path, sizeof(path), "%s%.*s%s", container_files[i][0], (int)id.length,
			 id.bytes, container_files[i][1]);
		read_file(reader, path, id, facts);
	}
	for (size_t i = 0; !facts->image[0] && i < array_length(lists); i++)
		read_file(reader, lists[i], id, facts);
}

/* --- kubelet --- */

/* Kubelet's limit of pods on a node is 110, and logs of pods that ended stay for some time. */
#define LOG_DIRECTORIES_MAX 16384

static void copy(char to[CONTAINER_TEXT_ROOM], struct text text)
{
	snprintf(to, CONTAINER_TEXT_ROOM, "%.*s", (int)text.length, text.bytes);
}

static void find_pod(struct cgroup_labels_reader *reader, const char *uid,
		     struct container_facts *facts)
{
	int fd = openat(reader->root, "var/log/pods",
			O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct text namespace, pod;
	const struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (size_t i = 0; i < LOG_DIRECTORIES_MAX && (entry = readdir(dir)); i++) {
		if (!pod_log_directory(text_of(entry->d_name), uid, &namespace, &pod))
			continue;
		copy(facts->namespace, namespace);
		copy(facts->pod, pod);
		break;
	}
	closedir(dir);
}

static void find_name(struct cgroup_labels_reader *reader, const char *uid, uint32_t pid,
		      struct container_facts *facts)
{
	char path[32];
	struct text mountinfo, name;

	snprintf(path, sizeof(path), "%" PRIu32 "/mountinfo", pid);
	if (file_read(reader->proc, path, &reader->buffer, &mountinfo) == 0 &&
	    pod_mounts_container(mountinfo, uid, &name))
		copy(facts->name, name);
}

/* --- together --- */

static void keep(char to[CONTAINER_TEXT_ROOM], const char *from)
{
	snprintf(to, CONTAINER_TEXT_ROOM, "%s", from);
	text_make_safe(to);
}

void cgroup_labels_read(struct cgroup_labels_reader *reader, struct text cgroup, uint32_t pid,
			struct cgroup_labels *ret)
{
	struct container_facts facts = { 0 };
	char uid[POD_UID_ROOM];
	struct text id, shown, unit;
	bool is_container = place_container(cgroup, &id);

	memset(ret, 0, sizeof(*ret));
	if (is_container)
		read_engines(reader, id, &facts);
	if (place_pod(cgroup, uid)) {
		if (!facts.pod[0])
			find_pod(reader, uid, &facts);
		if (is_container && !facts.name[0] && pid)
			find_name(reader, uid, pid, &facts);
	}
	if (!facts.name[0] && place_container_shown(cgroup, &shown))
		copy(facts.name, shown);
	keep(ret->container, facts.name);
	keep(ret->pod, facts.pod);
	keep(ret->namespace, facts.namespace);
	keep(ret->image, facts.image);
	if (place_unit(cgroup, &unit)) {
		copy(ret->unit, unit);
		text_make_safe(ret->unit);
	}
}

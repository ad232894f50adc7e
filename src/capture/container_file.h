/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads what container engines write down about their containers: names and images.
 *
 *	config.json       of the OCI runtime specification, with the annotations of containerd's CRI
 *	                  plugin, of CRI-O and of nerdctl
 *	config.v2.json    Docker, with the labels of Kubernetes
 *	containers.json   Podman: all containers of containers/storage
 *
 * Annotations and labels are texts of users: they are valid UTF-8, and the caller makes them safe
 * for terminals.
 */
#ifndef CAPTURE_CONTAINER_FILE_H
#define CAPTURE_CONTAINER_FILE_H

#include "base/error.h"
#include "base/text.h"

#define CONTAINER_TEXT_ROOM 512

/* "" where unknown, and where a text is longer than the room. */
struct container_facts {
	char name[CONTAINER_TEXT_ROOM], image[CONTAINER_TEXT_ROOM];
	char pod[CONTAINER_TEXT_ROOM], namespace[CONTAINER_TEXT_ROOM];
};

/* More is not read of one file. */
#define CONTAINER_FILE_MAX ((size_t)4 << 20)

/* Read one of these files, and add what it says about the container with this id to `ret`, also
 * when an error follows it. */
struct error *container_file_read(int fd, struct text id, struct container_facts *ret) MUST_CHECK;

/* The same of its bytes. */
struct error *container_file_parse(struct text bytes, struct text id,
				   struct container_facts *ret) MUST_CHECK;

#endif

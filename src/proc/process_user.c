/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/process_user.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "proc/pairs.h"

/* The kernel has no more (create_user_ns() in kernel/user_namespace.c). */
#define NAMESPACES_MAX 33

static uint32_t real_user(int dir)
{
	struct file_buffer buffer = { 0 };
	struct text bytes, numbers, word;
	uint32_t user = UINT32_MAX;

	if (file_read_record(dir, "status", &buffer, &bytes) == 0 &&
	    pairs_find(bytes, ':', TEXT("Uid"), &numbers) && text_word(&numbers, &word) &&
	    !text_u32(word, &user))
		user = UINT32_MAX;
	file_buffer_deinit(&buffer);
	return user;
}

static bool is_ours(int namespace)
{
	struct stat theirs, ours;

	return fstat(namespace, &theirs) == 0 && stat("/proc/self/ns/user", &ours) == 0 &&
	       theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev;
}

/* Who made the outermost of the user namespaces that the process is in and we are not: `user` where
 * there is none, or root did. */
static uint32_t owner_of_namespace(int dir, uint32_t user)
{
	int namespace = openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
	uint32_t owner = 0;

	for (unsigned i = 0; i < NAMESPACES_MAX && namespace >= 0 && !is_ours(namespace); i++) {
		int parent = ioctl(namespace, NS_GET_PARENT);

		if (ioctl(namespace, NS_GET_OWNER_UID, &owner) < 0)
			owner = 0;
		close(namespace);
		namespace = parent;
	}
	if (namespace >= 0)
		close(namespace);
	return owner ? owner : user;
}

uint32_t process_user(uint32_t pid)
{
	_cleanup_close_ int dir = -1;
	char path[32];
	uint32_t user;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return UINT32_MAX;
	user = real_user(dir);
	return user == UINT32_MAX ? user : owner_of_namespace(dir, user);
}

bool process_user_is_stranger(uint32_t user)
{
	return user != 0 && user != getuid();
}

uint32_t process_user_limited(uint32_t pid)
{
	const uint32_t user = process_user(pid);

	return process_user_is_stranger(user) ? user : 0;
}

uint64_t process_user_subject(uint32_t pid)
{
	const uint32_t user = process_user_limited(pid);

	return user ? (uint64_t)1 << 32 | user : pid;
}

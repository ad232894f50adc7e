/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask_taskstats DIR TID...: keep the kernel's answer about each thread, a netlink message as it
 * came, in DIR/TID.bin. Then DIR/gone.bin, about a thread that is not there, and DIR/denied.bin, as
 * one who may not ask; DIR/family holds the number that the family has on this kernel.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "taskstats_netlink.h"

#define NO_SUCH_TID 4194303 /* the highest there may be, and never reached in a young guest */

static void keep(const char *name, const void *bytes, size_t length)
{
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		err(1, "%s", name);
	close(fd);
}

static void keep_answer(const char *name, unsigned short family, unsigned tid)
{
	struct message m;
	size_t length = ask_thread(&m, family, tid);

	keep(name, &m, length);
}

int main(int argc, char **argv)
{
	unsigned short family;
	char text[32];

	if (argc < 2 || chdir(argv[1]))
		err(1, "usage: ask_taskstats DIR TID...");
	open_netlink();
	family = ask_family();
	keep("family", text, (size_t)snprintf(text, sizeof(text), "%u\n", family));
	for (int i = 2; i < argc; i++) {
		snprintf(text, sizeof(text), "%s.bin", argv[i]);
		keep_answer(text, family, (unsigned)strtoul(argv[i], NULL, 10));
	}
	keep_answer("gone.bin", family, NO_SUCH_TID);
	if (chmod(".", 0777) || setuid(1000))
		err(1, "setuid");
	open_netlink();
	keep_answer("denied.bin", family, 1);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ID of this boot of the kernel (/proc/sys/kernel/random/boot_id): another one after each
 * reboot, and the same in all namespaces.
 */
#ifndef OS_BOOT_ID_H
#define OS_BOOT_ID_H

/* Allocated; NULL: it cannot be read. */
char *boot_id(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the kernel count delays of storage and swap? kernel.task_delayacct (Linux 5.14) is 0 by
 * default; then these delays read as 0, which means nothing.
 */
#ifndef TOP_DELAY_SWITCH_H
#define TOP_DELAY_SWITCH_H

#include "base/file.h"

/* `proc` is a descriptor of /proc. */
bool delay_switch_is_on(int proc, struct file_buffer *buffer);

#endif

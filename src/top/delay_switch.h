/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the kernel counts delays of storage and swap: kernel.task_delayacct (Linux 5.14), which
 * is 0 unless somebody wants them. Then they are zero, and that means nothing.
 */
#ifndef TOP_DELAY_SWITCH_H
#define TOP_DELAY_SWITCH_H

#include "base/file.h"

/* `proc` is a descriptor of /proc. */
bool delay_switch_is_on(int proc, struct file_buffer *buffer);

#endif

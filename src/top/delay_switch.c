/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/delay_switch.h"

bool delay_switch_is_on(int proc, struct file_buffer *buffer)
{
	struct text value;

	return !file_read_record(proc, "sys/kernel/task_delayacct", buffer, &value) &&
	       text_equal(text_trim(value), TEXT("1"));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that reading all threads can cost: load a BPF program that does nothing, have the
 * kernel walk all tasks with it, and end.
 */
#include "empty_walk.h"

int main(void)
{
	empty_walk_open();
	empty_walk_begin();
	empty_walk_run();
	return 0;
}

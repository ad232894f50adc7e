/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A structure that another file has by the same name, and another form.
 */
#ifndef UNIT_TWINS_H
#define UNIT_TWINS_H

#include <stddef.h>
#include <stdint.h>

#ifndef OTHER_TWIN
struct twin {
	uint32_t first, last;
};
#endif

/* The size of the other one. */
size_t twin_size(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decodes the instructions that compilers write most (Intel SDM, volume 2, appendix A): 19 of 20 in
 * usual code, each in some nanoseconds, where a disassembler takes half a microsecond. What it
 * answers is what operation.h finds by capstone; a test compares the two.
 */
#ifndef UNWIND_USUAL_OPERATION_H
#define UNWIND_USUAL_OPERATION_H

#include "unwind/operation.h"

/* False: it is another instruction, or not all of it is there. */
bool usual_operation(const uint8_t *bytes, size_t size, struct operation *ret);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters of system calls, with libseccomp. What no rule allows fails with EPERM.
 *
 *	static int add_rules(scmp_filter_ctx filter, const void *context)
 *	{
 *		return call_filter_allow(filter, calls, array_length(calls));
 *	}
 *	if (!call_filter_install(add_rules, NULL))
 *		...
 *
 * Functions of rules return 0, or what libseccomp returned.
 */
#ifndef SECURITY_CALL_FILTER_H
#define SECURITY_CALL_FILTER_H

#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>

/* Calls, whatever their arguments. Numbers that this machine does not have are left out. */
int call_filter_allow(scmp_filter_ctx filter, const int *calls, size_t count);

/* A call with one of these values as the low 32 bits of an argument, which are all that the kernel
 * looks at there. */
int call_filter_allow_values(scmp_filter_ctx filter, int call, unsigned argument, const int *values,
			     size_t count);

/* A call without these bits in an argument. */
int call_filter_allow_without(scmp_filter_ctx filter, int call, unsigned argument, int bits);

/* For the calling thread and those that it starts, which must have PR_SET_NO_NEW_PRIVS. False: the
 * kernel has filters, and did not take this one; kernels without filters go without. */
bool call_filter_install(int (*add_rules)(scmp_filter_ctx filter, const void *context),
			 const void *context);

#endif

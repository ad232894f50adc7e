/* SPDX-License-Identifier: BSD-2-Clause */
#include "security/call_filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

int call_filter_allow(scmp_filter_ctx filter, const int *calls, size_t count)
{
	int failed = 0;

	for (size_t i = 0; !failed && i < count; i++)
		failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	return failed;
}

static int allow_masked(scmp_filter_ctx filter, int call, unsigned argument, uint32_t mask,
			uint32_t bits)
{
	const struct scmp_arg_cmp value = {
		.arg = argument,
		.op = SCMP_CMP_MASKED_EQ,
		.datum_a = mask,
		.datum_b = bits,
	};

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &value);
}

int call_filter_allow_values(scmp_filter_ctx filter, int call, unsigned argument, const int *values,
			     size_t count)
{
	int failed = 0;

	for (size_t i = 0; !failed && i < count; i++)
		failed = allow_masked(filter, call, argument, UINT32_MAX, (uint32_t)values[i]);
	return failed;
}

int call_filter_allow_without(scmp_filter_ctx filter, int call, unsigned argument, int bits)
{
	return allow_masked(filter, call, argument, (uint32_t)bits, 0);
}

/* Does the kernel support filters, and may this process use them? SECCOMP_GET_ACTION_AVAIL is as of
 * Linux 4.14. */
static bool has_filters(void)
{
	const uint32_t action = SECCOMP_RET_ERRNO;

	return !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}

bool call_filter_install(int (*add_rules)(scmp_filter_ctx filter, const void *context),
			 const void *context)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	bool is_installed;

	if (!filter)
		return false;
	/* Search rules by a binary tree. Do not enable the mitigation of speculative store bypass
	 * (SECCOMP_FILTER_FLAG_SPEC_ALLOW): it is meant for processes that run untrusted code, and
	 * slows the whole process down. */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	is_installed = !add_rules(filter, context) && !seccomp_load(filter);
	seccomp_release(filter);
	return is_installed || !has_filters();
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/push_body.h"

#include <string.h>

struct error *push_body_write(void *context, const void *bytes, size_t length)
{
	struct push_body *body = context;

	if (!length)
		return NULL;
	if (!array_reserve(body, length))
		return &error_no_memory;
	memcpy(body->items + body->count, bytes, length);
	body->count += length;
	return NULL;
}

struct error *push_tenant_header(const char *tenant, char **ret)
{
	*ret = NULL;
	if (!tenant)
		return NULL;
	for (const char *c = tenant; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return error_create("the name of the tenant has control characters");
	*ret = text_print("X-Scope-OrgID: %s", tenant);
	return *ret ? NULL : &error_no_memory;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The body of a request, to which parts are appended, and the header that names the tenant.
 */
#ifndef AGENT_PUSH_BODY_H
#define AGENT_PUSH_BODY_H

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

/* A body that is larger is sent, and a new one begun: servers take 4 MiB by default. */
#define PUSH_BODY_ENOUGH ((size_t)2 << 20)

struct push_body {
	ARRAY(char);
};

/* Is a json_sink. */
struct error *push_body_write(void *body, const void *bytes, size_t length) MUST_CHECK;

static inline struct text push_body_text(const struct push_body *body)
{
	return (struct text){ body->items, body->count };
}

/* "X-Scope-OrgID: tenant", to be freed. `*ret` is NULL without a tenant. An error if the tenant has
 * control characters. */
struct error *push_tenant_header(const char *tenant, char **ret) MUST_CHECK;

#endif

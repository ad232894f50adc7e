/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for delivery.h until it is there: no request is sent.
 */
#include "agent/delivery.h"

#define WEAK __attribute__((weak))

WEAK struct error *delivery_open(const struct delivery_options *options, struct delivery **ret)
{
	(void)options;
	(void)ret;
	return error_create("this build sends nothing over the network");
}

WEAK int delivery_fd(const struct delivery *delivery)
{
	(void)delivery;
	return -1;
}

WEAK struct error *delivery_poll(struct delivery *delivery)
{
	(void)delivery;
	return NULL;
}

WEAK struct error *delivery_emit(void *target, const struct sink_request *request)
{
	(void)target;
	(void)request;
	return NULL;
}

WEAK const struct agent_loss *delivery_losses(struct delivery *delivery, size_t *ret_count)
{
	(void)delivery;
	*ret_count = 0;
	return NULL;
}

WEAK struct error *delivery_losses_taken(struct delivery *delivery)
{
	(void)delivery;
	return NULL;
}

WEAK struct error *delivery_drain(struct delivery *delivery, uint64_t ns)
{
	(void)delivery;
	(void)ns;
	return NULL;
}

WEAK void delivery_close(struct delivery *delivery)
{
	(void)delivery;
}

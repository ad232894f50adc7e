/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink whose bytes are taken on by another thread, so that making them and working on them go on
 * at the same time.
 *
 *	struct relay *relay;
 *	struct error *err = relay_open(zstream_write, &zstd, &relay);
 *	if (!err)
 *		err = snapshot_write_json(snapshot, relay_write, relay);
 *	err = relay_close(relay, err);
 *
 * The bytes are copied, in order, and little is kept: a writer that is ahead waits.
 */
#ifndef BASE_RELAY_H
#define BASE_RELAY_H

#include "base/zstream.h"

struct relay;

/* `next` is called from the other thread until relay_close returns, and from no other. */
struct error *relay_open(zstream_sink next, void *context, struct relay **ret) MUST_CHECK;

/* Is a zstream_sink itself: `context` is the struct relay. Fails once the next sink has. */
struct error *relay_write(void *context, const void *bytes, size_t length) MUST_CHECK;

/* Wait until all has been taken on; takes NULL. Returns the error of the next sink, or `before`,
 * which is consumed. */
struct error *relay_close(struct relay *relay, struct error *before) MUST_CHECK;

#endif

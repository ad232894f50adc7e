/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of protobuf-c that are packed behind each other into an array of bytes (base/array.h).
 *
 * A message may be packed in pieces: readers join the repeated fields of all pieces, and take the
 * last value of each other field. So a large message never exists as a whole, but in its bytes.
 */
#ifndef BASE_PROTOBUF_H
#define BASE_PROTOBUF_H

#include <protobuf-c/protobuf-c.h>

#include "base/array.h"

/* Append a message, of any generated type, to an ARRAY(char) or ARRAY(unsigned char). False, with
 * the array as it was, when out of memory. */
#define protobuf_append(array, message)                                                         \
	({                                                                                      \
		const ProtobufCMessage *message_ = &(message)->base;                            \
		/* One more, since an empty message must not be packed to NULL. */              \
		const bool has_room_ =                                                          \
			array_reserve(array, protobuf_c_message_get_packed_size(message_) + 1); \
		if (has_room_)                                                                  \
			(array)->count += protobuf_c_message_pack(                              \
				message_, (uint8_t *)(array)->items + (array)->count);          \
		has_room_;                                                                      \
	})

#endif

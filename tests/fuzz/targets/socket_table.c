/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/socket_table.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes;
	char address[SOCKET_ADDRESS_MAX];
	struct socket_line line;

	while (socket_table_next(&rest, &line)) {
		must(line.local.length == 4 || line.local.length == 16);
		must(line.peer.length == 4 || line.peer.length == 16);
		socket_address_print(&line.local, address);
		must(strlen(address) < sizeof(address));
		must(socket_addresses_equal(&line.peer, &line.peer));
	}
	must(!rest.length);
	fuzz_release(bytes);
	return 0;
}

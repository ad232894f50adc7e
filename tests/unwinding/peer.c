/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

struct peer {
	Dwfl *dwfl;
};

/* Debug files say nothing that .eh_frame does not say, and may have to be downloaded. */
static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word sum, char **ret)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)sum;
	(void)ret;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debuginfo,
};

struct peer *peer_open(pid_t pid)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NULL;
	peer->dwfl = dwfl_begin(&callbacks);
	if (!peer->dwfl || dwfl_linux_proc_report(peer->dwfl, pid) ||
	    dwfl_report_end(peer->dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(peer->dwfl, pid, true)) {
		peer_close(peer);
		return NULL;
	}
	return peer;
}

static int take_frame(Dwfl_Frame *frame, void *context)
{
	struct peer_walk *walk = context;
	Dwarf_Addr address;
	bool is_exact;

	if (!dwfl_frame_pc(frame, &address, &is_exact))
		return DWARF_CB_ABORT;
	if (walk->count == walk->most) {
		walk->was_cut = true;
		return DWARF_CB_ABORT;
	}
	walk->frames[walk->count] = address;
	walk->exact[walk->count++] = is_exact;
	return DWARF_CB_OK;
}

void peer_walk(struct peer *peer, pid_t tid, struct peer_walk *walk)
{
	int result;

	walk->count = 0;
	walk->was_cut = false;
	dwfl_errno();
	result = dwfl_getthread_frames(peer->dwfl, tid, take_frame, walk);
	walk->error = result < 0 ? dwfl_errmsg(-1) : NULL;
}

/* What files say of an address; NULL: nothing. To be freed. */
static Dwarf_Frame *frame_at(struct peer *peer, uint64_t address, bool is_exact)
{
	const Dwarf_Addr at = address - !is_exact;
	Dwfl_Module *module = dwfl_addrmodule(peer->dwfl, at);
	Dwarf_Addr bias = 0;
	Dwarf_Frame *frame;
	Dwarf_CFI *cfi;

	if (!module)
		return NULL;
	cfi = dwfl_module_eh_cfi(module, &bias);
	if (cfi && dwarf_cfi_addrframe(cfi, at - bias, &frame) == 0)
		return frame;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	if (cfi && dwarf_cfi_addrframe(cfi, at - bias, &frame) == 0)
		return frame;
	return NULL;
}

bool peer_describes(struct peer *peer, uint64_t address, bool is_exact)
{
	Dwarf_Frame *frame = frame_at(peer, address, is_exact);

	free(frame);
	return frame;
}

#define RBX 3

static bool is_from_rbx(Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t count;

	return dwarf_frame_cfa(frame, &ops, &count) == 0 && count &&
	       (ops[0].atom == DW_OP_breg0 + RBX ||
		(ops[0].atom == DW_OP_bregx && ops[0].number == RBX));
}

static bool has_lost_rbx(Dwarf_Frame *frame)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	return dwarf_frame_register(frame, RBX, memory, &ops, &count) == 0 && !count &&
	       ops == memory;
}

bool peer_loses_rbx(struct peer *peer, const struct peer_walk *walk)
{
	bool is_lost = false;

	for (size_t i = 0; i < walk->count; i++) {
		Dwarf_Frame *frame = frame_at(peer, walk->frames[i], walk->exact[i]);

		if (i + 1 == walk->count)
			is_lost = is_lost && frame && is_from_rbx(frame);
		else
			is_lost |= frame && has_lost_rbx(frame);
		free(frame);
	}
	return is_lost;
}

const char *peer_name(struct peer *peer, uint64_t address, bool is_exact, const char **ret_module)
{
	Dwfl_Module *module = dwfl_addrmodule(peer->dwfl, address - !is_exact);

	*ret_module =
		module ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL) : NULL;
	return module ? dwfl_module_addrname(module, address - !is_exact) : NULL;
}

void peer_close(struct peer *peer)
{
	if (!peer)
		return;
	dwfl_end(peer->dwfl);
	free(peer);
}

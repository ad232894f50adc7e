# SPDX-License-Identifier: BSD-2-Clause
#
# Walks by unwind tables beside those of elfutils.

COMPARE := $(B)/tests/unwinding/compare

.PHONY: unwind-compare
unwind-compare: $(COMPARE)

$(COMPARE): $(addprefix $(COMPARE:compare=),compare.o space.o peer.o tracer.o verdict.o) \
            $(call objects,$(call sources,base os elf unwind))
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(LIBS)

-include $(wildcard $(B)/tests/unwinding/*.d)

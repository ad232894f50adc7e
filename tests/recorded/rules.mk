# SPDX-License-Identifier: BSD-2-Clause

RECORDED := $(B)/tests/recorded

$(RECORDED)/replies: $(RECORDED)/replies.o $(PARTS)
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(LIBS)

# What tools/record-fixtures runs in its guest.
$(RECORDED)/workload: $(RECORDED)/workload.o
	$(call say,LINK  $@)
	$(Q)$(CC) -static $(CFLAGS) $(LDFLAGS) -o $@ $^

-include $(addsuffix .d,$(RECORDED)/replies $(RECORDED)/workload)

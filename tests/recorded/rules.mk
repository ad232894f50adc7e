# SPDX-License-Identifier: BSD-2-Clause

RECORDED := $(B)/tests/recorded

$(RECORDED)/replies: $(RECORDED)/replies.o $(filter-out $(B)/src/cmd/%,$(PROGRAM))
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(LIBS)

# What tools/record-fixtures boots. The scheduler wants clang and libbpf.
RECORDED_GUEST := $(addprefix $(RECORDED)/guest/,workload ask_taskstats sched_ext)

$(RECORDED)/guest/sched_ext: LDLIBS := -lbpf -lelf -lz

$(RECORDED_GUEST): %: %.o
	$(call say,LINK  $@)
	$(Q)$(CC) -static $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(RECORDED)/guest/%.bpf.o: tests/recorded/guest/%.bpf.c
	$(call say,BPF   $@)
	@mkdir -p $(@D)
	$(Q)clang -target bpf -mcpu=v3 -O2 -g -Wall -I/usr/include/$(shell $(CC) -dumpmachine) -c -o $@ $<

recorded-guest: $(RECORDED_GUEST) $(RECORDED)/guest/sched_ext.bpf.o

.PHONY: recorded-guest

-include $(addsuffix .d,$(RECORDED)/replies $(RECORDED_GUEST))

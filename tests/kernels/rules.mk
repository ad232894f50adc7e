# SPDX-License-Identifier: BSD-2-Clause
#
# Programs that run in the guests of the kernel tests: static. The scheduler wants clang and libbpf.

GUEST := tests/kernels/programs

GUEST_PROGRAMS := $(patsubst %.c,$(B)/%,$(filter-out %.bpf.c,$(wildcard $(GUEST)/*.c)))

.PHONY: guest-programs
guest-programs: $(GUEST_PROGRAMS) $(B)/$(GUEST)/sched_ext.bpf.o

$(B)/$(GUEST)/sched_ext: LDLIBS := -lbpf -lelf -lz

$(GUEST_PROGRAMS): %: %.o
	$(call say,LINK  $@)
	$(Q)$(CC) -static $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/$(GUEST)/%.bpf.o: $(GUEST)/%.bpf.c
	$(call say,BPF   $@)
	@mkdir -p $(@D)
	$(Q)clang -target bpf -mcpu=v3 -O2 -g -Wall -I$(SYSROOT)/usr/include/$(shell $(CC) -dumpmachine) -c -o $@ $<

-include $(GUEST_PROGRAMS:=.d)

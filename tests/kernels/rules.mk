# SPDX-License-Identifier: BSD-2-Clause
#
# Programs that run in the guests of the kernel tests: static. The scheduler wants clang and libbpf.

GUEST := tests/kernels/programs

GUEST_PROGRAMS := $(patsubst %.c,$(B)/%,$(filter-out %.bpf.c,$(wildcard $(GUEST)/*.c)))

# jemalloc is there for this machine's own kind only.
ifeq ($(CROSS),)
GUEST_HEAP := $(B)/$(GUEST)/heap
GUEST_SHAPES := $(addprefix $(B)/$(GUEST)/,shapes shapes-static)
# Where the host has no Go, the case is skipped.
GUEST_GO := $(if $(shell command -v go),$(B)/$(GUEST)/calls_go)
endif

.PHONY: guest-programs
guest-programs: $(GUEST_PROGRAMS) $(GUEST_GO) $(GUEST_HEAP) $(GUEST_SHAPES) $(B)/$(GUEST)/lives $(B)/$(GUEST)/sleepers $(B)/$(GUEST)/lock_waits \
	$(B)/$(GUEST)/states \
	$(B)/$(GUEST)/kstats_calls $(B)/$(GUEST)/kstats_driver $(B)/$(GUEST)/sched_ext.bpf.o

$(B)/$(GUEST)/heap: tests/programs/heap.c
	$(call say,LINK  $@)
	@mkdir -p $(@D)
	$(Q)$(CC) -static $(CFLAGS) $(CPPFLAGS) -o $@ $< -ljemalloc -lpthread -lm

$(B)/$(GUEST)/calls_go: tests/programs/runtimes/calls.go
	$(call say,LINK  $@)
	@mkdir -p $(@D)
	$(Q)GO111MODULE=off CGO_ENABLED=0 go build -o $@ $<

$(B)/$(GUEST)/lives $(B)/$(GUEST)/sleepers $(B)/$(GUEST)/lock_waits: $(B)/$(GUEST)/%: $(B)/tests/programs/%.o
	$(call say,LINK  $@)
	@mkdir -p $(@D)
	$(Q)$(CC) -static $(CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread

$(B)/$(GUEST)/kstats_calls: $(B)/tests/programs/kstats_calls.o
	$(call say,LINK  $@)
	@mkdir -p $(@D)
	$(Q)$(CC) -static $(CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread

$(B)/$(GUEST)/kstats_driver: $(B)/tests/programs/kstats_driver.o $(PARTS)
	$(call say,LINK  $@)
	@mkdir -p $(@D)
	$(Q)$(CC) -static $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(STATIC_LIBS) 2> $@.log || { cat $@.log; exit 1; }

$(B)/$(GUEST)/states: $(patsubst %.c,$(B)/%.o,$(wildcard tests/programs/thread_states/*.c))
	$(call say,LINK  $@)
	@mkdir -p $(@D)
	$(Q)$(CC) -static $(CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread

# As tests/programs/unwind/build has them.
$(GUEST_SHAPES): unwind-programs
	@mkdir -p $(@D)
	$(Q)cp $(B)/tests/programs/unwind/$(@F) $@

$(B)/$(GUEST)/sched_ext: LDLIBS := -lbpf -lelf -lz

# What it tries is ctprof's own, of the layers that that sees.
$(B)/$(GUEST)/kstats_recorder: $(call objects,$(call sources,base histogram os kstats))
$(B)/$(GUEST)/kstats_recorder: LDLIBS := -Wl,--gc-sections -lyajl_s -lzstd -lpthread

$(GUEST_PROGRAMS): %: %.o
	$(call say,LINK  $@)
	$(Q)$(CC) -static $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/$(GUEST)/%.bpf.o: $(GUEST)/%.bpf.c
	$(call say,BPF   $@)
	@mkdir -p $(@D)
	$(Q)clang -target bpf -mcpu=v3 -O2 -g -Wall -I$(SYSROOT)/usr/include/$(shell $(CC) -dumpmachine) -c -o $@ $<

-include $(GUEST_PROGRAMS:=.d)

# SPDX-License-Identifier: BSD-2-Clause
#
# Programs that tests and the demo run. The example of the library is not among them: it is built
# against the installed library.

TEST_PROGRAMS := $(patsubst %.c,$(B)/%,$(filter-out %/snapshot_example.c %/screen.c %/kstats_driver.c \
                   %/kstats_reader.c %/kstats_served.c %/store_driver.c %/deliver.c %/push_bodies.c, \
                   $(wildcard tests/programs/*.c)))

# The screen of top with made-up threads: of our code, what that needs.
SCREEN        := $(B)/tests/programs/screen

# The BPF recorder of kstats without the command.
KSTATS_DRIVER := $(B)/tests/programs/kstats_driver

# What the agent sends, into files, with all of its layers.
PUSH_BODIES   := $(B)/tests/programs/push_bodies

# One program with jemalloc in it in different ways; the prefixed one only where it is asked for, since
# its jemalloc has to be built first.
HEAP          := $(B)/tests/programs/heap
HEAP_PROGRAMS := $(addprefix $(HEAP)-,linked static static-pie)

# Threads of known behaviour: a file of them for each kind.
STATES        := $(B)/tests/programs/states
STATES_PARTS  := $(patsubst %.c,$(B)/%.o,$(wildcard tests/programs/thread_states/*.c))

# What the agent does with a ClickHouse server, without the agent.
STORE_DRIVER  := $(B)/tests/programs/store_driver

# Requests of the agent without what it measures.
DELIVER       := $(B)/tests/programs/deliver

# Programs that record with libkstats, in both of its forms, and one that sees what they did.
KSTATS_USER   := $(B)/tests/programs/kstats_library
KSTATS_PARTS  := $(patsubst %.c,$(B)/%.o,$(wildcard tests/programs/kstats_library/*.c))
KSTATS_READER := $(B)/tests/programs/kstats_reader
KSTATS_SEEN   := $(call objects,$(call sources,base histogram os kstats))

.PHONY: test-programs
test-programs: $(TEST_PROGRAMS) $(HEAP_PROGRAMS) $(STATES) $(SCREEN) $(KSTATS_DRIVER) $(KSTATS_READER) $(PUSH_BODIES) \
               $(KSTATS_USER)-shared $(KSTATS_USER)-static

$(HEAP)-linked:     HEAP_FLAGS := -ljemalloc
$(HEAP)-static:     HEAP_FLAGS := -static -l:libjemalloc.a -lstdc++ -lm
$(HEAP)-static-pie: HEAP_FLAGS := -static-pie -fPIE -l:libjemalloc_pic.a -lstdc++ -lm

$(HEAP_PROGRAMS): %: $(HEAP).o
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(HEAP_FLAGS)

$(HEAP)-prefixed: tests/programs/heap.c
	$(call say,LINK  $@)
	$(Q)lib=$$(tests/programs/build_jemalloc) && \
	$(CC) $(filter-out -M%,$(OWN)) $(CPPFLAGS) $(CFLAGS) -DPREFIX=_rjem_ -o $@ $< $$lib/libjemalloc_pic.a -lm

# Stacks that are hard to walk, built in many ways.
.PHONY: unwind-programs
unwind-programs:
	$(Q)tests/programs/unwind/build $(B)/tests/programs/unwind

$(STATES): $(STATES_PARTS)
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread

$(TEST_PROGRAMS): %: %.o
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread -lm

$(SCREEN): %: %.o $(call objects,$(call sources,base compare metric snapshot state tui))
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(LIBS)

$(KSTATS_DRIVER).o: $(B)/bpf/kstats.skel.h

$(KSTATS_DRIVER): %: %.o $(PARTS)
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(LIBS)

$(STORE_DRIVER): %: %.o $(filter-out $(B)/src/cmd/%,$(PROGRAM))
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(LIBS)

$(DELIVER) $(PUSH_BODIES): %: %.o $(filter-out $(B)/src/cmd/%,$(PROGRAM))
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(LIBS)

$(KSTATS_USER)-shared: $(B)/libkstats.so
$(KSTATS_USER)-shared: KSTATS_LINK = -L$(B) -lkstats -Wl,-rpath,$(abspath $(B))
$(KSTATS_USER)-static: $(B)/libkstats.a
$(KSTATS_USER)-static: KSTATS_LINK = $(B)/libkstats.a

$(KSTATS_USER)-shared $(KSTATS_USER)-static: $(KSTATS_PARTS) $(KSTATS_SEEN)
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $(filter %.o,$^) $(KSTATS_LINK) $(LIBS)

$(KSTATS_READER): $(KSTATS_READER).o $(KSTATS_SEEN)
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(LIBS)

-include $(TEST_PROGRAMS:=.d) $(STATES_PARTS:.o=.d) $(SCREEN).d $(KSTATS_DRIVER).d $(STORE_DRIVER).d $(DELIVER).d $(PUSH_BODIES).d
-include $(KSTATS_PARTS:.o=.d) $(KSTATS_READER).d

# What walks of its stack are compared with.
$(B)/tests/programs/chain.o: CFLAGS := -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls

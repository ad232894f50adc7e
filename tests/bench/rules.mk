# SPDX-License-Identifier: BSD-2-Clause

BENCH          := $(B)/tests/bench
BENCH_PROGRAMS := $(addprefix $(BENCH)/,many_threads capture_ratio taskstats_ratio load replicate \
                                        bare_yajl timed phases collect recorder first_record heap_read many_stacks \
                                        unwind_tables walk_cost states_cost)
# The same functions, to be walked in two ways.
BENCH_DEEP     := $(addprefix $(BENCH)/,deep deep_pointers)
BENCH_PARTS    := $(PARTS)
BENCH_SHARED   := $(addprefix $(BENCH)/,bare_reading empty_walk)

bench: $(B)/ctprof $(BENCH_PROGRAMS) $(BENCH_DEEP) $(BENCH)/object_load $(BENCH)/kstats_cost $(B)/bpf/task_iterator.bpf.o \
       $(B)/tests/programs/key_answer
	$(Q)tests/bench/run
	$(Q)tests/bench/kstats_probes.sh

$(BENCH)/capture_ratio: $(BENCH)/bare_reading.o
$(BENCH)/phases:        $(BENCH)/empty_walk.o

# Its stacks are what it is for.
$(BENCH)/many_stacks.o: CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls

$(BENCH_PROGRAMS): $(BENCH)/%: $(BENCH)/%.o $(BENCH_PARTS)
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(LIBS)

$(BENCH)/deep: tests/bench/deep.c
	$(Q)$(CC) -O2 -fomit-frame-pointer -fno-optimize-sibling-calls $(CPPFLAGS) -Wall -o $@ $<

$(BENCH)/deep_pointers: tests/bench/deep.c
	$(Q)$(CC) -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls $(CPPFLAGS) -Wall -o $@ $<

$(B)/bpf/walk.bpf.o: tests/bench/walk.bpf.c
	$(call say,BPF   $<)
	@mkdir -p $(@D)
	$(Q)$(BPF_CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra $(BPF_INCLUDES) -MMD -MP -c -o $@ $<

$(BENCH)/walk_cost.o: $(B)/bpf/walk.skel.h

$(B)/bpf/nothing.bpf.o: tests/bench/nothing.bpf.c
	$(call say,BPF   $<)
	@mkdir -p $(@D)
	$(Q)$(BPF_CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra $(BPF_INCLUDES) -MMD -MP -c -o $@ $<

$(BENCH)/states_cost.o: $(B)/bpf/nothing.skel.h

# With the library as programs have it.
$(BENCH)/kstats_cost: $(BENCH)/kstats_cost.o $(BENCH)/kstats_sides.o $(B)/libkstats.so
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B) -lkstats -Wl,-rpath,$(abspath $(B)) -lpthread

# Nothing else here needs libbpf.
$(BENCH)/object_load: $(BENCH)/object_load.o
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lbpf -lelf -lz

$(B)/bpf/empty_walk.bpf.o: tests/bench/empty_walk.bpf.c
	$(call say,BPF   $<)
	@mkdir -p $(@D)
	$(Q)$(BPF_CLANG) -target bpf -O2 -g -Wall -Wextra $(BPF_INCLUDES) -MMD -MP -c -o $@ $<

$(BENCH)/empty_walk.o: $(B)/bpf/empty_walk.lskel.h

-include $(BENCH_PROGRAMS:=.d) $(BENCH_SHARED:=.d) $(BENCH)/object_load.d $(BENCH)/kstats_cost.d $(BENCH)/kstats_sides.d $(B)/bpf/empty_walk.bpf.d $(B)/bpf/walk.bpf.d $(B)/bpf/nothing.bpf.d

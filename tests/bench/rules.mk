# SPDX-License-Identifier: BSD-2-Clause

BENCH          := $(B)/tests/bench
BENCH_PROGRAMS := $(addprefix $(BENCH)/,many_threads capture_ratio taskstats_ratio load replicate \
                                        bare_yajl timed phases collect recorder first_record heap_read many_stacks \
                                        unwind_tables walk_cost states_cost first_event cpu_time attach_least \
                                        bare_walk bare_capture mapped)
# The same functions, to be walked in two ways.
BENCH_DEEP     := $(addprefix $(BENCH)/,deep deep_pointers)
BENCH_PARTS    := $(PARTS)
BENCH_SHARED   := $(addprefix $(BENCH)/,bare_reading empty_walk scan_frames)
BENCH_BPF      := empty_walk walk nothing stacks elapsed

.PHONY: bench-programs

bench: bench-programs
	$(Q)tests/bench/run $(BENCH_OPTIONS)

bench-programs: $(B)/ctprof $(BENCH_PROGRAMS) $(BENCH_DEEP) $(BENCH)/many_binaries $(BENCH)/object_load $(BENCH)/kstats_cost \
                $(B)/bpf/task_iterator.bpf.o $(B)/tests/programs/key_answer

$(BENCH)/capture_ratio: $(BENCH)/bare_reading.o
$(BENCH)/phases:        $(BENCH)/empty_walk.o
$(BENCH)/bare_walk:     $(BENCH)/empty_walk.o
$(BENCH)/bare_capture:  $(BENCH)/empty_walk.o
$(BENCH)/unwind_tables: $(BENCH)/scan_frames.o

# Its stacks are what it is for.
$(BENCH)/many_stacks.o: CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls

$(BENCH_PROGRAMS): $(BENCH)/%: $(BENCH)/%.o $(BENCH_PARTS)
	$(call say,LINK  $@)
	$(Q)$(call link,$(CFLAGS) $(LDFLAGS) -Wl$(comma)--gc-sections -o $@ $^)

# A build-id of text, to make other programs of it.
$(BENCH)/many_binaries: $(BENCH)/many_threads.o
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--build-id=0x$$(printf ctprof-bench-0000000 | od -An -v -tx1 | tr -d ' \n') -o $@ $^ -lpthread

$(BENCH)/deep: tests/bench/deep.c
	$(Q)$(CC) -O2 -fomit-frame-pointer -fno-optimize-sibling-calls $(CPPFLAGS) -Wall -o $@ $<

$(BENCH)/deep_pointers: tests/bench/deep.c
	$(Q)$(CC) -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls $(CPPFLAGS) -Wall -o $@ $<

# Each has a skeleton. They use only a part of the functions of headers.
$(BENCH_BPF:%=$(B)/bpf/%.bpf.o): $(B)/bpf/%.bpf.o: tests/bench/%.bpf.c
	$(call say,BPF   $<)
	@mkdir -p $(@D)
	$(Q)$(BPF_CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-function $(BPF_INCLUDES) -MMD -MP -c -o $@ $<

$(BENCH)/empty_walk.o:     $(B)/bpf/empty_walk.lskel.h
$(BENCH)/walk_cost.o:      $(B)/bpf/walk.skel.h
$(BENCH)/attach_least.o:   $(B)/bpf/nothing.skel.h $(B)/bpf/stacks.skel.h
$(BENCH)/states_cost.o:    $(B)/bpf/nothing.skel.h $(B)/bpf/elapsed.skel.h

# With the library as programs have it.
$(BENCH)/kstats_cost: $(BENCH)/kstats_cost.o $(BENCH)/kstats_sides.o $(B)/libkstats.so
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B) -lkstats -Wl,-rpath,$(abspath $(B)) -lpthread

# Nothing else here needs libbpf.
$(BENCH)/object_load: $(BENCH)/object_load.o
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lbpf -lelf -lz

-include $(BENCH_PROGRAMS:=.d) $(BENCH_SHARED:=.d) $(BENCH)/object_load.d $(BENCH)/kstats_cost.d $(BENCH)/kstats_sides.d $(BENCH_BPF:%=$(B)/bpf/%.bpf.d)

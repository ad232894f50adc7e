# SPDX-License-Identifier: BSD-2-Clause

BENCH          := $(B)/tests/bench
BENCH_PROGRAMS := $(addprefix $(BENCH)/,many_threads capture_ratio taskstats_ratio load replicate \
                                        bare_yajl timed)
BENCH_PARTS    := $(filter-out $(B)/src/cmd/%,$(PROGRAM))

bench: $(B)/ctprof $(BENCH_PROGRAMS)
	$(Q)tests/bench/run

$(BENCH)/capture_ratio: $(BENCH)/bare_reading.o

$(BENCH_PROGRAMS): $(BENCH)/%: $(BENCH)/%.o $(BENCH_PARTS)
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(LIBS)

-include $(BENCH_PROGRAMS:=.d) $(BENCH)/bare_reading.d

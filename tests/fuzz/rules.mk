# SPDX-License-Identifier: BSD-2-Clause
#
#   make fuzz-targets     build/tests/fuzz/<target>, one for each file of targets/
#   make fuzz             fuzz each for FUZZ_SECONDS, starting from corpus/ and what was found before
#
# Everything is built again with clang and its sanitizers, beside the ordinary build.

FUZZ_CC      ?= clang-14
FUZZ_SECONDS ?= 60

FUZZ         ?= $(B)/tests/fuzz
# To replay the corpus, not optimized, and with lines only as debug information, which takes a quarter of the time to
# compile. tests/fuzz/run --seconds optimizes, in a folder of its own.
FUZZ_OPTIMIZE ?= -O0 -g1
FUZZ_FLAGS   := $(FUZZ_OPTIMIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
FUZZ_CHECKS  := address,undefined

# Each target is linked with all layers, which lld does in less than half of the time.
FUZZ_LINKER  := $(if $(shell command -v ld.lld),-fuse-ld=lld)

fuzz_objects  = $(patsubst %.c,$(FUZZ)/objects/%.o,$(1))
FUZZ_COMMON  := $(call fuzz_objects,$(call sources,$(LAYERS)) libctprof/libctprof.c kmod/control.c $(wildcard tests/fuzz/*.c))
FUZZ_TARGETS := $(patsubst tests/fuzz/targets/%.c,$(FUZZ)/%,$(wildcard tests/fuzz/targets/*.c))

.PHONY: fuzz-targets

fuzz-targets: $(FUZZ_TARGETS)

$(FUZZ)/objects/%.o: %.c
	$(call say,FUZZ  $<)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(OWN) $(CPPFLAGS) -Itests/fuzz $(FUZZ_FLAGS) \
		-fsanitize=fuzzer-no-link,$(FUZZ_CHECKS) -c -o $@ $<

# It has the table of commands, and the fuzzer has its own main.
$(FUZZ)/objects/src/cmd/main.o: FUZZ_FLAGS += -Dmain=ctprof_main -Wno-missing-prototypes

$(FUZZ)/common.a: $(FUZZ_COMMON)
	$(Q)rm -f $@ && ar rcs $@ $^

$(FUZZ_TARGETS): $(FUZZ)/%: $(FUZZ)/objects/tests/fuzz/targets/%.o $(FUZZ)/common.a
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer,$(FUZZ_CHECKS) $(FUZZ_LINKER) -o $@ $^ $(LIBS)

# What is found is kept below the build folder; what broke something belongs into corpus/.
fuzz: fuzz-targets
	$(Q)tests/fuzz/run --seconds $(FUZZ_SECONDS)

-include $(FUZZ_COMMON:.o=.d)
-include $(patsubst $(FUZZ)/%,$(FUZZ)/objects/tests/fuzz/targets/%.d,$(FUZZ_TARGETS))

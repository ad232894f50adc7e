# SPDX-License-Identifier: BSD-2-Clause
#
# One program per module, under the address and undefined-behaviour sanitizers. The sources are
# compiled a second time for them, into an archive of all layers but main(), and the libraries.

U        := $(B)/tests/unit
SAN      := $(B)/tests/san
# Lines are enough for stacks of failures; all other debug information takes a fifth of the time to compile.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g1 -O1
# Two hundred programs are linked, each with all layers, which takes lld half of the time.
UNIT_LINKER := $(if $(CROSS),,$(if $(shell command -v ld.lld),-fuse-ld=lld))

SAN_OBJECTS   := $(patsubst %.c,$(SAN)/%.o,$(filter-out src/cmd/main.c,$(call sources,$(LAYERS)))) \
                 $(SAN)/libctprof/libctprof.o $(patsubst %.c,$(SAN)/%.o,$(wildcard libkstats/*.c))
UNIT_PROGRAMS := $(patsubst tests/unit/%.c,$(U)/%,$(wildcard tests/unit/test_*.c))
UNIT_SHARED   := $(patsubst tests/unit/%.c,$(U)/%.o,\
                   $(filter-out tests/unit/test_% tests/unit/http_scene.c,$(wildcard tests/unit/*.c)))

# An emulated program cannot have sanitizers: what is tested is what is built then. The optimizer
# would see, and refuse, that tests ask for impossible sizes.
ifneq ($(CROSS),)
SANITIZE      := -g
SAN_OBJECTS   := $(filter-out $(B)/src/cmd/main.o,$(PROGRAM)) $(B)/libctprof/libctprof.o $(KSTATS)
endif

.PHONY: unit-tests
unit-tests: $(UNIT_PROGRAMS)

$(SAN)/%.o: %.c
	$(call say,CC    $< (sanitized))
	@mkdir -p $(@D)
	$(Q)$(CC) $(OWN) $(CPPFLAGS) $(SANITIZE) -Werror -c -o $@ $<

$(SAN)/all.a: $(SAN_OBJECTS)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(TOOLS)ar rcs $@ $^

$(U)/%.o: tests/unit/%.c
	$(call say,CC    $<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OWN) $(CPPFLAGS) -Itests $(SANITIZE) -Werror -c -o $@ $<

$(UNIT_PROGRAMS): $(U)/%: $(U)/%.o $(UNIT_SHARED) $(SAN)/all.a
	$(call say,LINK  $@)
	$(Q)$(CC) $(SANITIZE) $(UNIT_LINKER) $(LDFLAGS) $(WRAPPED) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
		-lcmocka $(LIBS)

# Functions of the system that a test puts itself in front of.
$(U)/test_base_json_reader:       WRAPPED := -Wl,--wrap=malloc,--wrap=realloc
$(U)/test_os_taskstats_socket: WRAPPED := -Wl,--wrap=recv,--wrap=send
$(U)/test_process_unwinder:         WRAPPED := -Wl,--wrap=bpf_map_delete_elem

# Of the kernel module, what is no kernel.
$(U)/test_kmod_control:   $(SAN)/kmod/control.o

# Reads from itself where members of its structures are.
$(U)/test_elf_debug_file.o $(U)/twins.o: SANITIZE += -g

# Other programs do not load libmicrohttpd and the libraries of TLS that it brings.
$(U)/test_serve_http:     $(U)/http_scene.o

.SECONDARY: $(UNIT_PROGRAMS:=.o)

-include $(wildcard $(U)/*.d $(SAN)/src/*/*.d $(SAN)/libctprof/*.d $(SAN)/libkstats/*.d $(SAN)/kmod/*.d)

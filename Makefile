# SPDX-License-Identifier: BSD-2-Clause
#
#   make            build/ctprof, build/libctprof.{a,so} and build/libkstats.{a,so}
#   make SHARED=1   the same, with shared libraries
#   make static     build/ctprof-static: one file that runs on any x86_64 Linux
#   make install    binary, libraries, headers, manual pages, completion, systemd unit, dashboards (PREFIX, DESTDIR)
#   make doc        update doc/metrics.md and doc/kernels.md
#   make bench      compare the cost with other tools (doc/performance.md)
#   make fuzz       fuzz every parser for FUZZ_SECONDS each
#
# CROSS=aarch64-linux-gnu builds for that machine in build/aarch64/, with the libraries that
# tests/aarch64/sysroot downloads. V=1 shows the commands. All outputs are in build/.

TOOLS    := $(CROSS:%=%-)
MACHINE  := $(firstword $(subst -, ,$(CROSS)))
ifeq ($(origin CC),default)
CC       := $(TOOLS)gcc
endif
PREFIX   ?= /usr/local
B        := build$(MACHINE:%=/%)
VERSION  := $(shell sed -n 's/.*CTPROF_VERSION "\(.*\)"/\1/p' src/base/version.h)

WARNINGS := -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Wstrict-prototypes \
            -Wwrite-strings -Wformat=2
CFLAGS   ?= -O2 -g
ifneq ($(CROSS),)
SYSROOT  := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ctprof/sysroot/$(MACHINE:aarch64=arm64)
CPPFLAGS += -isystem $(SYSROOT)/usr/include -isystem $(SYSROOT)/usr/include/$(CROSS)
LDFLAGS  += $(foreach lib,lib usr/lib,-L$(SYSROOT)/$(lib)/$(CROSS) -Wl,-rpath-link,$(SYSROOT)/$(lib)/$(CROSS))
else
SYSROOT  :=
endif
CPPFLAGS += -D_GNU_SOURCE -Isrc -Iinclude -isystem $(B)/bpf -isystem $(B)/proto -isystem $(B)/state -isystem $(SYSROOT)/usr/include/libnl3
# Reports are the same on all machines: a*b+c is not one instruction where there is one.
OWN      := -std=gnu11 -ffp-contract=off $(WARNINGS) -fPIC -fvisibility=hidden -ffunction-sections -MMD -MP

LAYERS   := $(shell sed -n 's/^\([a-z]*\):.*/\1/p' src/LAYERS)
sources   = $(filter-out %.bpf.c,$(wildcard $(addprefix src/,$(addsuffix /*.c,$(1)))))
objects   = $(patsubst %.c,$(B)/%.o,$(1))

PROGRAM  := $(call objects,$(call sources,$(LAYERS)))
# Tests, guests and benchmarks link the program without its commands.
PARTS    := $(filter-out $(foreach layer,cmd cli top serve agent,$(B)/src/$(layer)/%),$(PROGRAM))
comma    := ,
LIBRARY  := $(call objects,$(call sources,base metric snapshot) $(wildcard libctprof/*.c))
KSTATS   := $(call objects,$(wildcard libkstats/*.c))
LIBS     := -lbpf -lnl-genl-3 -lnl-3 -lyajl -ldw -lelf -lcapstone -liberty -llzma -lprotobuf-c -lcap -lseccomp -lz -lzstd -lmd -lutf8proc -lncursesw -ltinfo \
            -Wl,--as-needed -lmicrohttpd -Wl,--no-as-needed -lm -lpthread
LIB_LIBS := -lyajl -lzstd
ARCHIVES := -lbpf -lnl-genl-3 -lnl-3 -lyajl_s -ldw -lelf -lcapstone -liberty -lprotobuf-c -lcap -lseccomp -lzstd -llzma -lbz2 -lz \
            -lmd -lutf8proc -lncursesw -ltinfo -lmicrohttpd

# capstone refers to its decoders for all machines, whose tables of pointers are relocated at each start. These are not
# used, so they are left out of programs that contain it.
UNUSED   := $(foreach machine,AArch64 ARM EVM M680X M68K Mips PPC Sparc SystemZ TMS320C64x XCore,\
            -Wl,--defsym=$(machine)_global_init=0,--defsym=$(machine)_option=0)

# libmicrohttpd refers to GnuTLS, which it calls for HTTPS only: src/serve/no_tls.c.
UNUSED   += $(foreach function,alpn_set_protocols bye certificate_allocate_credentials certificate_free_credentials \
            certificate_server_set_request certificate_set_dh_params certificate_set_retrieve_function2 \
            certificate_set_retrieve_function3 certificate_set_x509_key_mem certificate_set_x509_key_mem2 \
            certificate_set_x509_trust_mem cipher_get credentials_set deinit dh_params_deinit dh_params_import_pkcs3 \
            dh_params_init handshake init malloc priority_deinit priority_init priority_set protocol_get_version \
            psk_allocate_server_credentials psk_free_server_credentials psk_set_server_credentials_function \
            record_check_pending record_get_direction record_recv record_send session_get_ptr session_set_ptr \
            strerror transport_set_int2,-Wl,--defsym=gnutls_$(function)=0)
STATIC_LIBS := $(UNUSED) $(ARCHIVES) -lm -lpthread

# The program contains all libraries but the C library, since loading them takes longer than all else at its start.
# Without their archives, or with SHARED=1, it is linked with shared libraries.
CONTAINED := $(UNUSED) -Wl,-Bstatic $(ARCHIVES) -Wl,-Bdynamic -lm -lpthread
ifeq ($(SHARED),)
link       = $(CC) $(1) $(CONTAINED) 2> /dev/null || $(CC) $(1) $(LIBS)
else
link       = $(CC) $(1) $(LIBS)
endif

ifneq ($(V),1)
Q    := @
say   = @echo "  $(1)"
endif

.DELETE_ON_ERROR:
.SECONDARY: $(B)/bpf/profile.bpf.o $(B)/bpf/states.bpf.o $(B)/bpf/kstats.bpf.o $(B)/bpf/task_iterator.bpf.o $(B)/bpf/kernel_lock.bpf.o
.PHONY: all static install bench fuzz man doc clean

all: $(B)/ctprof $(B)/libctprof.a $(B)/libctprof.so $(B)/libkstats.a $(B)/libkstats.so

$(B)/%.o: %.c
	$(call say,CC    $<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OWN) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# The objects of these sources in the program, its tests and its fuzzers, to give all of them prerequisites that
# the compiler cannot discover.
objects_everywhere = $(foreach build,$(B) $(B)/tests/san $(or $(FUZZ),$(B)/tests/fuzz)/objects,$(patsubst %.c,$(build)/%.o,$(wildcard $(1))))

# --- BPF programs: the same for every machine, embedded in the program as skeletons ---

BPF_CLANG    ?= clang
BPFTOOL      ?= bpftool
BPF_INCLUDES := -Isrc -idirafter /usr/include
SKELETONS    := $(B)/bpf/task_iterator.lskel.h $(B)/bpf/kernel_lock.lskel.h $(B)/bpf/profile.skel.h $(B)/bpf/states.skel.h $(B)/bpf/kstats.skel.h

vpath %.bpf.c $(sort $(dir $(wildcard src/*/*.bpf.c)))

$(B)/bpf/%.bpf.o: %.bpf.c
	$(call say,BPF   $<)
	@mkdir -p $(@D)
	$(Q)$(BPF_CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra $(BPF_INCLUDES) -MMD -MP -c -o $@ $<

# A light skeleton: relocations are resolved here, so nothing is parsed when the program starts.
$(B)/bpf/%.lskel.h: $(B)/bpf/%.bpf.o
	$(Q)$(BPFTOOL) gen skeleton -L $< name $*_bpf > $@

# A skeleton that libbpf loads and relocates for the running kernel. Linking the object strips debug sections.
$(B)/bpf/%.skel.h: $(B)/bpf/%.bpf.o
	$(Q)$(BPFTOOL) gen object $(B)/bpf/$*.linked.o $<
	$(Q)$(BPFTOOL) gen skeleton $(B)/bpf/$*.linked.o name $*_bpf > $@

$(call objects_everywhere,src/bpf/*.c src/capture/*.c src/kstats/*.c src/process/*.c src/sched/*.c): $(SKELETONS)

# --- names of system calls, from the kernel's headers, without __NR_ macros that are no calls ---

SYSCALLS := $(B)/state/syscalls.h

$(SYSCALLS):
	@mkdir -p $(@D)
	$(Q)echo '#include <asm/unistd.h>' | $(CC) $(CPPFLAGS) -E -dM - | \
		sed -nE '/__NR_(syscalls|arch_specific_syscall) /d; s/^#define __NR_([a-z0-9_]+) .*$$/[__NR_\1] = "\1",/p' | \
		sort > $@

$(call objects_everywhere,src/state/wait.c): $(SYSCALLS)

# --- scripts and pages embedded in the program ---

ASSETS := $(wildcard assets/*.* assets/serve/*.*)

$(call objects_everywhere,src/report/assets.c): $(ASSETS)

# --- protobuf messages of pprof, Prometheus, Pyroscope and OTLP, and presets of filters ---

define proto
$(B)/proto/$(1).pb-c.h: src/$(2)/$(1).proto
	$$(call say,PROTO $$<)
	@mkdir -p $$(@D)
	$$(Q)protoc-c --proto_path=$$(<D) --c_out=$$(@D) $$<

$(call objects_everywhere,src/$(2)/*.c): $(B)/proto/$(1).pb-c.h
endef

$(eval $(call proto,profile,profile))
$(eval $(call proto,metrics,report))
$(eval $(call proto,pyroscope,agent))
$(eval $(call proto,otlp,agent))

$(call objects_everywhere,src/profile/preset_files.c): $(wildcard assets/presets/*.preset)

$(B)/ctprof: $(PROGRAM) $(B)/libctprof/libctprof.o
	$(call say,LINK  $@)
	$(Q)$(call link,$(CFLAGS) $(LDFLAGS) -Wl$(comma)--gc-sections -o $@ $^)

# The libraries export only their public symbols, as archives too.
$(B)/libctprof.whole.o: $(LIBRARY)
$(B)/libkstats.whole.o: $(KSTATS)
$(B)/%.whole.o:
	$(Q)$(CC) -r -nostdlib -o $@ $^
	$(Q)$(TOOLS)objcopy --localize-hidden $@

$(B)/%.a: $(B)/%.whole.o
	$(call say,AR    $@)
	$(Q)rm -f $@ && $(TOOLS)ar rcs $@ $<

$(B)/libctprof.so: $(LIBRARY)
	$(call say,LINK  $@)
	$(Q)$(CC) -shared -Wl,-soname,libctprof.so.0 $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections \
		-o $@ $^ $(LIB_LIBS)
	$(Q)ln -sf libctprof.so $(B)/libctprof.so.0

# Threads may run its code at any time, so dlclose() must not unload it.
$(B)/libkstats.so: $(KSTATS) libkstats/libkstats.map
	$(call say,LINK  $@)
	$(Q)$(CC) -shared -Wl,-soname,libkstats.so.0 -Wl,-z,nodelete \
		-Wl,--version-script=libkstats/libkstats.map $(CFLAGS) $(LDFLAGS) -o $@ $(KSTATS) -lpthread
	$(Q)ln -sf libkstats.so $(B)/libkstats.so.0

# --- one file for any host ---

static: $(B)/ctprof-static

$(B)/ctprof-static: $(PROGRAM) $(B)/libctprof/libctprof.o
	$(call say,LINK  $@)
	$(Q)$(CC) -static $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(STATIC_LIBS) 2> $@.log || { cat $@.log; exit 1; }

# --- manual pages and completion, generated from the tables of commands and options ---

PAGES := $(patsubst doc/%.scd,$(B)/man/%,$(wildcard doc/*.scd))

man: $(PAGES)

$(B)/man/%: doc/%.scd $(B)/ctprof
	@mkdir -p $(@D)
	$(Q)command=$$(basename $* | sed -e 's/\..*//' -e 's/^ctprof-*//'); \
	$(B)/ctprof help --format scdoc $$command > $@.options && \
	sed -e "/^@OPTIONS@$$/{r $@.options" -e 'd}' $< > $@.scd && scdoc < $@.scd > $@.roff && \
	sed '/^\.TH/a .nh' $@.roff > $@

# These pages are in the repository, to be read there.
doc: $(B)/ctprof
	$(Q)$(B)/ctprof metric-list --markdown > doc/metrics.md
	$(Q)tests/kernels/pages .

$(B)/ctprof.bash: $(B)/ctprof
	$(Q)$(B)/ctprof help --format bash > $@

install: all man $(B)/ctprof.bash
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig \
		$(DESTDIR)$(PREFIX)/include/ctprof $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/man/man3 $(DESTDIR)$(PREFIX)/share/libkstats \
		$(DESTDIR)$(PREFIX)/share/doc/ctprof $(DESTDIR)$(PREFIX)/share/ctprof/grafana \
		$(DESTDIR)$(PREFIX)/lib/systemd/system \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(B)/ctprof $(DESTDIR)$(PREFIX)/bin/ctprof
	install -m 644 $(B)/libctprof.a $(DESTDIR)$(PREFIX)/lib/libctprof.a
	install -m 755 $(B)/libctprof.so $(DESTDIR)$(PREFIX)/lib/libctprof.so.$(VERSION)
	ln -sf libctprof.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libctprof.so.0
	ln -sf libctprof.so.0 $(DESTDIR)$(PREFIX)/lib/libctprof.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' libctprof/ctprof.pc.in \
		> $(DESTDIR)$(PREFIX)/lib/pkgconfig/ctprof.pc
	install -m 644 $(B)/libkstats.a $(DESTDIR)$(PREFIX)/lib/libkstats.a
	install -m 755 $(B)/libkstats.so $(DESTDIR)$(PREFIX)/lib/libkstats.so.$(VERSION)
	ln -sf libkstats.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libkstats.so.0
	ln -sf libkstats.so.0 $(DESTDIR)$(PREFIX)/lib/libkstats.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' libkstats/libkstats.pc.in \
		> $(DESTDIR)$(PREFIX)/lib/pkgconfig/libkstats.pc
	install -m 644 include/kstats.h include/kstats.hpp $(DESTDIR)$(PREFIX)/include/
	install -m 644 libkstats/kstats.py $(DESTDIR)$(PREFIX)/share/libkstats/kstats.py
	install -m 644 include/ctprof/snapshot.h $(DESTDIR)$(PREFIX)/include/ctprof/snapshot.h
	for page in $(PAGES); do install -m 644 $$page \
		$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}; done
	install -m 644 doc/agent.md doc/filters.md doc/fleet.md doc/fleet.svg doc/fleet-schema.md doc/format.md doc/guide-*.md doc/kernels.md doc/kstats.md doc/kstats-library.md doc/kstats-module.md doc/metrics.md doc/performance.md doc/performance-run.md doc/performance.svg doc/presets.md \
		doc/profile-format.md doc/profile.md doc/report.md doc/security.md doc/top.md doc/tour.md doc/unwinding.md \
		$(DESTDIR)$(PREFIX)/share/doc/ctprof/
	sed -e 's|@PREFIX@|$(PREFIX)|' packaging/ctprof-agent.service.in \
		> $(DESTDIR)$(PREFIX)/lib/systemd/system/ctprof-agent.service
	install -m 644 packaging/agent.conf packaging/daemonset.yaml \
		$(DESTDIR)$(PREFIX)/share/ctprof/
	install -m 644 packaging/grafana/*.json $(DESTDIR)$(PREFIX)/share/ctprof/grafana/
	install -m 644 $(B)/ctprof.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/ctprof
	[ -n "$(DESTDIR)" ] || ldconfig

clean:
	rm -rf $(B)

-include tests/tests.mk

-include $(PROGRAM:.o=.d) $(LIBRARY:.o=.d) $(KSTATS:.o=.d) $(wildcard $(B)/bpf/*.bpf.d)

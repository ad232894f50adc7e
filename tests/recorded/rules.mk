# SPDX-License-Identifier: BSD-2-Clause

RECORDED := $(B)/tests/recorded

$(RECORDED)/replies: $(RECORDED)/replies.o $(PARTS)
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $^ $(LIBS)

# What kernels showed, an archive for each. It is unpacked beside, and moved when it is whole: several may do so.
RECORDINGS := $(patsubst tests/fixtures/%.tar.zst,build/tests/fixtures/%/kernel,$(wildcard tests/fixtures/recorded-*.tar.zst))

.PHONY: recordings
recordings: $(RECORDINGS)

$(RECORDINGS): build/tests/fixtures/%/kernel: tests/fixtures/%.tar.zst
	$(call say,UNPACK $<)
	$(Q)mkdir -p build/tests/fixtures && new=$$(mktemp -d build/tests/fixtures/new.XXXXXX) && chmod 755 $$new && \
		zstd -dcq $< | tar -xm -C $$new --no-same-owner && rm -rf $(@D) && mv -T $$new $(@D)

# What tools/record-fixtures runs in its guest.
$(RECORDED)/workload: $(RECORDED)/workload.o
	$(call say,LINK  $@)
	$(Q)$(CC) -static $(CFLAGS) $(LDFLAGS) -o $@ $^

-include $(addsuffix .d,$(RECORDED)/replies $(RECORDED)/workload)

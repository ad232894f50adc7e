# SPDX-License-Identifier: BSD-2-Clause
#
# Programs that tests and the demo run. The example of the library is not among them: it is built
# against the installed library.

TEST_PROGRAMS := $(patsubst %.c,$(B)/%,$(filter-out %/snapshot_example.c, \
                   $(wildcard tests/programs/*.c)))

.PHONY: test-programs
test-programs: $(TEST_PROGRAMS)

$(TEST_PROGRAMS): %: %.o
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread

-include $(TEST_PROGRAMS:=.d)

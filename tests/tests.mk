# SPDX-License-Identifier: BSD-2-Clause
#
# Rules of the tests. Each folder that builds something has its own.

include $(wildcard tests/*/rules.mk)

# Prints the compiler flags, for scripts that compile single files.
.PHONY: flags
flags:
	@echo $(filter-out -M%,$(OWN)) $(CPPFLAGS)

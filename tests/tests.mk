# SPDX-License-Identifier: BSD-2-Clause
#
# What the tests build. Each folder that builds something has its own rules.

include $(wildcard tests/*/rules.mk)

# For those who compile one file the way the Makefile does.
.PHONY: flags
flags:
	@echo $(filter-out -M%,$(OWN)) $(CPPFLAGS)

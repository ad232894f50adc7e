/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles the output of protoc-c for metrics.proto.
 */
#include <metrics.pb-c.c>

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles the output of protoc-c for pyroscope.proto.
 */
#include <pyroscope.pb-c.c>

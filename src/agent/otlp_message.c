/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles the output of protoc-c for otlp.proto.
 */
#include <otlp.pb-c.c>

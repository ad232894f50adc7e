/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Includes the code that protoc-c generates from metrics.proto, so that it is compiled as a part of
 * this layer.
 */
#include <metrics.pb-c.c>

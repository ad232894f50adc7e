/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles the output of protoc-c for profile.proto.
 */
#include <profile.pb-c.c>

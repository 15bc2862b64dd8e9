/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC32c (RFC 9260, appendix A), as far as a rewritten SCTP packet needs it.
 *
 * A CRC is linear: it changes by the CRC of what was changed, wherever that lies. So nothing has to
 * be read again but the bytes that change, and a wrong checksum stays wrong.
 */
#ifndef LIB_CRC32C_H
#define LIB_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* What to XOR to the CRC32c of @bytes bytes when their first four, read as a little-endian number,
 * are XORed with @change. */
uint32_t crc32c_change(uint32_t change, size_t bytes);

#endif

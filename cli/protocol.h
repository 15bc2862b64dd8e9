/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What culvert(1) and culvertd agree on: docs/protocol.md in constants. The only header that both
 * include.
 */
#ifndef CLI_PROTOCOL_H
#define CLI_PROTOCOL_H

#define PROTOCOL_RUN_DIR "/run/culvert"
#define PROTOCOL_SOCKET_NAME "culvert.sock"
#define PROTOCOL_SOCKET PROTOCOL_RUN_DIR "/" PROTOCOL_SOCKET_NAME
#define PROTOCOL_CONF_DIR "/etc/culvert"
#define PROTOCOL_CONF PROTOCOL_CONF_DIR "/culvert.yaml"

/* A message is one line; a longer one ends the connection. */
#define PROTOCOL_LINE_MAX (1024 * 1024)
/* Chunks of a stream are about this long: they end with a whole record. */
#define PROTOCOL_CHUNK_BYTES (64 * 1024)
/* A chunk of an upload that claims more ends the connection. */
#define PROTOCOL_UPLOAD_CHUNK_MAX (1024 * 1024)

/* How both write JSON: 786.9 and not 786.89999999999998. For jansson's json_dump*(). */
#define PROTOCOL_JSON (JSON_COMPACT | JSON_REAL_PRECISION(15))

/* JSON-RPC 2.0, 5.1, and two of our own. error.message is a sentence for people. */
enum protocol_error {
	PROTOCOL_PARSE_ERROR = -32700,
	PROTOCOL_INVALID_REQUEST = -32600,
	PROTOCOL_UNKNOWN_METHOD = -32601,
	PROTOCOL_INVALID_PARAMS = -32602,
	PROTOCOL_INTERNAL = -32603,
	PROTOCOL_REFUSED = -32000,		/* understood, and not done: the message says why */
	PROTOCOL_NOT_IN_THIS_VERSION = -32001,
};

/* The notification behind the last chunk, of a stream or an upload: params has id and results, or
 * id and error. */
#define PROTOCOL_STREAM_END "end"

#endif

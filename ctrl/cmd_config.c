/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "ctrl/commands.h"
#include "lib/bits.h"

struct show {
	struct stream stream;
	const struct commands *c;
	size_t at;
};

static int show_next(struct stream *stream, struct buffer *out)
{
	struct show *s = container_of(stream, struct show, stream);
	size_t n = min_of(s->c->config_bytes - s->at, (size_t)PROTOCOL_CHUNK_BYTES);

	buffer_add(out, s->c->config_text + s->at, n);
	s->at += n;
	stream->count += n;
	return s->at < s->c->config_bytes;
}

static void show_end(struct stream *stream)
{
	free(container_of(stream, struct show, stream));
}

int cmd_config_show(struct request *request)
{
	struct show *s = malloc(sizeof(*s));

	if (!s)
		return request_refuse(request, "out of memory");
	*s = (struct show){
		.stream = {.next = show_next, .end = show_end, .kind = "text"},
		.c = request->context,
	};
	request->stream = &s->stream;
	return 0;
}

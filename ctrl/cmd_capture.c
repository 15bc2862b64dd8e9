/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture of a client lives as long as its live stream, and the other way round. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/captures.h"
#include "ctrl/commands.h"
#include "ctrl/fields.h"
#include "lib/bits.h"
#include "lib/clock.h"

static const char *const dir_names[] = {
	[CAPTURE_IN] = "in",
	[CAPTURE_OUT] = "out",
	[CAPTURE_BOTH] = "both",
};

/* --- what is asked for */

/* "tunnel:192.0.2.2", or the address alone. */
static int read_tunnel(struct request *request, const char *text, const char *address,
		       struct capture_source *source)
{
	const struct commands *c = request->context;
	struct ip ip;

	if (!ip_parse(address, &ip))
		return request_refuse(request, "'%.64s' is no port, tunnel:ADDRESS or "
				      "network:NAME: 'culvert port' lists the ports", text);
	if (c->g->tunnels)
		source->egress = tunnels_find(c->g->tunnels, &ip);
	if (source->egress == EGRESS_NONE)
		return request_refuse(request, "%.64s is no remote VTEP: 'culvert tunnel' lists "
				      "them", address);
	return 0;
}

static int read_network(struct request *request, const char *name, struct capture_source *source)
{
	const struct commands *c = request->context;
	int network = gateway_find_network(c->g, name);

	if (network < 0)
		return request_refuse(request, "no network '%.64s': 'culvert network' lists them",
				      name);
	source->network = (uint16_t)network;
	return 0;
}

static int read_source(struct request *request, const char *text, struct capture_source *source)
{
	static const char tunnel[] = "tunnel:", network[] = "network:";
	const struct commands *c = request->context;
	int port = gateway_find_port(c->g, text);

	*source = (struct capture_source){.egress = EGRESS_NONE};
	if (port >= 0) {
		source->egress = (uint16_t)port;
		return 0;
	}
	if (strncmp(text, network, sizeof(network) - 1) == 0)
		return read_network(request, text + sizeof(network) - 1, source);
	if (strncmp(text, tunnel, sizeof(tunnel) - 1) == 0)
		return read_tunnel(request, text, text + sizeof(tunnel) - 1, source);
	return read_tunnel(request, text, text, source);
}

static int read_sources(struct request *request, struct tap_options *tap)
{
	const json_t *of = json_object_get(request->params, "of");
	size_t n = json_array_size(of);

	if (n == 0)
		return request_refuse(request, "of: name a port, a tunnel or a network to capture");
	if (n > CAPTURE_SOURCES_MAX)
		return request_refuse(request, "of: %zu ports, tunnels and networks, at most %d: "
				      "make it several captures", n, CAPTURE_SOURCES_MAX);
	for (size_t i = 0; i < n; i++) {
		const char *text = json_string_value(json_array_get(of, i));
		int r;

		if (!text)
			return request_refuse(request, "of: names of ports, tunnels and networks "
					      "are strings");
		r = read_source(request, text, &tap->source[i]);
		if (r)
			return r;
	}
	tap->n_sources = (uint32_t)n;
	return 0;
}

static int read_dir(struct request *request, struct tap_options *tap)
{
	const char *text = request_text(request, "dir");
	bool networks = true;

	for (uint32_t i = 0; i < tap->n_sources; i++)
		networks &= tap->source[i].egress == EGRESS_NONE;
	/* What is in a network comes in somewhere: each frame once. */
	tap->dir = networks ? CAPTURE_IN : CAPTURE_BOTH;
	if (!text)
		return 0;
	for (tap->dir = CAPTURE_IN; tap->dir <= CAPTURE_BOTH; tap->dir++)
		if (strcmp(text, dir_names[tap->dir]) == 0)
			return 0;
	return request_refuse(request, "dir: '%.64s' is none of in, out, both", text);
}

static int read_inner(struct request *request, struct tap_options *tap)
{
	const struct commands *c = request->context;
	char name[CAPTURE_NAME_BYTES];

	tap->inner = json_is_true(json_object_get(request->params, "inner"));
	for (uint32_t i = 0; i < tap->n_sources && tap->inner; i++) {
		uint16_t egress = tap->source[i].egress;

		if (egress >= c->g->n_ports || !c->g->port[egress].conf->underlay)
			return request_refuse(request, "inner: %s is no underlay device: leave "
					      "inner out",
					      captures_source_name(c->g, &tap->source[i], name));
	}
	return 0;
}

/* An integer from 1 to @max; @missing when it is not there. */
static int read_number(struct request *request, const char *name, int64_t max, int64_t missing,
		       int64_t *value)
{
	const json_t *number = json_object_get(request->params, name);

	*value = number ? json_integer_value(number) : missing;
	if (*value < 1 || *value > max)
		return request_refuse(request, "%s: %lld is not from 1 to %lld", name,
				      (long long)*value, (long long)max);
	return 0;
}

static bool read_instruction(const json_t *from, struct pcap_insn *to)
{
	static const int64_t max[4] = {UINT16_MAX, UINT8_MAX, UINT8_MAX, UINT32_MAX};
	int64_t value[4];

	if (json_array_size(from) != ARRAY_SIZE(value))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(value); i++) {
		const json_t *number = json_array_get(from, i);

		value[i] = json_integer_value(number);
		if (!json_is_integer(number) || value[i] < 0 || value[i] > max[i])
			return false;
	}
	*to = (struct pcap_insn){
		.code = (uint16_t)value[0],
		.jt = (uint8_t)value[1],
		.jf = (uint8_t)value[2],
		.k = (uint32_t)value[3],
	};
	return true;
}

static int take_program(struct request *request, const struct pcap_insn *insn, size_t n,
			struct tap_options *tap)
{
	struct pcap_filter *filter;
	int r = pcap_filter_take(insn, (uint32_t)n, &filter);

	if (r == -ENOMEM)
		return request_refuse(request, "out of memory");
	if (r < 0)
		return request_refuse(request, "program: not one that libpcap makes of a filter: "
				      "it has to end, and to read nothing but the frame");
	tap->filter = filter;
	return 0;
}

static int read_program(struct request *request, struct tap_options *tap)
{
	const json_t *program = json_object_get(request->params, "program");
	size_t n = json_array_size(program), i = 0;
	struct pcap_insn *insn;
	int r;

	if (!program && request_text(request, "filter"))
		return request_refuse(request, "filter: the text is only shown: send the program "
				      "that libpcap makes of it, too");
	if (!program)
		return 0;
	if (n > PCAP_FILTER_MAX)
		return request_refuse(request, "program: %zu instructions, at most %d: make the "
				      "filter simpler", n, PCAP_FILTER_MAX);
	insn = calloc(n + 1, sizeof(*insn));
	if (!insn)
		return request_refuse(request, "out of memory");
	while (i < n && read_instruction(json_array_get(program, i), &insn[i]))
		i++;
	if (i < n)
		r = request_refuse(request, "program: instruction %zu is not [code, jt, jf, k]", i);
	else
		r = take_program(request, insn, n, tap);
	free(insn);
	return r;
}

/* All but the filter, which has to be freed. */
static int read_wish(struct request *request, struct capture_wish *wish)
{
	struct tap_options *tap = &wish->tap;
	int64_t snaplen = 0, sample = 0;
	int r = read_sources(request, tap);

	wish->filter_text = request_text(request, "filter");
	wish->device = request_text(request, "device");
	wish->pcapng = json_is_true(json_object_get(request->params, "pcapng"));
	tap->drops = json_is_true(json_object_get(request->params, "drops"));
	if (!r)
		r = read_dir(request, tap);
	if (!r)
		r = read_inner(request, tap);
	if (!r)
		r = read_number(request, "snaplen", CAPTURE_SNAPLEN_MAX, CAPTURE_SNAPLEN_MAX,
				&snaplen);
	if (!r)
		r = read_number(request, "sample", UINT32_MAX, 1, &sample);
	if (!r && wish->pcapng && wish->device)
		r = request_refuse(request, "device and pcapng: it is one or the other");
	tap->snaplen = (uint16_t)snaplen;
	tap->sample = (uint32_t)sample;
	return r;
}

/* "srv1,network:blue" */
static void make_name(const struct gateway *g, const struct tap_options *tap, struct buffer *name)
{
	char text[CAPTURE_NAME_BYTES];

	for (uint32_t i = 0; i < tap->n_sources; i++)
		buffer_printf(name, "%s%s", i ? "," : "",
			      captures_source_name(g, &tap->source[i], text));
}

/* --- capture, capture.start */

struct capturing {
	struct stream stream;
	struct capture_run *run;	/* NULL: over */
	int client;		/* its socket, or -1: the answer is still on its way */
	bool paused;
	int error;
};

static void add_totals(json_t *o, const struct capture_counts *counts)
{
	field_int(o, "matched", counts->matched);
	field_int(o, "captured", counts->captured);
	field_int(o, "missed", counts->missed);
	field_int(o, "cut", counts->cut);
}

static void capturing_over(struct capture_run *run, const struct capture_counts *counts, int error)
{
	struct capturing *c = run->owner;

	c->run = NULL;
	c->error = error;
	c->stream.count = counts->captured;
	c->stream.totals = json_object();
	add_totals(c->stream.totals, counts);
	if (c->client >= 0)
		stream_ended(&c->stream, error);
}

static void capturing_take(struct stream *stream, int fd)
{
	struct capturing *c = container_of(stream, struct capturing, stream);

	c->client = fd;
	if (c->run && !c->paused)
		c->error = captures_start(c->run, fd);
	if (!c->run || c->error)
		stream_ended(stream, c->error);
}

static void capturing_finish(struct stream *stream)
{
	captures_end(container_of(stream, struct capturing, stream)->run, false);
}

static void capturing_end(struct stream *stream)
{
	struct capturing *c = container_of(stream, struct capturing, stream);

	if (c->run) {
		c->run->over = NULL;
		captures_end(c->run, true);
	}
	free(c);
}

static json_t *about(const struct capture_run *run)
{
	json_t *o = json_object();

	field_int(o, "id", run->id);
	field_text(o, "name", run->name);
	if (!run->pcapng)
		field_text(o, "device", run->device.name);
	return o;
}

/* Takes the wish's filter. */
static int begin(struct request *request, const struct capture_wish *wish)
{
	const struct commands *commands = request->context;
	const struct why why = {request->error, sizeof(request->error)};
	struct capturing *c = calloc(1, sizeof(*c));

	if (!c) {
		free((void *)wish->tap.filter);
		return request_refuse(request, "out of memory");
	}
	if (captures_begin(commands->g->captures, wish, &c->run, &why) < 0) {
		free(c);
		return PROTOCOL_REFUSED;
	}
	c->run->over = capturing_over;
	c->run->owner = c;
	c->client = -1;
	c->paused = json_is_true(json_object_get(request->params, "paused"));
	c->stream = (struct stream){
		.end = capturing_end,
		.kind = wish->pcapng ? "pcapng" : "none",
		.take = capturing_take,
		.finish = capturing_finish,
		.about = about(c->run),
	};
	request->stream = &c->stream;
	return 0;
}

int cmd_capture(struct request *request)
{
	const struct commands *c = request->context;
	struct capture_wish wish = {0};
	struct buffer name = {0};
	int r = read_wish(request, &wish);

	if (!r)
		r = read_program(request, &wish.tap);
	if (r)
		return r;
	make_name(c->g, &wish.tap, &name);
	wish.name = name.data;
	if (name.failed) {
		free((void *)wish.tap.filter);
		r = request_refuse(request, "out of memory");
	} else {
		r = begin(request, &wish);
	}
	buffer_fini(&name);
	return r;
}

int cmd_capture_start(struct request *request)
{
	const struct commands *commands = request->context;
	int64_t id = json_integer_value(json_object_get(request->params, "id"));
	struct capture_run *run = NULL;
	struct capturing *c;
	int r = 0;

	if (id > 0 && id <= UINT32_MAX)
		run = captures_find(commands->g->captures, (uint32_t)id);
	if (!run)
		return request_refuse(request, "there is no capture %lld: 'culvert capture' lists "
				      "them", (long long)id);
	c = run->owner;
	if (run->permanent || run->state != RUN_PAUSED || !c->paused)
		return request_refuse(request, "capture %u is not paused", run->id);
	if (c->client >= 0)
		r = captures_start(run, c->client);
	if (r < 0)
		return request_refuse(request, "capture %u: no thread: %s", run->id, strerror(-r));
	c->paused = false;
	return 0;
}

/* --- capture.list */

static json_t *sources_array(const struct gateway *g, const struct tap_options *tap)
{
	char text[CAPTURE_NAME_BYTES];
	json_t *of = json_array();

	for (uint32_t i = 0; i < tap->n_sources; i++)
		json_array_append_new(
			of, json_string(captures_source_name(g, &tap->source[i], text)));
	return of;
}

static json_t *capture_object(const struct gateway *g, const struct capture_run *run)
{
	const struct tap_options *tap = capture_tap_options(run->capture);
	struct capture_counts counts;
	json_t *o = json_object();

	capture_counts(run->capture, &counts);
	field_int(o, "id", run->id);
	field_text(o, "name", run->name);
	field_json(o, "of", sources_array(g, tap));
	field_text(o, "dir", dir_names[tap->dir]);
	field_text(o, "filter", run->filter_text);
	field_int(o, "snaplen", tap->snaplen);
	field_int(o, "sample", tap->sample);
	field_bool(o, "inner", tap->inner);
	field_bool(o, "drops", tap->drops);
	field_text(o, "device", run->pcapng ? NULL : run->device.name);
	field_bool(o, "pcapng", run->pcapng);
	field_bool(o, "permanent", run->permanent);
	field_bool(o, "paused", run->state == RUN_PAUSED);
	field_int(o, "since_s", (clock_ns() - run->since_ns) / NS_PER_S);
	add_totals(o, &counts);
	return o;
}

static json_t *capture_item(const struct commands *c, uint32_t i)
{
	const struct capture_run *run = captures_at(c->g->captures, i);

	return run ? capture_object(c->g, run) : json_null();
}

int cmd_capture_list(struct request *request)
{
	return request_list(request, 0, CAPTURE_MAX, capture_item);
}

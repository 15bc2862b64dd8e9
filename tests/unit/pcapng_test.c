/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random files of pcapng, read back by a naive reader, by libpcap and, where it is, by tshark.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/pcapng.h"
#include "lib/bits.h"
#include "lib/clock.h"
#include "tests/unit/pcapng_reader.h"
#include "tests/unit/random.h"

#define N_INTERFACES 3
#define N_PACKETS 400
#define FRAME_MAX 65535
#define COMMENT_MAX 300

#define PATH_TEMPLATE "/tmp/culvert_pcapng_XXXXXX"

static const char *const name[N_INTERFACES] = {"srv1", "192.0.2.2", "up0"};
static const char *const description[N_INTERFACES] = {NULL, NULL, "inside VXLAN"};
static const char *const filter[N_INTERFACES] = {NULL, "udp port 53", "ip"};

struct sample {
	struct pcapng_packet packet;
	uint8_t frame[FRAME_MAX];
	char comment[COMMENT_MAX];
};

static struct sample sample[N_PACKETS];

/* One in ten has nothing at all; of the others few are long. */
static uint32_t random_caplen(void)
{
	return random_below(10) ? random_below(random_below(20) ? 200 : FRAME_MAX + 1) : 0;
}

/* @printable: in one line, for tshark's output. */
static void random_comment(char comment[COMMENT_MAX], bool printable)
{
	uint32_t n = 1 + random_below(COMMENT_MAX - 1), first = printable ? 'a' : 1;

	for (uint32_t i = 0; i < n; i++)
		comment[i] = (char)(first + random_below(printable ? 26 : 255));
	comment[n] = '\0';
}

static void random_sample(struct sample *s, bool printable)
{
	uint32_t caplen = random_caplen();

	s->packet = (struct pcapng_packet){
		.interface = random_below(N_INTERFACES),
		.time_ns = random_below(INT32_MAX) * NS_PER_S + random_below(1000000000),
		.frame = s->frame,
		.caplen = caplen,
		.len = caplen + random_below(3) * 100,
		.inbound = random_below(2),
		.missed = random_below(3) ? 0 : random_u64() >> random_below(64),
	};
	random_bytes(s->frame, caplen);
	if (random_below(2))
		return;
	random_comment(s->comment, printable);
	s->packet.comment = s->comment;
}

static void make_file(struct buffer *out, bool printable)
{
	pcapng_begin(out, "culvert test", "Linux 6.1");
	for (uint32_t i = 0; i < N_INTERFACES; i++)
		pcapng_interface(out, &(struct pcapng_interface){name[i], description[i], filter[i],
								 FRAME_MAX});
	for (uint32_t i = 0; i < N_PACKETS; i++) {
		random_sample(&sample[i], printable);
		pcapng_packet(out, &sample[i].packet);
	}
	for (uint32_t i = 0; i < N_INTERFACES; i++)
		pcapng_statistics(out, i, i * NS_PER_S, 1000 + i, i);
	assert_false(out->failed);
}

/* --- the naive reader */

static struct reader expect_block(struct reader *r, uint32_t type)
{
	uint32_t found;
	struct reader block = take_block(r, &found);

	assert_int_equal(found, type);
	return block;
}

static void expect_option(struct reader *r, uint32_t code, const void *value, uint32_t bytes)
{
	const uint8_t *found;
	uint32_t found_code, n;

	assert_true(take_option(r, &found_code, &found, &n));
	assert_int_equal(found_code, code);
	assert_int_equal(n, bytes);
	assert_memory_equal(found, value, bytes);
}

static void expect_text(struct reader *r, uint32_t code, const char *text)
{
	if (text)
		expect_option(r, code, text, (uint32_t)strlen(text));
}

static void expect_end(struct reader *r)
{
	const uint8_t *value;
	uint32_t code, bytes;

	assert_false(take_option(r, &code, &value, &bytes));
}

static void read_section(struct reader *r)
{
	struct reader block = expect_block(r, 0x0a0d0d0a);

	assert_int_equal(take_u32(&block), 0x1a2b3c4d);
	assert_int_equal(take_u32(&block), 1);
	assert_int_equal(take_u32(&block), UINT32_MAX);
	assert_int_equal(take_u32(&block), UINT32_MAX);
	expect_text(&block, 3, "Linux 6.1");
	expect_text(&block, 4, "culvert test");
	expect_end(&block);
}

static void read_interface(struct reader *r, uint32_t i)
{
	struct reader block = expect_block(r, 1);
	char text[100] = "";

	assert_int_equal(take_u32(&block), 1);
	assert_int_equal(take_u32(&block), FRAME_MAX);
	expect_text(&block, 2, name[i]);
	expect_text(&block, 3, description[i]);
	expect_option(&block, 9, "\x09", 1);
	if (filter[i]) {
		strcpy(text + 1, filter[i]);
		expect_option(&block, 11, text, 1 + (uint32_t)strlen(filter[i]));
	}
	expect_end(&block);
}

static void read_packet(struct reader *r, const struct pcapng_packet *p)
{
	struct reader block = expect_block(r, 6);
	uint32_t flags = p->inbound ? 1 : 2;

	assert_int_equal(take_u32(&block), p->interface);
	assert_int_equal(take_u32(&block), p->time_ns >> 32);
	assert_int_equal(take_u32(&block), (uint32_t)p->time_ns);
	assert_int_equal(take_u32(&block), p->caplen);
	assert_int_equal(take_u32(&block), p->len);
	assert_memory_equal(take_padded(&block, p->caplen), p->frame, p->caplen);
	expect_text(&block, 1, p->comment);
	expect_option(&block, 2, &flags, sizeof(flags));
	if (p->missed)
		expect_option(&block, 4, &p->missed, sizeof(p->missed));
	expect_end(&block);
}

static void read_statistics(struct reader *r, uint32_t i)
{
	struct reader block = expect_block(r, 5);
	uint64_t time_ns = i * NS_PER_S, received = 1000 + i, missed = i;

	assert_int_equal(take_u32(&block), i);
	assert_int_equal(take_u32(&block), time_ns >> 32);
	assert_int_equal(take_u32(&block), (uint32_t)time_ns);
	expect_option(&block, 4, &received, sizeof(received));
	expect_option(&block, 5, &missed, sizeof(missed));
	expect_end(&block);
}

static void by_hand(void **state)
{
	random_init("pcapng by_hand");
	for (int round = 0; round < 20; round++) {
		struct buffer out = {0};
		struct reader r;

		make_file(&out, false);
		r = (struct reader){(uint8_t *)out.data, (uint8_t *)out.data + out.n};
		read_section(&r);
		for (uint32_t i = 0; i < N_INTERFACES; i++)
			read_interface(&r, i);
		for (uint32_t i = 0; i < N_PACKETS; i++)
			read_packet(&r, &sample[i].packet);
		for (uint32_t i = 0; i < N_INTERFACES; i++)
			read_statistics(&r, i);
		assert_ptr_equal(r.at, r.end);
		buffer_fini(&out);
	}
}

/* What is too long for an option is cut, and the block is still one. */
static void long_texts(void **state)
{
	static char text[100001];
	struct pcapng_interface interface = {text, text, text, 0};
	struct buffer out = {0};
	struct reader r, block;

	memset(text, 'x', sizeof(text) - 1);
	pcapng_interface(&out, &interface);
	r = (struct reader){(uint8_t *)out.data, (uint8_t *)out.data + out.n};
	block = expect_block(&r, 1);
	block.at += 8;
	expect_option(&block, 2, text, 65532);
	expect_option(&block, 3, text, 65532);
	expect_option(&block, 9, "\x09", 1);
	assert_int_equal(take_u32(&block), 11 | 65532u << 16);
	assert_int_equal(*take_padded(&block, 65532), 0);
	expect_end(&block);
	assert_ptr_equal(r.at, r.end);
	buffer_fini(&out);
}

/* --- other readers */

static void write_file(char path[], const struct buffer *out)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, out->data, out->n), out->n);
	close(fd);
}

/* With libpcap: times and frames. */
static void compare_file(const char *path)
{
	char error[PCAP_ERRBUF_SIZE] = "";
	pcap_t *file = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO,
							       error);
	struct pcap_pkthdr *head;
	const u_char *frame;

	if (!file)
		fail_msg("%s", error);
	assert_int_equal(pcap_datalink(file), DLT_EN10MB);
	for (uint32_t i = 0; i < N_PACKETS; i++) {
		const struct pcapng_packet *p = &sample[i].packet;

		if (pcap_next_ex(file, &head, &frame) != 1)
			fail_msg("packet %u: %s", i, pcap_geterr(file));
		assert_int_equal((uint64_t)head->ts.tv_sec, p->time_ns / NS_PER_S);
		assert_int_equal(head->ts.tv_usec, p->time_ns % NS_PER_S);
		assert_int_equal(head->caplen, p->caplen);
		assert_int_equal(head->len, p->len);
		assert_memory_equal(frame, p->frame, p->caplen);
	}
	assert_int_equal(pcap_next_ex(file, &head, &frame), PCAP_ERROR_BREAK);
	pcap_close(file);
}

static void by_libpcap(void **state)
{
	struct buffer out = {0};
	char path[] = PATH_TEMPLATE;

	random_init("pcapng by_libpcap");
	make_file(&out, false);
	write_file(path, &out);
	compare_file(path);
	unlink(path);
	buffer_fini(&out);
}

/* tshark's line for the packet. */
static void expect_line(const struct pcapng_packet *p, uint32_t number, struct buffer *line)
{
	buffer_printf(line, "%u|%s|%s|0x%08x|", number, name[p->interface],
		      description[p->interface] ? description[p->interface] : "",
		      p->inbound ? 1 : 2);
	buffer_printf(line, "%llu.%09llu|%u|%u|", p->time_ns / NS_PER_S, p->time_ns % NS_PER_S,
		      p->caplen, p->len);
	if (p->missed)
		buffer_printf(line, "%" PRIu64, p->missed);
	buffer_printf(line, "|%s\n", p->comment ? p->comment : "");
}

static void compare_fields(const char *path)
{
	char command[600], line[1024];
	struct buffer expected = {0};
	FILE *shown;

	snprintf(command, sizeof(command),
		 "tshark -n -r %s -T fields -E separator='|' -e frame.number "
		 "-e frame.interface_name -e frame.interface_description "
		 "-e frame.packet_flags_direction -e frame.time_epoch -e frame.cap_len "
		 "-e frame.len -e frame.drop_count -e frame.comment 2>/dev/null",
		 path);
	shown = popen(command, "r");
	assert_non_null(shown);
	for (uint32_t i = 0; i < N_PACKETS; i++) {
		buffer_reset(&expected, SIZE_MAX);
		expect_line(&sample[i].packet, i + 1, &expected);
		assert_non_null(fgets(line, sizeof(line), shown));
		assert_string_equal(line, expected.data);
	}
	assert_null(fgets(line, sizeof(line), shown));
	assert_int_equal(pclose(shown), 0);
	buffer_fini(&expected);
}

/* Fields as it prints them, bytes and times as it writes them to another file. */
static void by_tshark(void **state)
{
	struct buffer out = {0};
	char path[] = PATH_TEMPLATE, copy[] = PATH_TEMPLATE, command[200];
	struct buffer empty = {.data = copy};

	if (system("command -v tshark >/dev/null") != 0) {
		print_message("SKIPPED: no tshark (apt-get install tshark)\n");
		skip();
	}
	random_init("pcapng by_tshark");
	make_file(&out, true);
	write_file(path, &out);
	compare_fields(path);
	write_file(copy, &empty);
	snprintf(command, sizeof(command), "tshark -r %s -F nsecpcap -w %s 2>/dev/null", path,
		 copy);
	assert_int_equal(system(command), 0);
	compare_file(copy);
	unlink(path);
	unlink(copy);
	buffer_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(long_texts),
		cmocka_unit_test(by_libpcap),
		cmocka_unit_test(by_tshark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/checksum.h"
#include "tests/unit/vxlan_oracle.h"

/* Every length and both alignments of the start, on blocks of exactly that length. */
static void any_length(void **state)
{
	for (size_t n = 0; n < 300; n++) {
		uint8_t *block = calloc(1, n + 1), *p = block + 1, field[2];
		uint32_t sum = random_below(65536);

		random_bytes(p, n);
		checksum_store(field, checksum_add(p, n, checksum_word((uint16_t)sum)));
		sum = 0xffff - slow_sum(p, n, sum);
		/* The two zeroes of one's complement are one number. */
		assert_int_equal((field[0] << 8 | field[1]) % 0xffff, sum % 0xffff);
		free(block);
	}
}

static void carries(void **state)
{
	uint8_t *ones = malloc(65535), field[2];

	memset(ones, 0xff, 65535);
	checksum_store(field, checksum_add(ones, 65534, 0xffff));
	assert_memory_equal(field, "\0\0", 2);
	checksum_store_udp(field, checksum_add(ones, 65534, 0xffff));
	assert_memory_equal(field, "\xff\xff", 2);
	checksum_store(field, checksum_add(ones, 65535, 0));
	assert_memory_equal(field, "\x00\xff", 2);
	free(ones);
}

/* RFC 1624: every change of one word of a header leaves a header that verifies. */
static void adjust(void **state)
{
	for (int i = 0; i < 20000; i++) {
		uint8_t header[20];
		uint16_t before, after = i % 3 ? (uint16_t)random_u64() : i % 2 ? 0 : 0xffff;

		random_bytes(header, sizeof(header));
		if (i % 5 == 0)
			header[0] = header[1] = i % 2 ? 0 : 0xff;
		header[10] = header[11] = 0;
		before = 0xffff - slow_sum(header, 20, 0);
		header[10] = (uint8_t)(before >> 8);
		header[11] = (uint8_t)before;
		before = (uint16_t)(header[0] << 8 | header[1]);
		checksum_adjust(header + 10, before, after);
		header[0] = (uint8_t)(after >> 8);
		header[1] = (uint8_t)after;
		assert_int_equal(slow_sum(header, 20, 0), 0xffff);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_length),
		cmocka_unit_test(carries),
		cmocka_unit_test(adjust),
	};

	random_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

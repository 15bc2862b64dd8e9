/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A naive reader of pcapng blocks, of this machine's byte order; fails the test where a length or
 * padding is wrong. Include cmocka.h before it.
 */
#ifndef TESTS_UNIT_PCAPNG_READER_H
#define TESTS_UNIT_PCAPNG_READER_H

#include "lib/bytes.h"

struct reader {
	const uint8_t *at;
	const uint8_t *end;
};

static inline uint32_t take_u32(struct reader *r)
{
	assert_true(r->end - r->at >= 4);
	r->at += 4;
	return get_u32(r->at - 4);
}

/* @n bytes and the zeros behind them. */
static inline const uint8_t *take_padded(struct reader *r, uint32_t n)
{
	const uint8_t *at = r->at;

	assert_true(r->end - at >= n);
	for (r->at += n; n % 4; n++) {
		assert_true(r->at < r->end);
		assert_int_equal(*r->at++, 0);
	}
	return at;
}

/* The inside of the next block. */
static inline struct reader take_block(struct reader *r, uint32_t *type)
{
	struct reader block = {r->at, r->end};
	uint32_t bytes;

	*type = take_u32(&block);
	bytes = take_u32(&block);
	assert_int_equal(bytes % 4, 0);
	assert_in_range(bytes, 12, r->end - r->at);
	block.end = r->at + bytes - 4;
	assert_int_equal(get_u32(block.end), bytes);
	r->at += bytes;
	return block;
}

/* False: it was the end of the options, and of the block. */
static inline bool take_option(struct reader *r, uint32_t *code, const uint8_t **value,
			       uint32_t *bytes)
{
	uint32_t head = take_u32(r);

	*code = head & 0xffff;
	*bytes = head >> 16;
	*value = take_padded(r, *bytes);
	if (*code)
		return true;
	assert_int_equal(*bytes, 0);
	assert_ptr_equal(r->at, r->end);
	return false;
}

#endif

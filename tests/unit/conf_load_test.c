/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration under load: the largest files, bombs, and thousands of files that are almost
 * right. COUNT and SEED in the environment set how many mutants there are and which.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "conf/conf.h"
#include "lib/bits.h"
#include "lib/clock.h"
#include "tests/unit/conf_tools.h"

/* More wrong than anyone reads. */
static void hundred_errors(void **state)
{
	char dir[32];
	char *said;
	FILE *f;

	enter_scratch(dir);
	f = scratch_file();
	fprintf(f, "networks:\n");
	for (int i = 0; i < 130; i++)
		fprintf(f, "  n%d: {vni: x}\n", i);
	fclose(f);
	said = refused("f");
	assert_non_null(strstr(said, "f:101:14: vni: \"x\" is not a number"));
	assert_null(strstr(said, "f:102:14:"));
	assert_non_null(strstr(said, "\nand 30 more\n"));
	free(said);
	unlink("f");
	leave_scratch(dir);
}

/* 2^30 values if aliases were copies; nothing below reads them. */
static void alias_bomb(void **state)
{
	uint64_t start_ns = clock_ns();
	char dir[32];
	char *said;
	FILE *f;

	enter_scratch(dir);
	f = scratch_file();
	fprintf(f, "a0: &a0 {x: 1}\n");
	for (int i = 1; i < 30; i++)
		fprintf(f, "a%d: &a%d {x: *a%d, y: *a%d}\n", i, i, i - 1, i - 1);
	fprintf(f, "networks: *a29\n");
	fclose(f);
	said = refused("f");
	assert_non_null(strstr(said, "f:1:1: a0: no such key in the file"));
	free(said);
	f = scratch_file();
	fprintf(f, "networks:\n  base: &b {");
	for (int i = 0; i < 2000; i++)
		fprintf(f, "k%d: 1, ", i);
	fprintf(f, "}\n");
	for (int i = 0; i < 2000; i++)
		fprintf(f, "  n%d: {<<: *b}\n", i);
	fclose(f);
	said = refused("f");
	assert_non_null(strstr(said, "merging copies too much, allowed: 1000000 entries in all"));
	free(said);
	unlink("f");
	leave_scratch(dir);
	assert_true(clock_ns() - start_ns < 20 * NS_PER_S);
}

static void too_many(void **state)
{
	char dir[32];
	char *said;
	FILE *f;

	enter_scratch(dir);
	f = scratch_file();
	fprintf(f, "ports:\n");
	for (int i = 0; i < 257; i++)
		fprintf(f, "  p%d:\n", i);
	fclose(f);
	said = refused("f");
	assert_string_equal(said,
			    "f:258:3: ports: too many, allowed: 256 with the underlay devices\n");
	free(said);
	f = scratch_file();
	fprintf(f, "networks:\n");
	for (int i = 0; i < 4097; i++)
		fprintf(f, "  n%d: {vni: %d, remotes: [10.0.%d.%d, 10.0.0.1]}\n", i, i + 1,
			i / 250, i % 250 + 2);
	fprintf(f, "tunnels: {local: 192.0.2.1, underlay: eth0}\n");
	fclose(f);
	said = refused("f");
	assert_string_equal(said, "f:4099:10: 4098 remote VTEPs, allowed: 4096 in all lists "
				  "together\n");
	free(said);
	unlink("f");
	leave_scratch(dir);
}

/* The largest numbers of the manual, spelled out and by ranges. */
static void large(void **state)
{
	uint64_t start_ns, took_ns;
	struct conf *conf;
	char dir[32];
	FILE *f;

	enter_scratch(dir);
	f = scratch_file();
	fprintf(f, "networks:\n");
	for (int i = 1; i < 65536; i++)
		fprintf(f, "  net%d: {vni: %d}\n", i, i);
	fprintf(f, "ports:\n");
	for (int p = 0; p < 128; p++) {
		fprintf(f, "  p%d:\n    tagged: {", p);
		for (int vid = 1; vid < 4095; vid++)
			fprintf(f, "%d: net%d, ", vid, (p * 4094 + vid) % 65535 + 1);
		fprintf(f, "}\n");
	}
	fclose(f);
	start_ns = clock_ns();
	conf = load("f");
	took_ns = clock_ns() - start_ns;
	assert_int_equal(conf->n_networks, 65536);
	assert_int_equal(conf->ports[127].n_tagged, 4094);
	conf_free(conf);
	print_message("65535 networks and 524032 tags in %llu ms\n",
		      (unsigned long long)(took_ns / NS_PER_MS));
	f = scratch_file();
	fprintf(f, "networks: {t: {range: 1-65535, vni: 100001-165535}}\nports:\n");
	for (int p = 0; p < 128; p++)
		fprintf(f, "  p%d: {tagged: {1-4094: t}}\n", p);
	fclose(f);
	start_ns = clock_ns();
	conf = load("f");
	took_ns = clock_ns() - start_ns;
	assert_int_equal(conf->networks[65535].vni, 165535);
	assert_int_equal(conf->ports[127].tagged[4093].network, 4094);
	conf_free(conf);
	print_message("the same by ranges in %llu ms\n", (unsigned long long)(took_ns / NS_PER_MS));
	/* A quadratic step anywhere takes minutes; sanitizers and a busy machine do not. */
	assert_true(took_ns < 10 * NS_PER_S);
	unlink("f");
	leave_scratch(dir);
}

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(random_state >> 33) % n;
}

struct buffer {
	char data[32768];
	size_t n;
};

static void copy_piece(struct buffer *b, size_t from, size_t n, size_t to)
{
	char piece[512];

	n = min_of(n, sizeof(piece));
	n = min_of(n, b->n - from);
	if (b->n + n > sizeof(b->data))
		return;
	memcpy(piece, b->data + from, n);
	memmove(b->data + to + n, b->data + to, b->n - to);
	memcpy(b->data + to, piece, n);
	b->n += n;
}

static void cut(struct buffer *b, size_t from, size_t n)
{
	n = min_of(n, b->n - from);
	memmove(b->data + from, b->data + from + n, b->n - from - n);
	b->n -= n;
}

static size_t line_bytes(const struct buffer *b, size_t from)
{
	const char *end = memchr(b->data + from, '\n', b->n - from);

	return end ? (size_t)(end - b->data) + 1 - from : b->n - from;
}

static size_t line_start(const struct buffer *b, size_t at)
{
	while (at && b->data[at - 1] != '\n')
		at--;
	return at;
}

static void mutate(struct buffer *b)
{
	static const char interesting[] = "{}[]:,-&*!|>'\"%@`#~ \n\t\r0178.<?ny\\\x80\x01";
	size_t at = random_below((uint32_t)b->n);
	size_t line = line_start(b, at);

	switch (random_below(7)) {
	case 0:
		b->data[at] ^= (char)(1 << random_below(8));
		break;
	case 1:
		b->data[at] = interesting[random_below(sizeof(interesting) - 1)];
		break;
	case 2:
		cut(b, line, line_bytes(b, line));
		break;
	case 3:
		copy_piece(b, line, line_bytes(b, line),
			   line_start(b, random_below((uint32_t)b->n)));
		break;
	case 4:
		cut(b, at, 1 + random_below(8));
		break;
	case 5:
		copy_piece(b, at, 1 + random_below(30), random_below((uint32_t)b->n));
		break;
	case 6:
		copy_piece(b, at, 1, at);
		break;
	}
}

static void check_errors(const struct conf_errors *errors)
{
	for (size_t i = 0; i < errors->n; i++) {
		const struct conf_error *e = &errors->list[i];

		assert_true(e->where.line > 0 && e->where.column > 0);
		assert_non_null(e->where.file);
		assert_true(*e->text);
		for (const char *p = e->text; *p; p++)
			assert_false((unsigned char)*p < 0x20);
	}
}

static void load_mutant(const struct buffer *b, int fd, const char *path, uint32_t *n_good)
{
	struct conf_errors errors = {0};
	struct conf *conf;
	int err;

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, b->data, b->n, 0), b->n);
	err = conf_load(path, &conf, &errors);
	if (err == 0) {
		assert_int_equal(errors.n, 0);
		check_conf(conf);
		(*n_good)++;
	} else {
		assert_int_equal(err, -EINVAL);
		assert_null(conf);
		assert_true(errors.n > 0);
	}
	check_errors(&errors);
	conf_free(conf);
	conf_errors_fini(&errors);
}

static void read_buffer(const char *path, struct buffer *b)
{
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	b->n = fread(b->data, 1, sizeof(b->data), f);
	fclose(f);
	assert_true(b->n > 0 && b->n < sizeof(b->data));
}

static void mutants(void **state)
{
	static const char *const sources[] = {
		SOURCE_ROOT "/dist/examples/full.yaml",
		CONF_DIR "/good/alternatives.yaml",
		CONF_DIR "/good/anchors.yaml",
		CONF_DIR "/good/captures.yaml",
	};
	const char *seed = getenv("SEED"), *count = getenv("COUNT");
	uint32_t n_good = 0, n_all = count ? (uint32_t)atoi(count) : 6000;
	static struct buffer original, b;
	char path[64];
	int fd = memfd_create("mutant", MFD_CLOEXEC);

	assert_true(fd >= 0);
	/* A filter that was hit may have a name in it. */
	setenv("RES_OPTIONS", "timeout:1 attempts:1", 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
	print_message("SEED=%llu\n", (unsigned long long)random_state);
	for (uint32_t i = 0; i < n_all; i++) {
		uint32_t n = 1 + random_below(4);

		read_buffer(sources[i % ARRAY_SIZE(sources)], &original);
		b = original;
		while (n-- && b.n)
			mutate(&b);
		load_mutant(&b, fd, path, &n_good);
	}
	close(fd);
	/* Comments and values are most of the text: some mutants are right, most are not. */
	print_message("%u of %u mutants load\n", n_good, n_all);
	assert_true(n_good > 0 && n_good < n_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hundred_errors),
		cmocka_unit_test(alias_bomb),
		cmocka_unit_test(too_many),
		cmocka_unit_test(large),
		cmocka_unit_test(mutants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

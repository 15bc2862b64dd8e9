/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer: any bytes as a configuration either load or are refused with at least one error.
 *
 *   clang -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. tests/fuzz/conf_fuzz.c \
 *         conf/?*.c lib/addr.c lib/arena.c lib/hash.c lib/log.c lib/pcap_filter.c \
 *         -lyaml -lmnl -lbpf -lpcap -o conf_fuzz
 *   ./conf_fuzz -max_len=4096 CORPUS tests/conf/good tests/conf/bad
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct conf_errors errors = {0};
	static char path[32];
	static int fd = -1;
	struct conf *conf;
	int err;

	if (fd < 0) {
		fd = memfd_create("conf", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, bytes, 0) != (ssize_t)bytes)
		return 0;
	err = conf_load(path, &conf, &errors);
	if ((err == 0) != (conf != NULL) || (err == 0) != (errors.n == 0))
		abort();
	conf_free(conf);
	conf_errors_fini(&errors);
	return 0;
}

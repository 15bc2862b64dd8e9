/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/note.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_path(const char *run_dir, const char *name, const char *suffix,
		     char path[static 512])
{
	int n = snprintf(path, 512, "%s/%s%s", run_dir, name, suffix);

	return n < 512 ? 0 : -ENAMETOOLONG;
}

int note_write(const char *run_dir, const char *name, const char *suffix, const char *text)
{
	char path[512];
	FILE *f;
	int r;

	if (!run_dir)
		return 0;
	r = make_path(run_dir, name, suffix, path);
	if (r)
		return r;
	if (mkdir(run_dir, 0755) && errno != EEXIST)
		return -errno;
	f = fopen(path, "we");
	if (!f)
		return -errno;
	fputs(text, f);
	return fclose(f) ? -errno : 0;
}

void note_remove(const char *run_dir, const char *name, const char *suffix)
{
	char path[512];

	if (run_dir && !make_path(run_dir, name, suffix, path))
		unlink(path);
}

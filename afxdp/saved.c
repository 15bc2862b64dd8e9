/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"

static void print(FILE *f, const struct saved *saved)
{
	char mac[MAC_TEXT_BYTES];

	fprintf(f,
		"# culvert: what this device was set to before; removed once that is put back\n"
		"device %s\nifindex %d\nmac %s\n",
		saved->device, saved->ifindex, mac_format(&saved->mac, mac));
	for (int key = 0; key < NETDEV_KEYS; key++)
		if (saved->known >> key & 1)
			fprintf(f, "%s %u\n", netdev_key_name(key), saved->value[key]);
}

/* Whole or not at all. */
static int write_file(const struct saved *saved)
{
	char temporary[sizeof(saved->path) + 4];
	int fd, r;
	FILE *f;

	if (!saved->path[0])
		return 0;
	snprintf(temporary, sizeof(temporary), "%s.new", saved->path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	print(f, saved);
	r = ferror(f) ? -EIO : 0;
	if (fclose(f) && !r)
		r = -errno;
	if (!r && rename(temporary, saved->path))
		r = -errno;
	if (r)
		unlink(temporary);
	return r;
}

static void read_line(struct saved *saved, const char *line)
{
	char word[32], text[32];
	unsigned int value;

	if (sscanf(line, "%31s %31s", word, text) != 2)
		return;
	if (strcmp(word, "device") == 0)
		snprintf(saved->device, sizeof(saved->device), "%.15s", text);
	if (strcmp(word, "mac") == 0)
		mac_parse(text, &saved->mac);
	if (sscanf(text, "%u", &value) != 1)
		return;
	if (strcmp(word, "ifindex") == 0)
		saved->ifindex = (int)value;
	for (int key = 0; key < NETDEV_KEYS; key++) {
		if (strcmp(word, netdev_key_name(key)) == 0) {
			saved->known |= 1u << key;
			saved->value[key] = value;
		}
	}
}

static int read_file(const char *path, struct saved *saved)
{
	char line[128];
	FILE *f = fopen(path, "re");

	memset(saved, 0, sizeof(*saved));
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		read_line(saved, line);
	fclose(f);
	if (snprintf(saved->path, sizeof(saved->path), "%s", path) >= (int)sizeof(saved->path))
		return -ENAMETOOLONG;
	return 0;
}

static bool belongs_to(const struct saved *saved, const struct netdev *dev)
{
	struct mac mac;

	if (saved->ifindex != netdev_ifindex(dev))
		return false;
	return strcmp(saved->device, dev->name) == 0 ||
	       (!netdev_mac(dev, &mac) && memcmp(&mac, &saved->mac, sizeof(mac)) == 0);
}

static int make_path(char path[static 512], const char *run_dir, const char *device)
{
	int n = snprintf(path, 512, "%s/%s" SAVED_SUFFIX, run_dir, device);

	if (n >= 512)
		return -ENAMETOOLONG;
	if (mkdir(run_dir, 0755) && errno != EEXIST)
		return -errno;
	return 0;
}

int saved_open(struct saved *saved, const char *run_dir, const struct netdev *dev)
{
	struct saved before;
	int r;

	memset(saved, 0, sizeof(*saved));
	strcpy(saved->device, dev->name);
	saved->ifindex = netdev_ifindex(dev);
	netdev_mac(dev, &saved->mac);
	if (!run_dir)
		return 0;
	r = make_path(saved->path, run_dir, dev->name);
	if (r)
		return r;
	if (!read_file(saved->path, &before) && belongs_to(&before, dev)) {
		saved->known = before.known;
		memcpy(saved->value, before.value, sizeof(saved->value));
	}
	return 0;
}

int saved_change(struct saved *saved, const struct netdev *dev, enum netdev_key key, uint32_t value)
{
	uint32_t now;
	int r = netdev_get(dev, key, &now);

	if (r || now == value)
		return r;
	if (!(saved->known >> key & 1)) {
		saved->known |= 1u << key;
		saved->value[key] = now;
		r = write_file(saved);
		if (r) {
			log_error("%s: what it was set to cannot be kept: %s: %s", dev->name,
				  saved->path, strerror(-r));
			saved->known &= ~(1u << key);
			return r;
		}
	}
	return netdev_set(dev, key, value);
}

static bool put_back(const struct saved *saved, const struct netdev *dev, enum netdev_key key)
{
	uint32_t now;
	int r = netdev_get(dev, key, &now);

	if (!r && now != saved->value[key])
		r = netdev_set(dev, key, saved->value[key]);
	if (r)
		log_warn("%s: %s cannot be put back to %u: %s", dev->name, netdev_key_name(key),
			 saved->value[key], strerror(-r));
	return r == 0;
}

void saved_restore(struct saved *saved, const struct netdev *dev)
{
	bool all = true;

	for (int key = NETDEV_KEYS - 1; key >= 0; key--)
		if (saved->known >> key & 1 && !put_back(saved, dev, key))
			all = false;
	saved->known = 0;
	if (all)
		saved_forget(saved);
}

void saved_forget(struct saved *saved)
{
	if (saved->path[0])
		unlink(saved->path);
	saved->known = 0;
}

int saved_recover(const char *path)
{
	struct saved saved;
	char name[IF_NAMESIZE];
	struct netdev dev;
	int found = 0;

	if (read_file(path, &saved))
		return 0;
	if (!if_indextoname((unsigned int)saved.ifindex, name) || netdev_open(&dev, name)) {
		saved_forget(&saved);
		return 0;
	}
	if (belongs_to(&saved, &dev)) {
		saved_restore(&saved, &dev);
		found = 1;
	} else {
		saved_forget(&saved);
	}
	netdev_close(&dev);
	return found;
}

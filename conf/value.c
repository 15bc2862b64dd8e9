/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "conf/errors.h"
#include "conf/reader.h"
#include "conf/text.h"
#include "lib/bits.h"

#define TEXT_MAX 255

const char *scalar_text(struct reader *r, const struct key *key, const struct node *value)
{
	if (value->kind != NODE_SCALAR) {
		refuse(r, key, value, "%s", node_kind_name(value));
		return NULL;
	}
	if (node_is_null(value)) {
		refuse(r, key, value, "no value");
		return NULL;
	}
	return value->text;
}

static bool find_word(const struct word *words, const char *text, uint32_t *value)
{
	int truth = text_bool(text);

	for (const struct word *w = words; w && w->name; w++)
		if (strcmp(w->name, text) == 0 || (truth >= 0 && text_bool(w->name) == truth)) {
			*value = w->value;
			return true;
		}
	return false;
}

/* Numbers that YAML 1.1 would read otherwise than they look: better asked about than guessed. */
static bool refuse_trap(struct reader *r, const struct key *key, const struct node *value)
{
	if (value->quoted)
		return false;
	if (text_is_octal(value->text))
		refuse(r, key, value, "%.40s is an octal number in YAML: drop the leading zero, or "
		       "quote it", value->text);
	else if (text_is_base60(value->text))
		refuse(r, key, value,
		       "%.40s is a base-60 number in YAML: write it as one number, or "
		       "quote it where it is text",
		       value->text);
	else
		return false;
	return true;
}

bool read_number(struct reader *r, const struct key *key, const struct node *value,
		 uint32_t *number)
{
	const char *text = scalar_text(r, key, value);
	uint64_t wide;

	if (!text)
		return false;
	if (find_word(key->words, text, number))
		return true;
	if (refuse_trap(r, key, value))
		return false;
	if (text_number(text, key->max, &wide) && wide >= key->min) {
		*number = (uint32_t)wide;
		return true;
	}
	if (text_is_digits(text[0] == '-' ? text + 1 : text))
		refuse(r, key, value, "%.40s is out of range", text);
	else
		refuse(r, key, value, "\"%.40s\" is not a number", text);
	return false;
}

READER(read_u32)
{
	read_number(r, key, value, target);
}

READER(read_u16)
{
	uint32_t number;

	if (read_number(r, key, value, &number))
		*(uint16_t *)target = (uint16_t)number;
}

READER(read_u8)
{
	uint32_t number;

	if (read_number(r, key, value, &number))
		*(uint8_t *)target = (uint8_t)number;
}

static bool read_word(struct reader *r, const struct key *key, const struct node *value,
		      uint32_t *word)
{
	const char *text = scalar_text(r, key, value);

	if (!text)
		return false;
	if (find_word(key->words, text, word))
		return true;
	refuse(r, key, value, "\"%.40s\"", text);
	return false;
}

READER(read_word_u8)
{
	uint32_t word;

	if (read_word(r, key, value, &word))
		*(uint8_t *)target = (uint8_t)word;
}

static const struct word truths[] = {{"true", 1}, {"false", 0}, {NULL, 0}};

READER(read_bool)
{
	struct key truth = {.name = key->name, .words = truths};
	uint32_t word;

	if (read_word(r, &truth, value, &word))
		*(bool *)target = word;
}

static const char *printable(struct reader *r, const struct key *key, const struct node *value)
{
	const char *text = scalar_text(r, key, value);
	size_t left = text ? strlen(text) : 0;

	if (!text)
		return NULL;
	if (left == 0 || left > (key->max ? key->max : TEXT_MAX)) {
		refuse(r, key, value, left ? "too long" : "empty");
		return NULL;
	}
	for (const char *p = text; left;) {
		uint32_t c = 0;
		size_t n = text_utf8((const uint8_t *)p, left, &c);

		if (n == 0 || text_is_control(c)) {
			refuse(r, key, value, "a line break or control character in it");
			return NULL;
		}
		p += n;
		left -= n;
	}
	return text;
}

READER(read_text)
{
	struct key text_key = {.name = key->name, .max = key->max,
			       .allowed = key->allowed ? key->allowed :
							 "one line of up to 255 bytes"};
	const char *text = printable(r, &text_key, value);

	if (text)
		*(char **)target = arena_strdup(r->memory, text);
}

char *resolve_path(struct reader *r, const struct node *at, const char *path)
{
	const char *file = r->tree.files[at->file];
	const char *slash = strrchr(file, '/');

	if (path[0] == '/' || !slash)
		return arena_strdup(r->memory, path);
	return arena_printf(r->memory, "%.*s%s", (int)(slash + 1 - file), file, path);
}

READER(read_path)
{
	struct key path_key = {.name = key->name, .allowed = "a path of up to 255 bytes"};
	const char *text = printable(r, &path_key, value);

	if (text)
		*(char **)target = resolve_path(r, value, text);
}

bool read_station_mac(struct reader *r, const char *what, const struct node *value,
		      struct mac *mac)
{
	static const char allowed[] = "a MAC address of one station, like 02:00:00:00:07:01";
	struct key key = {.name = what, .allowed = allowed};
	const char *text = scalar_text(r, &key, value);

	if (!text)
		return false;
	if (!mac_parse(text, mac))
		refuse(r, &key, value, "\"%.40s\" is not a MAC address", text);
	else if (mac_is_group(mac))
		refuse(r, &key, value, "%s is a group address", text);
	else if (mac_is_zero(mac))
		refuse(r, &key, value, "%s is nobody's address", text);
	else
		return true;
	return false;
}

READER(read_mac)
{
	read_station_mac(r, key->name, value, target);
}

/* What the kernel takes (dev_valid_name), and printable. */
READER(read_device)
{
	struct key device_key = {.name = key->name,
				 .allowed = "the name or altname of a network device"};
	const char *text = printable(r, &device_key, value);

	if (!text)
		return;
	if (strlen(text) > 127 || strpbrk(text, "/: ") || strcmp(text, ".") == 0 ||
	    strcmp(text, "..") == 0)
		refuse(r, &device_key, value, "\"%.40s\" cannot be a device", text);
	else
		*(char **)target = arena_strdup(r->memory, text);
}

READER(keep_node)
{
	*(const struct node **)target = value;
}

READER(read_nothing)
{
}

bool read_range(struct reader *r, const struct key *key, const struct node *value, bool single,
		uint32_t *low, uint32_t *high)
{
	struct node one = *value;
	const char *text = scalar_text(r, key, value);
	const char *dash = text ? strchr(text, '-') : NULL;
	char first[16];

	if (!text)
		return false;
	if (!dash && single)
		return read_number(r, key, value, low) && (*high = *low, true);
	if (!dash || dash == text || !dash[1] || (size_t)(dash - text) >= sizeof(first)) {
		refuse(r, key, value, "\"%.40s\" is not a range", text);
		return false;
	}
	memcpy(first, text, (size_t)(dash - text));
	first[dash - text] = 0;
	one.text = first;
	if (!read_number(r, key, &one, low))
		return false;
	one.text = dash + 1;
	if (!read_number(r, key, &one, high))
		return false;
	if (*low <= *high)
		return true;
	refuse(r, key, value, "%.40s is the wrong way round: write %u-%u", text, *high, *low);
	return false;
}

bool read_items(struct reader *r, const struct key *key, const struct node *value,
		struct node *const **items, uint32_t *n)
{
	struct node **one;

	*n = 0;
	if (value->kind == NODE_MAP) {
		refuse(r, key, value, "a map");
		return false;
	}
	if (value->kind == NODE_LIST) {
		*items = value->items;
		*n = value->n;
		return true;
	}
	if (node_is_null(value))
		return true;
	one = arena_array(&r->tree.arena, 1, sizeof(*one));
	if (!one)
		return false;
	one[0] = (struct node *)value;
	*items = one;
	*n = 1;
	return true;
}

/* RFC 1122, 3.2.1.3 and RFC 4291, 2.4: what is nobody's, everybody's or never leaves the host. */
static const char *why_no_vtep(const struct ip *ip)
{
	const uint8_t *b = ip->byte;

	if (ip_is_v4(ip)) {
		b = ip_v4_bytes(ip);
		return b[0] == 0 ? "is nobody's address" :
		       b[0] == 127 ? "is a loopback address" :
		       b[0] >= 240 ? "is reserved or broadcast" :
		       b[0] >= 224 ? "is a multicast address" : NULL;
	}
	if (b[0] == 0xff)
		return "is a multicast address";
	if (b[0] == 0xfe && (b[1] & 0xc0) == 0x80)
		return "is a link-local address";
	for (int i = 0; i < 15; i++)
		if (b[i])
			return NULL;
	return b[15] == 0 ? "is nobody's address" : b[15] == 1 ? "is a loopback address" : NULL;
}

bool read_vtep(struct reader *r, const struct key *key, const struct node *value, struct ip *ip)
{
	struct key vtep_key = {.name = key->name,
			       .allowed = key->allowed ? key->allowed :
			       "a unicast IPv4 or IPv6 address (quote an IPv6 one)"};
	const char *text = scalar_text(r, &vtep_key, value);
	const char *why;

	if (!text)
		return false;
	if (!ip_parse(text, ip)) {
		refuse(r, &vtep_key, value, "\"%.60s\" is not an IP address", text);
		return false;
	}
	why = why_no_vtep(ip);
	if (why)
		refuse(r, &vtep_key, value, "%.60s %s", text, why);
	return !why;
}

bool check_plain_name(struct reader *r, const char *what, const struct node *name)
{
	const char *is = text_is_octal(name->text) ? "an octal number" :
			 text_is_base60(name->text) ? "a base-60 number" :
			 text_bool(name->text) >= 0 ? "true or false" :
			 node_is_null(name) ? "nothing" : NULL;

	if (name->quoted || !is)
		return true;
	node_error(&r->tree, name, "%s: %.40s is %s in YAML, allowed as a name: quote it", what,
		   *name->text ? name->text : "\"\"", is);
	return false;
}

bool check_name(struct reader *r, const char *what, const struct node *name, size_t longest)
{
	const char *text = name->text;
	struct ip ip;

	if (!check_plain_name(r, what, name))
		return false;
	if (!*text || strlen(text) > longest || text[0] == '-' || text[0] == '.' ||
	    text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")])
		node_error(&r->tree, name,
			   "%s: \"%.60s\" cannot be a name, allowed: up to %zu letters, digits, "
			   "'.', '_' and '-', not beginning with '.' or '-'",
			   what, text, longest);
	else if (ip_parse(text, &ip))
		node_error(&r->tree, name, "%s: %s is an address, allowed: a name that is none",
			   what, text);
	else
		return true;
	return false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/fields.h"

#include <math.h>

void field_json(json_t *object, const char *name, json_t *value)
{
	json_object_set_new(object, name, value);
}

void field_text(json_t *object, const char *name, const char *text)
{
	json_t *value = text ? json_string(text) : json_null();

	field_json(object, name, value ? value : json_string("?"));
}

void field_int(json_t *object, const char *name, uint64_t value)
{
	field_json(object, name, json_integer((json_int_t)value));
}

void field_real(json_t *object, const char *name, double value)
{
	field_json(object, name, json_real(round(value * 10) / 10));
}

void field_bool(json_t *object, const char *name, bool value)
{
	field_json(object, name, json_boolean(value));
}

void field_ip(json_t *object, const char *name, const struct ip *ip)
{
	char text[IP_TEXT_BYTES];

	field_text(object, name, ip_is_none(ip) ? NULL : ip_format(ip, text));
}

void field_mac(json_t *object, const char *name, const struct mac *mac)
{
	char text[MAC_TEXT_BYTES];

	field_text(object, name, mac_is_zero(mac) ? NULL : mac_format(mac, text));
}

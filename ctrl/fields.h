/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of JSON objects, one line each. When memory runs out a field is missing.
 */
#ifndef CTRL_FIELDS_H
#define CTRL_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"

/* null for NULL; "?" for what is not UTF-8. */
void field_text(json_t *object, const char *name, const char *text);
void field_int(json_t *object, const char *name, uint64_t value);
/* Rounded to a tenth: nobody reads more of a rate. */
void field_real(json_t *object, const char *name, double value);
void field_bool(json_t *object, const char *name, bool value);
/* null for none. */
void field_ip(json_t *object, const char *name, const struct ip *ip);
void field_mac(json_t *object, const char *name, const struct mac *mac);
/* Takes @value. */
void field_json(json_t *object, const char *name, json_t *value);

#endif

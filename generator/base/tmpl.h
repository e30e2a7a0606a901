/* tmpl.h -- templates: ordinary text files with placeholders.
 *
 * Two rules. A line that starts with "%% name" (the rest of the line is a remark) is replaced by the text that the
 * callback writes for that name. @model@ and @source@ are replaced by the model's name and file. There are no loops,
 * conditions or escapes; an empty part brings no heading because headings belong to the parts.
 */
#pragma once

#include <stdio.h>

typedef void hg_fill(void *user, const char *name, FILE *out);

void hg_template(const char *text, const char *model, const char *source, hg_fill *fill, void *user, FILE *out);

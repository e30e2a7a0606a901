/* config_data.c -- the information in a configuration that does not depend on its model: the data file and the
 * output folder, in the spellings that fitters read. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/front.h"

#include "base/paths.h"
#include "files/yaml_tree.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Text at "section.key" or "key", or NULL. */
static const char *text_at(const struct fit_yaml *root, const char *path)
{
    char section[64];
    const char *dot = strchr(path, '.');
    snprintf(section, sizeof section, "%.*s", (int)(dot ? dot - path : 0), path);
    const struct fit_yaml *v =
        dot ? fit_yaml_get(fit_yaml_get(root, section), dot + 1) : fit_yaml_get(root, path);
    return v && v->kind == FIT_YAML_SCALAR && !fit_yaml_is_null(v) && *v->text ? v->text : NULL;
}

static const char *first_of(const struct fit_yaml *root, const char *const *path, size_t n)
{
    const char *text = NULL;
    for (size_t k = 0; k < n && !text; k++)
        text = text_at(root, path[k]);
    return text;
}

static enum fit_status data_path(const struct fit_yaml *root, const char *config, char **path,
                                 struct fit_error *err)
{
    static const char *const files[] = {"experimental_data.file_path", "data.file_path",
                                        "data.file", "data.path", "data_file"};
    const char *file = first_of(root, files, sizeof files / sizeof *files);
    const char *name = text_at(root, "experimental_data.data_file_name");
    const char *folder = text_at(root, "experimental_data.data_folder_path");
    char joined[FRONT_PATH];
    enum fit_status st = file ? fit_path_resolve(file, config, path, err) : FIT_OK;
    if (st != FIT_OK || !name || (*path && access(*path, F_OK) == 0))
        return st;
    free(*path); /* of the two the existing one, as in the fitters */
    *path = NULL;
    snprintf(joined, sizeof joined, "%s/%s", folder ? folder : ".", name);
    return fit_path_resolve(joined, config, path, err);
}

enum fit_status front_config_places(const char *config, char **data, char **output,
                                    struct fit_error *err)
{
    static const char *const folders[] = {"output.output_dir", "output.directory",
                                          "output.base_directory", "output_settings.output_dir"};
    struct fit_yaml_doc *doc;
    *data = *output = NULL;
    enum fit_status st = fit_yaml_parse_file(config, &doc, err);
    if (st != FIT_OK)
        return st;
    const struct fit_yaml *root = fit_yaml_root(doc);
    const char *folder = first_of(root, folders, sizeof folders / sizeof *folders);
    st = data_path(root, config, data, err);
    if (st == FIT_OK && folder && !(*output = strdup(folder)))
        st = fit_no_memory(err, NULL);
    fit_yaml_free(doc);
    return st;
}

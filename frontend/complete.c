/* complete.c -- names of parameters for completions: `homodyne completion parameters WORDS..`, with the words of the
 * command line so far. The model is that of --model, else that of the configuration among them. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/front.h"

#include "common/text.h"
#include "files/yaml_tree.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names in a list of the answer of `info --json`, one per line. */
static void put_names(FILE *out, const struct fit_yaml *list)
{
    for (size_t k = 0; list && list->kind == FIT_YAML_LIST && k < list->n; k++) {
        const struct fit_yaml *name =
            list->entry[k].value->kind == FIT_YAML_MAP ? fit_yaml_get(list->entry[k].value, "name") : NULL;
        if (name && name->kind == FIT_YAML_SCALAR)
            fprintf(out, "%s\n", name->text);
    }
}

void front_complete(struct front *f, char *const *word, size_t n)
{
    const char *model = NULL, *config = NULL;
    struct front_fitter fitter;
    struct fit_error err = {0};
    struct fit_yaml_doc *doc = NULL;
    char *text = NULL, *json[] = {front_word("--json"), NULL};
    int code = 0;
    for (size_t k = 0; k < n; k++) {
        if (strcmp(word[k], "--model") == 0 && k + 1 < n)
            model = word[k + 1];
        else if (strncmp(word[k], "--model=", 8) == 0)
            model = word[k] + 8;
        else if ((text_ends_with(word[k], ".yaml") || text_ends_with(word[k], ".yml")) && access(word[k], R_OK) == 0)
            config = word[k];
    }
    if (!config && !model && access("homodyne_config.yaml", R_OK) == 0)
        config = "homodyne_config.yaml";
    /* a user's model file is not compiled for this */
    if ((!model && !config) || (model && text_ends_with(model, ".lua")) ||
        front_choose(f, model, config, NULL, 1, &fitter, &err) != FIT_OK)
        return;
    char **words = front_words(&fitter, "info", json, 1);
    if (words && front_capture(fitter.program, words, &text, &code, &err) == FIT_OK && code == 0 &&
        fit_yaml_parse(text, strlen(text), "info", &doc, &err) == FIT_OK) {
        put_names(f->out, fit_yaml_get(fit_yaml_root(doc), "parameters"));
        put_names(f->out, fit_yaml_get(fit_yaml_root(doc), "linear"));
    }
    fit_yaml_free(doc);
    free(text);
    free(words);
}

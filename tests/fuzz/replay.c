/* replay.c -- runs a fuzz target over files: replay FILE|FOLDER ...
 *
 * Folders are walked one level deep.  The name of an input is printed before it is run, so that the
 * last line tells which one ended the program. */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

static size_t count;

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = -1;
    int ok = f && fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0 &&
             fseek(f, 0, SEEK_SET) == 0 && (data = malloc((size_t)size + (size == 0))) != NULL &&
             fread(data, 1, (size_t)size, f) == (size_t)size;
    if (f)
        fclose(f);
    if (ok) {
        printf("%s (%ld bytes)\n", path, size);
        fflush(stdout);
        LLVMFuzzerTestOneInput(data, (size_t)size);
        count++;
    } else {
        fprintf(stderr, "replay: cannot read %s\n", path);
    }
    free(data);
    return ok;
}

static int replay_folder(const char *path)
{
    DIR *d = opendir(path);
    const struct dirent *e;
    int ok = d != NULL;
    while (d && (e = readdir(d)) != NULL) {
        char file[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        ok &= replay(file);
    }
    if (d)
        closedir(d);
    return ok;
}

int main(int argc, char **argv)
{
    int ok = argc > 1;
    for (int i = 1; i < argc; i++) {
        struct stat s;
        ok &= stat(argv[i], &s) == 0 && S_ISDIR(s.st_mode) ? replay_folder(argv[i]) : replay(argv[i]);
    }
    printf("%zu inputs\n", count);
    return ok && count ? 0 : 1;
}

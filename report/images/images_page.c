/* images_page.c -- the frame of the pages of images.h; selects the page for a file. */
#include "report/images/images.h"

#include "common/text.h"
#include "imaging/ranking.h"
#include "report/page/page.h"

int rp_images_is_one(const char *file)
{
    struct fit_h5 *h = NULL;
    if (!fit_h5_is_hdf5(file) || fit_h5_open(file, &h, NULL) != FIT_OK)
        return 0;
    const int yes = fit_ranking_is_survey(h) || (fit_h5_exists(h, "/image") && fit_h5_exists(h, "/terms"));
    fit_h5_close(h);
    return yes;
}

enum fit_status rp_images_write(struct rp_markup *out, const char *file, size_t nthreshold,
                                const struct fit_named_number *threshold, struct fit_error *err)
{
    struct fit_h5 *h = NULL;
    enum fit_status s = fit_h5_open(file, &h, err);
    if (s != FIT_OK)
        return s;
    rp_put(out,
           "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
           "charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
           "<title>%s</title>\n<link rel=\"icon\" href=\"data:,\"/>\n<style>\n",
           text_file_name(file));
    rp_put_raw(out, (const char *)embedded_report_css);
    rp_put(out, "</style>\n</head>\n<body>\n");
    s = fit_ranking_is_survey(h) ? rp_survey_page(out, h, nthreshold, threshold, err) : rp_image_page(out, h, err);
    rp_put(out, "</body>\n</html>\n");
    fit_h5_close(h);
    return s;
}

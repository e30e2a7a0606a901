/* compose.h -- one figure for a paper: panels a, b, c, ... on the width of one or two columns.
 *
 * Units are those of the other figures, in which letters are RP_FONT high. The number of points per unit follows
 * from the size of letters on paper (struct rp_paper), and the width from that of the column. */
#ifndef RP_COMPOSE_H
#define RP_COMPOSE_H

#include "report/draw/panel.h"
#include "report/figures/load.h"

struct rp_look { /* what a journal asks for */
    const char *name, *about;
    double column[2];   /* millimetres: one column, two */
    const char *letter; /* of a panel: "a", "A", "(a)" */
    const char *font;   /* NULL: sans-serif */
};

/* Ended by a name NULL; the first is the default. */
extern const struct rp_look rp_looks[];

enum { RP_PARTS = 12, RP_TOGETHER = 4, RP_ANGLES = 8 };

enum rp_kind { RP_PART_MAPS, RP_PART_RESIDUALS, RP_PART_CUTS, RP_PART_CURVES, RP_PART_ROWS };

struct rp_part {
    enum rp_kind kind;
    size_t curve[RP_TOGETHER], ncurve; /* of one unit, in one frame */
    double x, y, w, head, frame;       /* corner and width; height of what stands above the frame, and of the frame */
    double left;                       /* of the frame: room of numbers and name */
};

struct rp_composed {
    const struct rp_result *r;
    const struct rp_look *look;
    int columns; /* 1 or 2 */
    struct rp_part part[RP_PARTS];
    size_t npart;
    size_t group[RP_ANGLES], ngroup; /* angles, or curves of a table */
    size_t age;
    double width, height; /* units */
};

/* What is asked for. */
struct rp_wish {
    const struct rp_look *look;
    int columns;
    double letters;     /* points */
    const char *panels; /* "maps,g2,D", or NULL: what the result has */
    const char *phi;    /* "0,90": the nearest azimuths; NULL: as many as there is room for */
    double age;         /* s; NaN: the middle of what the result has */
};

/* Chooses and places.  FIT_ERR_USAGE: a panel that this result does not have. */
enum fit_status rp_compose(const struct rp_result *r, const struct rp_wish *wish, struct rp_composed *f,
                           struct fit_error *err);
void rp_composed_draw(struct rp_canvas *c, const struct rp_composed *f);

/* Sentences below the figure. */
void rp_composed_caption(const struct rp_composed *f, char *text, size_t size);

/* For compose.c: how high the head and the frame of a part are at its width, and its drawing (compose_parts.c). */
void rp_part_measure(const struct rp_composed *f, struct rp_part *p);
void rp_part_draw(struct rp_canvas *c, const struct rp_composed *f, const struct rp_part *p);

#endif

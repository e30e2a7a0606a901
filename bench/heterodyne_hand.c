/* heterodyne_hand.c -- normal equations of the heterodyne model written by hand.
 *
 * The yardstick for the kernel emitted from models/heterodyne.lua: the same data, the same numbers,
 * the same compiler flags.  With a_r = r^2/n, a_s = f^2/n, a_x = f r/n and
 *
 *     A = a_r(i) a_r(j) R^2,   B = a_s(i) a_s(j) S^2,   X = a_x(i) a_x(j) R S,
 *     psi = w_g (V_j - V_i),   w_g = q cos(phi + phi0),
 *     mean = offset + K b,     b = A + B + 2 X cos psi        (K: contrast of the angle)
 *
 * the derivatives by the three integrals, by r at either frame (') and by phi0,
 *
 *     m_ref = -q^2 (A K + X K cos),     m_r(i) = (A' + B') K + 2 X' K cos,
 *     m_sam = -q^2 (B K + X K cos),     m_r(j)   likewise,
 *     m_v   = -2 X (K w sin),           m_phi0 = -2 X (V_j - V_i) (K w' sin),
 *
 * are pair coefficients times four functions of the angle: K, K cos, K w sin, K w' sin.  So 13 sums
 * over the angles give all 27 fields sum m_c m_d, sum m_c r of a pair; what belongs to the first
 * frame of the pair is taken out of the row.  exp, sin and cos come from tables; a strip of a row
 * stays in the first-level cache.  The sums b m_c and m_c of each angle are taken along rows and
 * down columns and meet the tangents later.
 */
#include "heterodyne_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIT_VL FIT_VL_NATIVE
#include "fit/vmath.h"

enum { NP = 14, NH = NP * (NP + 1) / 2, STRIP = 128 / FIT_VL, SLOT_ROWS = 10, SLOT_COLUMNS = 8 };
enum { REF, SAM, VEL, NI = 3 }; /* integrals */
// clang-format off
/* parts of a pair: A, B, X, their derivatives by r(i) and r(j), V_j - V_i */
enum { PA, PB, PX, PAI, PBI, PXI, PAJ, PBJ, PXJ, PV, NPART };
/* sums over angles: S = K w sin, Z = K w' sin, C = K cos, K, R residual */
enum { SS, SZ, ZZ, SC, ZC, CC, SK, ZK, CK, SR, ZR, CR, KR, NSUM };
/* fields of the channels v, ref (R), sam (S, MM with itself), r(i), r(j), phi0 (P); with the residual */
enum { VV, VR, VS, VI, VJ, VP, RR, RS, RI, RJ, RP, MM, SI, SJ, SP, II, IJ, IP, JJ, JP, PP,
       V_, R_, S_, I_, J_, P_, NF };
// clang-format on

struct heterodyne_hand {
    size_t n, ng, stride;
    double step, q;
    const double *phi;
    double *tab, *U[NI][3], *F[4]; /* tangents of the integrals and of r */
    double *a[3], *d[3];           /* a_r, a_s, a_x and their derivatives by r */
    double *V, *ei[3], *ej[3];     /* R^2, S^2, R S */
    double *sin_i, *cos_i, *sin_j, *cos_j, *w, *wp;
    fit_vd *column; /* [group][vector][SLOT_COLUMNS] */
};

static double *take(struct heterodyne_hand *x, size_t *at, size_t n)
{
    double *p = x->tab + *at;
    *at += (n + 7) / 8 * 8;
    return p;
}

struct heterodyne_hand *heterodyne_hand_new(const struct fit_layout *l)
{
    struct heterodyne_hand *x = calloc(1, sizeof *x);
    size_t n = (l->nframe + 7) / 8 * 8, ng = l->ngroup, at = 0,
           room = 40 * n + 4 * n * ng + 16 * ng + 64;
    if (!x)
        return NULL;
    *x = (struct heterodyne_hand){
        .n = l->nframe, .ng = ng, .stride = n, .step = l->step, .phi = l->coord[0]};
    x->tab = aligned_alloc(64, room * sizeof(double));
    x->column = aligned_alloc(64, ng * n * SLOT_COLUMNS * sizeof(double));
    if (!x->tab || !x->column) {
        heterodyne_hand_free(x);
        return NULL;
    }
    for (int k = 0; k < NI; k++)
        for (int p = 0; p < 3; p++)
            x->U[k][p] = take(x, &at, n);
    for (int k = 0; k < 4; k++)
        x->F[k] = take(x, &at, n);
    for (int k = 0; k < 3; k++) {
        x->a[k] = take(x, &at, n), x->d[k] = take(x, &at, n);
        x->ei[k] = take(x, &at, n), x->ej[k] = take(x, &at, n);
    }
    x->V = take(x, &at, n);
    x->sin_i = take(x, &at, n * ng), x->cos_i = take(x, &at, n * ng);
    x->sin_j = take(x, &at, n * ng), x->cos_j = take(x, &at, n * ng);
    x->w = take(x, &at, ng), x->wp = take(x, &at, ng);
    return x;
}

void heterodyne_hand_free(struct heterodyne_hand *x)
{
    if (!x)
        return;
    free(x->tab);
    free(x->column);
    free(x);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Integral and tangents of a t^b + c, kept at or above 0 when floored. */
static void power_law(struct heterodyne_hand *x, const double p[3], int floored, double *value,
                      double *const U[3])
{
    double f0 = 0, g0[3] = {0}, sum = 0, dsum[3] = {0};
    for (size_t k = 0; k < x->stride; k++) {
        double t = x->step * (double)(k < x->n ? k : x->n - 1), power = t > 0 ? pow(t, p[1]) : 0;
        double f = p[0] * power + p[2], on = !floored || f > 0,
               g[3] = {on * power, t > 0 ? on * p[0] * power * log(t) : 0, on};
        double h = k > 0 && k < x->n ? x->step / 2 : 0;
        f *= on;
        sum += h * (f0 + f);
        value[k] = sum;
        for (int m = 0; m < 3; m++) {
            dsum[m] += h * (g0[m] + g[m]);
            U[m][k] = dsum[m];
            g0[m] = g[m];
        }
        f0 = f;
    }
}

static void fraction(struct heterodyne_hand *x, const double p[4])
{
    for (size_t k = 0; k < x->stride; k++) {
        double t = x->step * (double)(k < x->n ? k : x->n - 1), e = exp(p[1] * (t - p[2])),
               y = p[0] * e + p[3];
        double lo = fit_softplus(50 * y) / 50, r = fit_softplus(50 * (1 - lo)) / 50, f = 1 - r,
               n = f * f + r * r;
        double slope = -fit_logistic(50 * y) * fit_logistic(50 * (1 - lo)), dn = 2 * (r - f);
        x->a[0][k] = r * r / n, x->a[1][k] = f * f / n, x->a[2][k] = f * r / n;
        x->d[0][k] = (2 * r - r * r / n * dn) / n;
        x->d[1][k] = (-2 * f - f * f / n * dn) / n;
        x->d[2][k] = (f - r - f * r / n * dn) / n;
        x->F[0][k] = slope * e, x->F[1][k] = slope * p[0] * e * (t - p[2]);
        x->F[2][k] = -slope * p[0] * e * p[1], x->F[3][k] = slope;
    }
}

void heterodyne_hand_prepare(struct heterodyne_hand *x, const double theta[14], double q)
{
    double *I[2] = {x->ei[0], x->ei[1]};
    x->q = q;
    power_law(x, theta, 1, I[0], x->U[REF]);
    power_law(x, theta + 3, 1, I[1], x->U[SAM]);
    power_law(x, theta + 6, 0, x->V, x->U[VEL]);
    fraction(x, theta + 9);
    double mid[2] = {I[0][x->n / 2], I[1][x->n / 2]};
    for (size_t k = 0; k < x->stride; k++) {
        double r = -q * q * (I[0][k] - mid[0]), s = -q * q * (I[1][k] - mid[1]),
               u[3] = {r, s, (r + s) / 2};
        for (int m = 0; m < 3; m++)
            x->ej[m][k] = exp(u[m]), x->ei[m][k] = exp(-u[m]);
    }
    for (size_t g = 0; g < x->ng; g++) {
        double a = 0.017453292519943295 * (x->phi[g] + theta[13]);
        x->w[g] = q * cos(a), x->wp[g] = -0.017453292519943295 * q * sin(a);
        for (size_t k = 0; k < x->stride; k++) {
            double s = sin(x->w[g] * x->V[k]), c = cos(x->w[g] * x->V[k]);
            size_t j = (k / 8 * x->ng + g) * 8 + k % 8;
            x->sin_i[k * x->ng + g] = s, x->cos_i[k * x->ng + g] = c;
            x->sin_j[j] = s, x->cos_j[j] = c;
        }
    }
}

/* ---- a strip of a row ------------------------------------------------------------------------ */

struct strip {
    size_t i, j, n; /* row, first column, vectors */
    fit_vd part[STRIP][NPART], sum[STRIP][NSUM], field[STRIP][NF];
    fit_vd kk; /* sum of K^2 */
};

static void pair_parts(const struct heterodyne_hand *x, const struct fit_tile *t, struct strip *s)
{
    double ai[3], di[3];
    for (int m = 0; m < 3; m++)
        ai[m] = x->a[m][s->i] * x->ei[m][s->i], di[m] = x->d[m][s->i] * x->ei[m][s->i];
    for (size_t k = 0; k < s->n; k++) {
        const size_t j = s->j + k * FIT_VL;
        fit_vd *p = s->part[k], keep = fit_vset1(1.0);
        if (j <= s->i || j + FIT_VL > t->j1)
            for (size_t v = 0; v < FIT_VL; v++)
                keep[v] = j + v > s->i && j + v < t->j1;
        for (int m = 0; m < 3; m++) {
            fit_vd e = fit_vload(x->ej[m] + j) * keep, a = fit_vload(x->a[m] + j) * e;
            p[PA + m] = ai[m] * a;
            p[PAI + m] = di[m] * a;
            p[PAJ + m] = ai[m] * (fit_vload(x->d[m] + j) * e);
        }
        p[PV] = fit_vload(x->V + j) - x->V[s->i];
    }
    memset(s->sum, 0, s->n * sizeof s->sum[0]);
    s->kk = (fit_vd){0};
}

/* One angle: sums over angles, and the sums b m, m of this angle along the row and down the
 * columns. */
static void angle(const struct heterodyne_hand *x, const double *lin, const double *y,
                  struct strip *s, size_t g, fit_vd *restrict column, fit_vd *restrict row)
{
    const double K = lin[2 * g], offset = lin[2 * g + 1], Kw = K * x->w[g], Kz = K * x->wp[g];
    const double si = x->sin_i[s->i * x->ng + g], ci = x->cos_i[s->i * x->ng + g];
    fit_vd r[SLOT_ROWS];
    for (int k = 0; k < SLOT_ROWS; k++)
        r[k] = row[k];
    for (size_t k = 0; k < s->n; k++) {
        const size_t j = s->j + k * FIT_VL, b8 = (j / 8 * x->ng + g) * 8 + j % 8;
        const fit_vd sj = fit_vload(x->sin_j + b8), cj = fit_vload(x->cos_j + b8), *p = s->part[k];
        const fit_vd sn = sj * ci - cj * si, cs = cj * ci + sj * si, X = p[PX], Xc = X * cs;
        const fit_vd b = p[PA] + p[PB] + 2.0 * Xc;
        const fit_vd res = fit_vload(y + ((j - s->j) / 8 * x->ng) * 8 + j % 8) - (offset + K * b);
        const fit_vd S = Kw * sn, Z = Kz * sn, C = K * cs;
        fit_vd *q = s->sum[k], *c = column + k * SLOT_COLUMNS;
        q[SS] += S * S, q[SZ] += S * Z, q[ZZ] += Z * Z, q[SC] += S * C, q[ZC] += Z * C,
            q[CC] += C * C;
        q[SK] += K * S, q[ZK] += K * Z, q[CK] += K * C;
        q[SR] += S * res, q[ZR] += Z * res, q[CR] += C * res, q[KR] += K * res;
        const fit_vd xs = X * sn, ref = p[PA] + Xc, sam = p[PB] + Xc, xv = xs * p[PV];
        const fit_vd mi = p[PAI] + p[PBI] + 2.0 * (p[PXI] * cs),
                     mj = p[PAJ] + p[PBJ] + 2.0 * (p[PXJ] * cs);
        const fit_vd bxs = b * xs, bref = b * ref, bsam = b * sam;
        c[0] += xs, c[1] += ref, c[2] += sam, c[3] += mj;
        c[4] += bxs, c[5] += bref, c[6] += bsam, c[7] += b * mj;
        r[0] += xs, r[1] += ref, r[2] += sam, r[3] += mi, r[4] += xv;
        r[5] += bxs, r[6] += bref, r[7] += bsam, r[8] += b * mi, r[9] += b * xv;
    }
    s->kk += K * K;
    for (int k = 0; k < SLOT_ROWS; k++)
        row[k] = r[k];
}

/* Fields from the sums over angles: m_c = sum of coefficients times s, z, c, k. */
static void fields(const struct heterodyne_hand *x, struct strip *s)
{
    const double q2 = x->q * x->q;
    for (size_t k = 0; k < s->n; k++) {
        const fit_vd *p = s->part[k], *u = s->sum[k], kk = s->kk;
        const fit_vd v = -2.0 * p[PX], f = v * p[PV], rk = -q2 * p[PA], sk = -q2 * p[PB],
                     rc = -q2 * p[PX];
        const fit_vd ik = p[PAI] + p[PBI], ic = 2.0 * p[PXI], jk = p[PAJ] + p[PBJ],
                     jc = 2.0 * p[PXJ];
        const fit_vd ss = v * u[SS], sc = v * u[SC], su = v * u[SK], zc = f * u[ZC], zk = f * u[ZK];
        const fit_vd rrk = rk * kk + rc * u[CK], rrc = rk * u[CK] + rc * u[CC];
        const fit_vd ssk = sk * kk + rc * u[CK], ssc = sk * u[CK] + rc * u[CC];
        const fit_vd iik = ik * kk + ic * u[CK], iic = ik * u[CK] + ic * u[CC];
        const fit_vd jjk = jk * kk + jc * u[CK], jjc = jk * u[CK] + jc * u[CC];
        fit_vd *F = s->field[k];
        F[VV] = v * ss, F[VP] = v * (f * u[SZ]), F[PP] = f * (f * u[ZZ]);
        F[VR] = rk * su + rc * sc, F[VS] = sk * su + rc * sc, F[VI] = ik * su + ic * sc,
        F[VJ] = jk * su + jc * sc;
        F[RP] = rk * zk + rc * zc, F[SP] = sk * zk + rc * zc, F[IP] = ik * zk + ic * zc,
        F[JP] = jk * zk + jc * zc;
        F[RR] = rk * rrk + rc * rrc, F[RS] = sk * rrk + rc * rrc, F[RI] = ik * rrk + ic * rrc,
        F[RJ] = jk * rrk + jc * rrc;
        F[MM] = sk * ssk + rc * ssc, F[SI] = ik * ssk + ic * ssc, F[SJ] = jk * ssk + jc * ssc;
        F[II] = ik * iik + ic * iic, F[IJ] = jk * iik + jc * iic, F[JJ] = jk * jjk + jc * jjc;
        F[V_] = v * u[SR], F[P_] = f * u[ZR], F[R_] = rk * u[KR] + rc * u[CR],
        F[S_] = sk * u[KR] + rc * u[CR];
        F[I_] = ik * u[KR] + ic * u[CR], F[J_] = jk * u[KR] + jc * u[CR];
    }
}

/* ---- products with the tangents -------------------------------------------------------------- */

static size_t at(size_t k, size_t l)
{
    return k < l ? k * NP - k * (k + 1) / 2 + l : l * NP - l * (l + 1) / 2 + k;
}

/* An integral with itself, with phi0, with the residual, and with r at either frame. */
static void one_integral(const struct heterodyne_hand *x, const struct strip *s, int a,
                         const int f[5], fit_vd *H)
{
    const size_t p = a == REF ? 0 : a == SAM ? 3 : 6;
    fit_vd h[6] = {{0}}, ph[3] = {{0}}, g[3] = {{0}}, fi[3] = {{0}}, fj[3][4] = {{{0}}};
    double ui[3];
    for (int k = 0; k < 3; k++)
        ui[k] = x->U[a][k][s->i];
    for (size_t k = 0; k < s->n; k++) {
        const size_t j = s->j + k * FIT_VL;
        const fit_vd *F = s->field[k];
        const fit_vd u0 = fit_vload(x->U[a][0] + j) - ui[0], u1 = fit_vload(x->U[a][1] + j) - ui[1];
        const fit_vd u2 = fit_vload(x->U[a][2] + j) - ui[2];
        const fit_vd p0 = F[f[0]] * u0, p1 = F[f[0]] * u1, p2 = F[f[0]] * u2;
        h[0] += u0 * p0, h[1] += u0 * p1, h[2] += u0 * p2, h[3] += u1 * p1, h[4] += u1 * p2,
            h[5] += u2 * p2;
        ph[0] += u0 * F[f[1]], ph[1] += u1 * F[f[1]], ph[2] += u2 * F[f[1]];
        g[0] += u0 * F[f[2]], g[1] += u1 * F[f[2]], g[2] += u2 * F[f[2]];
        fi[0] += u0 * F[f[3]], fi[1] += u1 * F[f[3]], fi[2] += u2 * F[f[3]];
    }
    for (size_t k = 0; k < s->n; k++) {
        const size_t j = s->j + k * FIT_VL;
        const fit_vd F = s->field[k][f[4]];
        const fit_vd u0 = fit_vload(x->U[a][0] + j) - ui[0], u1 = fit_vload(x->U[a][1] + j) - ui[1];
        const fit_vd u2 = fit_vload(x->U[a][2] + j) - ui[2];
        for (int m = 0; m < 4; m++) {
            const fit_vd y = F * fit_vload(x->F[m] + j);
            fj[0][m] += u0 * y, fj[1][m] += u1 * y, fj[2][m] += u2 * y;
        }
    }
    H[at(p, p)] += h[0], H[at(p, p + 1)] += h[1], H[at(p, p + 2)] += h[2];
    H[at(p + 1, p + 1)] += h[3], H[at(p + 1, p + 2)] += h[4], H[at(p + 2, p + 2)] += h[5];
    for (size_t k = 0; k < 3; k++) {
        H[at(p + k, 13)] += ph[k];
        H[NH + p + k] += g[k];
        for (size_t m = 0; m < 4; m++)
            H[at(p + k, 9 + m)] += fi[k] * x->F[m][s->i] + fj[k][m];
    }
}

static void two_integrals(const struct heterodyne_hand *x, const struct strip *s, int a, int b,
                          int f, fit_vd *H)
{
    const size_t p = a == REF ? 0 : 3, q = b == SAM ? 3 : 6;
    fit_vd h[3][3] = {{{0}}};
    for (size_t k = 0; k < s->n; k++) {
        const size_t j = s->j + k * FIT_VL;
        const fit_vd F = s->field[k][f];
        const fit_vd u0 = fit_vload(x->U[a][0] + j) - x->U[a][0][s->i],
                     u1 = fit_vload(x->U[a][1] + j) - x->U[a][1][s->i];
        const fit_vd u2 = fit_vload(x->U[a][2] + j) - x->U[a][2][s->i];
        for (int m = 0; m < 3; m++) {
            const fit_vd y = F * (fit_vload(x->U[b][m] + j) - x->U[b][m][s->i]);
            h[0][m] += u0 * y, h[1][m] += u1 * y, h[2][m] += u2 * y;
        }
    }
    for (size_t k = 0; k < 3; k++)
        for (size_t m = 0; m < 3; m++)
            H[at(p + k, q + m)] += h[k][m];
}

static void fractions(const struct heterodyne_hand *x, const struct strip *s, fit_vd *H)
{
    fit_vd ii = {0}, ip = {0}, ir = {0}, pp = {0}, pr = {0}, ij[4] = {{0}}, jp[4] = {{0}},
           jr[4] = {{0}}, jj[10] = {{0}};
    for (size_t k = 0; k < s->n; k++) {
        const size_t j = s->j + k * FIT_VL;
        const fit_vd *F = s->field[k];
        ii += F[II], ip += F[IP], ir += F[I_], pp += F[PP], pr += F[P_];
        for (int m = 0; m < 4; m++) {
            const fit_vd u = fit_vload(x->F[m] + j);
            ij[m] += F[IJ] * u, jp[m] += F[JP] * u, jr[m] += F[J_] * u;
        }
    }
    for (size_t k = 0; k < s->n; k++) {
        const size_t j = s->j + k * FIT_VL;
        const fit_vd u0 = fit_vload(x->F[0] + j), u1 = fit_vload(x->F[1] + j),
                     u2 = fit_vload(x->F[2] + j);
        const fit_vd u3 = fit_vload(x->F[3] + j), F = s->field[k][JJ], p0 = F * u0, p1 = F * u1,
                     p2 = F * u2;
        jj[0] += p0 * u0, jj[1] += p0 * u1, jj[2] += p0 * u2, jj[3] += p0 * u3, jj[4] += p1 * u1,
            jj[5] += p1 * u2;
        jj[6] += p1 * u3, jj[7] += p2 * u2, jj[8] += p2 * u3, jj[9] += F * u3 * u3;
    }
    for (size_t k = 0, n = 0; k < 4; k++) {
        const double fk = x->F[k][s->i];
        for (size_t l = k; l < 4; l++)
            H[at(9 + k, 9 + l)] +=
                ii * (fk * x->F[l][s->i]) + ij[l] * fk + ij[k] * x->F[l][s->i] + jj[n++];
        H[at(9 + k, 13)] += ip * fk + jp[k];
        H[NH + 9 + k] += ir * fk + jr[k];
    }
    H[at(13, 13)] += pp;
    H[NH + 13] += pr;
}

/* ---- a tile ---------------------------------------------------------------------------------- */

/* Sums along a row: times the tangents at i.  v: [contrast, offset][NP] */
static void end_row(const struct heterodyne_hand *x, size_t i, fit_vd *row, fit_vd *v)
{
    for (size_t h = 0; h < 2; h++) {
        const fit_vd *r = row + (h ? 0 : 5);
        fit_vd *o = v + h * NP;
        for (size_t k = 0; k < 3; k++) {
            o[k] -= r[1] * x->U[REF][k][i];
            o[3 + k] -= r[2] * x->U[SAM][k][i];
            o[6 + k] -= r[0] * x->U[VEL][k][i];
        }
        for (size_t k = 0; k < 4; k++)
            o[9 + k] += r[3] * x->F[k][i];
        o[13] += r[4];
    }
    memset(row, 0, SLOT_ROWS * sizeof *row);
}

static void end_tile(const struct heterodyne_hand *x, const double *lin, const struct fit_tile *t,
                     size_t g, fit_vd *v, double *out)
{
    const size_t n = ((t->j1 - t->j0 + 7) / 8 * 8) / FIT_VL;
    for (size_t k = 0; k < n; k++) {
        const size_t j = t->j0 + k * FIT_VL;
        for (size_t h = 0; h < 2; h++) {
            const fit_vd *s = x->column + (g * x->stride / FIT_VL + k) * SLOT_COLUMNS + (h ? 0 : 4);
            fit_vd *o = v + h * NP;
            for (size_t m = 0; m < 3; m++) {
                o[m] += s[1] * fit_vload(x->U[REF][m] + j);
                o[3 + m] += s[2] * fit_vload(x->U[SAM][m] + j);
                o[6 + m] += s[0] * fit_vload(x->U[VEL][m] + j);
            }
            for (size_t m = 0; m < 4; m++)
                o[9 + m] += s[3] * fit_vload(x->F[m] + j);
        }
    }
    const double K = lin[2 * g], q2 = x->q * x->q;
    for (size_t h = 0; h < 2; h++)
        for (size_t k = 0; k < NP; k++) {
            double factor = k < 6 ? -q2 : k < 9 ? -2 * x->w[g] : k < 13 ? 1 : -2 * x->wp[g];
            out[h * NP + k] = K * factor * fit_vsum(v[h * NP + k]);
        }
}

void heterodyne_hand_normal(struct heterodyne_hand *x, const double *lin, const struct fit_tile *t,
                            double *out)
{
    enum { MOST_GROUPS = 64 };
    static _Thread_local struct strip s;
    static _Thread_local fit_vd row[MOST_GROUPS][SLOT_ROWS], v[MOST_GROUPS][2 * NP];
    fit_vd H[NH + NP] = {{0}};
    const size_t ng = x->ng, end = (t->j1 + 7) / 8 * 8;
    const double *y = t->y;
    memset(x->column, 0, ng * x->stride * SLOT_COLUMNS * sizeof(double));
    memset(row, 0, sizeof row);
    memset(v, 0, sizeof v);
    for (size_t i = t->i0; i < t->i1; i++) {
        for (size_t j = (i + 1 > t->j0 ? i + 1 : t->j0) / 8 * 8; j < end; j += s.n * FIT_VL) {
            s.i = i, s.j = j, s.n = end - j < STRIP * FIT_VL ? (end - j) / FIT_VL : STRIP;
            pair_parts(x, t, &s);
            for (size_t g = 0; g < ng; g++)
                angle(x, lin, y + 8 * g, &s, g,
                      x->column + (g * x->stride + j - t->j0) / FIT_VL * SLOT_COLUMNS, row[g]);
            y += s.n * FIT_VL * ng;
            fields(x, &s);
            one_integral(x, &s, VEL, (const int[]){VV, VP, V_, VI, VJ}, H);
            one_integral(x, &s, REF, (const int[]){RR, RP, R_, RI, RJ}, H);
            one_integral(x, &s, SAM, (const int[]){MM, SP, S_, SI, SJ}, H);
            two_integrals(x, &s, REF, VEL, VR, H);
            two_integrals(x, &s, SAM, VEL, VS, H);
            two_integrals(x, &s, REF, SAM, RS, H);
            fractions(x, &s, H);
        }
        for (size_t g = 0; g < ng; g++)
            end_row(x, i, row[g], v[g]);
    }
    for (size_t k = 0; k < NH + NP; k++)
        out[k] = fit_vsum(H[k]);
    for (size_t g = 0; g < ng; g++)
        end_tile(x, lin, t, g, v[g], out + NH + NP + g * 2 * NP);
}

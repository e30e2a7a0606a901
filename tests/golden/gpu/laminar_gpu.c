/* Kernels of laminar for accelerators -- written by homodyne-gen from laminar.lua.  Edit the model, not this file.
 *
 * One text, read as CUDA C, OpenCL C and plain C: fit/gpu.h says how, and what a block and a thread
 * work on.  Names are those of the kernel for processors:
 * t, l, w    what a thread works on, the layout of the data, tables of the workspace
 * i, j, g    first and second frame of a pair, its group; row: of a table
 * m_, F_     channels, sums over groups of their products; u_: small factors of parameters
 * s_         sums of a thread
 * fit_vd, fit_vm are vectors there, a double and a truth here.
 */
#define FIT_GPU_OF_ITEM 0 /* 1: an item is of one group; 0: the block says which */
#define FIT_GPU_AXES 1
#define FIT_GPU_TABLE_COLUMNS 1
#include "fit/gpu.h"

/* Workspace: scalars, tables over the time grid, tables at the used frames. */
struct tables {
    FIT_GLOBAL const double *time_grid; /* time, padded */
    FIT_GLOBAL const double *int_shear; /* integral(shear) */
    FIT_GLOBAL const double *int_shear_low; /* what its rounding left */
    FIT_GLOBAL const double *exp_u_D_i; /* exp of integral(D) * minus_q_sq */
    FIT_GLOBAL const double *exp_u_D_j; /* the same for the second frame */
    FIT_GLOBAL const double *int_D; /* integral(D) */
    FIT_GLOBAL const double *int_D_low; /* what its rounding left */
    FIT_GLOBAL const double *minus_q_sq; /* -q^2 */
    FIT_GLOBAL const double *s; /* q * gap / 6.28318530718 * cos(phi0 - phi) */
    FIT_GLOBAL const double *inv_s; /* 1/s */
    FIT_GLOBAL const double *sin_u_shear_i; /* sin of integral(shear) * s */
    FIT_GLOBAL const double *cos_u_shear_i; /* and its cos */
    FIT_GLOBAL const double *sin_u_shear_j; /* the same, vectors at the second frame */
    FIT_GLOBAL const double *cos_u_shear_j; /* and their cos */
    FIT_GLOBAL const double *int_dD_dD0; /* integral(dD_dD0) */
    FIT_GLOBAL const double *int_dD_dalpha; /* integral(dD_dalpha) */
    FIT_GLOBAL const double *int_dD_dD_offset; /* integral(dD_dD_offset) */
    FIT_GLOBAL const double *int_dshear_dgamma_dot_t0; /* integral(dshear_dgamma_dot_t0) */
    FIT_GLOBAL const double *int_dshear_dbeta; /* integral(dshear_dbeta) */
    FIT_GLOBAL const double *int_dshear_dgamma_dot_t_offset; /* integral(dshear_dgamma_dot_t_offset) */
    FIT_GLOBAL const double *four_s; /* 4 * s */
    FIT_GLOBAL const double *ds_dphi0; /* -0.00277778 * q * gap * sin(0.0174533 * (phi0 - phi)) */
    FIT_GLOBAL const double *ts_to_alpha_grid; /* ts^alpha */
    FIT_GLOBAL const double *D_grid; /* where(le(D0 * ts^alpha + D_offset, 1e-10 * unit "angstrom^2/s"), 1e-10 * ... */
    FIT_GLOBAL const double *ts_to_beta_grid; /* ts^beta */
    FIT_GLOBAL const double *shear_grid; /* where(le(gamma_dot_t0 * ts^beta + gamma_dot_t_offset, 1e-10 / unit "s"), ... */
    FIT_GLOBAL const double *int_D_grid; /* integral(D) */
    FIT_GLOBAL const double *int_D_grid_low; /* what its rounding left */
    FIT_GLOBAL const double *int_shear_grid; /* integral(shear) */
    FIT_GLOBAL const double *int_shear_grid_low; /* what its rounding left */
    FIT_GLOBAL const double *dD_dD0_grid; /* where(le(D_offset + D0 * ts^alpha, 1e-10), 0, ts^alpha) */
    FIT_GLOBAL const double *int_dD_dD0_grid; /* integral(dD_dD0) */
    FIT_GLOBAL const double *dD_dalpha_grid; /* where(le(D_offset + D0 * ts^alpha, 1e-10), 0, D0 * ts^alpha * log(ts)) */
    FIT_GLOBAL const double *int_dD_dalpha_grid; /* integral(dD_dalpha) */
    FIT_GLOBAL const double *dD_dD_offset_grid; /* where(le(D_offset + D0 * ts^alpha, 1e-10), 0, 1) */
    FIT_GLOBAL const double *int_dD_dD_offset_grid; /* integral(dD_dD_offset) */
    FIT_GLOBAL const double *dshear_dgamma_dot_t0_grid; /* where(le(gamma_dot_t_offset + gamma_dot_t0 * ts^beta, 1e-10), 0, ts^beta) */
    FIT_GLOBAL const double *int_dshear_dgamma_dot_t0_grid; /* integral(dshear_dgamma_dot_t0) */
    FIT_GLOBAL const double *dshear_dbeta_grid; /* where(le(gamma_dot_t_offset + gamma_dot_t0 * ts^beta, 1e-10), 0, gamma_do... */
    FIT_GLOBAL const double *int_dshear_dbeta_grid; /* integral(dshear_dbeta) */
    FIT_GLOBAL const double *dshear_dgamma_dot_t_offset_grid; /* where(le(gamma_dot_t_offset + gamma_dot_t0 * ts^beta, 1e-10), 0, 1) */
    FIT_GLOBAL const double *int_dshear_dgamma_dot_t_offset_grid; /* integral(dshear_dgamma_dot_t_offset) */
};

FIT_INLINE size_t carve(const struct fit_gpu_layout *l, FIT_GLOBAL const double *base, struct tables *w)
{
    const size_t ng = l->ngroup;
    const size_t nt = fit_padded(l->ntime);
    const size_t nf = fit_padded(l->nframe);
    size_t n = 0;
    w->time_grid = base + n, n += nt;
    w->int_shear = base + n, n += fit_padded(nf);
    w->int_shear_low = base + n, n += fit_padded(nf);
    w->exp_u_D_i = base + n, n += fit_padded(nf);
    w->exp_u_D_j = base + n, n += fit_padded(nf);
    w->int_D = base + n, n += fit_padded(nf);
    w->int_D_low = base + n, n += fit_padded(nf);
    w->minus_q_sq = base + n, n += fit_padded(8);
    w->s = base + n, n += fit_padded(ng);
    w->inv_s = base + n, n += fit_padded(ng);
    w->sin_u_shear_i = base + n, n += fit_padded(nf * ng);
    w->cos_u_shear_i = base + n, n += fit_padded(nf * ng);
    w->sin_u_shear_j = base + n, n += fit_padded(nf * ng);
    w->cos_u_shear_j = base + n, n += fit_padded(nf * ng);
    w->int_dD_dD0 = base + n, n += fit_padded(nf);
    w->int_dD_dalpha = base + n, n += fit_padded(nf);
    w->int_dD_dD_offset = base + n, n += fit_padded(nf);
    w->int_dshear_dgamma_dot_t0 = base + n, n += fit_padded(nf);
    w->int_dshear_dbeta = base + n, n += fit_padded(nf);
    w->int_dshear_dgamma_dot_t_offset = base + n, n += fit_padded(nf);
    w->four_s = base + n, n += fit_padded(ng);
    w->ds_dphi0 = base + n, n += fit_padded(ng);
    w->ts_to_alpha_grid = base + n, n += fit_padded(nt);
    w->D_grid = base + n, n += fit_padded(nt);
    w->ts_to_beta_grid = base + n, n += fit_padded(nt);
    w->shear_grid = base + n, n += fit_padded(nt);
    w->int_D_grid = base + n, n += fit_padded(nt);
    w->int_D_grid_low = base + n, n += fit_padded(nt);
    w->int_shear_grid = base + n, n += fit_padded(nt);
    w->int_shear_grid_low = base + n, n += fit_padded(nt);
    w->dD_dD0_grid = base + n, n += fit_padded(nt);
    w->int_dD_dD0_grid = base + n, n += fit_padded(nt);
    w->dD_dalpha_grid = base + n, n += fit_padded(nt);
    w->int_dD_dalpha_grid = base + n, n += fit_padded(nt);
    w->dD_dD_offset_grid = base + n, n += fit_padded(nt);
    w->int_dD_dD_offset_grid = base + n, n += fit_padded(nt);
    w->dshear_dgamma_dot_t0_grid = base + n, n += fit_padded(nt);
    w->int_dshear_dgamma_dot_t0_grid = base + n, n += fit_padded(nt);
    w->dshear_dbeta_grid = base + n, n += fit_padded(nt);
    w->int_dshear_dbeta_grid = base + n, n += fit_padded(nt);
    w->dshear_dgamma_dot_t_offset_grid = base + n, n += fit_padded(nt);
    w->int_dshear_dgamma_dot_t_offset_grid = base + n, n += fit_padded(nt);
    return n;
}

/* For each group the sums of b_p b_q, b_p d, d^2; b: what a linear parameter multiplies, d: the data less the rest. */
FIT_INLINE void fit_laminar_moments_0_of(const struct fit_gpu_task *t, double *fit_sum)
{
    const struct fit_gpu_layout *const l = &t->l;
    struct tables tables;
    carve(l, t->ws, &tables);
    const struct tables *const w = &tables;
    const size_t ng = l->ngroup;
    const size_t g = t->group;
    double s_0 = 0.0, s_1 = 0.0, s_2 = 0.0, s_3 = 0.0, s_4 = 0.0, s_5 = 0.0;
    const size_t column = t->c0 + t->thread % FIT_GPU_COLUMNS;
    for (size_t line = t->r0 + t->thread / FIT_GPU_COLUMNS; line < t->r1; line += FIT_GPU_ROWS) {
        if (column <= line || column >= t->c1)
            continue;
        size_t i = line, j = column; /* unknown to the compiler: nothing of a column is kept */
        FIT_OPAQUE(i);
        FIT_OPAQUE(j);
        const size_t b = j / FIT_LANES;
        const size_t h = j % FIT_LANES;
        const size_t at = fit_gpu_pair(t, i, b) + h;
        const double weight = t->weighted ? t->w[at + g * FIT_LANES] : 1.0;
        if (!(weight > 0.0))
            continue;
        const double y = t->y[at + g * FIT_LANES];
        const double s = w->s[g];
        const fit_vd d_int_shear = fit_delta_low(w->int_shear, w->int_shear_low, j, i);
        const fit_vm small = fit_vabs(s*d_int_shear) < FIT_SINC_X0;
        const double inv_s = w->inv_s[g];
        const double sin_i = w->sin_u_shear_i[i * ng + g], cos_i = w->cos_u_shear_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_u_shear_j + (b * ng + g) * FIT_LANES + h),
                cos_j = fit_vload(w->cos_u_shear_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_u_shear = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shea ... */
        fit_vd sinc_shear = inv_s*sin_u_shear/d_int_shear;                     /* [1] */
        if (fit_vany(small)) {
            sinc_shear = fit_vselect(small, fit_vsinc_series(s*s*d_int_shear*d_int_shear), sinc_shear);
        }
        const fit_vd sinc_shear_sq = sinc_shear*sinc_shear;                    /* [1] */
        const fit_vd exp_u_D = fit_vexp(w->minus_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
        const fit_vd b_contrast = sinc_shear_sq*exp_u_D*sinc_shear_sq;         /* [1] */
        const double b_2 = y;
        const double b_0 = b_contrast; /* multiplies contrast */
        const double b_1 = 1.0; /* multiplies offset */
        s_0 = fit_vfma(weight*b_0, b_0, s_0);
        s_1 = fit_vfma(weight*b_0, b_1, s_1);
        s_2 = fit_vfma(weight*b_1, b_1, s_2);
        s_3 = fit_vfma(weight*b_0, b_2, s_3);
        s_4 = fit_vfma(weight*b_1, b_2, s_4);
        s_5 = fit_vfma(weight*b_2, b_2, s_5);
    }
    fit_sum[0] = s_0; /* contrast, contrast */
    fit_sum[1] = s_1; /* contrast, offset */
    fit_sum[2] = s_2; /* offset, offset */
    fit_sum[3] = s_3; /* contrast, data */
    fit_sum[4] = s_4; /* offset, data */
    fit_sum[5] = s_5; /* data, data */
}

FIT_GPU_SUMS(fit_laminar_moments_0, 6)

/* Sums of J_k J_l, k <= l, and J_k r; J: derivatives of the mean by the parameters, r: the data less the mean. */
FIT_INLINE void fit_laminar_normal_0_of(const struct fit_gpu_task *t, double *fit_sum)
{
    const struct fit_gpu_layout *const l = &t->l;
    struct tables tables;
    carve(l, t->ws, &tables);
    const struct tables *const w = &tables;
    FIT_GLOBAL const double *const lin = t->lin;
    const size_t ng = l->ngroup;
    double s_0 = 0.0, s_1 = 0.0, s_2 = 0.0, s_3 = 0.0, s_4 = 0.0, s_5 = 0.0, s_6 = 0.0, s_7 = 0.0;
    double s_8 = 0.0, s_9 = 0.0, s_10 = 0.0, s_11 = 0.0, s_12 = 0.0, s_13 = 0.0, s_14 = 0.0, s_15 = 0.0;
    double s_16 = 0.0, s_17 = 0.0, s_18 = 0.0, s_19 = 0.0, s_20 = 0.0, s_21 = 0.0, s_22 = 0.0, s_23 = 0.0;
    double s_24 = 0.0, s_25 = 0.0, s_26 = 0.0, s_27 = 0.0, s_28 = 0.0, s_29 = 0.0, s_30 = 0.0, s_31 = 0.0;
    double s_32 = 0.0, s_33 = 0.0, s_34 = 0.0;
    const size_t column = t->c0 + t->thread % FIT_GPU_COLUMNS;
    for (size_t line = t->r0 + t->thread / FIT_GPU_COLUMNS; line < t->r1; line += FIT_GPU_ROWS) {
        if (column <= line || column >= t->c1)
            continue;
        size_t i = line, j = column; /* unknown to the compiler: nothing of a column is kept */
        FIT_OPAQUE(i);
        FIT_OPAQUE(j);
        const size_t b = j / FIT_LANES;
        const size_t h = j % FIT_LANES;
        const size_t at = fit_gpu_pair(t, i, b) + h;
        const fit_vd d_int_shear = fit_delta_low(w->int_shear, w->int_shear_low, j, i);
        const double minus_q_sq = w->minus_q_sq[0];
        /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shea ... */
        const fit_vd inv_d_int_shear = 1.0/d_int_shear;                        /* [1] */
        const fit_vd exp_u_D = fit_vexp(w->minus_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
        const fit_vd d_int_shear_sq = d_int_shear*d_int_shear;                 /* [1] */
        double F_0 = 0.0;
        double F_1 = 0.0;
        double F_2 = 0.0;
        double F_3 = 0.0;
        double F_4 = 0.0;
        double F_5 = 0.0;
        double F_6 = 0.0;
        double F_7 = 0.0;
        double F_8 = 0.0;
        for (size_t g = 0; g < ng; g++) {
            const double weight = t->weighted ? t->w[at + g * FIT_LANES] : 1.0;
            if (!(weight > 0.0))
                continue;
            const double y = t->y[at + g * FIT_LANES];
            const double contrast = lin[g * 2 + 0];
            const double offset = lin[g * 2 + 1];
            const double s = w->s[g];
            const fit_vd s_d_int_shear = s*d_int_shear;
            const fit_vm small = fit_vabs(s_d_int_shear) < FIT_SINC_X0;
            const double inv_s = w->inv_s[g];
            const double sin_i = w->sin_u_shear_i[i * ng + g], cos_i = w->cos_u_shear_i[i * ng + g];
            const fit_vd sin_j = fit_vload(w->sin_u_shear_j + (b * ng + g) * FIT_LANES + h),
                    cos_j = fit_vload(w->cos_u_shear_j + (b * ng + g) * FIT_LANES + h);
            const fit_vd sin_u_shear = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
            const fit_vd cos_u_shear = cos_j*cos_i + sin_j*sin_i; /* its cosine */
            const fit_vd shear_u_shear = inv_s*inv_d_int_shear*sin_u_shear;
            fit_vd sinc_shear = shear_u_shear;                                 /* [1] */
            fit_vd dsinc_shear = inv_s*inv_d_int_shear*(fit_vfma((-1.0), shear_u_shear, cos_u_shear)); /* [1] */
            if (fit_vany(small)) {
                const fit_vd shear_prod = s*s*d_int_shear_sq;
                sinc_shear = fit_vselect(small, fit_vsinc_series(shear_prod), sinc_shear);
                dsinc_shear = fit_vselect(small, fit_vdsinc_series(s_d_int_shear, shear_prod), dsinc_shear);
            }
            const fit_vd sinc_shear_sq = sinc_shear*sinc_shear;                /* [1] */
            const fit_vd exp_u_D_sinc_shear_sq = exp_u_D*sinc_shear_sq;        /* [1] */
            const fit_vd b_contrast = sinc_shear_sq*exp_u_D_sinc_shear_sq;     /* [1] */
            const double four_s = w->four_s[g];
            const fit_vd prod = dsinc_shear*sinc_shear*exp_u_D_sinc_shear_sq;  /* [1] */
            const double ds_dphi0 = w->ds_dphi0[g];
            const double r = y - (fit_vfma(contrast, b_contrast, offset));
            const double m_0 = contrast*minus_q_sq*b_contrast; /* D */
            const double m_1 = contrast*four_s*prod; /* shear */
            const double m_2 = 4.0*contrast*ds_dphi0*d_int_shear*prod; /* phi0 */
            const double wm_0 = weight*m_0;
            F_0 = fit_vfma(wm_0, m_0, F_0); /* F_D_D */
            F_1 = fit_vfma(wm_0, m_1, F_1); /* F_D_shear */
            F_2 = fit_vfma(wm_0, m_2, F_2); /* F_D_phi0 */
            F_6 = fit_vfma(wm_0, r, F_6); /* G_D */
            const double wm_1 = weight*m_1;
            F_3 = fit_vfma(wm_1, m_1, F_3); /* F_shear_shear */
            F_4 = fit_vfma(wm_1, m_2, F_4); /* F_shear_phi0 */
            F_7 = fit_vfma(wm_1, r, F_7); /* G_shear */
            const double wm_2 = weight*m_2;
            F_5 = fit_vfma(wm_2, m_2, F_5); /* F_phi0_phi0 */
            F_8 = fit_vfma(wm_2, r, F_8); /* G_phi0 */
        }
        /* addresses of tables once more, in no register until here */
        FIT_OPAQUE(i);
        FIT_OPAQUE(j);
        struct fit_gpu_layout layout_again = *l;
        struct tables tables_again;
        size_t frames = l->nframe, times = l->ntime, groups = l->ngroup;
        FIT_GLOBAL const double *base = t->ws;
        FIT_OPAQUE(frames);
        FIT_OPAQUE(times);
        FIT_OPAQUE(groups);
        FIT_OPAQUE(base);
        layout_again.nframe = frames;
        layout_again.ntime = times;
        layout_again.ngroup = groups;
        carve(&layout_again, base, &tables_again);
        const struct tables *const v = &tables_again;
        const double u_0_0 = v->int_dD_dD0[j] - v->int_dD_dD0[i]; /* D: D0 */
        const double u_0_1 = v->int_dD_dalpha[j] - v->int_dD_dalpha[i]; /* D: alpha */
        const double u_0_2 = v->int_dD_dD_offset[j] - v->int_dD_dD_offset[i]; /* D: D_offset */
        const double u_1_3 = v->int_dshear_dgamma_dot_t0[j]
                - v->int_dshear_dgamma_dot_t0[i]; /* shear: gamma_dot_t0 */
        const double u_1_4 = v->int_dshear_dbeta[j] - v->int_dshear_dbeta[i]; /* shear: beta */
        const double u_1_5 = v->int_dshear_dgamma_dot_t_offset[j]
                - v->int_dshear_dgamma_dot_t_offset[i]; /* shear: gamma_dot_t_offset */
        s_0 = fit_vfma(F_0*u_0_0, u_0_0, s_0);
        s_1 = fit_vfma(F_0*u_0_1, u_0_0, s_1);
        s_2 = fit_vfma(F_0*u_0_2, u_0_0, s_2);
        s_7 = fit_vfma(F_0*u_0_1, u_0_1, s_7);
        s_8 = fit_vfma(F_0*u_0_2, u_0_1, s_8);
        s_13 = fit_vfma(F_0*u_0_2, u_0_2, s_13);
        s_3 = fit_vfma(F_1*u_1_3, u_0_0, s_3);
        s_4 = fit_vfma(F_1*u_1_4, u_0_0, s_4);
        s_5 = fit_vfma(F_1*u_1_5, u_0_0, s_5);
        s_9 = fit_vfma(F_1*u_1_3, u_0_1, s_9);
        s_10 = fit_vfma(F_1*u_1_4, u_0_1, s_10);
        s_11 = fit_vfma(F_1*u_1_5, u_0_1, s_11);
        s_14 = fit_vfma(F_1*u_1_3, u_0_2, s_14);
        s_15 = fit_vfma(F_1*u_1_4, u_0_2, s_15);
        s_16 = fit_vfma(F_1*u_1_5, u_0_2, s_16);
        s_6 = fit_vfma(F_2, u_0_0, s_6);
        s_12 = fit_vfma(F_2, u_0_1, s_12);
        s_17 = fit_vfma(F_2, u_0_2, s_17);
        s_28 = fit_vfma(F_6, u_0_0, s_28);
        s_29 = fit_vfma(F_6, u_0_1, s_29);
        s_30 = fit_vfma(F_6, u_0_2, s_30);
        s_18 = fit_vfma(F_3*u_1_3, u_1_3, s_18);
        s_19 = fit_vfma(F_3*u_1_4, u_1_3, s_19);
        s_20 = fit_vfma(F_3*u_1_5, u_1_3, s_20);
        s_22 = fit_vfma(F_3*u_1_4, u_1_4, s_22);
        s_23 = fit_vfma(F_3*u_1_5, u_1_4, s_23);
        s_25 = fit_vfma(F_3*u_1_5, u_1_5, s_25);
        s_21 = fit_vfma(F_4, u_1_3, s_21);
        s_24 = fit_vfma(F_4, u_1_4, s_24);
        s_26 = fit_vfma(F_4, u_1_5, s_26);
        s_31 = fit_vfma(F_7, u_1_3, s_31);
        s_32 = fit_vfma(F_7, u_1_4, s_32);
        s_33 = fit_vfma(F_7, u_1_5, s_33);
        s_27 += F_5;
        s_34 += F_8;
    }
    fit_sum[0] = s_0; /* D0, D0 */
    fit_sum[1] = s_1; /* D0, alpha */
    fit_sum[2] = s_2; /* D0, D_offset */
    fit_sum[3] = s_3; /* D0, gamma_dot_t0 */
    fit_sum[4] = s_4; /* D0, beta */
    fit_sum[5] = s_5; /* D0, gamma_dot_t_offset */
    fit_sum[6] = s_6; /* D0, phi0 */
    fit_sum[7] = s_7; /* alpha, alpha */
    fit_sum[8] = s_8; /* alpha, D_offset */
    fit_sum[9] = s_9; /* alpha, gamma_dot_t0 */
    fit_sum[10] = s_10; /* alpha, beta */
    fit_sum[11] = s_11; /* alpha, gamma_dot_t_offset */
    fit_sum[12] = s_12; /* alpha, phi0 */
    fit_sum[13] = s_13; /* D_offset, D_offset */
    fit_sum[14] = s_14; /* D_offset, gamma_dot_t0 */
    fit_sum[15] = s_15; /* D_offset, beta */
    fit_sum[16] = s_16; /* D_offset, gamma_dot_t_offset */
    fit_sum[17] = s_17; /* D_offset, phi0 */
    fit_sum[18] = s_18; /* gamma_dot_t0, gamma_dot_t0 */
    fit_sum[19] = s_19; /* gamma_dot_t0, beta */
    fit_sum[20] = s_20; /* gamma_dot_t0, gamma_dot_t_offset */
    fit_sum[21] = s_21; /* gamma_dot_t0, phi0 */
    fit_sum[22] = s_22; /* beta, beta */
    fit_sum[23] = s_23; /* beta, gamma_dot_t_offset */
    fit_sum[24] = s_24; /* beta, phi0 */
    fit_sum[25] = s_25; /* gamma_dot_t_offset, gamma_dot_t_offset */
    fit_sum[26] = s_26; /* gamma_dot_t_offset, phi0 */
    fit_sum[27] = s_27; /* phi0, phi0 */
    fit_sum[28] = s_28; /* D0, residual */
    fit_sum[29] = s_29; /* alpha, residual */
    fit_sum[30] = s_30; /* D_offset, residual */
    fit_sum[31] = s_31; /* gamma_dot_t0, residual */
    fit_sum[32] = s_32; /* beta, residual */
    fit_sum[33] = s_33; /* gamma_dot_t_offset, residual */
    fit_sum[34] = s_34; /* phi0, residual */
}

FIT_GPU_SUMS(fit_laminar_normal_0, 35)

/* For each group the sums of b_q J_k; b: what a linear parameter multiplies, J: derivatives by the parameters. */
FIT_INLINE void fit_laminar_cross_0_of(const struct fit_gpu_task *t, double *fit_sum)
{
    const struct fit_gpu_layout *const l = &t->l;
    struct tables tables;
    carve(l, t->ws, &tables);
    const struct tables *const w = &tables;
    FIT_GLOBAL const double *const lin = t->lin;
    const size_t ng = l->ngroup;
    const size_t g = t->group;
    double s_0 = 0.0, s_1 = 0.0, s_2 = 0.0, s_3 = 0.0, s_4 = 0.0, s_5 = 0.0, s_6 = 0.0, s_7 = 0.0;
    double s_8 = 0.0, s_9 = 0.0, s_10 = 0.0, s_11 = 0.0, s_12 = 0.0, s_13 = 0.0;
    const size_t column = t->c0 + t->thread % FIT_GPU_COLUMNS;
    for (size_t line = t->r0 + t->thread / FIT_GPU_COLUMNS; line < t->r1; line += FIT_GPU_ROWS) {
        if (column <= line || column >= t->c1)
            continue;
        size_t i = line, j = column; /* unknown to the compiler: nothing of a column is kept */
        FIT_OPAQUE(i);
        FIT_OPAQUE(j);
        const size_t b = j / FIT_LANES;
        const size_t h = j % FIT_LANES;
        const size_t at = fit_gpu_pair(t, i, b) + h;
        const double weight = t->weighted ? t->w[at + g * FIT_LANES] : 1.0;
        if (!(weight > 0.0))
            continue;
        const double contrast = lin[g * 2 + 0];
        const double s = w->s[g];
        const fit_vd d_int_shear = fit_delta_low(w->int_shear, w->int_shear_low, j, i);
        /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shea ... */
        const fit_vd s_d_int_shear = s*d_int_shear;
        const fit_vm small = fit_vabs(s_d_int_shear) < FIT_SINC_X0;
        const double inv_s = w->inv_s[g];
        const fit_vd inv_d_int_shear = 1.0/d_int_shear;                        /* [1] */
        const double sin_i = w->sin_u_shear_i[i * ng + g], cos_i = w->cos_u_shear_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_u_shear_j + (b * ng + g) * FIT_LANES + h),
                cos_j = fit_vload(w->cos_u_shear_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_u_shear = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        const fit_vd cos_u_shear = cos_j*cos_i + sin_j*sin_i; /* its cosine */
        const fit_vd shear_u_shear = inv_s*inv_d_int_shear*sin_u_shear;
        fit_vd sinc_shear = shear_u_shear;                                     /* [1] */
        fit_vd dsinc_shear = inv_s*inv_d_int_shear*(fit_vfma((-1.0), shear_u_shear, cos_u_shear)); /* [1] */
        if (fit_vany(small)) {
            const fit_vd shear_prod = s*s*d_int_shear*d_int_shear;
            sinc_shear = fit_vselect(small, fit_vsinc_series(shear_prod), sinc_shear);
            dsinc_shear = fit_vselect(small, fit_vdsinc_series(s_d_int_shear, shear_prod), dsinc_shear);
        }
        const fit_vd sinc_shear_sq = sinc_shear*sinc_shear;                    /* [1] */
        const fit_vd exp_u_D = fit_vexp(w->minus_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
        const fit_vd exp_u_D_sinc_shear_sq = exp_u_D*sinc_shear_sq;            /* [1] */
        const fit_vd b_contrast = sinc_shear_sq*exp_u_D_sinc_shear_sq;         /* [1] */
        const fit_vd prod = dsinc_shear*sinc_shear*exp_u_D_sinc_shear_sq;      /* [1] */
        const fit_vd d_int_shear_prod = d_int_shear*prod;                      /* [1] */
        const double core_0 = weight*b_contrast*b_contrast;
        const double u_0_0 = w->int_dD_dD0[j] - w->int_dD_dD0[i]; /* D: D0 */
        const double u_0_1 = w->int_dD_dalpha[j] - w->int_dD_dalpha[i]; /* D: alpha */
        const double u_0_2 = w->int_dD_dD_offset[j] - w->int_dD_dD_offset[i]; /* D: D_offset */
        const double core_1 = weight*b_contrast*prod;
        const double u_1_3 = w->int_dshear_dgamma_dot_t0[j]
                - w->int_dshear_dgamma_dot_t0[i]; /* shear: gamma_dot_t0 */
        const double u_1_4 = w->int_dshear_dbeta[j] - w->int_dshear_dbeta[i]; /* shear: beta */
        const double u_1_5 = w->int_dshear_dgamma_dot_t_offset[j]
                - w->int_dshear_dgamma_dot_t_offset[i]; /* shear: gamma_dot_t_offset */
        const double core_2 = weight*b_contrast*d_int_shear_prod;
        const double core_3 = weight*b_contrast;
        const double core_4 = weight*prod;
        const double core_5 = weight*d_int_shear_prod;
        s_0 = fit_vfma(core_0, u_0_0, s_0);
        s_1 = fit_vfma(core_0, u_0_1, s_1);
        s_2 = fit_vfma(core_0, u_0_2, s_2);
        s_3 = fit_vfma(core_1, u_1_3, s_3);
        s_4 = fit_vfma(core_1, u_1_4, s_4);
        s_5 = fit_vfma(core_1, u_1_5, s_5);
        s_6 += core_2;
        s_7 = fit_vfma(core_3, u_0_0, s_7);
        s_8 = fit_vfma(core_3, u_0_1, s_8);
        s_9 = fit_vfma(core_3, u_0_2, s_9);
        s_10 = fit_vfma(core_4, u_1_3, s_10);
        s_11 = fit_vfma(core_4, u_1_4, s_11);
        s_12 = fit_vfma(core_4, u_1_5, s_12);
        s_13 += core_5;
    }
    const double contrast_2 = lin[g * 2 + 0];
    const double minus_q_sq = w->minus_q_sq[0];
    const double minus_contrast_2_q_sq = contrast_2*minus_q_sq;
    const double four_s = w->four_s[g];
    const double contrast_2_four_s = contrast_2*four_s;
    const double ds_dphi0 = w->ds_dphi0[g];
    const double four_contrast_2_ds_dphi0 = 4.0*contrast_2*ds_dphi0;
    fit_sum[0] = minus_contrast_2_q_sq*s_0; /* contrast, D0 */
    fit_sum[1] = minus_contrast_2_q_sq*s_1; /* contrast, alpha */
    fit_sum[2] = minus_contrast_2_q_sq*s_2; /* contrast, D_offset */
    fit_sum[3] = contrast_2_four_s*s_3; /* contrast, gamma_dot_t0 */
    fit_sum[4] = contrast_2_four_s*s_4; /* contrast, beta */
    fit_sum[5] = contrast_2_four_s*s_5; /* contrast, gamma_dot_t_offset */
    fit_sum[6] = four_contrast_2_ds_dphi0*s_6; /* contrast, phi0 */
    fit_sum[7] = minus_contrast_2_q_sq*s_7; /* offset, D0 */
    fit_sum[8] = minus_contrast_2_q_sq*s_8; /* offset, alpha */
    fit_sum[9] = minus_contrast_2_q_sq*s_9; /* offset, D_offset */
    fit_sum[10] = contrast_2_four_s*s_10; /* offset, gamma_dot_t0 */
    fit_sum[11] = contrast_2_four_s*s_11; /* offset, beta */
    fit_sum[12] = contrast_2_four_s*s_12; /* offset, gamma_dot_t_offset */
    fit_sum[13] = four_contrast_2_ds_dphi0*s_13; /* offset, phi0 */
}

FIT_GPU_SUMS(fit_laminar_cross_0, 14)

/* Derivatives by the parameters of the log density in which the linear parameters are integrated out. */
FIT_INLINE void fit_laminar_gradient_0_of(const struct fit_gpu_task *t, double *fit_sum)
{
    const struct fit_gpu_layout *const l = &t->l;
    struct tables tables;
    carve(l, t->ws, &tables);
    const struct tables *const w = &tables;
    FIT_GLOBAL const double *const lin = t->lin;
    FIT_GLOBAL const double *const adj = t->adj;
    const size_t ng = l->ngroup;
    double s_0 = 0.0, s_1 = 0.0, s_2 = 0.0, s_3 = 0.0, s_4 = 0.0, s_5 = 0.0, s_6 = 0.0;
    const size_t column = t->c0 + t->thread % FIT_GPU_COLUMNS;
    for (size_t line = t->r0 + t->thread / FIT_GPU_COLUMNS; line < t->r1; line += FIT_GPU_ROWS) {
        if (column <= line || column >= t->c1)
            continue;
        size_t i = line, j = column; /* unknown to the compiler: nothing of a column is kept */
        FIT_OPAQUE(i);
        FIT_OPAQUE(j);
        const size_t b = j / FIT_LANES;
        const size_t h = j % FIT_LANES;
        const size_t at = fit_gpu_pair(t, i, b) + h;
        const fit_vd d_int_shear = fit_delta_low(w->int_shear, w->int_shear_low, j, i);
        /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shea ... */
        const fit_vd inv_d_int_shear = 1.0/d_int_shear;                        /* [1] */
        const fit_vd exp_u_D = fit_vexp(w->minus_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
        const fit_vd d_int_shear_sq = d_int_shear*d_int_shear;                 /* [1] */
        const double minus_q_sq = w->minus_q_sq[0];
        const fit_vd u_D_prod = minus_q_sq*exp_u_D;
        const fit_vd four_d_int_shear_exp_u_D = 4.0*d_int_shear*exp_u_D;       /* [1] */
        double F_0 = 0.0, F_1 = 0.0, F_2 = 0.0;
        for (size_t g = 0; g < ng; g++) {
            const double weight = t->weighted ? t->w[at + g * FIT_LANES] : 1.0;
            if (!(weight > 0.0))
                continue;
            const double y = t->y[at + g * FIT_LANES];
            FIT_GLOBAL const double *const seeds = adj + g * 4;
            FIT_GLOBAL const double *const at_lin = lin + g * 2;
            const double s = w->s[g];
            const fit_vd s_d_int_shear = s*d_int_shear;
            const fit_vm small = fit_vabs(s_d_int_shear) < FIT_SINC_X0;
            const double inv_s = w->inv_s[g];
            const double sin_i = w->sin_u_shear_i[i * ng + g], cos_i = w->cos_u_shear_i[i * ng + g];
            const fit_vd sin_j = fit_vload(w->sin_u_shear_j + (b * ng + g) * FIT_LANES + h),
                    cos_j = fit_vload(w->cos_u_shear_j + (b * ng + g) * FIT_LANES + h);
            const fit_vd sin_u_shear = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
            const fit_vd cos_u_shear = cos_j*cos_i + sin_j*sin_i; /* its cosine */
            const fit_vd shear_u_shear = inv_s*inv_d_int_shear*sin_u_shear;
            fit_vd sinc_shear = shear_u_shear;                                 /* [1] */
            fit_vd dsinc_shear = inv_s*inv_d_int_shear*(fit_vfma((-1.0), shear_u_shear, cos_u_shear)); /* [1] */
            if (fit_vany(small)) {
                const fit_vd shear_prod = s*s*d_int_shear_sq;
                sinc_shear = fit_vselect(small, fit_vsinc_series(shear_prod), sinc_shear);
                dsinc_shear = fit_vselect(small, fit_vdsinc_series(s_d_int_shear, shear_prod), dsinc_shear);
            }
            const fit_vd sinc_shear_sq = sinc_shear*sinc_shear;                /* [1] */
            const fit_vd sinc_shear_sq_sq = sinc_shear_sq*sinc_shear_sq;       /* [1] */
            /* laminar.lua:62: m.observe("c2", { over = {phi, t1, t2}, mean = offset + contrast * g1^2, ... */
            const fit_vd exp_u_D_sinc_shear_sq_sq = exp_u_D*sinc_shear_sq_sq;  /* [1] */
            const fit_vd r = y - (at_lin[0]*exp_u_D_sinc_shear_sq_sq + at_lin[1]); /* residual */
            const fit_vd seed_contrast = (seeds[0]*at_lin[0])*r - (seeds[1]*exp_u_D_sinc_shear_sq_sq
                    + seeds[2]);
            const double four_s = w->four_s[g];
            const fit_vd shear_u_shear_prod = sinc_shear*sinc_shear_sq*dsinc_shear*seed_contrast;
            const double ds_dphi0 = w->ds_dphi0[g];
            F_0 = fit_vfma(weight, seed_contrast*sinc_shear_sq_sq, F_0);
            F_1 = fit_vfma(weight, four_s*shear_u_shear_prod, F_1);
            F_2 = fit_vfma(weight, ds_dphi0*shear_u_shear_prod, F_2);
        }
        /* addresses of tables once more, in no register until here */
        FIT_OPAQUE(i);
        FIT_OPAQUE(j);
        struct fit_gpu_layout layout_again = *l;
        struct tables tables_again;
        size_t frames = l->nframe, times = l->ntime, groups = l->ngroup;
        FIT_GLOBAL const double *base = t->ws;
        FIT_OPAQUE(frames);
        FIT_OPAQUE(times);
        FIT_OPAQUE(groups);
        FIT_OPAQUE(base);
        layout_again.nframe = frames;
        layout_again.ntime = times;
        layout_again.ngroup = groups;
        carve(&layout_again, base, &tables_again);
        const struct tables *const v = &tables_again;
        const double a_0 = u_D_prod*F_0; /* D */
        const double u_0_0 = v->int_dD_dD0[j] - v->int_dD_dD0[i]; /* D: D0 */
        s_0 = fit_vfma(a_0, u_0_0, s_0);
        const double u_0_1 = v->int_dD_dalpha[j] - v->int_dD_dalpha[i]; /* D: alpha */
        s_1 = fit_vfma(a_0, u_0_1, s_1);
        const double u_0_2 = v->int_dD_dD_offset[j] - v->int_dD_dD_offset[i]; /* D: D_offset */
        s_2 = fit_vfma(a_0, u_0_2, s_2);
        const double a_1 = exp_u_D*F_1; /* shear */
        const double u_1_3 = v->int_dshear_dgamma_dot_t0[j]
                - v->int_dshear_dgamma_dot_t0[i]; /* shear: gamma_dot_t0 */
        s_3 = fit_vfma(a_1, u_1_3, s_3);
        const double u_1_4 = v->int_dshear_dbeta[j] - v->int_dshear_dbeta[i]; /* shear: beta */
        s_4 = fit_vfma(a_1, u_1_4, s_4);
        const double u_1_5 = v->int_dshear_dgamma_dot_t_offset[j]
                - v->int_dshear_dgamma_dot_t_offset[i]; /* shear: gamma_dot_t_offset */
        s_5 = fit_vfma(a_1, u_1_5, s_5);
        const double a_2 = four_d_int_shear_exp_u_D*F_2; /* phi0 */
        s_6 += a_2;
    }
    fit_sum[0] = s_0; /* D0 */
    fit_sum[1] = s_1; /* alpha */
    fit_sum[2] = s_2; /* D_offset */
    fit_sum[3] = s_3; /* gamma_dot_t0 */
    fit_sum[4] = s_4; /* beta */
    fit_sum[5] = s_5; /* gamma_dot_t_offset */
    fit_sum[6] = s_6; /* phi0 */
}

FIT_GPU_SUMS(fit_laminar_gradient_0, 7)

/* The mean. */
FIT_INLINE void fit_laminar_value_0_of(const struct fit_gpu_task *t, FIT_GLOBAL double *fit_out)
{
    const struct fit_gpu_layout *const l = &t->l;
    struct tables tables;
    carve(l, t->ws, &tables);
    const struct tables *const w = &tables;
    FIT_GLOBAL const double *const lin = t->lin;
    const size_t ng = l->ngroup;
    const size_t g = t->group;
    const size_t column = t->c0 + t->thread % FIT_GPU_COLUMNS;
    for (size_t line = t->r0 + t->thread / FIT_GPU_COLUMNS; line < t->r1; line += FIT_GPU_ROWS) {
        if (column <= line || column >= t->c1)
            continue;
        size_t i = line, j = column; /* unknown to the compiler: nothing of a column is kept */
        FIT_OPAQUE(i);
        FIT_OPAQUE(j);
        const size_t b = j / FIT_LANES;
        const size_t h = j % FIT_LANES;
        const size_t at = fit_gpu_pair(t, i, b) + h;
        const double contrast = lin[g * 2 + 0];
        const double offset = lin[g * 2 + 1];
        const double s = w->s[g];
        const fit_vd d_int_shear = fit_delta_low(w->int_shear, w->int_shear_low, j, i);
        const fit_vm small = fit_vabs(s*d_int_shear) < FIT_SINC_X0;
        const double inv_s = w->inv_s[g];
        const double sin_i = w->sin_u_shear_i[i * ng + g], cos_i = w->cos_u_shear_i[i * ng + g];
        const fit_vd sin_j = fit_vload(w->sin_u_shear_j + (b * ng + g) * FIT_LANES + h),
                cos_j = fit_vload(w->cos_u_shear_j + (b * ng + g) * FIT_LANES + h);
        const fit_vd sin_u_shear = sin_j*cos_i - cos_j*sin_i; /* sin of the difference */
        /* laminar.lua:60: local g1       = exp(-q^2 / 2 * integral(D, t1, t2)) * sinc(s * integral(shea ... */
        fit_vd sinc_shear = inv_s*sin_u_shear/d_int_shear;                     /* [1] */
        if (fit_vany(small)) {
            sinc_shear = fit_vselect(small, fit_vsinc_series(s*s*d_int_shear*d_int_shear), sinc_shear);
        }
        const fit_vd sinc_shear_sq = sinc_shear*sinc_shear;                    /* [1] */
        const fit_vd exp_u_D = fit_vexp(w->minus_q_sq[0] * fit_delta_low(w->int_D, w->int_D_low, j, i));
        const fit_vd b_contrast = sinc_shear_sq*exp_u_D*sinc_shear_sq;         /* [1] */
        fit_out[at + g * FIT_LANES] = fit_vfma(contrast, b_contrast, offset);
    }
}

FIT_GPU_VALUES(fit_laminar_value_0)

#ifdef FIT_GPU_PLAIN
#include "fit/gpu_program.h"

static const struct fit_gpu_pass passes[] = {
    {"fit_laminar_moments_0", FIT_GPU_MOMENTS, 0, 6, 1, fit_laminar_moments_0},
    {"fit_laminar_normal_0", FIT_GPU_NORMAL, 0, 35, 0, fit_laminar_normal_0},
    {"fit_laminar_cross_0", FIT_GPU_CROSS, 0, 14, 1, fit_laminar_cross_0},
    {"fit_laminar_gradient_0", FIT_GPU_GRADIENT, 0, 7, 0, fit_laminar_gradient_0},
    {"fit_laminar_value_0", FIT_GPU_VALUE, 0, 0, 1, fit_laminar_value_0},
};

extern const struct fit_gpu_program FIT_GPU_SYMBOL;
const struct fit_gpu_program FIT_GPU_SYMBOL = {
    .name = "laminar",
    .variant = "fast",
    .hash = "4cdf58ab18530a2bf5da7e551b064e95c5767dc5494adb08c4dc2adf11eacfa3",
    .axes = FIT_GPU_AXES,
    .columns = FIT_GPU_TABLE_COLUMNS,
    .npass = 5,
    .pass = passes,
};
#endif

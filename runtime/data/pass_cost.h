/* pass_cost.h -- the cost of a pass over the data with many ranks: a model of time, from the shares of the tree.
 *
 * A pass ends when the rank with the largest share has computed (or read) it, has added its leaves to nodes, has
 * received the nodes of all, and has finished the tree:
 *
 *     T(R) = max(v t_v, v b / r) + (leaves of a rank) n t_a + ceil(log2 R) t_h + (nodes of all) 8 n / g
 *            + (nodes of all) n t_a
 *
 * with v the values of the largest share, n the numbers of a sum, t_v the time of a value, b / r of reading one, t_a of
 * an addition, t_h of a message, g the bytes per second of a message (Hockney, Parallel Computing 20 (1994) 389:
 * latency and bandwidth).
 */
#pragma once

#include "data/dataset.h"

struct fit_pass_cost {
    double value;    /* s for a value, with the threads of a rank */
    double read;     /* s for reading one; 0: in memory */
    double addition; /* s for adding two numbers of the tree */
    double message;  /* s until a message arrives */
    double bytes;    /* of messages in a second */
};

/* 0.25 ns for an addition, measured by bench-gather, which also measures the others: within a node (two cores,
 * shared memory) 1 us for a message and 3 GB/s under Open MPI and MPICH. Nothing was measured between nodes: 20 us
 * and 1 GB/s, typical of an ordinary network, are assumed here. value and read: 0; `estimate` measures them. */
struct fit_pass_cost fit_pass_cost_here(void);

struct fit_pass_shares {
    size_t ranks, leaves, nout;
    size_t nodes;        /* of all ranks */
    size_t most_leaves;  /* of a rank */
    double values, most; /* of all; of the largest share */
};

/* ds: finished, or only the geometry. */
struct fit_pass_shares fit_pass_shares(const struct fit_dataset *ds, size_t nout, size_t ranks);

double fit_pass_seconds(const struct fit_pass_cost *cost, const struct fit_pass_shares *shares);

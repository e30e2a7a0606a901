# make_contin.py FOLDER: data/contin: g1.txt, and its distributions by scipy.optimize.nnls of the augmented matrix.
# tests/unit/test_contin.c and tests/e2e/contin.sh compare with them; it is not run by the tests.
import sys

import numpy as np
import scipy
from scipy.optimize import nnls

r=np.random.default_rng(20260)
n,m=40,60
t=np.logspace(-4,1,m)
u=np.exp(np.linspace(np.log(.05),np.log(5e3),n))
K=np.exp(-np.outer(t,u))
x=np.exp(-.5*(np.log(u/8)/.4)**2)+.5*np.exp(-.5*(np.log(u/300)/.4)**2)
x/=x.sum()
s=np.full(m,2e-3)
g=K@x+s*r.standard_normal(m)
g=np.array([float('%.8f'%v) for v in g]); t=np.array([float('%.10e'%v) for v in t]); 
K=np.exp(-np.outer(t,u))
L=np.zeros((n+2,n))
for k in range(n):
    L[k,k]=1;L[k+1,k]=-2;L[k+2,k]=1
out=open(sys.argv[1]+'/g1.txt','w')
out.write('# delay g1 sigma\n')
for a in zip(t,g,s): out.write('%.10e %.8f %.3g\n'%a)
out.close()
out=open(sys.argv[1]+'/nnls.txt','w')
out.write('# g1.txt by scipy.optimize.nnls, scipy %s: grid of 40 rates in equal steps of the logarithm from 0.05 to '
          '5000 1/s;\n# the same with the strengths 0.01, 10, 1e4 of the second difference with zeros beyond both '
          'ends.  Made by make_contin.py.\n# rate s0.01 s10 s1e4\n'%scipy.__version__)
X=[]
for al in (1e-2,10,1e4):
    A=np.vstack([K/s[:,None],np.sqrt(al)*L]); b=np.concatenate([g/s,np.zeros(n+2)])
    xx,_=nnls(A,b,maxiter=10000)
    w=A.T@(b-A@xx)
    print(al,(xx>0).sum(),abs(w[xx>0]).max(),w.max(), np.linalg.cond(A))
    X.append(xx)
for k in range(n): out.write('%.17g %.17g %.17g %.17g\n'%(u[k],X[0][k],X[1][k],X[2][k]))


def sample(seed, noise, curves, rows):
    """g2 of two log-normal modes: 60 % at 8 (1/s, or angstrom^2/s times 1e4), 40 % at 300; width 0.15."""
    random = np.random.default_rng(seed)
    z = np.linspace(-6, 6, 1201)
    p = np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()
    for q, contrast, baseline in curves:
        scale = 1 if q is None else q * q * 1e4
        t = np.logspace(-5, 1, rows) / (1 if q is None else scale)
        g = 0.6 * np.exp(-scale * np.outer(t, 8 * np.exp(0.15 * z))) @ p
        g += 0.4 * np.exp(-scale * np.outer(t, 300 * np.exp(0.15 * z))) @ p
        yield q, t, 1 + baseline + contrast * g * g + noise * random.standard_normal(rows)


with open(sys.argv[1] + "/bimodal.txt", "w") as out:
    out.write("# delay (ms)  g2  g2_err\n")
    for _, t, y in sample(1, 2e-3, [(None, 0.8, 0)], 120):
        for a in zip(t, y):
            out.write("%.6e %.6f 0.002\n" % (1e3 * a[0], a[1]))
with open(sys.argv[1] + "/several_q.csv", "w") as out:
    out.write("q (1/nm),delay,g2,sigma\n")
    for q, t, y in sample(2, 2e-3, [(0.01, 0.4, 0.01), (0.02, 0.3, -0.01), (0.03, 0.2, 0.02)], 60):
        for a in zip(t, y):
            out.write("%g,%.6e,%.6f,0.002\n" % (10 * q, a[0], a[1]))

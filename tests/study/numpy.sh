#!/bin/sh
# A study that wants numpy, by the first Python that has it: those of FIT_PYTHON (split by colons), or python3.
#
#     numpy.sh SCRIPT ARGUMENTS...
script=$(dirname "$0")/$1
shift
IFS=:
for python in ${FIT_PYTHON:-python3}; do
    if command -v "$python" > /dev/null && "$python" -c 'import numpy' 2> /dev/null; then
        OPENBLAS_NUM_THREADS=1 exec "$python" -B "$script" "$@"
    fi
done
echo "skipped: no python3 with numpy"
exit 77

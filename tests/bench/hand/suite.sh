flags="$flags -fopenmp" # of the sides by hand; clang needs libomp-dev
export KMP_BLOCKTIME="${KMP_BLOCKTIME:-1}" # OpenMP's threads would spin for 0.2 s, while the other side runs

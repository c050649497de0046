flags="$flags -fopenmp" # what is by hand: clang wants libomp-dev
export KMP_BLOCKTIME="${KMP_BLOCKTIME:-1}" # OpenMP's threads would wait by spinning for 0.2 s, while it is our turn

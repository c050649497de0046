flags="$flags -fopenmp" # of the sides by hand, which are not run here
kernels="$here/hand/elementwise.tk $here/hand/wave.tk $here/hand/scatter.tk $root/samples/smoke/smoke.tk"
sources="$sources $here/hand/elementwise.c $here/hand/wave.c $here/hand/scatter.c"

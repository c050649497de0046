kernels="$root/samples/diffmpm/diffmpm.tk"

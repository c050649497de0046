# What simulators of the gallery give at reduced sizes: samples/NAME/expected.
# slow: 46
# inputs: build-files runtime tests/tools/gallery.sh samples/common samples/diffmpm c:samples/diffmpm/*.tk samples/liquid c:samples/liquid/*.tk
# inputs: samples/diffmpm3d c:samples/diffmpm3d/*.tk samples/sph c:samples/sph/*.tk samples/mpm_forces c:samples/mpm_forces/*.tk samples/fem
# inputs: c:samples/fem/*.tk
sh "$ROOT/tests/tools/gallery.sh" diffmpm liquid diffmpm3d sph mpm_forces fem

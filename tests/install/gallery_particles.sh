# What simulators of the gallery give at reduced sizes: samples/NAME/expected.
sh "$ROOT/tests/tools/gallery.sh" diffmpm liquid diffmpm3d sph mpm_forces fem

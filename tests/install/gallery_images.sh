# What simulators of the gallery give at reduced sizes: samples/NAME/expected.
sh "$ROOT/tests/tools/gallery.sh" volume_renderer splats cloth

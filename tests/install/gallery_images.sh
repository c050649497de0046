# What simulators of the gallery give at reduced sizes: samples/NAME/expected.
# slow: 11
# inputs: build-files runtime tests/tools/gallery.sh samples/common samples/volume_renderer c:samples/volume_renderer/*.tk samples/splats
# inputs: c:samples/splats/*.tk samples/cloth c:samples/cloth/*.tk
sh "$ROOT/tests/tools/gallery.sh" volume_renderer splats cloth

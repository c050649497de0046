# What simulators of the gallery give at reduced sizes: samples/NAME/expected.
# slow: 10
# inputs: build-files runtime tests/tools/gallery.sh samples/common samples/wave c:samples/wave/*.tk samples/smoke c:samples/smoke/*.tk
# inputs: samples/water_renderer c:samples/water_renderer/*.tk samples/ocean c:samples/ocean/*.tk
sh "$ROOT/tests/tools/gallery.sh" wave smoke water_renderer ocean

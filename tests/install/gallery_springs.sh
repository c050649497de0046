# What simulators of the gallery give at reduced sizes: samples/NAME/expected.
# slow: 12
# inputs: build-files runtime tests/tools/gallery.sh samples/common samples/billiards c:samples/billiards/*.tk samples/mass_spring
# inputs: c:samples/mass_spring/*.tk samples/rigid_body c:samples/rigid_body/*.tk samples/electric c:samples/electric/*.tk
sh "$ROOT/tests/tools/gallery.sh" billiards mass_spring rigid_body electric

# What simulators of the gallery give at reduced sizes: samples/NAME/expected.
sh "$ROOT/tests/tools/gallery.sh" billiards mass_spring rigid_body electric

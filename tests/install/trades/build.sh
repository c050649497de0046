# The commands that docs/start.md has.
set -e
cmake -B build -DCMAKE_BUILD_TYPE=Release
cmake --build build

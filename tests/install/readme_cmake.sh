# README.md: its program in C++ with CMake, as it stands there, in an empty folder.
# inputs: build-files runtime README.md compiler
command -v cmake >/dev/null || { echo "no cmake"; exit 77; }
unset LD_LIBRARY_PATH
sed -n '/^```tk$/,/^```$/p' "$ROOT/README.md" | sed '1d;$d' >bodies.tk
python3 "$ROOT/tests/tools/steps.py" "$ROOT/README.md" cmake >steps.sh
export CC CXX CMAKE_PREFIX_PATH="$PREFIX" CFLAGS='-Wall -Wextra -Werror' CXXFLAGS='-Wall -Wextra -Wconversion -Werror'
sh steps.sh
grep -x 'force +2.122' output

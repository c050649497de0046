# docs/start.md: its program with CMake, as it stands there, builds and prints what the page says.
for tool in cmake make; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
unset LD_LIBRARY_PATH
python3 "$ROOT/tests/tools/steps.py" "$ROOT/docs/start.md" cmake >steps.sh
export CC CXX CMAKE_PREFIX_PATH="$PREFIX" CFLAGS='-Wall -Wextra -Werror' CXXFLAGS='-Wall -Wextra -Wconversion -Werror'
sh steps.sh

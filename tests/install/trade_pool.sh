# trades/pool: a C++17 program with a thread pool and a window of its own, by CMake from an empty folder, by the commands of the page; on SDL's dummy driver.
# slow: 4
# inputs: build-files runtime tests/install/trades tests/tools/steps.py
for tool in cmake make; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
pkg-config --exists sdl2 || { echo "no SDL2"; exit 77; }
unset LD_LIBRARY_PATH PKG_CONFIG_PATH
python3 "$ROOT/tests/tools/steps.py" "$ROOT/tests/install/trades/README.md" pool >steps.sh
cp -R "$ROOT/tests/install/trades/pool" empty
cd empty
export CC CXX CXXFLAGS='-Wall -Wextra -Wconversion -Werror' CMAKE_PREFIX_PATH="$PREFIX" SDL_VIDEODRIVER=dummy
sh ../steps.sh
# the pool alone under the thread sanitizer
cat >loops.cpp <<'END'
#include "pool.hpp"
#include <cstdio>
int main()
{
    std::atomic<long> sum{0};
    pool p(4);
    for (int r = 0; r < 500; r++)
        p.each(r % 7, [&](std::int64_t k) { sum += k + 1; });
    std::printf("%ld\n", sum.load());
}
END
"$CXX" -std=c++17 -g -fsanitize=thread loops.cpp -pthread -o loops
test "$(setarch "$(uname -m)" -R ./loops)" = "$(python3 -c 'print(sum(sum(range(1, r % 7 + 1)) for r in range(500)))')"

# docs/start.md's program with CMake, but with this tree as FetchContent takes it: nothing that is installed is used. Both ways to build tkc have the same sources.
# slow: 9
# inputs: build-files runtime docs tests/tools
for tool in cmake ninja; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done
unset LD_LIBRARY_PATH
mkdir program
cd program || exit
# The program's files and, in place of find_package, the lines of docs/c-api/builds.md.
python3 "$ROOT/tests/tools/steps.py" "$ROOT/docs/start.md" cmake | sed '/>run.sh/,$d' >steps.sh
sh steps.sh
test -s CMakeLists.txt
awk '/^include\(FetchContent\)$/, /^FetchContent_MakeAvailable/' "$ROOT/docs/c-api/builds.md" >fetch
test "$(wc -l <fetch)" -gt 2
sed -e '/^find_package/{r fetch
d
}' CMakeLists.txt >with
# Strict for the sources of the program.
{ sed '/^add_executable/i add_compile_options(-Wall -Wextra -Werror)' with; echo 'set_target_properties(rope PROPERTIES UNITY_BUILD ON)'; } >CMakeLists.txt

# later FILE...: files with times behind those of all that is there
later()
{
    : >earlier
    for file; do
        until test "$file" -nt earlier; do touch "$file"; done
    done
}
configure()
{
    build=$1
    shift
    CC="$CC" CXX="$CXX" cmake -S . -B "$build" -G Ninja -DFETCHCONTENT_SOURCE_DIR_TKC="$ROOT" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" >log 2>&1 || { cat log; exit 1; }
}
make_it()
{
    ninja -C "$1" -j 2 >log 2>&1 || { tail -n 60 log; exit 1; }
}
configure build -DCMAKE_UNITY_BUILD=ON -DBUILD_SHARED_LIBS=ON
meson introspect --targets "$(dirname "$(dirname "$TKC")")" >targets.json
python3 - "$ROOT" <<'END'
import json, os, sys
root = os.path.realpath(sys.argv[1])
made = {"tk.lex.c", "tk.tab.c", "helpers.c", "prelude.c", "runtime_text.c", "explain_entries.c",
        *(f"python_{part}.c" for part in ("base", "session", "object", "wrap", "fields", "torch", "torch_fields", "sparse", "jax", "jax_fields", "types", "types_object"))}
def of(paths):
    paths = [os.path.realpath(p) for p in paths if p.endswith(".c")]
    return sorted(os.path.basename(p) if os.path.basename(p) in made else os.path.relpath(p, root) for p in paths)
meson = of(p for t in json.load(open("targets.json")) if t["name"] in ("tkc", "tkc_core") and t["type"] != "shared library"
           for s in t["target_sources"] for p in [*s["sources"], *s["generated_sources"]])
cmake = of(c["file"] for c in json.load(open("build/compile_commands.json")) if "/_deps/tkc-build/" in c["command"] and "/rope.c" not in c["file"])
assert len(meson) > 150 and made < set(meson), meson
assert meson == cmake, f"only Meson: {set(meson) - set(cmake)}, only CMake: {set(cmake) - set(meson)}"
END
make_it build
./build/rope >out
tail -n 1 out | grep -qx 'it hangs down to -0.31'
ldd build/rope >needed
! grep -q libtkc needed || exit 1

# a kernel file that changes, and another tkc
sed 's/20000/1/' main.cpp >main && mv main main.cpp
sed 's/0.01 \* x/0.02 * x/' rope.tk >rope && mv rope rope.tk
later main.cpp rope.tk
make_it build
! ./build/rope | grep -qx 'it hangs down to -0.31' || exit 1
later build/_deps/tkc-build/tkc
ninja -C build -n | grep -q 'tkc rope.tk'

# a tkc that is there already is not built; one of another version is refused
configure there -DTKC_EXECUTABLE="$TKC"
make_it there
! ninja -C there -t targets all | grep -q 'tk.lex' || exit 1
printf '#!/bin/sh\necho tkc 9.9.9\n' >other
chmod +x other
if CC="$CC" CXX="$CXX" cmake -S . -B refused -G Ninja -DFETCHCONTENT_SOURCE_DIR_TKC="$ROOT" -DTKC_EXECUTABLE="$PWD/other" >log 2>&1; then exit 1; fi
grep -q "is 'tkc 9.9.9', and the library" log
# what building takes and is not there is named
if CC="$CC" CXX="$CXX" cmake -S . -B lacking -G Ninja -DFETCHCONTENT_SOURCE_DIR_TKC="$ROOT" -DTKC_FLEX='' >log 2>&1; then exit 1; fi
grep -q 'building tkc takes flex; -DTKC_EXECUTABLE=' log

# docs/start.md: its five minutes with Python, from an empty folder, by the commands that stand there and nothing else.
unset LD_LIBRARY_PATH
for p in python3 /usr/bin/python3; do
    "$p" -c 'import numpy, scipy.optimize' 2>err || continue
    mkdir -p empty bin
    ln -s "$(command -v "$p")" bin/python3
    [ "$p" = python3 ] || PATH=$PWD/bin:$PATH
    python3 "$ROOT/tests/tools/steps.py" "$ROOT/docs/start.md" python >steps.sh
    cd empty
    TKC_CC=$CC sh ../steps.sh
    exit
done
echo "no SciPy (python3-scipy)"
exit 77

# The layers of the compiler, which tests/tools/layers.py lists: no include and no call goes up, files in a circle are one declared module, no folder is crowded.
python3 "$ROOT/tests/tools/layers.py" "$ROOT"
cp -r "$ROOT/compiler" .
printf '#include "passes/schedule/schedule.h"\nvoid up(ir_func *f);\nvoid up(ir_func *f)\n{\n    pass_rows(f);\n}\n' >>compiler/passes/analysis/affine.c
python3 "$ROOT/tests/tools/layers.py" . >said && { echo "an include and a call that go up are not found"; exit 1; }
grep -q 'affine.c includes passes/schedule/schedule.h: passes/schedule is not below passes/analysis' said
grep -q 'affine.c uses pass_rows' said

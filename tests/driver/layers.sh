# The layers of the compiler, which tests/tools/layers.py lists: no include and no call goes up, files in a circle are one declared module, no folder is crowded.
python3 "$ROOT/tests/tools/layers.py" "$ROOT"
cp -r "$ROOT/compiler" .
printf '#include "passes/schedule/schedule.h"\nvoid up(ir_func *f);\nvoid up(ir_func *f)\n{\n    pass_rows(f);\n}\n' >>compiler/passes/analysis/affine.c
python3 "$ROOT/tests/tools/layers.py" . >said && { echo "an include and a call that go up are not found"; exit 1; }
grep -q 'affine.c includes passes/schedule/schedule.h: passes/schedule is not below passes/analysis' said
grep -q 'affine.c uses pass_rows' said
# how a field's elements lie is asked of the layout module, by nobody else
printf 'bool apart(const ir_field *f);\nbool apart(const ir_field *f)\n{\n    return f->layout == IR_FIELD_SOA;\n}\n' >>compiler/emit/task.c
mkdir -p runtime/src
printf 'bool apart(const tk_field *f)\n{\n    return f->desc->flags & TK_FIELD_SOA || f->member;\n}\n' >runtime/src/field.c
python3 "$ROOT/tests/tools/layers.py" . >said && { echo "a question for a layout is not found"; exit 1; }
grep -q 'compiler/emit/task.c has IR_FIELD_SOA' said
grep -q 'runtime/src/field.c has TK_FIELD_SOA' said
grep -q 'runtime/src/field.c has member' said

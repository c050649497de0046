# The layers of the compiler and libtkc, which tests/tools/layers.py lists: no include and no call goes up, circles are those of back_edges.txt, no folder is crowded, no file long.
python3 "$ROOT/tests/tools/layers.py" "$ROOT"
cp -r "$ROOT/compiler" .
mkdir -p runtime tests/tools
cp -r "$ROOT/runtime/src" runtime
cp "$ROOT/tests/tools/back_edges.txt" tests/tools
printf '#include "passes/schedule/schedule.h"\nvoid up(ir_func *f);\nvoid up(ir_func *f)\n{\n    pass_rows(f);\n}\n' >>compiler/passes/analysis/affine.c
python3 "$ROOT/tests/tools/layers.py" . >said && { echo "an include and a call that go up are not found"; exit 1; }
grep -q 'affine.c includes passes/schedule/schedule.h: passes/schedule is not below passes/analysis' said
grep -q 'affine.c uses pass_rows' said
# how a field's elements lie is asked of the layout module, by nobody else
printf 'bool apart(const ir_field *f);\nbool apart(const ir_field *f)\n{\n    return f->layout == IR_FIELD_SOA;\n}\n' >>compiler/emit/task.c
printf 'bool apart(const tk_field *f)\n{\n    return f->desc->flags & TK_FIELD_SOA || f->member;\n}\n' >runtime/src/field.c
python3 "$ROOT/tests/tools/layers.py" . >said && { echo "a question for a layout is not found"; exit 1; }
grep -q 'compiler/emit/task.c has IR_FIELD_SOA' said
grep -q 'runtime/src/field.c has TK_FIELD_SOA' said
grep -q 'runtime/src/field.c has member' said
# a circle of the checker and one of libtkc; a listed call that is gone
cat <<'END' >>compiler/check/base/tree.c
val up(checker *c, const ast_expr *e);
val up(checker *c, const ast_expr *e)
{
    return check_value(c, e);
}
END
printf 'void down(tk_module *m, const tk_kernel *k)\n{\n    tk_launch(m, k, NULL);\n}\n' >>runtime/src/run.c
sed -i 's/check_loop(/check_other(/' compiler/check/check_stmt.c
python3 "$ROOT/tests/tools/layers.py" . >said && { echo "a circle is not found"; exit 1; }
grep -q 'compiler/check/base/tree.c calls check_value of compiler/check/check_expr.c' said
grep -q 'runtime/src/run.c calls tk_launch of runtime/src/launch.c' said
grep -q 'back_edges.txt: the call of check_loop in compiler/check/check_stmt.c closes no circle' said
python3 "$ROOT/tests/tools/layers.py" . --update >said && { echo "an update adds calls"; exit 1; }
grep -q 'closes no circle' said && { echo "an update leaves calls that are gone"; exit 1; }
grep -q check_loop tests/tools/back_edges.txt && { echo "check_loop is still listed"; exit 1; }
for k in $(seq 700); do echo "// $k"; done >>compiler/check/check_loop.c
python3 "$ROOT/tests/tools/layers.py" . >said && { echo "a long file is not found"; exit 1; }
grep -q 'compiler/check/check_loop.c: [0-9]* lines' said

# No call of the compiler has two arguments that build operations: gcc and clang would number them differently.
python3 "$ROOT/tests/tools/argument_order.py" "$ROOT/compiler"

mkdir copy && echo 'ir_op2(b, OP_SUB, ir_op1(b, OP_NEG, x), ir_op1(&t->in, OP_NEG, y)); ir_op2(b, OP_ADD, ir_op1(b, OP_NEG, x), y);' >copy/two.c
python3 "$ROOT/tests/tools/argument_order.py" copy >said && { echo "two builders among the arguments are not found"; exit 1; }
[ "$(grep -c 'two.c:1:' said)" = 1 ]

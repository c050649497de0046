# Printed IR with bytes, tokens and lines that are others, or missing, is read as something that prints and reads as itself, or refused. Sanitizers see the rest, in builds that have them.
# slow: 3
# inputs: compiler/ir compiler/util tests/tools/irmangle.c c:tests/run/structs.tk
for tk in run/structs ad/saved ad/winners_saved parallel/winners ad/kernel_arrays run/export_written run/checks; do
    tk="$ROOT/tests/$tk.tk"
    flags=$(sed -n '1,8s,^// flags: ,,p' "$tk" | head -n 1)
    for pass in lower decisions reverse hvp parts; do
        "$TKC" "$tk" $flags --emit=ir --dump-after=$pass >"$(basename "$tk").final.ir" 2>"$(basename "$tk").$pass.ir"
    done
done
test "$(ls *.ir | wc -l)" -gt 30
"$(dirname "$TKC")/../tests/tools/irmangle" ${COUNT:-3000} ${SEED:-1} *.ir >said
# neither all nor nothing
grep -E '^[1-9][0-9]+ of' said
test "$(cut -d ' ' -f 1 said)" -lt $((${COUNT:-3000} / 2))

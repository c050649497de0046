# docs/errors/ has one entry for each code of diag.def, whose examples give that code and no other, and whose corrections compile; tkc explain prints them.
# slow: 9
# inputs: docs compiler/util compiler/syntax compiler/check compiler/files compiler/lower compiler/driver compiler/passes/rules compiler/passes/derive tests/tools/errorpages.py tests/tools/expect.sh
check=$ROOT/tests/tools/errorpages.py
python3 "$check" "$ROOT" "$TKC"

# entries that are missing, of no code, without example, with another error, with a correction that is none, or that tkc does not print, are found
mkdir -p bad/compiler/util bad/docs/errors
grep -E '"(E0101|E0102|E0103|E0202|E0203|W0801)"' "$ROOT/compiler/util/diag.def" >bad/compiler/util/diag.def
{
    printf '## E0102: a character that the language does not have\n\n```tk\nconst A = $;\n```\n\n```tk\nconst A = B;\n```\n\n'
    printf '## E0103: a comment is not closed\n\nNothing.\n\n## E0202: an unknown name\n\n```tk\nconst A = $;\n```\n\n'
    printf '## E0203: another title\n\n```sh\necho "const A = f(1);" >one.tk\ntkc one.tk\n```\n\n## E0999: none\n\n## W0801: a statement that is never reached\n\n```tk\nconst A = 1;\n```\n'
} >bad/docs/errors/one.md
python3 "$check" bad "$TKC" >said && { echo "nothing is found"; exit 1; }
for fault in 'E0101: 0 entries' 'E0999: an entry, but no such code' 'E0103: no example' 'E0202: its example has status 1 and gives E0102' 'E0102: block 2 is not clean' \
    "E0203: tkc explain does not print 'E0203: another title'" 'W0801: its example has status 0 and gives no code'; do
    grep -qF "$fault" said || { echo "not found: $fault"; cat said; exit 1; }
done

. "$ROOT/tests/tools/expect.sh"

# alone it lists all codes
expect 0 explain
sed -n 's/^DIAG([^"]*"\([EW][0-9]*\)".*/\1/p' "$ROOT/compiler/util/diag.def" | sort >codes
sed 's/: ..*//' out | sort | diff codes -

# other ways to write a code, and several
expect 0 explain E0505
mv out first
for code in e0505 E505 e505 505 0505; do
    expect 0 explain $code
    diff first out
done
expect 0 explain w801 E0505
head -1 out | grep -q '^W0801: '
tail -n "$(wc -l <first)" out | diff first -
# text only, wrapped; what a link leads to is named
expect 0 explain E0501
grep -q '(docs/autodiff.md)' out
if grep -nE '```|\]\(|^[^ ].{88}' out; then exit 1; fi

# what is no code
near()
{
    refused 2 explain "$1"
    grep -qF "'$1' is not the code of a message" err
    shift
    grep -oE '^  [EW][0-9]{4}: .' err | cut -c3-7 | tr '\n' ' ' >list
    [ "$(cat list)" = "$*${*:+ }" ] || { echo "near it: $(cat list), not $*"; exit 1; }
}
near E0599 E0509 E0510 E0601
near W0505 E0504 E0505 E0506
near e0 E0101 E0102 E0103
near 99999999 W0805 W0806 W0807
for no in '' E x0505 E0505x --help gravity.tk 505050505050505; do near "$no"; done
refused 2 explain E0505 E0599

# a full device
if [ -c /dev/full ]; then
    for code in E0101 ''; do
        status=0
        # shellcheck disable=SC2086
        "$TKC" explain $code >/dev/full 2>err || status=$?
        [ $status = 1 ]
        grep -Fqx "tkc: error: cannot write 'standard output': No space left on device [E0702]" err
    done
fi

# a file of that name
echo 'field x: real[4];' >explain
expect 0 ./explain -o one.c
expect 0 -o two.c explain
[ -s one.c ] && [ -s two.c ]
expect 0 --help
grep -q 'tkc explain \[CODE' out
grep -q 'tkc explain' "$ROOT/docs/tkc.1"

# Pages, public headers, messages and --explain keep docs/inside/style.md, except for the violations that tests/tools/prose_exceptions.txt counts; one of each kind is found, the list only shrinks.
# Subjects of commits keep it as well.
# slow: 5
check=$ROOT/tests/tools/prose.py
python3 "$check" "$ROOT"

mkdir -p copy/docs copy/runtime/include/tkc copy/compiler/util copy/tests/tools copy/tests/explain
echo '# The list.' >copy/tests/tools/prose_exceptions.txt
cat <<'END' >copy/README.md
# What nobody asks, in a heading

Plain text. A call of `that of nobody` or "what nobody asks" is skipped, and so is [a link](docs/page.md#that-of).
What happens here? E.g. this sentence, cf. the next one, has fewer than the greatest number of words, because an abbreviation and `gcc 12.2` end none.

```c
/* nobody */
```

    nobody asks

<!-- words: written by a script -->
| nobody | asks |
<!-- end of words -->
END
python3 "$check" copy

# bad FILE LINE KIND TEXT: the text, appended to a file, is found there
bad()
{
    cp copy/README.md README.md
    [ "$1" = README.md ] || : >"copy/$1"
    printf '%s\n' "$4" >>"copy/$1"
    ! python3 "$check" copy >said || { echo "not found: $4"; exit 1; }
    grep -q "^$1: 1 of kind $3, and 0 in tests/tools/prose_exceptions.txt" said || { cat said; exit 1; }
    grep -q "^$1:$2: $3: " said || { cat said; exit 1; }
    test "$(wc -l <said)" = 2 || { cat said; exit 1; }
    [ "$1" = README.md ] || rm "copy/$1"
    cp README.md copy/README.md
}
line=$(($(wc -l <copy/README.md) + 1))
w5='one two three four five'
bad README.md $line sentence "$w5 $w5 $w5 $w5 $w5 \`code\`."
bad README.md $line cell "| short | $w5 $w5 $w5 sixteen |"
bad README.md $line word 'Nobody reads this.'
bad README.md $line word 'Loops, be they short or long, run.'
bad README.md $line word 'All loops but for two run.'
bad README.md $line stand_in 'A loop takes as long as that of the primal.'
bad README.md $line stand_in 'A loop is one that runs.'
bad README.md $line stand_in 'What a loop does is done.'
bad README.md $line stand_in '- This item is for those that read it.'
bad README.md $line person 'The tape looks whether a field has changed.'
bad README.md $line person 'A macro tells the version.'
bad README.md $line person 'A loop hands its sums on.'
bad docs/page.md 1 word 'This is here for want of a better place.'
bad runtime/include/tkc/tkc.h 1 stand_in '/** The size of a field, or that of a member. */'
bad runtime/include/tkc/tkc.h 2 person '/* The first line.
 * The library knows the second line. */'
bad compiler/util/diag.def 1 person 'DIAG(A, ERROR, "E0101", "kernel %s asks for %d derivatives")'
bad tests/explain/module.words 1 person '  The launch looks for a field.'
printf 'Kernel which nobody asks for\n  - line 3: a loop.\n' >copy/tests/explain/module.words
python3 "$check" copy
rm copy/tests/explain/module.words

# subjects of commits, from a base on, without merges
cat <<'END' >subjects.py
import sys
sys.path.insert(0, sys.argv[1])
import prose
good = ["docs: Shorten a page", "tkc.h, tkc_gen.h: Keep declarations on one line", "docs/c-api: Link an example", "tkc/*.h: Embed the pages", "check: Pass no name"]
bad = ["Shorten a page", "docs: shorten a page", "docs: Shorten", "docs: Shorten a page.", "docs: Shortens a page", "docs: Shortened a page", "docs: Shortening a page",
       "docs: A page is shorter", "docs: No page has a diary", "Docs : Shorten a page", "wip", "docs:Shorten a page"]
said = list(prose.wrong_subjects([["1234", s] for s in good + bad]))
assert len(said) == len(bad) and all(repr(s) in x for s, x in zip(bad, said)), said
END
python3 subjects.py "$ROOT/tests/tools"
if command -v git >/dev/null; then
    commit()
    {
        git -C copy -c user.name=a -c user.email=b commit -q --allow-empty -m "$1"
    }
    git init -q copy
    commit 'Before the base'
    commit 'test: Begin here'
    base=$(git -C copy rev-parse HEAD)
    commit 'test: Go on'
    sed "s/^BASE = \"[0-9a-f]*\"/BASE = \"$base\"/" "$check" >"$PWD/prose.py"
    cp "$ROOT/tests/tools/pages.py" .
    python3 prose.py copy
    commit 'Going on'
    ! python3 prose.py copy >said || { echo "a wrong subject is not found"; exit 1; }
    grep -q "^commit [0-9a-f]*: 'Going on' has not the form" said
    test "$(wc -l <said)" = 1
    python3 "$check" copy # without the base there is no history to check
    rm -rf copy/.git
fi

# a list with the number passes; with a larger one it does not, and --update lowers that one
printf '\nNobody reads this. Nobody reads that.\n' >>copy/README.md
list()
{
    printf '# The list.\nREADME.md\n    word %s\n' "$1" >copy/tests/tools/prose_exceptions.txt
}
list 2
python3 "$check" copy
list 3
! python3 "$check" copy >said || { echo "a number that is too large is not found"; exit 1; }
grep -q '^README.md: 2 of kind word, and 3 in ' said
python3 "$check" copy --update
grep -qx '    word 2' copy/tests/tools/prose_exceptions.txt
# --update raises none
list 1
! python3 "$check" copy --update >said || { echo "an update raises a number"; exit 1; }
grep -q '^README.md: 2 of kind word, and 1 in ' said
grep -qx '    word 1' copy/tests/tools/prose_exceptions.txt
# a file without violations leaves the list
list 2
sed -i '$d' copy/README.md
python3 "$check" copy --update
test "$(cat copy/tests/tools/prose_exceptions.txt)" = '# The list.'

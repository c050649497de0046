# Links of README.md and docs/ lead somewhere, and no paragraph is too long to be read; a link to a heading or a file that is not there, a page without a link and a long paragraph are found.
python3 "$ROOT/tests/tools/pages.py" "$ROOT"
mkdir copy
cp -r "$ROOT/docs" "$ROOT/README.md" copy
for part in "$ROOT"/samples "$ROOT"/tests "$ROOT"/LICENSE; do ln -s "$part" copy; done
python3 "$ROOT/tests/tools/pages.py" copy
echo '[one](language.md#nowhere), [two](nowhere.md)' >>copy/docs/c-api.md
echo '# Lonely' >copy/docs/lonely.md
yes word | head -201 >>copy/docs/lonely.md
python3 "$ROOT/tests/tools/pages.py" copy >said && { echo "a link to nowhere is not found"; exit 1; }
grep -q "docs/c-api.md:[0-9]*: language.md has no heading 'nowhere'" said
grep -q "docs/c-api.md:[0-9]*: there is no nowhere.md" said
grep -q "docs/lonely.md: no page has a link to it" said
grep -q "docs/lonely.md:2: a paragraph of 201 words" said
test "$(wc -l <said)" = 4

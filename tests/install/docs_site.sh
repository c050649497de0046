# The site of these pages: every link leads somewhere, nothing comes from another host, .tk is coloured; a link to nowhere stops it.
# slow: 17
# inputs: docs README.md LICENSE samples
# copies: tests
TKC_SITE_VENV=$(cd "$(dirname "$TKC")/.." && pwd)/site-venv
export TKC_SITE_VENV
status=0
sh "$ROOT/docs/site/build.sh" out >said 2>&1 || status=$?
[ $status != 3 ] || { cat said; exit 77; }
[ $status = 0 ] || { cat said; exit 1; }
site=out/site
test "$(cat said)" = "$PWD/$site/index.html"
for page in index start gallery language/types errors/names c-api/abi samples/wave tests/gradbench source/LICENSE source/samples/wave/wave.tk; do test -s $site/$page.html; done
# what a browser would fetch from elsewhere
! grep -rEho '<(script|img|iframe|source)[^>]* src="?(https?:)?//[^ >]*|<link[^>]* rel="?(stylesheet|preconnect|icon)"?[^>]* href="?(https?:)?//[^ >]*' $site --include='*.html' || exit 1
! grep -rEl 'url\((https?:)?//|@import' $site --include='*.css' || exit 1
# without a server the index of the search is a script
test -s $site/search/search_index.js
grep -q '<script src="../theme/worker.js">' $site/language/types.html
if command -v chromium >/dev/null; then
    chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --host-resolver-rules='MAP * ~NOTFOUND' --virtual-time-budget=15000 \
        --dump-dom "file://$PWD/$site/language/types.html?q=polar_decompose" >found 2>log || { cat log; exit 1; }
    grep -q 'md-search-result__meta">[1-9][0-9]* matching document' found
fi
grep -q '<span class="kd">kernel</span>' $site/language.html
grep -q '<span class="kd">kernel</span>' $site/source/samples/wave/wave.tk.html
! grep -rlE '<span class="err">' $site/language $site/source/samples || exit 1
grep -q 'href="source/samples/gravity.html"' $site/index.html

mkdir copy
for part in README.md LICENSE meson.build docs samples tests; do cp -r "$ROOT/$part" copy; done
echo '[one](../samples/nowhere.tk)' >>copy/docs/glossary.md
! sh copy/docs/site/build.sh other >said 2>&1 || exit 1
grep -q 'no part of the project: samples/nowhere.tk' said
sed -i '$d' copy/docs/glossary.md
echo '[two](language.md#nowhere)' >>copy/docs/glossary.md
! sh copy/docs/site/build.sh other >said 2>&1 || exit 1
grep -q "glossary.md.*language.md#nowhere" said

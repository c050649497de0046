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
    search() # WORD PAGE: the page that is found first
    {
        chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --host-resolver-rules='MAP * ~NOTFOUND' --virtual-time-budget=15000 \
            --dump-dom "file://$PWD/$site/language/types.html?q=$1" >found 2>log || { cat log; exit 1; }
        first=$(grep -o '<a href="[^"]*" class="md-search-result__link"' found | head -n 1)
        case $first in */$2.html*) ;; *) echo "searching $1 finds $first"; exit 1 ;; esac
    }
    search polar_decompose builtins
    search over_fields python
    search tk_gradcheck checking
    search E0505 derivatives
    search pickle python
    search jupyter python
    search test taichi # pages for developers of tkc come behind it
fi
grep -q '<span class="kd">kernel</span>' $site/language.html
grep -q '<span class="kd">kernel</span>' $site/source/samples/wave/wave.tk.html
! grep -rlE '<span class="err">' $site/language $site/source/samples || exit 1
grep -q 'href="source/samples/gravity.html"' $site/index.html
grep -q '<a class="md-button md-button--primary" href="start.html">Start</a>' $site/index.html
# Text of tables on narrow screens; the notebook has its outputs; the search has whole names, and their parts.
grep -q '<table data-stack>' $site/from-taichi.html
grep -q '<td data-head="Python">' $site/from-taichi.html
! grep -q 'data-stack' $site/gallery.html || exit 1
test -s $site/source/samples/notebook/heat.ipynb-1.png
grep -q 'src="heat.ipynb-1.png"' $site/source/samples/notebook/heat.ipynb.html
grep -q '<p hidden>.*clear.*</p>' $site/autodiff/checking.html

mkdir copy
for part in README.md LICENSE meson.build docs samples tests; do cp -r "$ROOT/$part" copy; done
echo '[one](../samples/nowhere.tk)' >>copy/docs/glossary.md
! sh copy/docs/site/build.sh other >said 2>&1 || exit 1
grep -q 'no part of the project: samples/nowhere.tk' said
sed -i '$d' copy/docs/glossary.md
echo '[two](language.md#nowhere)' >>copy/docs/glossary.md
! sh copy/docs/site/build.sh other >said 2>&1 || exit 1
grep -q "glossary.md.*language.md#nowhere" said

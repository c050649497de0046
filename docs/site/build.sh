#!/bin/sh
# build.sh [OUT]: these pages as a site, OUT/site/index.html (OUT: build-site), which needs no server and no network. MkDocs comes from PyPI, in the versions of
# requirements.txt, into OUT/venv or $TKC_SITE_VENV. Ends with status 3 where it cannot be had, and with 1 where a link leads nowhere.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1-$root/build-site}
mkdir -p "$out"
out=$(cd "$out" && pwd)
venv=${TKC_SITE_VENV-$out/venv}
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    rm -rf "$venv"
    { python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"; } >"$out/log" 2>&1 || {
        rm -rf "$venv"
        echo "build.sh: MkDocs cannot be installed (python3-venv, PyPI): $(tail -n 1 "$out/log")" >&2
        exit 3
    }
    cp "$here/requirements.txt" "$venv"
fi
"$venv/bin/python" -B "$here/gather.py" "$root" "$out/pages"
# The samples in the order of the gallery, then the others.
samples=$(sed -n 's/^| \[\([a-z0-9_]*\)\](#.*/\1/p' "$root/docs/gallery.md" | awk '!seen[$0]++')
{
    sed '/^@SAMPLES@$/,$d' "$here/mkdocs.yml"
    for name in $samples jelly fit pendulum common; do
        [ ! -f "$out/pages/samples/$name.md" ] || echo "      - $name: samples/$name.md"
    done
    sed '1,/^@SAMPLES@$/d' "$here/mkdocs.yml"
} >"$out/mkdocs.yml"
cp "$here/hooks.py" "$out"
# Not --quiet, which keeps warnings from --strict.
TKC_PAGES="$out/pages" TKC_SITE="$out/site" TKC_EDITORS="$root/docs/editors/pygments" PYTHONDONTWRITEBYTECODE=1 \
    NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --strict --clean -f "$out/mkdocs.yml" >"$out/log" 2>&1 || { cat "$out/log" >&2; exit 1; }
# Not a warning to MkDocs: a page that it leaves out.
if grep 'contains a.* link' "$out/log" >&2; then exit 1; fi
echo "$out/site/index.html"

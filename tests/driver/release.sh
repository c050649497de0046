# One version everywhere, that of meson.build, and release notes that begin with it; tkc says it too.
cat >versions.py <<'P'
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
PLACES = (("docs/changelog.md", r"\A# Release notes\n\n## (\S+),"), ("docs/editors/vscode/package.json", r'"version": "([^"]*)"'), ("compiler/host/file.c", r'TKC_VERSION "(.*)"'),
          ("docs/c-api/builds.md", r"GIT_TAG v(\S+)"), ("docs/c-api/builds.md", r"(?m)^revision = v(\S+)"))
SERIES = (("README.md", 1), ("docs/start.md", 1), ("docs/c-api/builds.md", 1))
version = re.search(r"^project\(.*version: '(\d+\.\d+\.\d+)'", (root / "meson.build").read_text())[1]
faults = []
for file, pattern in PLACES:
    found = re.findall(pattern, (root / file).read_text())
    if set(found) != {version}:
        faults.append(f"{file}: {found or 'nothing'} where the version is {version}")
for file, n in SERIES:
    found = re.findall(r"find_package\(tkc (\S+) REQUIRED\)", (root / file).read_text())
    if len(found) < n or set(found) != {version.rpartition(".")[0]}:
        faults.append(f"{file}: find_package(tkc {found})")
headings = re.findall(r"(?m)^## .*", (root / "docs/changelog.md").read_text())
for n, heading in enumerate(headings):
    if not re.fullmatch(r"## \d+\.\d+\.\d+, (\d{4}-\d\d-\d\d" + ("|not released yet)" if n == 0 else ")"), heading):
        faults.append(f"docs/changelog.md: '{heading}' is no version with its date")
print(version if not faults else "\n".join(faults))
sys.exit(len(faults) > 0)
P
version=$(python3 versions.py "$ROOT") || { echo "$version"; exit 1; }
test "$("$TKC" --version)" = "tkc $version"
mkdir -p copy/docs/editors/vscode copy/docs/c-api copy/compiler/host
for f in README.md meson.build docs/changelog.md docs/start.md docs/c-api/builds.md docs/editors/vscode/package.json compiler/host/file.c; do cp "$ROOT/$f" "copy/$f"; done
python3 versions.py copy
sed -i "s/version: '$version'/version: '9.8.7'/" copy/meson.build
! python3 versions.py copy >said || exit 1
test "$(wc -l <said)" = 8
sed -i 's/^## .*/## next/' copy/docs/changelog.md
! python3 versions.py copy >said || exit 1
grep -q "'## next' is no version" said

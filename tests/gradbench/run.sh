#!/bin/sh
# Builds GradBench's evaluations with an existing build of tkc, and runs them.
#   sh tests/gradbench/run.sh BUILD [--compiler gcc|clang] [--check | --count | --memory | --tool] [NAME...]
[ $# -eq 0 ] || { build=$1 && shift && set -- "$build" gradbench "$@"; }
exec sh "$(dirname "$0")/../bench/run.sh" "$@"

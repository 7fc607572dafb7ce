#!/usr/bin/env bash
# Builds a wheel and a source archive of the package into a folder (dist/ here unless one is named). The wheel is for this
# kind of machine and every Python from 3.10 on (abi3). `python/wheels.sh --sdist` adds the source archive.
set -euo pipefail
cd "$(dirname "$0")"
out=dist
arguments=()
for argument in "$@"; do
    case "$argument" in
        --sdist) arguments+=(--sdist) ;;
        -*) echo "wheels.sh: unknown option '$argument'; usage: wheels.sh [--sdist] [FOLDER]" >&2; exit 2 ;;
        *) out=$argument ;;
    esac
done
if ! python3 -m maturin --version > /dev/null 2>&1; then
    echo "wheels.sh: maturin is not there: python3 -m pip install 'maturin>=1.10,<2'" >&2
    exit 1
fi
python3 -m maturin build --release --strip --out "$out" "${arguments[@]}"
ls -l "$out"

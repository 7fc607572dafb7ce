#!/usr/bin/env bash
# Makes target/pack/pliant-first-minutes.tar.xz: first_minutes.sh with all that it needs on a machine without Rust, for Linux
# on x86-64. PLIANT_CUBINS names cubins that ptx.py made; without it they are made, which needs the network.
set -euo pipefail
cd "$(dirname "$0")/.."
target=target/pack
most=$((60 * 1000 * 1000))
if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "pack.sh: the archive is for Linux on x86-64, and is made there" >&2
    exit 1
fi

name=pliant-first-minutes
folder=$target/$name
rm -rf "$folder"
mkdir -p "$folder/tests"
if [ -n "${PLIANT_CUBINS:-}" ]; then
    cp -r "$PLIANT_CUBINS" "$folder/pliant-cubins"
else
    python3 cuda/ptx.py --cubins "$folder/pliant-cubins"
fi

# Without the emulation, so that tests run on the GPU alone. A folder of its own: other features would build all anew.
options=(--release --no-default-features --target-dir "$target/build")
cargo build "${options[@]}" -p pliant --bin pliant
cp "$target/build/release/pliant" "$folder/"
# Names and files of the test programs, of cargo's messages.
programs() {
    python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["reason"] == "compiler-artifact" and message["target"]["kind"] == ["test"] and message["executable"]:
        print(message["target"]["name"], message["executable"])'
}
cargo test "${options[@]}" -p pliant-cuda --test '*' --no-run --message-format=json | programs > "$target/programs"
cargo test "${options[@]}" -p pliant --test device_parity --no-run --message-format=json | programs >> "$target/programs"
while read -r test program; do
    # These two test the emulation.
    if [ "$test" != fake_driver ] && [ "$test" != sanitized ]; then
        cp "$program" "$folder/tests/$test"
    fi
done < "$target/programs"
strip "$folder/pliant" "$folder"/tests/*
cp cuda/first_minutes.sh "$folder/"
cp docs/book/src/first-minutes.md "$folder/README.md"

# The same bytes for the same files. The test programs have much in common, beyond the window of lesser levels.
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$target" -c "$name" |
    xz --threads=1 --lzma2=preset=6,dict=128MiB > "$target/$name.tar.xz"
size=$(stat -c %s "$target/$name.tar.xz")
echo "$target/$name.tar.xz: $size bytes"
if [ "$size" -gt "$most" ]; then
    echo "pack.sh: that is more than $most bytes" >&2
    exit 1
fi

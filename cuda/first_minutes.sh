#!/usr/bin/env bash
# The first minutes on a GPU: what works, how fast it is, and what a sanitizer finds, from an archive that pack.sh made. Needs
# NVIDIA's driver and coreutils; of compute-sanitizer, ncu and nsys it uses what is there.
#
#     ./first_minutes.sh [FOLDER]     writes FOLDER/<date>-<device>/ with a text for each step and summary.json
#
# Each step has five minutes (PLIANT_STEP_SECONDS: other than 300), and none stops the next ones. Exit code 0 only if no step
# failed. What each result decides: README.md beside this script, first-minutes.md of the book.
set -uo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
limit=${PLIANT_STEP_SECONDS:-300}
pliant=$here/pliant
export PLIANT_CUBINS=$here/pliant-cubins

# Text as a string of JSON: what is not ASCII might be cut in half.
quoted() {
    printf '"%s"' "$(tr '\t' ' ' <<< "$1" | tr -cd '\040-\176' | tr -s ' ' | sed 's/[\\"]/\\&/g')"
}

# The device, or why there is none; this loads the module too, which may take its time.
doctor=$(timeout --kill-after=10 "$limit" "$pliant" doctor 2>&1) || doctor="pliant doctor failed: $doctor"
device=$(sed -n 's/^gpu 0 *\(.*\), [0-9.]* GiB, .*/\1/p' <<< "$doctor")
why=
if [ -z "$device" ]; then
    why=$(grep -m1 '^cuda driver\|failed' <<< "$doctor" || true)
    why=$(tr -s ' ' <<< "no GPU: ${why:-pliant doctor lists none}")
fi
named=$(tr -cs 'A-Za-z0-9' '-' <<< "${device:-no-gpu}" | sed 's/^-*//; s/-*$//' | tr 'A-Z' 'a-z')
out=${1:-.}/$(date -u +%Y-%m-%d)-$named
mkdir -p "$out" || exit 1
printf '%s\n' "$doctor" > "$out/doctor.txt"
nvidia-smi > "$out/nvidia-smi.txt" 2>&1 || rm -f "$out/nvidia-smi.txt"

steps=()
bad=0
count=0

# One line of the summary: name, status, exit code, seconds, file, about.
note() {
    local form='{"name": %s, "status": %s, "exit_code": %s, "seconds": %s, "file": %s, "about": %s}'
    # shellcheck disable=SC2059
    steps+=("$(printf "$form" "$(quoted "$1")" "$(quoted "$2")" "$3" "$4" "$(quoted "$5")" "$(quoted "$6")")")
    printf '%-34s %-10s %5s s  %s\n' "$1" "$2" "$4" "$6"
}

# step NAME COMMAND...: its output goes to NN-NAME.txt, and what a benchmark prints to NN-NAME.json.
step() {
    local name=$1 code status start seconds file about=
    shift
    count=$((count + 1))
    file=$(printf '%02d-%s' "$count" "$name")
    if [ -n "$why" ]; then
        echo "$why" > "$out/$file.txt"
        bad=$((bad + 1))
        note "$name" "no GPU" null 0 "$file.txt" "$why"
        return
    fi
    start=$(date +%s)
    if [[ $name == bench-* ]]; then
        timeout --kill-after=10 "$limit" "$@" > "$out/$file.json" 2> "$out/$file.txt"
    else
        timeout --kill-after=10 "$limit" "$@" > "$out/$file.txt" 2>&1
    fi
    code=$?
    seconds=$(($(date +%s) - start))
    # A step that was cut off leaves no half of a document.
    [ "$(tail -c 2 "$out/$file.json" 2> /dev/null)" = ']' ] || rm -f "$out/$file.json"
    case $code in
        0) status=passed ;;
        124 | 137) status="timed out" about="after $limit s" ;;
        *) status=failed about=$(grep -m1 -i 'error\|panicked\|FAILED' "$out/$file.txt" | cut -c1-200) ;;
    esac
    [ "$code" -eq 0 ] || bad=$((bad + 1))
    note "$name" "$status" "$code" "$seconds" "$file.txt" "$about"
}

# step_with TOOL NAME COMMAND...: a step of a tool that the machine may lack; its figures are then absent.
step_with() {
    local tool=$1 name=$2
    shift
    if [ -n "$why" ] || command -v "$tool" > /dev/null; then
        step "$@"
    else
        count=$((count + 1))
        note "$name" absent null 0 "" "$tool is not on this machine"
    fi
}

# The kernels load and give right sums; blocks of a whole grid wait for each other.
module_works() {
    "$pliant" doctor | tee /dev/stderr | grep -q '^gpu 0 .*; kernels work'
}
# All programs, then their worst exit code.
sanitized() {
    local tool=$1 worst=0 code
    shift
    for program in "$@"; do
        compute-sanitizer --tool "$tool" --error-exitcode 9 "$here/tests/$program" --test-threads=1
        code=$?
        [ "$code" -le "$worst" ] || worst=$code
    done
    return "$worst"
}
export -f module_works sanitized
export pliant here

step module bash -c module_works
step grid-barrier "$here/tests/block" --include-ignored --test-threads=1 grid_barriers
# The hash of the sources is compared where they are.
for program in "$here"/tests/*; do
    step "test-$(basename "$program")" "$program" --include-ignored --test-threads=1 --skip the_ptx_is_current
done
for tool in memcheck racecheck synccheck initcheck; do
    step_with compute-sanitizer "$tool-transfers" bash -c "sanitized $tool algorithms mpm_transfers"
    step_with compute-sanitizer "$tool-contact" bash -c "sanitized $tool contact_detection convex_solver"
done
known=$("$pliant" bench --list 2> /dev/null)
for bench in mpm table1 batch; do
    if grep -q "^$bench " <<< "$known"; then
        step "bench-$bench" "$pliant" bench "$bench" --backend cuda --json
    else
        count=$((count + 1))
        note "bench-$bench" absent null 0 "" "this build has no such benchmark"
    fi
done
# The graph of a substep, kernel by kernel.
for part in particles_to_grid:mpm solve:table1; do
    kernel=${part%:*} bench=${part#*:}
    measured=("$pliant" bench "$bench" --backend cuda)
    if command -v ncu > /dev/null || ! command -v nsys > /dev/null; then
        step_with ncu "profile-$kernel" ncu --kernel-name "regex:$kernel" --launch-count 5 --kill yes \
            --page details "${measured[@]}"
    else
        step_with nsys "profile-$kernel" nsys profile --cuda-graph-trace=node --stats=true --force-overwrite=true \
            --output "$out/profile-$kernel" "${measured[@]}"
    fi
done

{
    printf '{\n  "date": %s,\n' "$(quoted "$(date -u +%FT%TZ)")"
    printf '  "device": %s,\n' "$([ -n "$device" ] && quoted "$device" || echo null)"
    printf '  "reason": %s,\n' "$([ -n "$why" ] && quoted "$why" || echo null)"
    printf '  "limit_seconds": %s,\n  "steps_not_passed": %s,\n  "steps": [\n' "$limit" "$bad"
    for k in "${!steps[@]}"; do
        printf '    %s%s\n' "${steps[$k]}" "$([ $((k + 1)) -lt ${#steps[@]} ] && echo ,)"
    done
    printf '  ]\n}\n'
} > "$out/summary.json"
echo "$bad of ${#steps[@]} steps did not pass; all is in $out"
[ "$bad" -eq 0 ]

#!/usr/bin/env python3
"""Measures how well Pliant imports the robot files of public packages: see README.md."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import time

import against_mujoco
import against_pinocchio
import engines
import fetch
import find
import mechanism
import report
import workers

# Time for an import, and for all comparisons of a file [s].
IMPORT_LIMIT = 10.0
FILE_LIMIT = 300.0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path, help="folder for imports.json and table.md")
    parser.add_argument("--packages", type=pathlib.Path, help="unpacked packages, one folder each")
    parser.add_argument("--cache", type=pathlib.Path, default=mechanism.ROOT / "target/imports")
    parser.add_argument("--only", default="", help="files whose path matches this expression")
    parser.add_argument("--jobs", type=int, default=1, help="files at a time")
    parser.add_argument("--quick", action="store_true", help="import only, without comparisons")
    parser.add_argument("--resume", action="store_true", help="keep the files already done in OUT")
    return parser.parse_args()


def main():
    options = arguments()
    mechanism.build()
    packages = options.packages or fetch.fetch(options.cache)
    packages = packages.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    begun, circumstances = time.monotonic(), about(options.quick)
    items = find.candidates(packages, options.only)
    done = partial(options.out / "partial.jsonl", options.resume)
    with open(options.out / "partial.jsonl", "a", encoding="utf-8") as log:
        left = [item for item in items if item[0] not in done]
        for item, answer, fault in workers.each(
            left, lambda item: examine(packages, *item, options.quick), options.jobs, FILE_LIMIT
        ):
            record = finished(packages, item, answer, fault)
            done[item[0]] = record
            log.write(json.dumps(record) + "\n")
            log.flush()
            print(f"{len(done)}/{len(items)} {item[0]}: {record['outcome']}", flush=True)
    records = [done[name] for name, _ in items]
    counted = [record for record in records if record["outcome"] != "not read by the reference"]
    same = find.duplicates(packages, [record["file"] for record in counted])
    for record in counted:
        record["same_as"] = same.get(record["file"])
    result = {
        "about": circumstances | {"seconds": round(time.monotonic() - begun)},
        "quick": options.quick,
        "files": counted,
        "not_counted": [r for r in records if r["outcome"] == "not read by the reference"],
    }
    text = json.dumps(result, separators=(",", ":"))
    # A file a line.
    (options.out / "imports.json").write_text(text.replace('{"file":', '\n{"file":') + "\n")
    report.write(options.out, result)
    (options.out / "partial.jsonl").unlink()
    print(report.counts(counted))


def partial(path, resume):
    """Records of a run that was cut off."""
    if not resume:
        path.unlink(missing_ok=True)
    if not path.exists():
        return {}
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return {record["file"]: record for record in records}


def examine(packages, name, form, quick):
    """Reference, import and comparison of one file; runs in a process of its own."""
    path = packages / name
    reader, reference, why = reference_of(path, form)
    if reference is None and form != "urdf":
        return {"outcome": "not read by the reference", "problem": why}
    answer = mechanism.ask(path, IMPORT_LIMIT)
    if answer["outcome"] == "timed out":
        # Once more, in case that the machine was busy.
        answer = mechanism.ask(path, IMPORT_LIMIT)
    record = {key: answer.get(key) for key in ("outcome", "problem", "element", "attribute", "seconds")}
    answer, repairs = repaired(path, answer)
    if repairs:
        record["repairs"] = repairs
    record["reference"] = reader or "none"
    record["reference_dofs"] = None if reference is None else reference.nv
    record["error"] = answer.get("error")
    if answer["outcome"] == "imported":
        record["dofs"] = answer["velocities"]
        record["warning_texts"] = answer["warnings"]
        if not quick and reference is not None:
            against = {"mujoco": against_mujoco, "pinocchio": against_pinocchio}[reader]
            try:
                record["compared"] = against.compare(
                    reference, answer, lambda **more: asked(path, repairs=repairs, **more)
                )
                reasons = record["compared"]["reasons"]
                if form == "urdf" and "limits" in reasons:
                    # The format gives them no softness; MuJoCo does.
                    reasons[reasons.index("limits")] = "near-rigid limits of a URDF"
            except Exception as error:  # noqa: BLE001: the import counts though the comparison failed
                record["fault"] = f"{type(error).__name__}: {error}"
    return record


def repaired(path, answer):
    """The answer with the repairs that the errors name, one after the other, and which they are;
    the answer as it is where that does not help."""
    repairs, last = [], answer
    while last["outcome"] == "refused" and last.get("repair") and last["repair"] not in repairs:
        repairs.append(last["repair"])
        last = mechanism.ask(path, IMPORT_LIMIT, repairs=repairs)
    return (last, repairs) if last["outcome"] == "imported" and repairs else (answer, [])


def asked(path, **more):
    """The mechanism's answer with more than the import."""
    answer = mechanism.ask(path, FILE_LIMIT / 2, **more)
    if answer["outcome"] != "imported":
        raise ValueError(f"{answer['outcome']}: {answer['problem']}")
    return answer


def reference_of(path, form):
    """The engine that reads the file, what it read, and else why not."""
    if form == "urdf":
        try:
            return "pinocchio", engines.pinocchio.buildModelFromUrdf(str(path)), None
        except Exception:  # noqa: BLE001: MuJoCo is asked next
            pass
    try:
        return "mujoco", engines.mujoco.MjModel.from_xml_path(str(path)), None
    except Exception as error:  # noqa: BLE001
        why = str(error)
    if form == "urdf":
        try:
            return "mujoco", engines.mujoco.MjModel.from_xml_string(find.mechanism_alone(path)), None
        except Exception:  # noqa: BLE001: the first error counts
            pass
    return "", None, why


def finished(packages, item, answer, fault):
    """The record of a file, also where its process ended badly."""
    name, form = item
    if answer is None:
        answer = {"outcome": "not read by the reference", "problem": f"the reference {fault}"}
    texts = answer.pop("warning_texts", None) or []
    record = {"file": name, "package": name.split("/")[0], "format": form, "same_as": None, **answer}
    record["warnings"] = len(texts)
    record["warnings_from"] = [plain(packages, text) for text in texts[:3]]
    for key in ("problem", "error", "fault"):
        if record.get(key):
            record[key] = plain(packages, record[key])[:500]
    return {key: value for key, value in record.items() if value is not None or key == "same_as"}


def plain(packages, text):
    """Text without the place of the packages on this machine."""
    return text.replace(f"{packages}/", "")


def about(quick):
    """Where, when and with what."""
    git = ["git", "-C", str(mechanism.ROOT)]
    commit = subprocess.check_output([*git, "rev-parse", "--short=9", "HEAD"], text=True).strip()
    changed = subprocess.check_output([*git, "status", "--porcelain", "--untracked-files=no"], text=True)
    processor = platform.processor() or platform.machine()
    for line in open("/proc/cpuinfo") if os.path.exists("/proc/cpuinfo") else []:
        if line.startswith("model name"):
            processor = line.split(":", 1)[1].strip()
            break
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "pliant": commit + (" with changes" if changed.strip() else ""),
        **engines.versions(),
        "packages": ", ".join(f"{n} {v}" for n, v in fetch.PACKAGES.items()),
        "machine": f"{processor}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}",
        "comparisons": "none (--quick)" if quick else f"{engines.STATES} states, seed {engines.SEED}",
    }


if __name__ == "__main__":
    main()

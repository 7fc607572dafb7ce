"""The tables of a run. `report.py OUT` writes them again from OUT/imports.json."""

import collections
import json
import pathlib
import re
import sys

OUTCOMES = ("imported", "refused", "crashed", "timed out")
COLUMNS = (
    ("mass", "mass"),
    ("part_mass", "part mass"),
    ("place", "place [m]"),
    ("mass_matrix", "M"),
    ("bias", "bias"),
    ("acceleration", "acceleration"),
    ("free_motion", "free motion [m]"),
    ("simulated", "simulated [m]"),
    ("motion", "motion [m]"),
)


def kind(record):
    """The first error without the names and numbers of one file."""
    text = record["problem"]
    text = re.sub(r"'[^']*'", "'...'", text)
    text = re.sub(r"\S*/\S+", "PATH", text)
    text = re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "N", text)
    tag = (record.get("element") or "").split(" ")[0]
    attribute = record.get("attribute") or ""
    place = f"<{tag}> {attribute}".strip() if tag else ""
    return f"{place}: {text}" if place else text


def number(value):
    """A figure of a table."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value:.1e}" if value else "0"


def figure(compared, column):
    """A figure of a file; `fails` for a motion without one."""
    return "fails" if f"{column}_failed" in compared else number(compared.get(column))


def cell(text):
    """Text as it can stand in a table."""
    return " ".join(str(text).replace("|", "\\|").split())[:160]


def table(header, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(cell(c) for c in row) + " |" for row in rows]) + "\n"


def reasons(record):
    """What stands beside the passive motion."""
    return "; ".join(record.get("compared", {}).get("reasons", []))


def summary(result):
    """Counts, first errors, worst figures, and how many are below which bound."""
    records = result["files"]
    text = ["## Files\n", counts(records), "\n## First errors\n", errors(records)]
    if not result["quick"]:
        text += ["\n## Errors below a bound\n", bounds(records), "\n## Worst\n", worst(records)]
        faults = [[r["file"], "", r["fault"]] for r in records if r.get("fault")]
        faults += [
            [r["file"], title, r["compared"][f"{column}_failed"]]
            for column, title in COLUMNS for r in records if f"{column}_failed" in r.get("compared", {})
        ]
        if faults:
            text += ["\n## Not compared\n", table(["file", "what", "why"], faults)]
    return "\n".join(text)


def counts(records):
    """Counts by package and format."""
    groups = collections.defaultdict(collections.Counter)
    for record in records:
        form = record["format"]
        groups_of = [(record["package"], form), ("all", form), ("all", "both")]
        if record.get("reference_dofs"):
            groups_of += [("all with joints", form), ("all with joints", "both")]
        for group in groups_of:
            groups[group][record["outcome"]] += 1
            groups[group]["warned"] += record["outcome"] == "imported" and record["warnings"] > 0
            groups[group]["same"] += record["same_as"] is not None
            groups[group]["repaired"] += bool(record.get("repairs"))
    rows = []
    for group in sorted(groups, key=lambda g: (g[0].startswith("all"), g)):
        count = groups[group]
        total = sum(count[o] for o in OUTCOMES)
        share = f"{100 * count['imported'] / total:.1f} %"
        outcomes = [count[o] for o in OUTCOMES]
        repaired = count["repaired"]
        rows.append([*group, total, *outcomes, repaired, share, count["warned"], count["same"]])
    header = [
        "package", "format", "files", *OUTCOMES, "of the refused by repairs", "imported",
        "of these with warnings", "duplicates",
    ]
    return table(header, rows)


def errors(records):
    """First errors by kind."""
    kinds = collections.defaultdict(list)
    for record in records:
        if record["outcome"] != "imported":
            kinds[f"{record['outcome']}: {kind(record)}"].append(record)
    rows = []
    for name, found in sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0])):
        by_format = collections.Counter(r["format"] for r in found)
        rows.append([len(found), by_format["urdf"], by_format["mjcf"], name, found[0]["file"]])
    return table(["files", "URDF", "MJCF", "first error", "for example"], rows)


def figures(records, column):
    """Numbers of a column with their records, largest first."""
    found = [(r["compared"][column], r) for r in records if is_number(r.get("compared", {}).get(column))]
    return sorted(found, key=lambda pair: -pair[0])


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def bounds(records):
    """How many files are below which bound, for every column."""
    steps = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
    rows = []
    for column, title in COLUMNS:
        for form in ("urdf", "mjcf"):
            values = [v for v, r in figures(records, column) if r["format"] == form]
            if values:
                middle = sorted(values)[len(values) // 2]
                below = [sum(v < step for v in values) for step in steps]
                rows.append([title, form, len(values), *below, number(middle), number(max(values))])
    header = ["error", "format", "files", *(f"< {step:g}" for step in steps), "median", "largest"]
    return table(header, rows)


def worst(records):
    """The worst ten of every column."""
    text = []
    for column, title in COLUMNS:
        rows = [[number(v), r["file"], reasons(r)] for v, r in figures(records, column)[:10] if v > 1e-12]
        if rows:
            text += [f"### {title}\n", table(["error", "file", "beside it"], rows)]
    return "\n".join(text)


def files(result):
    """One row for each file."""
    titles = [title for _, title in COLUMNS]
    header = ["file", "format", "dofs", "outcome or first error", "warnings", *titles, "beside the motion"]
    text = []
    for package in dict.fromkeys(r["package"] for r in result["files"]):
        rows = []
        for r in (r for r in result["files"] if r["package"] == package):
            outcome = "imported" if r["outcome"] == "imported" else f"{r['outcome']}: {r['problem']}"
            if r.get("repairs"):
                outcome = f"imported by the repairs {', '.join(r['repairs'])}; {outcome}"
            compared = r.get("compared", {})
            beside = r.get("fault") or reasons(r)
            name = r["file"].removeprefix(package + "/")
            dofs = "" if r.get("dofs") is None else r["dofs"]
            dofs = f"{dofs} (not {compared['reference_dofs']})" if compared.get("dofs_differ") else dofs
            rows.append(
                [name, r["format"], dofs, outcome, r["warnings"],
                 *(figure(compared, c) for c, _ in COLUMNS), beside, f"{r['seconds']:.2f}"]
            )
        text += [f"## {package}\n", table([*header, "seconds"], rows)]
    return "\n".join(text)


def head(result):
    """Where and when."""
    about = result["about"]
    return "".join(f"- {key}: {value}\n" for key, value in about.items())


def markdown(result):
    """The whole page."""
    return (
        "# Import of public robot files\n\n" + head(result) + "\nColumns: `benches/imports/README.md`.\n\n"
        + summary(result) + "\n# By file\n\n" + files(result)
    )


def write(out, result):
    """Writes the tables."""
    (out / "table.md").write_text(markdown(result))
    (out / "summary.md").write_text(head(result) + "\n" + summary(result))


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    write(folder, json.loads((folder / "imports.json").read_text()))

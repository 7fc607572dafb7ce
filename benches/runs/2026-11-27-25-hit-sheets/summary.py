#!/usr/bin/env python3
"""Energy and angular momentum of the sheet of a run, about its own centre: summary.py DIR..."""
import csv
import json
import sys

for directory in sys.argv[1:]:
    rows = list(csv.DictReader(open(f"{directory}/diagnostics.csv")))
    manifest = json.load(open(f"{directory}/manifest.json"))
    number = lambda row, name: float(row[name] or 0)

    def energy(row):
        squared = sum(number(row, f"linear_momentum_{axis}") ** 2 for axis in "xyz")
        return number(row, "kinetic_energy") - squared / (2 * number(row, "mass")) + number(row, "elastic_energy")

    alone = max(at for at, row in enumerate(rows) if number(row, "contacts") > 0) + 1
    least, grown = float("inf"), 0.0
    for row in rows[alone:]:
        least = min(least, energy(row))
        grown = max(grown, energy(row) - least)
    peak = max(map(energy, rows))
    moment = [sum(number(rows[at], f"angular_momentum_{axis}") ** 2 for axis in "xyz") ** 0.5 for at in (alone, -1)]
    print(f"{directory}: alone from {rows[alone]['time'][:6]} s; energy {peak:.3e} J at its peak, "
          f"{energy(rows[-1]):.3e} J at the end, grew by {grown:.2e} J ({100 * grown / peak:.2f} % of the peak); "
          f"angular momentum {moment[0]:.3e} to {moment[1]:.3e} N m s; wall {manifest['wall_s']:.1f} s")

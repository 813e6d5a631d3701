#!/usr/bin/python3
"""Compares the diagram of the targets in docs/how-it-works.md with Package.swift, or updates it.

    swift package dump-package | architecture.py [--write]

The diagram is Mermaid text between two marks. Arrows lead from a target to each target that it may
import. `swift build --explicit-target-dependency-import-check error`, which `make lint` also runs,
finds forbidden imports. The exit status is 1 if the diagram and the package differ.
"""
import json, os, sys

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "how-it-works.md")
BEGIN, END = "<!-- targets: made by scripts/architecture.py -->\n", "<!-- end of targets -->\n"


def picture(package):
    """Diagram of the libraries and the command, without C modules, tests, examples and samples."""
    targets = [t for t in package["targets"] if t["type"] in ("regular", "executable") and not t["name"].startswith(("example-", "TestSupport", "C", "fuzz")) and not t["name"].endswith("Samples")
               or t["name"] == "Containers"]
    names = {target["name"] for target in targets}
    lines = ["```mermaid", "graph TD"]
    for target in targets:
        for dependency in target["dependencies"]:
            name = (dependency.get("byName") or dependency.get("target") or dependency.get("product"))[0]
            if name in names:
                lines.append(f"  {target['name']} --> {name}")
    return "\n".join(lines + ["```", ""])


text = open(DOCUMENT).read()
before, rest = text.split(BEGIN)
now, after = rest.split(END)
wanted = picture(json.load(sys.stdin))
if "--write" in sys.argv:
    open(DOCUMENT, "w").write(before + BEGIN + wanted + END + after)
elif now != wanted:
    sys.exit("docs/how-it-works.md shows other targets than Package.swift has: make architecture draws them anew")

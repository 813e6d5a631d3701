#!/usr/bin/python3
"""Makes the manual pages out of the texts of --help.

    retrograde --experimental-dump-help | manual.py VERSION FOLDER

swift-argument-parser's own generator runs examples together into paragraphs, and knows no exit statuses; this one keeps the lines
that --help keeps. FOLDER gets retrograde.1, and retrograde-NAME.1 for each subcommand.
"""
import datetime, json, os, re, sys


def escape(text):
    """Text as roff takes it: what it would read as its own marks, or print as another character, is spelled out."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return re.sub(r"(?m)^\.", r"\\&.", text)


def parts(discussion):
    """The paragraphs of a discussion, and its examples: a heading in capitals, and the lines below it that are indented."""
    paragraphs, examples = [], []
    for paragraph in discussion.strip("\n").split("\n\n"):
        lines = paragraph.split("\n")
        if re.fullmatch(r"[A-Z][A-Z ]*", lines[0]):
            examples += [".SH " + lines[0], ".nf"] + [escape(line.strip()) for line in lines[1:]] + [".fi"]
        else:
            paragraphs += [".PP"] + [escape(line) for line in lines]
    return paragraphs, examples


def spelling(name):
    return ("\\-" if name["kind"] != "long" else "\\-\\-") + escape(name["name"])


def shown(command):
    return [argument for argument in command.get("arguments", []) if argument["shouldDisplay"]]


def synopsis(command, title):
    words = [".B " + escape(title)]
    if command.get("subcommands"):
        words.append(".I subcommand")
    if any(argument["kind"] != "positional" for argument in shown(command)):
        words.append(".RI [ options ]")
    for argument in shown(command):
        if argument["kind"] == "positional":
            name = escape(argument["valueName"]).replace(" ", "\\ ") + (" ..." if argument["isRepeating"] else "")
            words.append(f'.RI "[" "{name}" "]"' if argument["isOptional"] else f'.I "{name}"')
    return words


def listed(argument):
    """One argument with what is said of it, as --help has it."""
    value = f" \\fI{escape(argument['valueName'])}\\fR"
    if argument["kind"] == "positional":
        tag = value.strip()
    else:
        names = ", ".join(f"\\fB{spelling(name)}\\fR" for name in sorted(argument["names"], key=lambda name: len(name["name"])))
        tag = names + (value if argument["kind"] == "option" else "")
    notes = []
    if argument.get("allValues"):
        notes.append("values: " + ", ".join(argument["allValues"]))
    if argument.get("defaultValue"):
        notes.append("default: " + argument["defaultValue"])
    text = argument.get("abstract", "") + (f" ({'; '.join(notes)})" if notes else "")
    if argument.get("discussion"):
        text += " " + argument["discussion"]
    return [".TP", tag, escape(text.strip())]


def page(command, parent, version, others):
    title = f"{parent} {command['commandName']}" if parent else command["commandName"]
    name = title.replace(" ", "-")
    date = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.datetime.now().timestamp()), datetime.timezone.utc)
    lines = [f'.\\" Made by scripts/manual.py from the texts of --help.',
             f'.TH {escape(name).upper()} 1 "{date:%Y-%m-%d}" "retrograde {version}" "User Commands"',
             # Ragged, without hyphens: names of options stay whole.
             ".ad l", ".nh",
             ".SH NAME", f"{escape(name)} \\- {escape(command['abstract'].rstrip('.'))}",
             ".SH SYNOPSIS"] + synopsis(command, title)
    paragraphs, examples = parts(command.get("discussion", ""))
    lines += [".SH DESCRIPTION", escape(command["abstract"])] + paragraphs
    subcommands = [s for s in command.get("subcommands", []) if s["shouldDisplay"] and s["commandName"] != "help"]
    if subcommands:
        lines.append(".SH SUBCOMMANDS")
        for sub in subcommands:
            lines += [".TP", f"\\fB{escape(name)}\\-{escape(sub['commandName'])}\\fR(1)", escape(sub["abstract"])]
    for heading, is_wanted in [("ARGUMENTS", lambda a: a["kind"] == "positional"), ("OPTIONS", lambda a: a["kind"] != "positional")]:
        arguments = [argument for argument in shown(command) if is_wanted(argument)]
        if arguments:
            lines.append(".SH " + heading)
            for argument in arguments:
                lines += listed(argument)
    see = [f".BR {escape(other)} (1)" for other in others if other != name]
    lines += examples + [".SH SEE ALSO"] + [line + " ," for line in see[:-1]] + see[-1:]
    return name, "\n".join(lines) + "\n"


version, folder = sys.argv[1:]
root = json.load(sys.stdin)["command"]
children = [s for s in root["subcommands"] if s["shouldDisplay"] and s["commandName"] != "help"]
names = [root["commandName"]] + [f"{root['commandName']}-{child['commandName']}" for child in children]
for command, parent in [(root, None)] + [(child, root["commandName"]) for child in children]:
    name, text = page(command, parent, version, names)
    with open(os.path.join(folder, name + ".1"), "w") as file:
        file.write(text)

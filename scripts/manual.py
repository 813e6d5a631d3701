#!/usr/bin/python3
"""Makes the manual pages from the texts of --help.

    retrograde --experimental-dump-help | manual.py VERSION FOLDER

swift-argument-parser's own generator joins the lines of examples, and omits exit statuses. This one
keeps the lines and headings of --help. FOLDER gets retrograde.1 and a page for each subcommand,
such as retrograde-work-split.1.
"""
import datetime, json, os, re, sys


# Sections that only the manual has.
ENVIRONMENT = [
    ("TMPDIR", "Folder of the temporary files for decoded audio and frames, which have no name. --spool-dir overrides it; /var/tmp if neither is set."),
    ("XDG_DATA_HOME, XDG_DATA_DIRS", "Folders of pipeline files and presets, see FILES."),
    ("DISPLAY, WAYLAND_DISPLAY", "Display that the play command uses."),
    ("GST_DEBUG", "Log of GStreamer. The categories of retrograde begin with that name: GST_DEBUG=retrograde*:4."),
    ("GST_PLUGIN_PATH", "More folders of GStreamer's plugins."),
]
FILES = [
    ("$XDG_DATA_HOME/retrograde/pipelines/*.pipeline", "Pipeline files of your own, for the run command. $XDG_DATA_HOME is ~/.local/share if it is not set."),
    ("$XDG_DATA_HOME/retrograde/presets/*.gep", "Presets of your own, for --for."),
    ("/usr/share/retrograde/pipelines, /usr/share/retrograde/presets", "Installed ones. Other prefixes, and the folders of $XDG_DATA_DIRS, have the same layout."),
]


def escape(text):
    """Escapes text for roff: its control characters, and characters that it would replace."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return re.sub(r"(?m)^\.", r"\\&.", text)


def parts(discussion):
    """Paragraphs of a discussion, and its examples: a heading in capitals with indented lines."""
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
    """One argument with its description, as in --help."""
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


def options(command):
    """Options under the headings of --help; those without a heading come last."""
    options = [argument for argument in shown(command) if argument["kind"] != "positional"]
    lines = [".SH OPTIONS"] if options else []
    headings = list(dict.fromkeys(argument.get("sectionTitle") or "" for argument in options))
    for heading in sorted(headings, key=lambda heading: not heading):
        if len(headings) > 1:
            lines.append(".SS " + escape(heading or "General"))
        for argument in options:
            if (argument.get("sectionTitle") or "") == heading:
                lines += listed(argument)
    return lines


def below(command):
    """Subcommands of a command that have their own pages."""
    return [sub for sub in command.get("subcommands", []) if sub["shouldDisplay"] and sub["commandName"] != "help"]


def pages(command, parent=None):
    """A command and all its subcommands, each with the title of its parent and its own."""
    title = f"{parent} {command['commandName']}" if parent else command["commandName"]
    return [(command, parent, title)] + [found for sub in below(command) for found in pages(sub, title)]


def page(command, parent, version, others):
    title = f"{parent} {command['commandName']}" if parent else command["commandName"]
    name = title.replace(" ", "-")
    date = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.datetime.now().timestamp()), datetime.timezone.utc)
    lines = [f'.\\" Made by scripts/manual.py from the texts of --help.',
             f'.TH {escape(name).upper()} 1 "{date:%Y-%m-%d}" "retrograde {version}" "User Commands"',
             # Ragged right, without hyphenation, so that names of options are not split.
             ".ad l", ".nh",
             ".SH NAME", f"{escape(name)} \\- {escape(command['abstract'].rstrip('.'))}",
             ".SH SYNOPSIS"] + synopsis(command, title)
    paragraphs, examples = parts(command.get("discussion", ""))
    lines += [".SH DESCRIPTION", escape(command["abstract"])] + paragraphs
    if below(command):
        lines.append(".SH SUBCOMMANDS")
        for sub in below(command):
            lines += [".TP", f"\\fB{escape(name)}\\-{escape(sub['commandName'])}\\fR(1)", escape(sub["abstract"])]
    arguments = [argument for argument in shown(command) if argument["kind"] == "positional"]
    if arguments:
        lines.append(".SH ARGUMENTS")
        for argument in arguments:
            lines += listed(argument)
    lines += options(command)
    if not parent:
        for heading, entries in [("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)]:
            lines.append(".SH " + heading)
            for tag, text in entries:
                lines += [".TP", f"\\fB{escape(tag)}\\fR", escape(text)]
    see = [f".BR {escape(other)} (1)" for other in others if other != name]
    lines += examples + [".SH SEE ALSO"] + [line + " ," for line in see[:-1]] + see[-1:]
    return name, "\n".join(lines) + "\n"


version, folder = sys.argv[1:]
root = json.load(sys.stdin)["command"]
found = pages(root)
names = [title.replace(" ", "-") for _, _, title in found]
for command, parent, _ in found:
    name, text = page(command, parent, version, names)
    with open(os.path.join(folder, name + ".1"), "w") as file:
        file.write(text)

#!/usr/bin/python3
"""Compares docs/elements-reference.md with the plugin in GST_PLUGIN_PATH, or updates it.

    GST_PLUGIN_PATH=.build/plugin elements.py [--write]

The reference is made from GStreamer's registry: pads, caps, properties with their ranges and
defaults. The exit status is 1 if the page and the plugin differ.
"""
import os, sys
import gi
gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "elements-reference.md")
BEGIN, END = "<!-- reference: made by scripts/elements.py -->\n", "<!-- end of reference -->\n"
LARGEST = {2**63 - 1: "2^63-1", 2**64 - 1: "2^64-1"}
TYPES = {"gchararray": "string", "guint": "uint", "guint64": "uint64"}


def table(heads, rows):
    lines = [heads, ["---"] * len(heads)] + rows
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def number(value):
    return LARGEST.get(value, f"{value}")


def values(element, spec):
    """Values that the property can have."""
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        # The class of the value: in PyGObject 3.50, the class in the specification has no values.
        kind = type(element.get_property(spec.name))
        return "; ".join(f"`{v.value_nick}`: {v.value_name}" for v in kind.__enum_values__.values())
    if hasattr(spec, "minimum"):
        return f"{number(spec.minimum)} to {number(spec.maximum)}"
    return "text"


def default(element, spec):
    value = element.get_property(spec.name)
    if value is None:
        return "unset"
    return f"`{value.value_nick}`" if hasattr(value, "value_nick") else number(value)


def mutability(spec):
    """Latest state in which it may be set (GST_PARAM_MUTABLE_*)."""
    for flag, words in [(1 << 12, "at any time"), (1 << 11, "until PLAYING"), (1 << 10, "until PAUSED")]:
        if int(spec.flags) & flag:
            return words
    return "at any time"


def reference(name):
    factory = Gst.ElementFactory.find(name)
    if not factory:
        sys.exit(f"no element {name}: GST_PLUGIN_PATH has to name the folder of libgstretrograde.so")
    element = factory.create(None)
    kind = element.__gtype__
    lines = [f"## {name}", "", f"{factory.get_metadata('long-name')} (`{factory.get_metadata('klass')}`): "
             f"{factory.get_metadata('description')}.", ""]
    # Sorted, because later releases of GStreamer list them in the opposite order.
    schemes = sorted(factory.get_uri_protocols())
    if schemes:
        lines += ["URI schemes: " + ", ".join(f"`{scheme}`" for scheme in schemes) + ".", ""]
    lines += table(["pad", "direction", "presence", "caps"],
                   [[f"`{pad.name_template}`", pad.direction.value_nick, pad.presence.value_nick,
                     "; ".join(f"`{part}`" for part in pad.get_caps().to_string().split("; "))]
                    for pad in sorted(factory.get_static_pad_templates(), key=lambda pad: pad.name_template)])
    own = [spec for spec in GObject.list_properties(kind) if spec.owner_type == kind]
    lines += [""] + table(["property", "type", "values", "default", "may be set", "what it is"],
                          [[f"`{spec.name}`", TYPES.get(spec.value_type.name, "enum"), values(element, spec), default(element, spec), mutability(spec), spec.blurb]
                           for spec in own])
    signals = GObject.signal_list_names(kind)
    lines += ["", "Signals: " + (", ".join(f"`{signal}`" for signal in signals) or "none of its own") + ".", ""]
    return lines


Gst.init(None)
text = open(DOCUMENT, encoding="utf-8").read()
before, rest = text.split(BEGIN)
now, after = rest.split(END)
wanted = "\n".join([""] + [line for name in ("reversesrc", "videoreverse", "audioreverse") for line in reference(name)] + [""])
if "--write" in sys.argv:
    open(DOCUMENT, "w", encoding="utf-8").write(before + BEGIN + wanted + END + after)
elif now != wanted:
    sys.exit("docs/elements-reference.md says other things of the elements than the plugin: make elements writes its reference anew")

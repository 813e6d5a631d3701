#pragma once
// Nothing to import: plugin.c only defines the entry points that GStreamer looks for in libgstretrograde.so.

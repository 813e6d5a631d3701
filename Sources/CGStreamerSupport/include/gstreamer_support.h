#pragma once
// Declares nothing: plugin.c only defines the entry points that GStreamer looks up in
// libgstretrograde.so.

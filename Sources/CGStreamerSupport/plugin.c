// GST_PLUGIN_DEFINE is a macro, which Swift cannot import; the rest of the plugin is Swift.
#include <gst/gst.h>

#include "CVersion.h"

#define PACKAGE "retrograde"

/// Defined in RetrogradePlugin/Plugin.swift.
gboolean retrograde_register_elements(GstPlugin *plugin);

static gboolean plugin_init(GstPlugin *plugin) {
  return retrograde_register_elements(plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, retrograde,
                  "Reverses video and audio", plugin_init, RETROGRADE_VERSION, "MIT/X11", "Retrograde",
                  "retrograde")

/* A plugin with a fake hardware encoder, for machines without one. Like real ones, it has rank NONE
 * (used only if asked for by name), a bit rate in kbit/s, and Hardware in its class. It wraps
 * OpenH264. */
#include <gst/gst.h>

#define PACKAGE "fakehardware"

typedef struct { GstBin bin; GstElement *encoder; guint kilobits; } FakeEncoder;
typedef GstBinClass FakeEncoderClass;

G_DEFINE_TYPE (FakeEncoder, fake_encoder, GST_TYPE_BIN)
enum { PROP_BITRATE = 1 };

static void
set_property (GObject *object, guint number, const GValue *value, GParamSpec *spec)
{
  FakeEncoder *self = (FakeEncoder *) object;
  self->kilobits = g_value_get_uint (value);
  g_object_set (self->encoder, "bitrate", self->kilobits * 1000, NULL);
  /* The test looks for this line. */
  g_printerr ("fakehwh264enc: %u kbit/s\n", self->kilobits);
}

static void
get_property (GObject *object, guint number, GValue *value, GParamSpec *spec)
{
  g_value_set_uint (value, ((FakeEncoder *) object)->kilobits);
}

static void
fake_encoder_class_init (FakeEncoderClass *class)
{
  GObjectClass *object = G_OBJECT_CLASS (class);
  object->set_property = set_property;
  object->get_property = get_property;
  g_object_class_install_property (object, PROP_BITRATE,
      g_param_spec_uint ("bitrate", "Bitrate", "The desired bitrate expressed in kbps (0: auto)", 0, 2048000, 0,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (class), "Fake hardware encoder", "Codec/Encoder/Video/Hardware",
      "Encodes as a graphics card would", "Retrograde");
  gst_element_class_add_pad_template (GST_ELEMENT_CLASS (class),
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, gst_caps_from_string ("video/x-raw,format=I420")));
  gst_element_class_add_pad_template (GST_ELEMENT_CLASS (class),
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
          gst_caps_from_string ("video/x-h264,stream-format=byte-stream,alignment=au")));
}

static void
fake_encoder_init (FakeEncoder *self)
{
  GstPad *pad;
  self->encoder = gst_element_factory_make ("openh264enc", NULL);
  gst_bin_add (GST_BIN (self), self->encoder);
  pad = gst_element_get_static_pad (self->encoder, "sink");
  gst_element_add_pad (GST_ELEMENT (self), gst_ghost_pad_new ("sink", pad));
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (self->encoder, "src");
  gst_element_add_pad (GST_ELEMENT (self), gst_ghost_pad_new ("src", pad));
  gst_object_unref (pad);
}

static gboolean
plugin_init (GstPlugin *plugin)
{
  return gst_element_register (plugin, "fakehwh264enc", GST_RANK_NONE, fake_encoder_get_type ());
}

GST_PLUGIN_DEFINE (1, 22, fakehardware, "An encoder that stands for hardware", plugin_init, "1", "LGPL", PACKAGE, "none")

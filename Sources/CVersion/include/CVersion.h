#pragma once

/// The version of this product: the only place where it is said. The Makefile, debian/changelog and the plugin follow it.
#define RETROGRADE_VERSION "0.4.0"

#pragma once
#include <gif_lib.h>
#include <libimagequant.h>
#include <webp/encode.h>
#include <webp/demux.h>
#include <webp/mux.h>
#include <zlib.h>

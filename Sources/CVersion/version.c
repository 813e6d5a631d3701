#include "CVersion.h"

#pragma once

//! Skein's own version, `major.minor.patch`.
#define SKEIN_VERSION "0.1.0"

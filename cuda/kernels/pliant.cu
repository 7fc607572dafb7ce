// All kernels, one translation unit: what ptx.py compiles for the device and emulation/kernels.cpp for the host.
#include "scan.cu"
#include "sort.cu"
#include "reduce.cu"
#include "convex_number.cu"
#include "convex_solve.cu"
#include "probe.cu"
#include "misuse.cu"

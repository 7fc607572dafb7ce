// All kernels, one translation unit: what ptx.py compiles for the device and emulation/kernels.cpp for the host.
#include "scan.cu"
#include "sort.cu"
#include "reduce.cu"
#include "probe.cu"
#include "misuse.cu"
#include "register.cu"
#include "exchange.cu"

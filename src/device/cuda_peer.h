/* device/cuda_peer.h - CUDA devices that reach each other's memory. */
#ifndef KN_DEVICE_CUDA_PEER_H
#define KN_DEVICE_CUDA_PEER_H

#include "device/backend.h"

/* Both are CUDA devices. */
kiln_status kn_cuda_can_access_peer(bool *out, kn_device *device, kn_device *peer);
/* Finds out if CUDA devices a and b can read each other's memory; enables it at first use. */
kiln_status kn_device_enable_peer(kn_device *a, kn_device *b, bool *out);

#endif
